import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Event, makeNode, makePod, parseTaint } from '@taintmgr/core';
import { drainConfig, StandaloneDrain } from './standalone-drain.ts';

const taint = parseTaint('m:NoSchedule');
const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web' };
const hour = 3_600_000;

describe('a drain beside a clock of the cluster that is another', () => {
  for (const ahead of [0, hour, -hour]) {
    it(`waits for a pod that terminates as long as is said: ${ahead / hour} h ahead`, () => {
      const drain = new StandaloneDrain(drainConfig(taint, { skipTerminatingMs: 60_000 }), ['n1']);
      const start = 10 * hour;
      const node = makeNode({ name: 'n1', taints: [{ ...taint, timeAdded: start + ahead }] });
      const deletionTimestamp = start + ahead - 10_000;
      const pod = makePod({ name: 'a', nodeName: 'n1', owner, deletionTimestamp });
      const tell = (now: number, event: Event): readonly string[] => {
        drain.handle(now, event);
        return drain.machine.takeNotes().map(({ kind }) => kind);
      };
      tell(start, { kind: 'clock', ahead });
      tell(start, { kind: 'nodeUpsert', node });
      tell(start, { kind: 'podUpsert', pod });
      tell(start, { kind: 'synced' });
      assert.deepEqual(tell(start, { kind: 'tick' }), ['nodeBegun']);
      tell(start, { kind: 'tick' });
      assert.equal(drain.nextWake(), start + 51_000);
      assert.deepEqual(tell(start + 50_999, { kind: 'tick' }), []);
      assert.deepEqual(tell(start + 51_000, { kind: 'tick' }), ['podSkipped', 'nodeEnded']);
    });
  }
});

it('a wake is never before what was heard last', () => {
  const drain = new StandaloneDrain(drainConfig(taint), ['n1']);
  const tolerations = [{ key: 'm', operator: 'Exists', tolerationSeconds: 5 }];
  const node = makeNode({ name: 'n1', taints: [{ ...taint, timeAdded: -1000 }] });
  drain.handle(0, { kind: 'nodeUpsert', node });
  drain.handle(0, {
    kind: 'podUpsert',
    pod: makePod({ name: 'a', nodeName: 'n1', owner, tolerations }),
  });
  drain.handle(0, { kind: 'synced' });
  drain.handle(0, { kind: 'tick' });
  assert.equal(drain.nextWake(), 5000);
  drain.handle(7000, { kind: 'nodeUpsert', node });
  assert.equal(drain.nextWake(), 7000);
});
