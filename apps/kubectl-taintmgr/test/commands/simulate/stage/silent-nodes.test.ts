import assert from 'node:assert/strict';
import { it } from 'node:test';
import { deployment, node, pod } from '@taintmgr/sim-cluster';
import { run } from '../../../world/run.ts';
import { temporaryFiles } from '../../../world/simulate-files.ts';

const { write: file } = temporaryFiles();

/** When the last node renewed its lease, and the one that has fallen silent. */
const [renewedAt, silentSince] = ['2026-05-01T00:01:00.000000Z', '2026-05-01T00:00:35.000000Z'];

/** Three nodes that are Ready, each with a pod; n3 has sent nothing for 25 s. */
function snapshot(): readonly object[] {
  const ready = [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2026-05-01T00:00:00Z' }];
  const names = ['n1', 'n2', 'n3'];
  const pods = names.map((nodeName, index) => {
    const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'u' };
    const made = pod('shop', `agent-${index}`, { spec: { nodeName } });
    const metadata = { ...made.metadata, ownerReferences: [{ ...owner, controller: true }] };
    return { ...made, metadata, status: { phase: 'Running', conditions: ready } };
  });
  const leases = names.map((name) => ({
    ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
    metadata: { namespace: 'kube-node-lease', name },
    spec: { holderIdentity: name, renewTime: name === 'n3' ? silentSince : renewedAt },
  }));
  const nodes = names.map((name) => {
    const made = node(name, { status: { conditions: ready } });
    return { ...made, metadata: { ...made.metadata, creationTimestamp: '2026-04-01T00:00:00Z' } };
  });
  return [...nodes, ...leases, ...pods, deployment('shop', 'none', { replicas: 0 })];
}

interface Found {
  readonly notes: readonly string[];
  readonly runs: readonly {
    readonly nodes: readonly {
      readonly name: string;
      readonly states: readonly { readonly at: number; readonly ready: string }[];
    }[];
  }[];
}

it('a node of a snapshot that has sent nothing while others did is dead until it is started', async () => {
  const list = { apiVersion: 'v1', kind: 'List', items: snapshot() };
  const source = file('silent.json', JSON.stringify(list));
  const stop = ['--event', '{at: 10s, stopKubelet: {nodes: [n2, n3]}}'];
  const back = ['--event', '{at: 100s, resumeKubelet: {node: n3}}'];
  const args = ['-f', source, ...stop, ...back, '--until', '3m', '--compare', '-o', 'json'];
  const { code, out, err } = await run('simulate', ...args);
  assert.equal(code, 0, err);
  const { notes, runs }: Found = JSON.parse(out);
  const note = '1 node (n3): the lease was not renewed when others were; taken to be dead';
  assert.ok(notes.includes(note), notes.join('\n'));
  assert.equal(runs.length, 2);
  for (const { nodes } of runs) {
    const states = (name: string) => nodes.find((one) => one.name === name)?.states ?? [];
    const lost = (name: string) => states(name).find(({ ready }) => ready === 'Unknown')?.at ?? 0;
    // It has 50 s from its last sign of life, and to the next look after them; 25 s are over.
    assert.ok(lost('n3') >= 24 && lost('n3') <= 31, String(lost('n3')));
    assert.ok(lost('n2') >= 49 && lost('n2') <= 66, String(lost('n2')));
    const [last] = states('n3').slice(-1);
    assert.equal(last?.ready, 'True');
    assert.ok(states('n3').some(({ at, ready }) => ready === 'True' && at >= 100 && at < 103));
  }
});
