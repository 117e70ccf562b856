import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { run } from '../../world/run.ts';
import { temporaryFiles, topology } from '../../world/simulate-files.ts';

const { write: file } = temporaryFiles();

describe('simulate --policy', () => {
  it('goes by the policies of files', async () => {
    const policies = file(
      'policies.yaml',
      `apiVersion: taintmgr.dev/v1alpha1
kind: EvictionPolicy
metadata: {name: patient}
spec:
  match: {namespaces: [shop], taints: [{key: node.kubernetes.io/unreachable}]}
  action: Keep
`,
    );
    const outage = 'events:\n- at: 2m\n  stopKubelet: {zone: zone-b}\n  lasts: 15m\n';
    const source = file('topology.yaml', topology);
    const files = ['-f', source, '--script', file('outage.yaml', outage), '--policy', policies];
    const { code, out, err } = await run('simulate', ...files, '-o', 'json');
    assert.equal(code, 0, err);
    const { summary } = JSON.parse(out).runs[0];
    assert.deepEqual([summary.nodesTainted, summary.evictions], [2, 0]);
  });

  it('says what is wrong with policies, and where', async () => {
    const policies = file('wrong.yaml', 'apiVersion: taintmgr.dev/v1alpha1\nkind: Policy\n');
    const source = file('topology.yaml', topology);
    const wrong = await run('simulate', '-f', source, '--policy', policies);
    assert.equal(wrong.code, 1);
    assert.match(wrong.err, /^error: \/.*\/wrong\.yaml:2:7: got kind "Policy" of "taintmgr/);
    const missing = await run('simulate', '-f', source, '--policy', '/nowhere');
    assert.equal(missing.err, 'error: --policy /nowhere: no such file\n');
  });
});
