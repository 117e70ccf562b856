import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deployment } from '@taintmgr/sim-cluster';
import { linesFrom, type RecordingLine, recordingLine } from '../../../src/cluster/recording.ts';
import { VirtualCluster } from '../../world/virtual-cluster.ts';

function shop(): VirtualCluster {
  return new VirtualCluster({
    ...{ region: 'r', zones: ['a', 'b'], nodesPerZone: 2 },
    workloads: [deployment('shop', 'web', { replicas: 4 })],
    budgets: [],
  });
}

function linesIn(text: string): readonly RecordingLine[] {
  const lines = text.slice(linesFrom(text)).trim().split('\n');
  return lines.map((line) => recordingLine(line) ?? assert.fail(line));
}

/** `MODIFIED Node a-1` */
function shown(line: RecordingLine): string {
  if (line.type === 'BEGIN') return line.type;
  if (line.type === 'GAP') return `GAP ${line.kind}`;
  if (line.type === 'END') return `END ${line.reason}`;
  const { kind, metadata } = line.object;
  return `${line.type} ${kind} ${metadata.name.replace(/-.*/, kind === 'Pod' ? '' : '$&')}`;
}

describe('a recording', () => {
  it('of a quiet cluster has no lines: renewals and reports are no news', () => {
    const world = shop();
    const recording = world.record();
    world.run(600_000);
    assert.deepEqual(linesIn(recording.end()).map(shown), ['BEGIN', 'END interrupted']);
  });

  it('of a node that dies and comes back has its last renewal, and the first', () => {
    const world = shop();
    const recording = world.record();
    world.run(60_000);
    const died = world.clock.now();
    world.cluster.node('a-1').stop();
    world.run(200_000);
    const back = world.clock.now();
    world.cluster.node('a-1').resume();
    world.run(30_000);
    const leases = linesIn(recording.end()).filter((line) => shown(line) === 'MODIFIED Lease a-1');
    const [last, first, ...others] = leases.map(({ at }) => at);
    assert.ok(last !== undefined && last <= died && last > died - 10_000);
    assert.ok(first !== undefined && first >= back && first < back + 2_000);
    assert.deepEqual(others, []);
  });

  it('has pods from being made to being gone, without what is nobody else`s business', () => {
    const world = shop();
    const recording = world.record();
    const [pod] = world.api.list('pods', 'shop');
    world.api.delete('pods', 'shop', pod?.metadata.name ?? '');
    world.run(10_000);
    const text = recording.end();
    const lines = linesIn(text).map(shown);
    assert.ok(lines.includes('ADDED Pod web') && lines.includes('DELETED Pod web'), lines.join());
    assert.doesNotMatch(text, /podIP|hostIP|containerStatuses|resourceVersion/);
  });

  it('has what was gone before it listened', () => {
    const world = shop();
    const [pod] = world.api.list('pods', 'shop');
    const recording = world.record({
      onSnapshot: () => {
        const options = { gracePeriodSeconds: 0 };
        world.api.delete('pods', 'shop', pod?.metadata.name ?? '', options);
      },
    });
    world.run(5_000);
    const lines = linesIn(recording.end()).map(shown);
    assert.ok(lines.includes('DELETED Pod web'), lines.join());
  });

  it('has no Events of before', () => {
    const world = shop();
    const node = world.api.get('nodes', '', 'a-1') ?? assert.fail();
    const taints = [{ key: 'k', effect: 'NoExecute' }];
    world.api.update('nodes', { ...node, spec: { ...node.spec, taints } });
    world.run(60_000);
    assert.ok(world.api.list('events').some(({ reason }) => reason === 'TaintManagerEviction'));
    const recording = world.record();
    world.run(10_000);
    assert.deepEqual(linesIn(recording.end()).map(shown), ['BEGIN', 'END interrupted']);
  });

  it('says what Events say of taint eviction, without their words', () => {
    const world = shop();
    const recording = world.record();
    const node = world.api.get('nodes', '', 'a-1') ?? assert.fail();
    const taints = [{ key: 'k', effect: 'NoExecute' }];
    world.api.update('nodes', { ...node, spec: { ...node.spec, taints } });
    world.run(10_000);
    const events = linesIn(recording.end()).filter((line) => {
      return line.type === 'ADDED' && line.object.kind === 'Event';
    });
    assert.ok(events.length > 0);
    for (const line of events) {
      assert.match(JSON.stringify(line), /"message":"Marking for deletion"/);
    }
  });

  it('says of what nothing was heard, and that what came then happened before', () => {
    const world = shop();
    const recording = world.record();
    world.run(20_000);
    recording.link.cut();
    const [pod] = world.api.list('pods', 'shop');
    world.api.delete('pods', 'shop', pod?.metadata.name ?? '');
    world.run(90_000);
    recording.link.mend();
    world.run(60_000);
    const lines = linesIn(recording.end());
    const gap = lines.find((line) => line.type === 'GAP' && line.kind === 'Pod');
    assert.ok(gap?.type === 'GAP' && gap.at - gap.after >= 60_000);
    const gone = lines.find((line) => shown(line) === 'DELETED Pod web');
    assert.ok(gone?.type === 'DELETED' && gone.after !== undefined && gone.after <= gap.after);
  });

  for (const [reason, limits] of [
    ['bytes', { bytesMax: 3_000, linesMax: 1_000 }],
    ['lines', { bytesMax: 1_000_000, linesMax: 3 }],
  ] as const) {
    it(`stops at its bound of ${reason}, and says so in its last line`, () => {
      const world = shop();
      const recording = world.record({ limits });
      for (const { metadata } of world.api.list('pods', 'shop')) {
        world.api.delete('pods', 'shop', metadata.name);
      }
      world.run(60_000);
      const text = recording.end();
      const lines = linesIn(text);
      assert.equal(shown(lines.at(-1) ?? assert.fail()), `END ${reason}`);
      assert.ok(lines.length <= 4 || reason === 'bytes');
      assert.ok(text.length - linesFrom(text) < 3_200 || reason === 'lines');
    });
  }
});
