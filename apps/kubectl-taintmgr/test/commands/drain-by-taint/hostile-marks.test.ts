import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { node } from '@taintmgr/sim-cluster';
import { type Result, run } from '../../world/run.ts';
import { startTestCluster, type TestCluster } from '../../world/test-cluster.ts';

// Whoever controls a node may write anything into the mark of a drain there.

const taint = 'maintenance=kernel:NoSchedule';
const steering = /[^\P{Cc}\n]|\u202e/u;

let cluster: TestCluster;
before(async () => {
  cluster = await startTestCluster(null);
  process.env.KUBECONFIG = cluster.kubeconfig;
});
after(() => cluster.stop());

const command = (line: string): Promise<Result> => run(...line.split(' '));

/** A node that a drain of this name has tainted; `work`: that it is at work there. */
function markedNode(name: string, id: string, work: object): void {
  const mark = { id, by: 'ev\u001b]0;il\u0007\nl', taint, tainted: true, cordoned: true, ...work };
  const { metadata, ...rest } = node(name);
  const annotations = { 'taintmgr.dev/drain': JSON.stringify([mark]) };
  const taints = [{ key: 'maintenance', value: 'kernel', effect: 'NoSchedule' }];
  const spec = { unschedulable: true, taints };
  cluster.api.create('nodes', { ...rest, metadata: { ...metadata, annotations }, spec });
}

describe('a mark that steers a terminal', () => {
  it('is shown as escapes, on one line', async () => {
    const heartbeat = new Date().toISOString();
    markedNode('busy', 'd\u001b[2J\u202e', { run: 'r', heartbeat });
    for (const line of [
      `drain-by-taint ${taint} busy --dry-run=client`,
      `drain-by-taint ${taint} busy`,
      `undo ${taint} busy --dry-run=client`,
    ]) {
      const { err } = await command(line);
      assert.match(err, /drain d\^\[\[2J\\u202e of ev\^\[\]0;il\^G\^Jl is at work on busy/, line);
      assert.doesNotMatch(err, steering, line);
    }
  });

  it('is no command for a shell in the hint that names it', async () => {
    markedNode('idle', 'd\u001b[2J;reboot', {});
    const { code, err } = await command(`drain-by-taint ${taint} idle`);
    assert.equal(code, 0, err);
    assert.ok(err.endsWith("hint: to undo: kubectl taintmgr undo 'd^[[2J;reboot'\n"), err);
  });
});
