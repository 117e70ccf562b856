import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ServedCluster } from '@taintmgr/api-server';
import { threeZones, VirtualClock } from '@taintmgr/sim-cluster';
import { emptyScript, readEvents } from '../../../../src/commands/simulate/script/script.ts';
import { dataOf, sourceOf } from '../../../../src/commands/simulate/source/handover.ts';
import { readSource } from '../../../../src/commands/simulate/source/read.ts';
import { simulate } from '../../../../src/commands/simulate/stage/run.ts';
import { temporaryFiles, topology } from '../../../world/simulate-files.ts';

// Another thread is given a copy without functions. The copy gives the same results there.

const event = '{at: 10s, taint: {node: zone-a-1, taint: "x=y:NoExecute"}}';
const { write } = temporaryFiles();

describe('a cluster that is handed over', () => {
  const files: readonly (readonly [string, () => string])[] = [
    ['a topology', () => write('topology.yaml', topology)],
    ['a snapshot', () => write('snapshot.json', JSON.stringify(snapshot()))],
  ];
  for (const [name, file] of files) {
    it(`goes as that of ${name} goes`, async () => {
      const source = await readSource([file()]);
      const copy = sourceOf(structuredClone(dataOf(source)));
      const script = { ...emptyScript, events: readEvents('-', event, 120_000) };
      const options = { script, seed: 1, until: 120_000, policies: [] };
      const [own, other] = [source, copy].map((one) =>
        simulate({ ...options, source: one, semantics: 'precise' }),
      );
      assert.deepEqual(other, own);
      assert.notEqual(own?.recording.evictions.length, 0);
    });
  }
});

const kinds = ['nodes', 'namespaces', 'leases', 'deployments', 'replicasets', 'daemonsets', 'pods'];

function snapshot(): object {
  const clock = new VirtualClock(Date.parse('2026-11-28T10:00:00Z'));
  const cluster = new ServedCluster({ clock, seed: 3, topology: threeZones });
  cluster.start();
  assert.ok(clock.advanceUntil(() => cluster.isIdle(), clock.now() + 120_000));
  const items = kinds.flatMap((resource) => cluster.api.list(resource));
  return { kind: 'List', apiVersion: 'v1', items };
}
