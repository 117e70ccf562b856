// Files that cannot be used: each command that reads one says which, why, and what it wants.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { run } from '../world/run.ts';
import { startTestCluster, type TestCluster } from '../world/test-cluster.ts';

const kinds =
  'EvictionPolicy, NodeTaintRule, EvictionPause, NodeDrain, TaintManager of taintmgr.dev/v1alpha1';
const policies = 'EvictionPolicy, NodeTaintRule, EvictionPause';
const recording = 'a recording of taintmgr-controller --flight-record';
const anotherKind = `FILE:1:7: got kind "ConfigMap" of "v1", want ${kinds}`;
const noKind = `FILE:1:1: got no kind and no apiVersion, want ${kinds}`;

describe('a file that cannot be used', () => {
  const directory = mkdtempSync(join(tmpdir(), 'taintmgr-files-'));
  const at = (name: string): string => join(directory, name);
  let cluster: TestCluster;
  before(async () => {
    writeFileSync(at('empty.yaml'), '');
    writeFileSync(at('comment.yaml'), '# nothing yet\n');
    writeFileSync(at('other.yaml'), 'kind: ConfigMap\napiVersion: v1\nmetadata: {name: x}\n');
    writeFileSync(at('object.json'), '{}');
    mkdirSync(at('folder'));
    cluster = await startTestCluster(null);
    process.env.KUBECONFIG = cluster.kubeconfig;
  });
  after(async () => {
    await cluster.stop();
    rmSync(directory, { recursive: true });
  });

  const cases: readonly (readonly [command: string, file: string, says: string])[] = [
    ['drain-by-taint -f FILE', 'empty.yaml', 'FILE:1:1: the file is empty, want a NodeDrain'],
    ['drain-by-taint -f FILE', 'comment.yaml', 'FILE:1:1: the file is empty, want a NodeDrain'],
    ['drain-by-taint -f FILE', 'other.yaml', anotherKind],
    ['drain-by-taint -f FILE', 'object.json', noKind],
    ['drain-by-taint -f FILE', 'folder', '--filename FILE: it is a folder, want a file'],
    ['drain-by-taint -f FILE', 'none.yaml', '--filename FILE: no such file'],
    [
      'explain node n1 --policy FILE',
      'empty.yaml',
      `FILE:1:1: the file is empty, want ${policies}`,
    ],
    ['pending --policy FILE', 'other.yaml', anotherKind],
    ['status --policy FILE', 'object.json', noKind],
    [
      'explain policy n1 --policy FILE',
      'folder',
      '--policy FILE: no file in it ends in .yaml, .yml or .json',
    ],
    ['explain zone a --policy FILE', 'none.yaml', '--policy FILE: no such file'],
    [
      'simulate -f FILE',
      'empty.yaml',
      'FILE:1:1: the file is empty, want what kubectl get -o json prints, or a Topology',
    ],
    [
      'simulate -f FILE',
      'folder',
      '-f FILE: no file in it ends in .json, .yaml or .yml, or in .gz after these',
    ],
    ['simulate -f FILE', 'none.yaml', '-f FILE: no such file or folder'],
    ['simulate --replay FILE', 'empty.yaml', `FILE:1: the file is empty, want ${recording}`],
    ['simulate --replay FILE', 'folder', '--replay FILE: it is a folder, want a file'],
    ['simulate --replay FILE', 'none.yaml', '--replay FILE: no such file'],
    ['doctor -f FILE', 'empty.yaml', '-f FILE: no manifest in it, want what kubectl apply takes'],
    ['doctor -f FILE', 'folder', '-f FILE: no manifest in it, want what kubectl apply takes'],
    ['doctor -f FILE', 'none.yaml', '-f FILE: no such file or folder'],
  ];
  for (const [command, file, says] of cases) {
    it(`${command.replace('FILE', file)}`, async () => {
      const path = at(file);
      const { code, out, err } = await run(...command.replace('FILE', path).split(' '));
      const last = err.trimEnd().split('\n').at(-1);
      assert.equal(last, `error: ${says.replace('FILE', path)}`, `${out}${err}`);
      assert.equal(code, 1);
    });
  }
});
