import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { run } from '../../../world/run.ts';
import { temporaryFiles } from '../../../world/simulate-files.ts';

const { write: file } = temporaryFiles();

/** Two nodes with room for two pods each, and three pods. */
const topology = `
apiVersion: taintmgr.dev/v1alpha1
kind: Topology
nodes:
  - { zone: a, count: 1, capacity: { cpu: "2", memory: 8Gi, pods: "10" } }
  - { zone: b, count: 1, capacity: { cpu: "2", memory: 8Gi, pods: "10" } }
workloads:
  - { kind: Deployment, name: shop/web, replicas: 3, requests: { cpu: 900m, memory: 1Gi } }
`;

interface Found {
  readonly runs: readonly {
    readonly events: readonly { readonly at: number; readonly text: string }[];
    readonly unplaced: readonly { readonly from: number; readonly until: number | null }[];
  }[];
}

async function simulated(script: string, nodes = topology): Promise<Found['runs'][number]> {
  const given = ['-f', file('two.yaml', nodes), '--script', file('script.yaml', script)];
  const { out, code, err } = await run('simulate', ...given, '--until', '10m', '-o', 'json');
  assert.equal(code, 0, err);
  const [first = assert.fail()] = (JSON.parse(out) as Found).runs;
  return first;
}

const drain = 'events: [{at: 1m, drain: {node: b-1}}]';

describe('an autoscaler', () => {
  it('adds a node like the one it names, so long after pods fit on none', async () => {
    const pool = 'autoscaler: [{like: a-1, after: 90s, atMost: 3}]';
    const { events, unplaced } = await simulated(`${pool}\n${drain}`);
    const [added] = events.filter(({ text }) => text.includes('autoscaler'));
    assert.equal(added?.text, 'the autoscaler adds node a-1-auto-1');
    const [waiting = assert.fail()] = unplaced;
    const { at } = added;
    // It looks every ten seconds.
    assert.ok(at > waiting.from + 90 && at <= waiting.from + 100, String(at));
    assert.ok(waiting.until !== null && waiting.until > at && waiting.until < at + 10);
    assert.equal(events.length, 2, 'one node is enough');
  });

  it('adds no more than it may', async () => {
    const pool = 'autoscaler: [{like: a-1, after: 30s, atMost: 1}]';
    const scale = 'events: [{at: 1m, scale: {workload: shop/web, replicas: 9}}]';
    const { events, unplaced } = await simulated(`${pool}\n${scale}`);
    assert.equal(events.filter(({ text }) => text.includes('autoscaler')).length, 1);
    assert.equal(unplaced.filter(({ until }) => until === null).length, 3);
  });

  it('adds none for pods that ask for what it would not have', async () => {
    const gpus = topology
      .replace(
        'zone: b, count: 1, capacity: { ',
        'zone: b, count: 1, capacity: { example.com/gpu: "2", ',
      )
      .replace('replicas: 3, requests: { ', 'replicas: 2, requests: { example.com/gpu: "1", ');
    const pool = 'autoscaler: [{like: a-1, after: 30s, atMost: 3}]';
    const { events, unplaced } = await simulated(`${pool}\n${drain}`, gpus);
    assert.equal(events.length, 1, 'the drain alone');
    assert.equal(unplaced.filter(({ until }) => until === null).length, 2);
  });

  it('is like a node that is there', async () => {
    const script = 'autoscaler: [{like: c-1, after: 30s, atMost: 1}]\nevents: []';
    const given = ['-f', file('two.yaml', topology), '--script', file('script.yaml', script)];
    const { code, err } = await run('simulate', ...given);
    assert.equal(code, 1);
    assert.match(
      err,
      /autoscaler\[0\]: there is no node c-1, did you mean a-1\? there are a-1, b-1/,
    );
  });
});
