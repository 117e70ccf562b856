import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LiveHistory, type LiveInput, type LiveMoment, type LivePod } from '@taintmgr/page';
import { liveRows } from '../../../src/model/live/rows.ts';
import { aboutsOf, type Row } from '../../../src/model/row.ts';
import { clock } from '../../../src/model/words.ts';

// Opened at 0; seconds count from a minute before.

const web: LivePod = {
  ...{ uid: 'u1', namespace: 'shop', pod: 'web-1', node: 'a-1', workload: 'ReplicaSet shop/web' },
  ...{ state: 'Evict', setAt: 10_000, dueAt: 100_000, remainingSeconds: null, isEstimate: false },
  ...{ evictor: 'taintmgr-controller', because: ['no toleration'] },
  holds: [{ kind: 'PDB', name: 'web', text: 'PDB web (needs time): 3 of 3' }],
};
const empty: LiveMoment = {
  ...{ at: 20_000, evictedBy: 'nobody', warnings: [], notes: [], zones: [], pods: [] },
  nodes: [{ name: 'a-1', zone: 'a', ready: 'True', cordoned: false, taints: ['x:NoExecute'] }],
  ...{ podsLeftOut: 0, actions: [] },
};

function after(...moments: readonly Partial<LiveMoment>[]): LiveInput {
  const history = new LiveHistory('test', 0);
  for (const moment of moments) history.take({ ...empty, ...moment });
  return history.input() ?? assert.fail('nothing was read');
}

function rows(input: LiveInput, given: { opened?: readonly string[]; query?: string } = {}) {
  const { opened = [], query = '' } = given;
  const choice = { opened: new Set(opened), query, isHarmOnly: false };
  return liveRows(input, { now: input.now, ...choice });
}

function labelled(all: readonly Row[], label: string): Row {
  return all.find((row) => row.label === label) ?? assert.fail(all.map((row) => row.label).join());
}

describe('the lanes of a live cluster', () => {
  it('have a bar from where the time of a pod counts to where it is due', () => {
    const row = labelled(rows(after({ pods: [web] })), 'shop/web-1');
    assert.equal(row.note, 'in 1m20s');
    assert.deepEqual(
      row.bars.map(({ from, until, fill }) => [from, until, fill]),
      [[70, 160, 'pending']],
    );
  });

  it('say why: who evicts it, since when it counts, and what keeps it', () => {
    const row = labelled(rows(after({ pods: [web] })), 'shop/web-1');
    const [{ title, facts } = assert.fail()] = aboutsOf(row, 1000, clock);
    assert.equal(title, 'shop/web-1: due at 0:02:40');
    assert.deepEqual(facts, [
      ['why', 'no toleration'],
      ['evicted by', 'taintmgr-controller'],
      ['node', 'a-1'],
      ['counts since', '0:01:10'],
      ['of', 'ReplicaSet shop/web'],
      ['held by', 'PDB web (needs time): 3 of 3'],
    ]);
  });

  it('go on to the present where a pod is overdue, with what holds it from then on', () => {
    const row = labelled(
      rows(after({ at: 130_000, pods: [web] }, { at: 140_000, pods: [web] })),
      'shop/web-1',
    );
    assert.equal(row.note, 'overdue by 40s: PDB web');
    assert.deepEqual(
      row.bars.map(({ from, until, fill }) => [from, until, fill]),
      [
        [70, 200, 'pending'],
        [190, 200, 'held'],
      ],
    );
  });

  it('keep those that have left, and speak of no eviction that nobody saw', () => {
    const input = after({ pods: [web] }, { at: 110_000 });
    const all = rows(input, { opened: ['left', 'z a'] });
    assert.equal(labelled(all, 'Who left lately').note, '1 pod in the last 1m50s');
    assert.equal(labelled(all, 'shop/web-1').marks[0]?.at, 170);
    assert.equal(labelled(all, 'a').note, '1 of 1 tainted, 1 pod left');
  });

  it('show pauses, limits, drains and rules, and are found by their names', () => {
    const night = {
      kind: 'pause',
      name: 'night',
      from: 0,
      until: null,
      text: 'holds all',
    } as const;
    const kernel = {
      kind: 'drain',
      name: 'kernel',
      from: 0,
      until: 90_000,
      text: 'Draining',
    } as const;
    const ecc = { ...kernel, kind: 'rule', name: 'ecc', until: null } as const;
    const input = after({ pods: [web], actions: [night, kernel, ecc] });
    const [pause, drain, rule] = ['pause night', 'drain kernel', 'rule ecc'].map((name) =>
      labelled(rows(input), name),
    );
    const ends = [pause, drain, rule].map((row) => row?.bars[0]?.until);
    assert.deepEqual(ends, [80, 150, 80]);
    const found = rows(input, { query: 'WEB-1' }).map(({ label }) => label);
    assert.ok(found.includes('shop/web-1') && !found.includes('pause night'), found.join());
  });

  it('fold pods beyond sixty', () => {
    const pods = Array.from({ length: 70 }, (_, index) => {
      return { ...web, uid: `u${index}`, pod: `web-${index}` };
    });
    const input = after({ pods });
    const fold = labelled(rows(input), '10 pods more');
    assert.equal(fold.kind, 'fold');
    assert.equal(rows(input, { opened: [fold.key] }).length, rows(input).length + 10);
  });
});
