import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  LiveHistory,
  type LiveInput,
  type LiveMoment,
  type LivePod,
  type PastPod,
  type PodStory,
} from '@taintmgr/page';

// A history is opened at 10:00:00; seconds count from a minute before, so that is 60.

const opened = Date.parse('2026-11-23T10:00:00Z');
const instant = (seconds: number): number => opened - 60_000 + seconds * 1000;

const node: LiveMoment['nodes'][number] = {
  ...{ name: 'a-1', zone: 'a', ready: 'True', cordoned: false, taints: ['kernel:NoExecute'] },
};
const zone: LiveMoment['zones'][number] = {
  ...{ name: 'a', state: 'Normal', held: null, nodes: 1, notReady: 0, tainted: 1, pending: 1 },
  ...{ overdue: 0, heldPods: 0, blocked: 0, stuck: 0 },
};
const web: LivePod = {
  ...{ uid: 'u1', namespace: 'shop', pod: 'web-1', node: 'a-1', workload: 'ReplicaSet shop/web' },
  ...{ state: 'Evict', setAt: instant(50), dueAt: instant(100), remainingSeconds: null },
  ...{ isEstimate: false, evictor: 'taintmgr-controller', because: ['no toleration'], holds: [] },
};
const budget = { kind: 'PDB', name: 'web', text: 'PDB web (needs time)' };

function moment(seconds: number, given: Partial<LiveMoment> = {}): LiveMoment {
  return {
    ...{ at: instant(seconds), evictedBy: 'taintmgr-controller', warnings: [], notes: [] },
    ...{ zones: [zone], nodes: [node], pods: [web], podsLeftOut: 0, actions: [], ...given },
  };
}

/** What is shown after some looks. */
function after(...moments: readonly LiveMoment[]): LiveInput {
  const history = new LiveHistory('test', opened);
  for (const one of moments) history.take(one);
  return history.input() ?? assert.fail('nothing was read');
}

const textsOf = ({ record }: LiveInput): readonly (readonly [number, string])[] =>
  record.events.map(({ at, text }) => [at, text] as const);

describe('the history of a live cluster', () => {
  it('counts seconds from a minute before it was opened, and knows nothing before it has read', () => {
    assert.equal(new LiveHistory('test', opened).input(), null);
    const { startsAt, openedAt, now, pods, record } = after(moment(61));
    assert.deepEqual({ startsAt, openedAt, now }, { startsAt: instant(0), openedAt: 60, now: 61 });
    assert.deepEqual([pods[0]?.setAt, pods[0]?.dueAt], [50, 100]);
    assert.deepEqual(record.events, []);
    const [running] = record.deadlines;
    assert.deepEqual([running?.setAt, running?.dueAt, running?.end], [50, 100, 'running']);
  });

  it('says that a pod has left when it is gone after its time, and nothing of who did it', () => {
    const input = after(moment(61), moment(99), moment(101, { pods: [] }));
    assert.deepEqual(textsOf(input), [[101, 'shop/web-1 has left a-1']]);
    const [{ end, endedAt } = assert.fail()] = input.record.deadlines;
    assert.deepEqual({ end, endedAt }, { end: 'evicted', endedAt: 101 });
    const [{ how, at } = assert.fail()] = input.record.evictions;
    assert.deepEqual({ how, at }, { how: 'seen', at: 101 });
  });

  it('says nothing of the end of what nobody could tell of', () => {
    const unknown: LivePod = { ...web, state: 'Unknown', setAt: null, dueAt: null };
    const input = after(moment(61, { pods: [unknown] }), moment(99, { pods: [] }));
    assert.deepEqual([textsOf(input), input.record.deadlines], [[], []]);
  });

  it('says that a pod is to leave no more when it is gone from the list before its time', () => {
    const input = after(moment(61), moment(99, { pods: [] }));
    assert.deepEqual(textsOf(input), [[99, 'shop/web-1 is to leave no more']]);
    assert.equal(input.record.deadlines[0]?.end, 'cancelled');
    assert.deepEqual(input.record.evictions, []);
  });

  it('says that a pod is gone with its node', () => {
    const input = after(moment(61), moment(101, { pods: [], nodes: [] }));
    assert.deepEqual(textsOf(input), [
      [101, 'node a-1 is gone'],
      [101, 'shop/web-1 is gone with a-1'],
    ]);
    assert.equal(input.record.nodes[0]?.states.at(-1)?.ready, 'Gone');
  });

  it('ends a deadline when the pod terminates, and the pod has left when it is gone', () => {
    const leaving: LivePod = { ...web, state: 'Terminating', dueAt: null };
    const input = after(moment(61), moment(102, { pods: [leaving] }), moment(130, { pods: [] }));
    const [{ end, endedAt } = assert.fail()] = input.record.deadlines;
    assert.deepEqual({ end, endedAt }, { end: 'evicted', endedAt: 102 });
    assert.deepEqual(textsOf(input), [[130, 'shop/web-1 has left a-1']]);
  });

  it('begins another deadline where the time moves, and none where an estimate wavers', () => {
    const at = (seconds: number): LivePod => ({ ...web, dueAt: instant(seconds) });
    const looks = [moment(62, { pods: [at(101.5)] }), moment(63, { pods: [at(400)] })];
    const { record } = after(moment(61), ...looks);
    assert.deepEqual(
      record.deadlines.map(({ dueAt, end, endedAt }) => [dueAt, end, endedAt]),
      [
        [100, 'moved', 63],
        [400, 'running', null],
      ],
    );
  });

  it('holds begin when a pod is due, not before, and end with what held it', () => {
    const blocked = { pods: [{ ...web, holds: [budget] }] };
    const looks = [moment(61, blocked), moment(104, blocked), moment(110)];
    const { record } = after(...looks);
    const [{ kind, name, from, until } = assert.fail(), ...more] = record.holds;
    assert.deepEqual(
      { kind, name, from, until },
      { kind: 'PDB', name: 'web', from: 104, until: 110 },
    );
    assert.equal(more.length, 0);
  });

  it('holds of pods that are paused or terminate begin at once, and end when the pod has left', () => {
    const pause = { kind: 'pause', name: 'night', text: 'holds all' };
    const finalizer = { kind: 'finalizers', name: '', text: 'example.com/wait' };
    const paused: LivePod = { ...web, state: 'Held', dueAt: null, holds: [pause] };
    const leaving: LivePod = { ...web, state: 'Terminating', dueAt: null, holds: [finalizer] };
    const input = after(
      moment(61, { pods: [paused] }),
      moment(70, { pods: [{ ...paused, holds: [{ ...pause, text: 'holds the shop' }] }] }),
      moment(80, { pods: [web] }),
      moment(90, { pods: [paused] }),
      moment(100, { pods: [leaving] }),
      moment(110, { pods: [] }),
    );
    assert.deepEqual(
      input.record.holds.map(({ kind, text, from, until }) => [kind, text, from, until]),
      [
        ['pause', 'holds the shop', 61, 80],
        ['pause', 'holds all', 90, 100],
        ['finalizers', 'example.com/wait', 100, 110],
      ],
    );
  });

  it('a deadline that nobody knows the beginning of counts from when it was seen', () => {
    const { record } = after(moment(61, { pods: [{ ...web, setAt: null }] }));
    assert.deepEqual([record.deadlines[0]?.setAt, record.deadlines[0]?.dueAt], [61, 100]);
  });

  it('a deadline that is over is not moved when the pod comes into the list again', () => {
    const leaving: LivePod = { ...web, state: 'Terminating', dueAt: null };
    const { record } = after(moment(61), moment(101, { pods: [leaving] }), moment(102));
    assert.deepEqual(
      record.deadlines.map(({ dueAt, end, endedAt }) => [dueAt, end, endedAt]),
      [
        [100, 'evicted', 101],
        [100, 'running', null],
      ],
    );
  });

  it('tells of nodes that come, go and come back, each time once', () => {
    const other = { ...node, name: 'b-1' };
    const looks = [[node], [node, other], [other], [other], [node, other]];
    const input = after(
      ...looks.map((nodes, index) => moment(61 + index * 10, { nodes, pods: [] })),
    );
    assert.deepEqual(textsOf(input), [
      [71, 'node b-1 is new'],
      [81, 'node a-1 is gone'],
      [101, 'node a-1: Ready=True'],
    ]);
    assert.deepEqual(
      input.record.nodes.map(({ name, states }) => [
        name,
        states.map(({ at, ready }) => [at, ready]),
      ]),
      [
        [
          'a-1',
          [
            // As it was when the page was opened, it is drawn from the left.
            [0, 'True'],
            [81, 'Gone'],
            [101, 'True'],
          ],
        ],
        ['b-1', [[71, 'True']]],
      ],
    );
  });

  it('tells of a taint that takes the place of another, and of the end of a hold', () => {
    const held = { ...zone, held: 'nodes not ready: all' };
    const input = after(
      moment(61, { zones: [held] }),
      moment(70, { nodes: [{ ...node, taints: ['disk:NoExecute'] }] }),
    );
    assert.deepEqual(textsOf(input), [
      [70, 'node a-1 has the taint disk:NoExecute'],
      [70, 'node a-1 has lost the taint kernel:NoExecute'],
      [70, 'zone a is no longer held'],
    ]);
  });

  it('tells of taints, readiness, cordons, zones, pauses and drains that come and go', () => {
    const ill = { ...node, ready: 'Unknown' as const, cordoned: true, taints: [] };
    const pause = {
      kind: 'pause',
      name: 'night',
      from: null,
      until: null,
      text: 'holds all',
    } as const;
    const input = after(
      moment(61),
      moment(70, { nodes: [ill], zones: [{ ...zone, state: 'FullDisruption' }], actions: [pause] }),
      moment(80, { zones: [{ ...zone, held: 'nodes not ready: all' }] }),
    );
    assert.deepEqual(
      textsOf(input).map(([at, text]) => `${at} ${text}`),
      [
        '70 node a-1: Ready=Unknown',
        '70 node a-1 has lost the taint kernel:NoExecute',
        '70 node a-1 is cordoned',
        '70 zone a: Normal, now FullDisruption',
        '70 pause night begins: holds all',
        '80 node a-1: Ready=True',
        '80 node a-1 has the taint kernel:NoExecute',
        '80 node a-1 is open again',
        '80 zone a: FullDisruption, now Normal',
        '80 zone a: nodes not ready: all',
        '80 pause night is over',
      ],
    );
    assert.equal(input.record.nodes[0]?.states.length, 3);
  });

  it('keeps what was read last while the cluster is away, and says since when', () => {
    const history = new LiveHistory('test', opened);
    history.take(moment(61));
    history.lose(instant(70), 'connection refused');
    history.lose(instant(75), 'connection reset');
    const lost = history.input();
    assert.deepEqual(lost?.lost, { since: 70, message: 'connection reset' });
    assert.deepEqual([lost?.now, lost?.pods.length], [61, 1]);
    history.take(moment(80));
    const found = history.input() ?? assert.fail();
    assert.equal(found.lost, null);
    assert.deepEqual(textsOf(found), [
      [70, 'the cluster cannot be read: connection refused'],
      [80, 'the API server answers again, after 10s'],
    ]);
  });

  it('follows a pod that has no room in the list, and says that it has left when it is gone', () => {
    const history = new LiveHistory('test', opened);
    const gone: LivePod = { ...web, uid: 'u2', pod: 'web-2' };
    history.take(moment(61, { pods: [web, gone] }));
    const later: LivePod = { ...web, dueAt: instant(400) };
    const full = moment(101, { pods: [], podsLeftOut: 1 });
    history.take(full, ({ uid }) => (uid === web.uid ? later : null));
    const first = history.input() ?? assert.fail();
    assert.deepEqual(textsOf(first), [[101, 'shop/web-2 has left a-1']]);
    assert.deepEqual(
      first.record.deadlines.map(({ pod, dueAt, end }) => [pod, dueAt, end]),
      [
        ['web-1', 100, 'moved'],
        ['web-2', 100, 'evicted'],
        ['web-1', 400, 'running'],
      ],
    );
    history.take(moment(401, { pods: [], podsLeftOut: 1 }));
    const second = history.input() ?? assert.fail();
    assert.deepEqual(textsOf(second).slice(1), [[401, 'shop/web-1 has left a-1']]);
  });

  it('forgets the oldest deadlines, holds and pods that have left', () => {
    const many = (first: number): readonly LivePod[] =>
      Array.from({ length: 1500 }, (_, index) => {
        const name = `web-${first + index}`;
        return { ...web, uid: name, pod: name, holds: [budget] };
      });
    const looks = [many(0), [], many(1500), []];
    const { record } = after(...looks.map((pods, index) => moment(101 + index, { pods })));
    for (const list of [record.deadlines, record.holds, record.evictions]) {
      assert.equal(list.length, 2000);
      assert.deepEqual([list[0]?.pod, list.at(-1)?.pod], ['web-1000', 'web-2999']);
    }
    assert.equal(record.isCut, true);
  });

  it('forgets the oldest, and says so', () => {
    const moments = Array.from({ length: 2100 }, (_, index) => {
      return moment(61 + index, { nodes: [{ ...node, cordoned: index % 2 === 1 }] });
    });
    const { record } = after(...moments);
    assert.equal(record.events.length, 2000);
    assert.equal(record.isCut, true);
    assert.equal(record.nodes[0]?.states.length, 2000);
  });
});

const story: PodStory = {
  ...{ evictedBy: 'taintmgr-controller', reason: 'kernel:NoExecute', replacedBy: 'web-9 on b-1' },
  ...{ sources: ['the memory of the leader'], lines: ['shop/web-1 left a-1'] },
};
const { uid, namespace, pod: name, workload } = web;
const told: PastPod = { uid, namespace, pod: name, workload, node: 'a-1', at: instant(95), story };

describe('the history of a live cluster, beside what others remember', () => {
  it('knows nobody who left before the page was opened where nobody remembers', () => {
    const text = 'pods that left before this page was opened are unknown here';
    assert.deepEqual(after(moment(61)).record.gaps, [{ from: null, to: 60, text }]);
  });

  it('begins where the earliest of them left, and six hours before its opening at most', () => {
    const startOf = (...ats: readonly number[]): number => {
      const history = new LiveHistory('test', opened);
      history.remember({ pods: ats.map((at) => ({ ...told, at })), gaps: [], isCut: false });
      history.take(moment(61, { pods: [] }));
      return history.input()?.startsAt ?? assert.fail();
    };
    assert.equal(startOf(), instant(0));
    assert.equal(startOf(instant(55), instant(-600)), instant(-660));
    assert.equal(startOf(instant(-90_000)), opened - 6 * 3_600_000);
  });

  it('begins where nothing is known, if that is not long ago, and is drawn from its opening on', () => {
    const inputOf = (to: number): LiveInput => {
      const history = new LiveHistory('test', opened);
      history.remember({ pods: [], gaps: [{ from: null, to, text: 'gone' }], isCut: false });
      history.take(moment(61, { pods: [] }));
      return history.input() ?? assert.fail();
    };
    const { startsAt, record, openedAt } = inputOf(instant(-1800));
    assert.equal(startsAt, instant(-1860));
    assert.deepEqual(
      record.nodes[0]?.states.map((state) => openedAt - state.at),
      [60],
    );
    assert.equal(inputOf(instant(-7200)).startsAt, instant(0));
  });

  it('does not begin earlier when more is remembered later', () => {
    const history = new LiveHistory('test', opened);
    history.take(moment(61, { pods: [] }));
    history.remember({ pods: [{ ...told, at: instant(-600) }], gaps: [], isCut: false });
    const { startsAt, record } = history.input() ?? assert.fail();
    assert.equal(startsAt, instant(0));
    assert.deepEqual(
      record.evictions.map(({ at }) => at),
      [-600],
    );
  });

  it('counts a pod that was seen and is told of once, by the time and the words of who tells', () => {
    const history = new LiveHistory('test', opened);
    for (const look of [moment(61), moment(101, { pods: [] })]) history.take(look);
    history.remember({ pods: [{ ...told, at: instant(99) }], gaps: [], isCut: false });
    const { evictions } = history.input()?.record ?? assert.fail();
    const pod = { uid, namespace, pod: name, workload, node: 'a-1' };
    assert.deepEqual(evictions, [{ ...pod, at: 99, how: 'seen', because: web.because, story }]);
  });

  it('takes one of whom nobody says which one of its name it is for the one that was seen within the hour', () => {
    const leftOf = (at: number, given: Partial<PastPod> = {}) => {
      const history = new LiveHistory('test', opened);
      for (const look of [moment(61), moment(101, { pods: [] })]) history.take(look);
      const pods = [{ ...told, uid: '', at: instant(at), ...given }];
      history.remember({ pods, gaps: [], isCut: false });
      const { evictions } = history.input()?.record ?? assert.fail();
      return evictions.map((one) => `${one.uid} ${one.at}${one.story ? ' told' : ''}`);
    };
    assert.deepEqual(leftOf(100), ['u1 100 told']);
    assert.deepEqual(leftOf(-3600), ['shop/web-1 -3600 -3600 told', 'u1 101']);
    assert.deepEqual(leftOf(103), ['u1 101', 'shop/web-1 103 103 told']);
    assert.deepEqual(leftOf(100, { pod: 'web-2' }), ['shop/web-2 100 100 told', 'u1 101']);
    assert.deepEqual(leftOf(100, { namespace: 'infra' }), ['infra/web-1 100 100 told', 'u1 101']);
  });

  it('tells of no pod that is still there', () => {
    const history = new LiveHistory('test', opened);
    history.remember({ pods: [told], gaps: [], isCut: false });
    history.take(moment(61));
    assert.deepEqual(history.input()?.record.evictions, []);
    history.take(moment(101, { pods: [] }));
    assert.equal(history.input()?.record.evictions.length, 1);
  });

  it('says by which times nobody knows who left', () => {
    const history = new LiveHistory('test', opened);
    const gaps = [
      { from: null, to: instant(-7200), text: 'Events are gone' },
      { from: instant(10), to: instant(20), text: 'the leader changed' },
    ];
    history.remember({ pods: [], gaps, isCut: false });
    history.take(moment(61, { pods: [] }));
    assert.deepEqual(history.input()?.record.gaps, [
      { from: null, to: -7200, text: 'Events are gone' },
      { from: 10, to: 20, text: 'the leader changed' },
    ]);
  });

  it('keeps the last three hundred, and so much of a story that a webhook with many words cannot fill it', () => {
    const history = new LiveHistory('test', opened);
    const lines = Array.from({ length: 9 }, () => 'x'.repeat(1000));
    const pods = Array.from({ length: 1000 }, (_, index) => {
      return { ...told, uid: `u${index}`, at: instant(index), story: { ...story, lines } };
    });
    const gaps = [
      { from: null, to: instant(1), text: 'gone' },
      { from: instant(800), to: instant(801), text: 'the leader changed' },
    ];
    history.remember({ pods, gaps, isCut: false });
    history.take(moment(2000, { pods: [] }));
    const { evictions, gaps: shown } = history.input()?.record ?? assert.fail();
    const text = 'those who left then are not shown here, kubectl taintmgr history tells of them';
    assert.deepEqual(shown, [
      { from: null, to: 700, text },
      { from: 800, to: 801, text: 'the leader changed' },
    ]);
    assert.deepEqual([evictions.length, evictions[0]?.uid], [300, 'u700']);
    assert.deepEqual(evictions[0]?.story?.lines, [...lines.slice(0, 4), '... 5 more lines']);
  });

  it('has each pod that left once and in order, whoever saw it or tells of it', () => {
    const subsets = Array.from({ length: 8 }, (_, bits) => {
      return ['a', 'b', 'c'].filter((__, place) => (bits >> place) % 2 === 1);
    });
    const podsOf = (uids: readonly string[]) => uids.map((one) => ({ ...web, uid: one }));
    for (const present of subsets) {
      for (const later of subsets) {
        for (const known of subsets) {
          const history = new LiveHistory('test', opened);
          history.take(moment(61, { pods: podsOf(present) }));
          history.take(moment(101, { pods: podsOf(later) }));
          const pods = known.map((one, index) => ({ ...told, uid: one, at: instant(110 - index) }));
          history.remember({ pods, gaps: [], isCut: false });
          const { evictions } = history.input()?.record ?? assert.fail();
          const gone = [...present, ...known].filter((one) => !later.includes(one));
          assert.deepEqual(evictions.map((one) => one.uid).sort(), [...new Set(gone)].sort());
          const times = evictions.map(({ at }) => at);
          assert.deepEqual(
            times,
            [...times].sort((one, other) => one - other),
          );
        }
      }
    }
  });

  it('forgets nodes that have been gone for long', () => {
    const history = new LiveHistory('test', opened);
    const many = (first: number) =>
      Array.from({ length: 1500 }, (_, index) => ({ ...node, name: `n${first + index}` }));
    for (const [index, nodes] of [many(0), many(1500), []].entries())
      history.take(moment(61 + index, { nodes, pods: [] }));
    const { nodes, isCut } = history.input()?.record ?? assert.fail();
    assert.deepEqual([nodes.length, nodes[0]?.name, isCut], [2000, 'n1000', true]);
  });
});
