import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkChoices } from '../../src/flags/checks.ts';
import { resolveChoices } from '../../src/flags/resolve.ts';

// What --takeover needs beside it.

const controllers = '--controllers=*,-node-lifecycle-controller';

const wrong: readonly (readonly [flags: readonly string[], message: string])[] = [
  [
    ['--takeover', controllers, '--dry-run=client'],
    '--dry-run: got "client", want none beside --takeover, which refuses evictions',
  ],
  [
    ['--takeover', controllers, '--leader-elect=false'],
    '--leader-elect: got "false", want true beside --takeover: one replica decides',
  ],
  [
    ['--takeover', controllers, '--publish-status=false'],
    '--publish-status: got "false", want true with --takeover: the admission policies read its heartbeat',
  ],
  [
    ['--takeover', controllers, '--cluster-policies=false'],
    '--cluster-policies: got "false", want true beside --takeover, which reads the labels of namespaces',
  ],
  [
    ['--takeover', controllers, '--semantics=kube-controller-manager'],
    '--semantics: got "kube-controller-manager", want taintmgr beside --takeover: kube-controller-manager follows its own rules itself',
  ],
  [
    ['--takeover', '--controllers=node-pressure-controller'],
    '--controllers: got "node-pressure-controller", want taint-eviction-controller among them beside --takeover',
  ],
  [
    ['--takeover'],
    '--controllers: got "*", want beside --takeover none that kube-controller-manager runs: *,-node-lifecycle-controller',
  ],
  [
    ['--takeover', controllers, '--pod-watch=tainted-nodes'],
    '--pod-watch: got "tainted-nodes", want all or auto beside --takeover, which needs to know all pods',
  ],
];

describe('--takeover', () => {
  for (const [flags, message] of wrong) {
    it(flags.join(' '), () => {
      assert.throws(() => checkChoices(resolveChoices(flags, {})), { message });
    });
  }

  it('is allowed where kube-controller-manager keeps the node lifecycle', () => {
    const checked = checkChoices(resolveChoices(['--takeover', controllers], {}));
    assert.equal(checked.podWatch, 'all');
  });
});
