// Sources of all kinds, made up, and what is told of them; the same in any order, and nothing that no source says.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EvictionRequest } from '@taintmgr/core/drain';
import { parseTime } from '@taintmgr/core/time';
import fc from 'fast-check';
import type { HistorySources, Story } from '../../src/explain/history-model.ts';
import { mergeStories } from '../../src/explain/history-story.ts';
import { eventTrace, nodeTrace, podTrace } from '../../src/explain/history-traces.ts';
import { headline, storyText } from '../../src/explain/history-words.ts';
import type { Departure } from '../../src/history/departure.ts';

const at = (clock: string): number => parseTime(`2026-11-30T${clock}Z`) ?? assert.fail(clock);
const iso = (clock: string): string => `2026-11-30T${clock}Z`;
const now = at('02:30:00');

const nothing: HistorySources = {
  ...{ at: now, departures: [], gaps: [], pods: [], events: [], requests: [] },
  nodes: new Map(),
};

interface PodFields {
  readonly name?: string;
  readonly uid?: string;
  readonly created?: string;
  readonly metadata?: object;
  readonly status?: object;
  readonly mark?: readonly [reason: string, manager: string | null, clock: string];
  readonly owner?: readonly [kind: string, name: string];
}

const mark = (reason: string, clock: string) => {
  return { type: 'DisruptionTarget', status: 'True', reason, lastTransitionTime: iso(clock) };
};

const owns = (manager: string) => ({
  ...{ manager, operation: 'Update', subresource: 'status' },
  fieldsV1: {
    'f:status': { 'f:conditions': { 'k:{"type":"DisruptionTarget"}': { 'f:reason': {} } } },
  },
});

function pod(fields: PodFields) {
  const { name = 'web-1', uid = 'u1', created = '01:00:00', metadata, status, owner } = fields;
  const [reason, manager, clock] = fields.mark ?? [null, null, ''];
  const conditions = reason === null ? [] : [mark(reason, clock)];
  const [kind, of] = owner ?? ['ReplicaSet', 'web'];
  return podTrace({
    metadata: {
      ...{ namespace: 'shop', name, uid, creationTimestamp: iso(created) },
      ownerReferences: [{ kind, name: of, controller: true }],
      managedFields: manager === null ? [] : [owns(manager)],
      ...metadata,
    },
    spec: { nodeName: 'n1' },
    status: { phase: 'Running', conditions, ...status },
  });
}

const deletedAt = (clock: string) => ({
  metadata: { deletionTimestamp: iso(clock), deletionGracePeriodSeconds: 30 },
});

function event(
  reason: string,
  clock: string,
  message: string,
  { by = 'kubelet', about = 'Pod/web-1', uid = 'u1', last = clock, count = 1 } = {},
) {
  const [kind, name] = about.split('/');
  const trace = eventTrace({
    metadata: { namespace: kind === 'Node' ? 'default' : 'shop' },
    involvedObject: { kind, name, ...(kind !== 'Node' && { namespace: 'shop' }), uid },
    ...{ reason, message, count, firstTimestamp: iso(clock), lastTimestamp: iso(last) },
    ...{ source: { component: by }, reportingComponent: by },
  });
  return trace ?? assert.fail('it says when');
}

const marking = (by: string, clock: string, why = '', uid = 'u1') =>
  event('TaintManagerEviction', clock, `Marking for deletion Pod shop/web-1${why}`, { by, uid });
const scheduled = event('Scheduled', '01:00:00', 'Successfully assigned shop/web-1 to n1');
const killing = (clock: string) => event('Killing', clock, 'Stopping container app');

const kubectlTaint = (field: string, manager: string, clock: string) => ({
  ...{ manager, operation: 'Update', time: iso(clock) },
  fieldsV1: { 'f:spec': { [field]: {} } },
});

function node(taints: readonly string[], written: readonly object[], more: object = {}) {
  const listed = taints.map((key) => ({ key, effect: 'NoExecute' }));
  const object = {
    metadata: { name: 'n1', managedFields: written },
    spec: { taints: listed, ...more },
  };
  return new Map([['n1', nodeTrace(object)]]);
}

const tainted = node(['maint'], [kubectlTaint('f:taints', 'kubectl-taint', '01:58:11')]);

const own: Departure = {
  ...{ namespace: 'shop', pod: 'web-1', uid: 'u1', node: 'n1', seenAt: at('02:00:00') },
  owner: { kind: 'ReplicaSet', name: 'web' },
  by: { kind: 'taintmgr', source: 'ownAct' },
  taint: {
    ...{ key: 'maint', value: 'x', effect: 'NoExecute', since: at('01:58:11') },
    ...{ sinceBy: 'taintsWritten', setBy: 'kubectl-taint' },
  },
  ...{ decidedAt: at('01:58:12'), deadline: at('02:01:00'), way: 'eviction' },
  ...{ askedAt: at('02:01:00'), answeredAt: at('02:03:11'), goneAt: at('02:03:14') },
  refusals: [
    ...[{ status: 429, words: 'budget web-pdb', count: 12, firstAt: at('02:01:00') }].map((one) => {
      return { ...one, lastAt: at('02:03:00') };
    }),
  ],
  moves: [{ at: at('01:59:00'), from: at('02:00:00'), to: at('02:01:00'), why: 'PauseEnded' }],
  successor: { pod: 'web-2', uid: 'u2', node: 'n2', readyAt: at('02:03:20') },
};

const sentences: readonly (readonly [string, Partial<HistorySources>, string])[] = [
  [
    'a record of our own',
    { departures: [own] },
    'shop/web-1 was evicted from n1 at 02:03:11Z (26m49s ago) by taintmgr-controller, for taint maint=x:NoExecute, which kubectl-taint put on at 01:58:11Z. It was gone at 02:03:14Z, 3s later.',
  ],
  [
    'a record of a NodeDrain',
    {
      departures: [
        { ...own, by: { kind: 'drain', source: 'ownAct', drain: 'kernel' }, taint: undefined },
      ] as never,
    },
    'shop/web-1 was evicted from n1 at 02:03:11Z (26m49s ago) by NodeDrain kernel (taintmgr-controller). It was gone at 02:03:14Z, 3s later.',
  ],
  [
    'a condition and an Event of kube-controller-manager, and the taint of the node',
    {
      pods: [
        pod({
          mark: ['DeletionByTaintManager', 'kube-controller-manager', '02:29:50'],
          ...deletedAt('02:30:20'),
        }),
      ],
      events: [marking('taint-eviction-controller', '02:29:50', '', '')],
      nodes: tainted,
    },
    'shop/web-1 is terminating: it was evicted from n1 at 02:29:50Z (10s ago) by kube-controller-manager, most likely for taint maint:NoExecute, which kubectl-taint put on at 01:58:11Z, as its condition DisruptionTarget and an Event TaintManagerEviction of taint-eviction-controller say. It has 20s left to end.',
  ],
  [
    'an Event alone',
    {
      events: [scheduled, marking('taintmgr', '02:03:11', ': no toleration for maint=x:NoExecute')],
    },
    'shop/web-1 was evicted from n1 at 02:03:11Z (26m49s ago) by taintmgr-controller, for taint maint=x:NoExecute, as an Event TaintManagerEviction of taintmgr says.',
  ],
  [
    'nothing but that containers were stopped',
    { events: [scheduled, killing('02:03:11')] },
    'shop/web-1 was deleted from n1 at 02:03:11Z (26m49s ago), as Events say; no source says by whom.',
  ],
  [
    'a cordon by kubectl, and the pod is gone',
    {
      events: [scheduled, killing('02:03:11')],
      nodes: node([], [kubectlTaint('f:unschedulable', 'kubectl', '02:03:10')], {
        unschedulable: true,
      }),
    },
    'shop/web-1 was deleted from n1 at 02:03:11Z (26m49s ago), as Events say; no source says by whom (kubectl cordoned n1 at 2026-11-30T02:03:10Z, as kubectl drain does before it evicts).',
  ],
  [
    'its owner',
    {
      events: [
        scheduled,
        event('SuccessfulDelete', '02:03:11', 'Deleted pod: web-1', {
          ...{ by: 'replicaset-controller', about: 'ReplicaSet/web', uid: 'r' },
        }),
      ],
    },
    'shop/web-1 was deleted from n1 at 02:03:11Z (26m49s ago) by ReplicaSet web, as an Event SuccessfulDelete of replicaset-controller says.',
  ],
  [
    'preemption, by the uid of a pod that is there',
    {
      pods: [pod({ name: 'urgent', uid: 'u9' })],
      events: [
        scheduled,
        event('Preempted', '02:03:11', 'Preempted by pod u9 on node n1', {
          by: 'default-scheduler',
        }),
      ],
    },
    'shop/web-1 was preempted on n1 at 02:03:11Z (26m49s ago) by the scheduler for pod shop/urgent, as an Event Preempted of default-scheduler says.',
  ],
  [
    'the kubelet, for lack of memory',
    {
      pods: [
        pod({
          mark: ['TerminationByKubelet', 'kubelet', '02:03:11'],
          status: {
            ...{
              phase: 'Failed',
              reason: 'Evicted',
              message: 'The node was low on resource: memory.',
            },
            conditions: [
              {
                ...mark('TerminationByKubelet', '02:03:11'),
                message: 'The node was low on resource: memory.',
              },
            ],
          },
        }),
      ],
    },
    'shop/web-1 was evicted from n1 at 02:03:11Z (26m49s ago) by the kubelet of n1: The node was low on resource: memory, as its condition DisruptionTarget says. It has ended, and its object is still there.',
  ],
  [
    'a node that is gone',
    {
      events: [
        scheduled,
        event('RemovingNode', '02:18:32', 'Node n1 event: Removing Node n1 from Controller', {
          ...{ by: 'node-controller', about: 'Node/n1', uid: 'n' },
        }),
      ],
      nodes: new Map([['n1', null]]),
    },
    'shop/web-1 was deleted from n1 by garbage collection of pods, most likely: node n1 was removed at about 2026-11-30T02:18:32Z, as an Event RemovingNode of node-controller says.',
  ],
  [
    'a mark whose deletion was denied',
    {
      pods: [pod({ mark: ['DeletionByTaintManager', 'kube-controller-manager', '02:03:11'] })],
      nodes: tainted,
    },
    'shop/web-1 was marked for deletion at 02:03:11Z (26m49s ago) by kube-controller-manager, most likely for taint maint:NoExecute, which kubectl-taint put on at 01:58:11Z, as its condition DisruptionTarget says, and is not deleted.',
  ],
  [
    'a mark, and a deletion at another time',
    {
      pods: [
        pod({
          mark: ['DeletionByTaintManager', 'kube-controller-manager', '02:03:11'],
          ...deletedAt('02:30:20'),
        }),
      ],
    },
    'shop/web-1 is terminating: it was deleted from n1 at 02:29:50Z (10s ago); no source says by whom. It has 20s left to end.',
  ],
  [
    'pods that may not be read',
    { pods: null, events: [scheduled, marking('taintmgr', '02:03:11')] },
    'shop/web-1 was evicted from n1 at 02:03:11Z (26m49s ago) by taintmgr-controller, as an Event TaintManagerEviction of taintmgr says.',
  ],
];

describe('the first sentence', () => {
  for (const [name, sources, expected] of sentences) {
    it(`of ${name}`, () => {
      const stories = mergeStories({ ...nothing, ...sources });
      const told = stories.filter((story) => story.pod === 'web-1');
      assert.deepEqual(
        told.map((story) => headline(story, now)),
        [expected],
      );
    });
  }
});

it('tells the whole of what a record, an Event and the pod that came say', () => {
  const { successor: _, ...left } = own;
  const [story] = mergeStories({
    ...nothing,
    departures: [left],
    events: [scheduled, marking('taintmgr', '02:01:00', ': no toleration for maint=x:NoExecute')],
    pods: [
      pod({
        ...{ name: 'web-2', uid: 'u2', created: '02:03:12' },
        status: {
          conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: iso('02:03:20') }],
        },
      }),
    ],
  });
  assert.equal(
    storyText(story ?? assert.fail(), now),
    `shop/web-1 was evicted from n1 at 02:03:11Z (26m49s ago) by taintmgr-controller, for taint maint=x:NoExecute, which kubectl-taint put on at 01:58:11Z. It was gone at 02:03:14Z, 3s later.

Times (UTC):
  01:58:11Z  taint maint=x:NoExecute on n1, by kubectl-taint [record of taintmgr-controller]
  01:58:12Z  decided: it was to leave at 02:00:00Z [record of taintmgr-controller]
  01:59:00Z  deadline moved from 02:00:00Z to 02:01:00Z: PauseEnded [record of taintmgr-controller]
  02:01:00Z  marking for deletion: no toleration for maint=x:NoExecute [Event TaintManagerEviction of taintmgr]
  02:01:00Z  asked to leave by pods/eviction [record of taintmgr-controller]
  02:01:00Z  refused 12 times (429): budget web-pdb, last at 02:03:00Z [record of taintmgr-controller]
  02:03:11Z  accepted: it leaves by pods/eviction [record of taintmgr-controller]
  02:03:14Z  gone [record of taintmgr-controller]

Instead: web-2 on n1, ready 9s later [pod web-2].

Not known:
  which user ran kubectl-taint: managedFields name programs; the audit log of the API server names users`,
  );
});

it('tells both where sources contradict each other', () => {
  const [story] = mergeStories({
    ...nothing,
    departures: [own],
    events: [event('Preempted', '02:03:11', 'Preempted by a pod on node n1', { by: 'somebody' })],
  });
  assert.equal(story?.by?.kind, 'taintmgr');
  assert.match(
    storyText(story ?? assert.fail(), now),
    /^But an Event Preempted of somebody says that it was preempted at 02:03:11Z by the scheduler\.$/m,
  );
});

it('gives Events without a uid to the pod of that name that left then', () => {
  const message = 'Marking for deletion Pod shop/web-1';
  const twice = event('TaintManagerEviction', '01:10:00', message, {
    ...{ by: 'taint-eviction-controller', uid: '', last: '02:10:00', count: 2 },
  });
  const first = event('Scheduled', '01:00:00', 'Successfully assigned shop/web-1 to n1');
  const second = event('Scheduled', '01:11:00', 'Successfully assigned shop/web-1 to n2', {
    uid: 'u2',
  });
  const third = pod({ uid: 'u3', created: '02:11:00' });
  const stories = mergeStories({ ...nothing, events: [second, twice, first], pods: [third] });
  assert.deepEqual(
    stories.map(({ uid, node: where, askedAt }) => [uid, where, askedAt?.at]),
    [
      ['u1', 'n1', at('01:10:00')],
      ['u2', 'n2', at('02:10:00')],
    ],
  );
});

it('does not take each pod that came for the successor of two', () => {
  const left = (uid: string): Departure =>
    ({ ...own, uid, pod: uid, successor: undefined }) as never;
  const came = ['a', 'b'].map((uid) => pod({ name: uid, uid, created: '02:03:12' }));
  const stories = mergeStories({ ...nothing, departures: [left('x'), left('y')], pods: came });
  assert.deepEqual(
    stories.map(({ successor }) => [successor?.pod, successor?.isOneOfSeveral]),
    [
      ['a', true],
      ['b', true],
    ],
  );
});

it('names gaps of the records where no record is there', () => {
  const gaps = [
    { from: at('02:00:00'), to: at('02:10:00'), why: 'leaderChanged', leader: 'b' },
  ] as const;
  const unknown = (more: Partial<HistorySources>) =>
    mergeStories({ ...nothing, gaps, ...more })[0]?.unknown.filter((line) => /^records/.test(line));
  assert.deepEqual(unknown({ events: [scheduled, killing('02:03:11')] }), [
    'records from 2026-11-30T02:00:00Z to 2026-11-30T02:10:00Z: b began to lead then',
  ]);
  assert.deepEqual(unknown({ events: [scheduled, killing('02:13:11')] }), []);
  assert.deepEqual(unknown({ departures: [own] }), []);
  const removed = event('RemovingNode', '02:18:32', 'Removing Node n1 from Controller', {
    ...{ by: 'node-controller', about: 'Node/n1', uid: 'n' },
  });
  const gone = { events: [scheduled, removed], nodes: new Map([['n1', null]]) };
  assert.deepEqual(unknown(gone), []);
});

describe('Events that somebody made up in a namespace of their own', () => {
  const forged = (uid: string, reason: string, message: string) => {
    return { ...event(reason, '02:03:11', message, { uid }), namespace: 'evil', name: 'x' };
  };
  const preempted = 'Preempted by pod 1 on node n1';
  const tell = (sources: Partial<HistorySources>) => {
    const stories = mergeStories({ ...nothing, ...sources });
    return stories.filter(({ namespace }) => namespace === 'shop');
  };

  it('say nothing of a pod elsewhere, whose uid they name', () => {
    const events = [killing('02:03:11')];
    const also = [...events, forged('u1', 'Preempted', preempted)];
    assert.deepEqual(tell({ events: also }), tell({ events }));
    assert.equal(tell({ events }).length, 1);
  });

  it('hide no Event without a uid, by a uid like a name', () => {
    const events = [marking('taint-eviction-controller', '02:03:11', '', '')];
    const also = [...events, forged('shop/web-1', 'Killing', 'Stopping container x')];
    assert.deepEqual(tell({ events: also }), tell({ events }));
    assert.equal(tell({ events }).length, 1);
  });

  it('name no other preemptor than the pod that is there', () => {
    const events = [event('Preempted', '02:03:11', 'Preempted by pod u9 on node n1')];
    const pods = [pod({ name: 'big', uid: 'u9' })];
    const also = [...events, forged('u9', 'Scheduled', 'Successfully assigned evil/x to n1')];
    assert.equal(tell({ events: also, pods })[0]?.by?.detail, 'for pod shop/big');
  });

  it('change nothing of a successor that is recorded', () => {
    const created = event('SuccessfulCreate', '02:03:15', 'Created pod: y');
    const birth = { ...created, kind: 'Job', namespace: 'evil' };
    const bound = { ...forged('u2', 'Scheduled', 'Successfully assigned evil/y to n1'), name: 'y' };
    const events = [birth, { ...bound, firstAt: birth.firstAt, lastAt: birth.firstAt }];
    const pods = [pod({ name: 'web-2', uid: 'u2', created: '02:03:12' })];
    const sources = { departures: [own], pods };
    assert.deepEqual(tell({ ...sources, events }), tell(sources));
  });

  it('tell nothing of a node', () => {
    const removed = event('RemovingNode', '02:03:10', 'Removing Node n1', { about: 'Node/n1' });
    const sources = { events: [scheduled, removed], nodes: new Map([['n1', null]]) };
    assert.equal(tell(sources)[0]?.by?.kind, 'podGc');
    const events = [scheduled, { ...removed, namespace: 'evil' }];
    assert.equal(tell({ ...sources, events })[0]?.by, null);
  });

  it('are told of when they were created, and not of a time to come', () => {
    const trace = eventTrace({
      metadata: { namespace: 'shop', creationTimestamp: iso('02:03:11') },
      involvedObject: { kind: 'Pod', name: 'web-1', uid: 'u1' },
      ...{ reason: 'Preempted', message: preempted, firstTimestamp: '2099-01-01T00:00:00Z' },
    });
    assert.equal(trace?.firstAt, at('02:03:11'));
  });

  it('are left out where they name what no pod can be called', () => {
    for (const name of ['web-1\npod/web-2', 'web-1\u001b[2J', '', '-', 'a/b']) {
      const trace = eventTrace({
        involvedObject: { kind: 'Pod', namespace: 'shop', name },
        ...{ reason: 'Evicted', firstTimestamp: iso('02:03:11') },
      });
      assert.equal(trace, null, name);
    }
  });

  it('are told of however many there are of one pod', () => {
    const events = Array.from({ length: 130_000 }, (_, index) => {
      return { ...killing('02:03:11'), message: `Stopping container ${index}` };
    });
    assert.equal(tell({ events })[0]?.moments.length, 130_000);
  });
});

it('has no time of a deletion whose grace period is beyond all clocks', () => {
  const metadata = { deletionTimestamp: iso('02:03:11'), deletionGracePeriodSeconds: 1e15 };
  const [story] = mergeStories({ ...nothing, pods: [pod({ metadata })] });
  assert.deepEqual([story?.state, story?.askedAt, story?.moments], ['leaving', null, []]);
});

it('tells who requested the eviction, and of a webhook that kept it for itself', () => {
  const request: EvictionRequest = {
    ...{ namespace: 'shop', name: 'r', podUid: 'u1', requester: 'acme.io/mover' },
    ...{
      intent: 'Eviction',
      drain: null,
      failed: null,
      createdAt: at('02:00:00'),
      responder: null,
    },
  };
  const words =
    'Pod shop/web-1 stays: admission webhook "db.example.com" denied the request: failover';
  const [story] = mergeStories({
    ...nothing,
    requests: [request, { ...request, podUid: 'u2', requester: 'other' }],
    events: [scheduled, event('EvictionIntercepted', '02:01:00', words, { by: 'taintmgr' })],
    pods: [pod({ mark: ['EvictionByEvictionAPI', null, '02:03:11'], ...deletedAt('02:03:41') })],
  });
  const text = storyText(story ?? assert.fail(), now);
  assert.match(
    text,
    /by a client of the Eviction API \(before, Event EvictionIntercepted of taintmgr said: /,
  );
  assert.match(
    text,
    /^ {2}02:00:00Z {2}acme.io\/mover requested that it be evicted \[EvictionRequest r\]$/m,
  );
  assert.doesNotMatch(text, /other/);
});

it('doubts an Event of ours that records do not have', () => {
  const events = [scheduled, marking('taintmgr', '02:03:11')];
  const doubts = (more: Partial<HistorySources>) =>
    mergeStories({ ...nothing, events, ...more })[0]?.unknown.filter((line) => /^if/.test(line))
      .length;
  assert.equal(doubts({ recordsUntil: now }), 1);
  assert.equal(doubts({ recordsUntil: at('02:03:30') }), 0);
  assert.equal(doubts({}), 0);
  assert.equal(
    doubts({ recordsUntil: now, gaps: [{ to: at('02:04:00'), why: 'leaderChanged' }] }),
    0,
  );
  assert.equal(doubts({ recordsUntil: now, departures: [own] }), 0);
});

it('does not say that kube-controller-manager put a taint on that it wrote beside its own', () => {
  const written = [kubectlTaint('f:taints', 'kube-controller-manager', '02:00:00')];
  const [story] = mergeStories({
    ...nothing,
    events: [scheduled, marking('taint-eviction-controller', '02:03:11', '', '')],
    nodes: node(['maint'], written),
  });
  assert.equal(story?.taint?.setBy, null);
});

const clocks = ['02:00:00', '02:00:30', '02:10:00', '02:20:00'] as const;
const someEvent = fc
  .record({
    reason: fc.constantFrom('Scheduled', 'Killing', 'TaintManagerEviction', 'Preempted', 'Evicted'),
    clock: fc.constantFrom(...clocks),
    uid: fc.constantFrom('u1', 'u2', ''),
    by: fc.constantFrom('taintmgr', 'taint-eviction-controller', 'kubelet'),
  })
  .map(({ reason, clock, uid, by }) => {
    const name = `Pod/web-${uid === 'u2' ? 2 : 1}`;
    return event(reason, clock, 'Marking for deletion', { by, uid, about: name });
  });
const somePod = fc
  .record({ uid: fc.constantFrom('u1', 'u2', 'u3'), marked: fc.boolean(), deleted: fc.boolean() })
  .map(({ uid, marked, deleted }) =>
    pod({
      ...{ name: `web-${uid === 'u2' ? 2 : 1}`, uid },
      ...(marked && { mark: ['EvictionByEvictionAPI', null, '02:10:00'] as const }),
      ...(deleted && deletedAt('02:10:30')),
    }),
  );
const someDeparture = fc.constantFrom('u1', 'u2', 'u4').map((uid): Departure => {
  return { ...own, uid, pod: `web-${uid === 'u2' ? 2 : 1}` };
});
const someSources = fc.record({
  events: fc.array(someEvent, { maxLength: 8 }),
  pods: fc.uniqueArray(somePod, { selector: ({ uid }) => uid, maxLength: 3 }),
  departures: fc.uniqueArray(someDeparture, { selector: ({ uid }) => uid, maxLength: 3 }),
});

it('tells the same of the same sources in any order, however often each comes', () => {
  fc.assert(
    fc.property(someSources, fc.infiniteStream(fc.nat()), (sources, dice) => {
      const expected = mergeStories({ ...nothing, ...sources });
      const mixed = <T>(list: readonly T[]): readonly T[] =>
        [...list, ...list]
          .map((one) => [dice.next().value, one] as const)
          .sort(([a], [b]) => a - b)
          .map(([, one]) => one);
      const { events, pods, departures } = sources;
      const other = { events: mixed(events), pods: mixed(pods), departures: mixed(departures) };
      assert.deepEqual(mergeStories({ ...nothing, ...other }), expected);
    }),
  );
});

/** The dumb twin: one pod after the other, without indexes. */
function leavers({
  events,
  pods,
  departures,
}: { [K in 'events' | 'pods' | 'departures']: NonNullable<HistorySources[K]> }): readonly string[] {
  const uids = new Set([
    ...events.map(({ uid }) => uid),
    ...pods.map(({ uid }) => uid),
    ...departures.map(({ uid }) => uid),
  ]);
  const stays = (uid: string) =>
    pods.some((one) => one.uid === uid && one.mark === null && one.deletionTimestamp === null);
  return [...uids].filter((uid) => uid !== '' && !stays(uid)).sort();
}

it('tells of each pod that leaves, and of no other', () => {
  fc.assert(
    fc.property(someSources, (sources) => {
      const told = mergeStories({ ...nothing, ...sources }).map(({ uid }) => uid);
      assert.deepEqual(told.filter((uid) => uid !== '').sort(), leavers(sources));
    }),
  );
});

it('claims nothing that no source says', () => {
  fc.assert(
    fc.property(someSources, (sources) => {
      for (const story of mergeStories({ ...nothing, ...sources })) assertSaid(story, sources);
    }),
  );
});

function assertSaid(
  { by, others, uid, moments }: Story,
  { events, pods, departures }: Pick<HistorySources, 'events' | 'pods' | 'departures'>,
): void {
  for (const claim of [...(by ? [by] : []), ...others]) assert.ok(claim.sources.length > 0);
  const kinds = new Set(moments.map(({ source }) => source.kind));
  if (kinds.has('record')) assert.ok(departures.some((one) => one.uid === uid));
  if (kinds.has('condition')) assert.ok(pods?.some((one) => one.uid === uid && one.mark));
  if (kinds.has('event')) assert.ok(events?.some((one) => one.uid === uid || one.uid === ''));
}
