import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OpenDepartures } from '../../../src/controller/history/open-departures.ts';
import type { Departure } from '../../../src/history/departure.ts';

const minuteMs = 60_000;

function departure(uid: string, more: Partial<Departure> = {}): Departure {
  const by = { kind: 'taintmgr', source: 'ownAct' } as const;
  const owner = { kind: 'ReplicaSet', name: 'web' };
  return { namespace: 'shop', pod: uid, uid, by, owner, seenAt: 0, ...more };
}

describe('open departures', () => {
  it('are written at once, and what is new of them within a minute', () => {
    const open = new OpenDepartures();
    open.put(0, departure('a'));
    assert.equal(open.nextDue(), Number.NEGATIVE_INFINITY);
    assert.deepEqual(open.take(0), [departure('a')]);
    assert.equal(open.nextDue(), null);
    open.put(10, departure('a', { deletionTimestamp: 30_000 }));
    open.put(20, departure('a', { deletionTimestamp: 30_000, goneAt: 20 }));
    assert.equal(open.nextDue(), 10 + minuteMs);
    assert.deepEqual(open.take(9 + minuteMs), []);
    assert.deepEqual(open.take(10 + minuteMs), [
      { more: 'a', deletionTimestamp: 30_000, goneAt: 20 },
    ]);
  });

  it('are closed where nothing more is to come, and written before', () => {
    const open = new OpenDepartures();
    const successor = { pod: 'b', uid: 'b', readyAt: 9 };
    open.put(0, departure('a', { goneAt: 5, successor }));
    open.put(0, departure('b', { goneAt: 5 }));
    open.put(0, departure('c'));
    assert.equal(open.take(0).length, 3);
    assert.equal(open.size, 2);
    open.put(1, departure('b', { goneAt: 5, answeredAt: 6 }), true);
    open.sweep(10 * minuteMs + 6, true);
    assert.equal(open.size, 1);
    open.sweep(60 * minuteMs + 2, true);
    assert.equal(open.size, 0);
    assert.deepEqual(open.take(60 * minuteMs), [{ more: 'b', answeredAt: 6 }]);
  });

  it('are 20,000 at most: the earliest is written and closed', () => {
    const open = new OpenDepartures();
    for (let index = 0; index < 20_003; index++) open.put(0, departure(`u${index}`));
    assert.equal(open.size, 20_000);
    assert.equal(open.get('u2'), undefined);
    const lines = open.take(0);
    assert.equal(lines.length, 20_003);
    assert.deepEqual(
      lines.slice(0, 3).map(({ uid }) => uid),
      ['u0', 'u1', 'u2'],
    );
  });

  it('are forgotten by a standby after a quarter of an hour', () => {
    const open = new OpenDepartures();
    open.put(0, departure('a'));
    open.put(minuteMs, departure('b', { seenAt: minuteMs }));
    open.sweep(15 * minuteMs + 1, false);
    assert.deepEqual(
      open.take(15 * minuteMs + 1).map(({ uid }) => uid),
      ['b'],
    );
  });

  it('keep what the leader before has written of its own acts, and add what was seen', () => {
    const open = new OpenDepartures();
    const by = { kind: 'evictionApi', source: 'condition' } as const;
    open.put(0, departure('a', { by, node: 'n1' }));
    open.adopt(0, departure('a', { answeredAt: 1 }));
    open.adopt(0, departure('done', { goneAt: 1, successor: { pod: 'b', uid: 'b', readyAt: 2 } }));
    assert.deepEqual(open.take(0), [{ more: 'a', node: 'n1' }]);
    assert.equal(open.get('a')?.by.kind, 'taintmgr');
    assert.equal(open.size, 1);
  });
});
