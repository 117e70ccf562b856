import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LiveHistory, type LiveInput, type LivePast, type PodStory } from '@taintmgr/page';
import { liveFiltered, noFilter } from '../../../src/model/filter.ts';
import { aboutLeft, gapText, leftOf, leftRows } from '../../../src/model/live/left.ts';
import { liveRows } from '../../../src/model/live/rows.ts';
import { aboutsOf } from '../../../src/model/row.ts';
import { clock } from '../../../src/model/words.ts';

// Opened at an hour; until half an hour before nothing is known, so seconds count from 29 minutes.

const minute = 60_000;
const story: PodStory = {
  ...{
    evictedBy: 'drain kernel',
    reason: 'kernel:NoSchedule',
    replacedBy: 'web-9 on b-1 after 8s',
  },
  ...{ sources: ['the memory of the leader', 'an Event of the scheduler'] },
  lines: ['shop/web-1 left a-1:', '  by drain kernel', '  replaced by web-9 on b-1'],
};
const common = { namespace: 'shop', workload: 'ReplicaSet shop/web', story } as const;
const past: LivePast = {
  pods: [
    { ...common, uid: 'u1', pod: 'web-1', node: 'a-1', at: 45 * minute },
    { ...common, uid: 'u2', pod: 'web-2', node: 'gone', at: 50 * minute },
    { ...common, uid: 'u3', pod: 'op-1', namespace: 'infra', node: 'b-1', at: 55 * minute },
  ],
  gaps: [
    { from: null, to: 30 * minute, text: 'Events are gone after 1h' },
    { from: 46 * minute, to: 48 * minute, text: 'the leader changed' },
  ],
  isCut: false,
};

function inputOf(known: LivePast = past): LiveInput {
  const history = new LiveHistory('test', 60 * minute);
  history.remember(known);
  const nodes = ['a-1', 'b-1'].map((name) => {
    const [zone = ''] = name;
    return { name, zone, ready: 'True', cordoned: false, taints: [] } as const;
  });
  history.take({
    ...{ at: 60 * minute, evictedBy: 'nobody', warnings: [], notes: [], zones: [], pods: [] },
    ...{ nodes, podsLeftOut: 0, actions: [] },
  });
  return history.input() ?? assert.fail('nothing was read');
}

const namesOf = (input: LiveInput, query = ''): readonly string[] =>
  leftOf(input, query).map(({ pod }) => pod);

describe('who left a live cluster lately', () => {
  it('is a lane with a mark for each, hatched where nobody knows, and opened a lane for each', () => {
    const input = inputOf();
    const [all = assert.fail(), ...none] = leftRows(input, input.now, new Set());
    assert.deepEqual(
      [all.label, all.note, none],
      [...['Who left lately', '3 pods in the last 30m, with gaps', []]],
    );
    assert.deepEqual(
      all.marks.map(({ at }) => at),
      [960, 1260, 1560],
    );
    assert.deepEqual(
      all.bars.map(({ from, until, fill }) => [from, until, fill]),
      [
        [0, 60, 'untold'],
        [1020, 1140, 'untold'],
      ],
    );
    const [before, { title, facts } = assert.fail()] = all.bars.map(({ about }) => about(clock));
    assert.equal(before?.title, 'Unknown before 0:01:00');
    assert.equal(title, 'Unknown from 0:17:00 to 0:19:00');
    assert.deepEqual(facts, [['why', 'the leader changed']]);
    const opened = leftRows(input, input.now, new Set(['left']));
    assert.deepEqual(
      opened.map(({ label }) => label),
      ['Who left lately', 'infra/op-1', 'shop/web-2', 'shop/web-1'],
    );
  });

  it('is hatched up to the opening where nobody remembers', () => {
    const gaps = [{ from: null, to: 60 * minute, text: 'nobody remembers' }];
    const input = inputOf({ pods: [], gaps, isCut: false });
    const [all = assert.fail()] = leftRows(input, 60, new Set());
    assert.deepEqual([all.note, all.isOpen, all.isCalm], ['none in the last 0s', null, true]);
    assert.deepEqual(
      all.bars.map(({ from, until }) => [from, until]),
      [[0, 60]],
    );
    assert.equal(gapText(input.record.gaps[0] ?? assert.fail(), clock), 'Unknown before 0:01:00');
  });

  it('tells the story of one, in the words of who remembers', () => {
    const input = inputOf();
    const [, , first = assert.fail()] = leftOf(input, '');
    const about = aboutLeft(input, first, input.now, clock);
    assert.deepEqual(about, {
      ...{ at: 960, title: 'shop/web-1 has left', lines: story.lines },
      facts: [
        ['node', 'a-1'],
        ['of', 'ReplicaSet shop/web'],
        ['sources', 'the memory of the leader; an Event of the scheduler'],
      ],
    });
    const [row = assert.fail()] = leftRows(input, input.now, new Set());
    assert.deepEqual(aboutsOf(row, input.now, clock)[1], about);
  });

  it('is told of by zones and nodes too, as far as they are there', () => {
    const choice = { now: 1860, opened: new Set(['z a']), query: '', isHarmOnly: false };
    const row = liveRows(inputOf(), choice).find(({ label }) => label === 'a-1');
    assert.equal(row?.note, '1 pod left');
  });

  it('is left by namespace, zone, and a search for pod, node or workload', () => {
    const input = inputOf();
    const filtered = (given: object) => namesOf(liveFiltered(input, { ...noFilter, ...given }));
    assert.deepEqual(filtered({}), ['op-1', 'web-2', 'web-1']);
    assert.deepEqual(filtered({ namespace: 'shop' }), ['web-2', 'web-1']);
    assert.deepEqual(filtered({ zone: 'b' }), ['op-1']);
    assert.deepEqual(filtered({ outcome: 'left', namespace: 'infra' }), ['op-1']);
    assert.deepEqual(filtered({ outcome: 'Held' }), []);
    assert.deepEqual(namesOf(input, 'GONE'), ['web-2']);
    assert.deepEqual(namesOf(input, 'op-'), ['op-1']);
    assert.deepEqual(namesOf(input, 'replicaset shop/web'), ['op-1', 'web-2', 'web-1']);
  });
});
