import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseTime } from '@taintmgr/core/time';
import type { HistorySources } from '../../src/explain/history-model.ts';
import { pastOf } from '../../src/explain/history-past.ts';
import { mergeStories } from '../../src/explain/history-story.ts';
import { eventTrace } from '../../src/explain/history-traces.ts';
import { storyText } from '../../src/explain/history-words.ts';
import type { Departure } from '../../src/history/departure.ts';

const at = (clock: string): number => parseTime(`2026-11-30T${clock}Z`) ?? assert.fail(clock);
const now = at('02:30:00');
const nothing: HistorySources = {
  ...{ at: now, departures: [], gaps: [], pods: [], events: [], requests: [], nodes: new Map() },
};
const web: Departure = {
  ...{ namespace: 'shop', pod: 'web-1', uid: 'u1', node: 'n1', seenAt: at('02:00:00') },
  owner: { kind: 'ReplicaSet', name: 'web' },
  by: { kind: 'taintmgr', source: 'ownAct' },
  taint: { key: 'kernel', value: '', effect: 'NoExecute' },
  ...{ askedAt: at('02:00:05'), answeredAt: at('02:00:05'), goneAt: at('02:00:35') },
  successor: {
    ...{ pod: 'web-9', uid: 'u9', node: 'n2', boundAt: at('02:00:06'), readyAt: at('02:00:17') },
  },
};

describe('who left lately, as a page lists them', () => {
  it('has the cells of each, and the very words of its story', () => {
    const stories = mergeStories({ ...nothing, departures: [web] });
    const [pod = assert.fail(), ...more] = pastOf(stories, [], now, 300).pods;
    assert.deepEqual(more, []);
    const { lines, sources, ...cells } = pod.story;
    assert.deepEqual(
      [pod.uid, pod.workload, pod.node, pod.at],
      ['u1', 'ReplicaSet shop/web', 'n1', at('02:00:35')],
    );
    assert.deepEqual(cells, {
      evictedBy: 'taintmgr-controller',
      reason: 'kernel:NoExecute',
      replacedBy: 'web-9 on n2, ready 12s later',
    });
    assert.deepEqual(sources, ['record of taintmgr-controller']);
    assert.deepEqual(lines, storyText(stories[0] ?? assert.fail(), now).split('\n'));
    assert.match(lines[0] ?? '', /^shop\/web-1 was evicted from n1 at 02:00:05Z/);
  });

  it('names the source where anybody could have written what it says, in escapes what would reorder it', () => {
    const event = eventTrace({
      metadata: { namespace: 'shop', name: 'e' },
      involvedObject: { kind: 'Pod', namespace: 'shop', name: 'web-1', uid: 'u1' },
      ...{ reason: 'TaintManagerEviction', message: 'Marking for deletion Pod shop/web-1' },
      reportingComponent: 'evil\u202e',
      ...{ firstTimestamp: '2026-11-30T02:00:05Z', lastTimestamp: '2026-11-30T02:00:05Z' },
    });
    const stories = mergeStories({ ...nothing, events: event ? [event] : assert.fail() });
    const [{ story } = assert.fail()] = pastOf(stories, [], now, 300).pods;
    assert.match(story.evictedBy, /, as an Event TaintManagerEviction of evil\\u202e says$/);
    assert.doesNotMatch(JSON.stringify(story), /\u202e/);
  });

  it('hides nothing that a leader has kept behind forged Events, and names few of them', () => {
    const forged = Array.from({ length: 5_000 }, (_, index) => {
      const time = `2026-11-30T02:00:${index % 2 === 0 ? '03' : '37'}Z`;
      const event = eventTrace({
        metadata: { namespace: 'shop', name: `e${index}` },
        involvedObject: { kind: 'Pod', namespace: 'shop', name: 'web-1', uid: 'u1' },
        ...{ reason: 'Preempted', message: 'Preempted by a pod on node n1' },
        ...{ reportingComponent: `evil-${index}`, firstTimestamp: time, lastTimestamp: time },
      });
      return event ?? assert.fail();
    });
    const told = (events: HistorySources['events']) => {
      const stories = mergeStories({ ...nothing, departures: [web], events });
      return pastOf(stories, [], now, 300).pods[0]?.story ?? assert.fail();
    };
    const { lines, sources } = told(forged);
    const recorded = (all: readonly string[]) => all.filter((line) => / \[record of /.test(line));
    assert.deepEqual(recorded(lines), recorded(told([]).lines));
    assert.ok(lines.length < 230 && sources.length === 21);
    assert.equal(lines.filter((line) => /^ {2}and \d+ more$/.test(line)).length, 2);
    const but = /^But an Event Preempted of evil-0, .* and 4997 more say that it was preempted /;
    assert.match(lines[1] ?? '', but);
  });

  it('has the last ones, and says that there were others', () => {
    const departures = [1, 2, 3].map((hour) => {
      const [askedAt, goneAt] = [at(`0${hour}:00:00`), at(`0${hour}:30:00`)];
      return { ...web, uid: `u${hour}`, pod: `web-${hour}`, askedAt, answeredAt: askedAt, goneAt };
    });
    const past = pastOf(mergeStories({ ...nothing, departures }), [], now, 2);
    assert.deepEqual([past.pods.map(({ uid }) => uid), past.isCut], [['u2', 'u3'], true]);
  });

  it('has of each namespace its share, and says of which time it lists not all', () => {
    const left = (namespace: string, count: number, clock: string): readonly Departure[] =>
      Array.from({ length: count }, (_, index) => {
        const goneAt = at(clock) + index * 1_000;
        const uid = `${namespace}-${index}`;
        return { ...web, namespace, pod: uid, uid, goneAt, answeredAt: goneAt, askedAt: goneAt };
      });
    const departures = [...left('shop', 3, '01:00:00'), ...left('evil', 1_000, '02:00:00')];
    const shown = ({ pods, gaps, isCut }: ReturnType<typeof pastOf>) => {
      const names = pods.map(({ uid }) => uid);
      return { names: [names[0], names[3], names.at(-1)], count: names.length, gaps, isCut };
    };
    assert.deepEqual(shown(pastOf(mergeStories({ ...nothing, departures }), [], now, 300)), {
      ...{ names: ['shop-0', 'evil-703', 'evil-999'], count: 300, isCut: true },
      gaps: [
        {
          ...{ from: at('02:00:00'), to: at('02:00:00') + 702_000 },
          text: '703 more left then, in evil: kubectl taintmgr history',
        },
      ],
    });
    const many = Array.from({ length: 9 }, (_, index) => left(`n${index}`, 2, `01:0${index}:00`));
    const past = pastOf(mergeStories({ ...nothing, departures: many.flat() }), [], now, 4);
    assert.deepEqual(
      past.pods.map(({ uid }) => uid),
      ['n5-1', 'n6-1', 'n7-1', 'n8-1'],
    );
    assert.deepEqual(
      past.gaps.map(({ text }) => text),
      ['3 more left then, in n6, n7, n8: kubectl taintmgr history'],
    );
  });

  it('leaves out who is still leaving, and says of which time no record is kept', () => {
    const { goneAt, ...leaving } = web;
    const stories = mergeStories({ ...nothing, pods: null, departures: [leaving] });
    assert.equal(pastOf(stories, [], now, 300).pods[0]?.at, leaving.answeredAt);
    const still = stories.map((story) => ({ ...story, state: 'leaving' as const }));
    const gaps = [
      { to: at('01:00:00'), why: 'leaderChanged', leader: 'b' },
      { from: at('01:10:00'), to: at('01:20:00'), why: 'tooMany', count: 7 },
    ] as const;
    assert.deepEqual(pastOf(still, gaps, now, 300), {
      ...{ pods: [], isCut: false },
      gaps: [
        { from: null, to: at('01:00:00'), text: 'b began to lead then' },
        {
          ...{ from: at('01:10:00'), to: at('01:20:00') },
          text: 'more pods left than are kept, 7 are left out',
        },
      ],
    });
    assert.ok(goneAt);
  });
});
