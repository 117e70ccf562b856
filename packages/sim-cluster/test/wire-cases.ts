import type { Hand } from './wire-cluster.ts';

/** How a recorded case is replayed. */
export interface WireCase {
  readonly namespace: string;
  /** What was there before; may tell the values of placeholders that no answer tells first. */
  readonly prepare?: (hand: Hand) => Readonly<Record<string, string>> | undefined;
  /** What happened before an exchange, by its index. */
  readonly before?: Readonly<Record<number, (hand: Hand) => void>>;
  /** Exchanges that are not replayed, and why. */
  readonly without?: Readonly<Record<number, string>>;
}

const NO_YAML = 'only JSON is spoken, and the refusal says so';
const NO_PROTOBUF_REPLY = 'replies are always JSON';
const DIFF = 'the difference is shown by member, not in the lines of a Go printer';
const CUT = 'the recording cuts the object out of the message';

const nothing = (): undefined => undefined;

/** Five pods on two nodes, as the list cases found them. */
function fivePods(hand: Hand): undefined {
  hand.node('wire-l1');
  hand.node('wire-l2', { unschedulable: true });
  for (const [index, letter] of ['a', 'b', 'c', 'd', 'e'].entries()) {
    const labels = { app: 'web', tier: index % 2 ? 'odd' : 'even' };
    hand.pod(`pod-${letter}`, index < 2 ? { nodeName: 'wire-l1' } : {}, { labels });
  }
  const podIPs = [{ ip: '10.1.2.3' }];
  hand.podStatus('pod-a', { phase: 'Running', podIP: '10.1.2.3', podIPs });
}

const lists = (without: WireCase['without'] = {}): WireCase => ({
  namespace: 'wire-list',
  prepare: fivePods,
  without,
});

const writes = (
  prepare: (hand: Hand) => void = nothing,
  rest: Partial<WireCase> = {},
): WireCase => ({
  namespace: 'wire-writes',
  prepare: (hand) => {
    prepare(hand);
    return undefined;
  },
  ...rest,
});

const LIST_CASES: Readonly<Record<string, WireCase>> = {
  '02-list/accept': lists({
    2: NO_YAML,
    3: NO_YAML,
    4: NO_PROTOBUF_REPLY,
    5: NO_PROTOBUF_REPLY,
    6: NO_YAML,
    7: NO_YAML,
    9: NO_YAML,
    12: NO_YAML,
  }),
  '02-list/empty-list': { namespace: 'wire-list' },
  '02-list/expired': {
    namespace: 'wire-expire',
    prepare: (hand) => {
      for (const letter of ['a', 'b', 'c', 'd', 'e']) hand.pod(`pod-${letter}`);
      return undefined;
    },
    before: {
      1: (hand) => {
        hand.pod('pod-cc');
        hand.client.patch('/api/v1/namespaces/wire-expire/pods/pod-e', {
          metadata: { annotations: { n: '147' } },
        });
        hand.api.compact();
      },
    },
  },
  '02-list/field-selector-errors': lists(),
  '02-list/field-selectors-other': lists(),
  '02-list/field-selectors-pods': lists(),
  '02-list/get-resource-version': lists(),
  '02-list/label-selectors': lists(),
  '02-list/list-envelope': lists(),
  '02-list/not-found': lists(),
  '02-list/paging': {
    ...lists({ 8: 'the token says less of why it is none' }),
    before: {
      1: (hand) => {
        hand.pod('pod-aa', {}, { labels: { app: 'web' } });
        hand.pod('pod-zz');
      },
    },
  },
  '02-list/partial-object-metadata': lists(),
  '02-list/resource-version-errors': lists({ 6: 'this store does not begin at version 1' }),
  '02-list/table': {
    ...lists({ 2: 'the recording leaves the columns out' }),
    before: { 0: ({ clock }) => clock.advanceTo(clock.now() + 9000) },
  },
  '03-watch/bad-params': { namespace: 'wire-watch' },
};

const WRITE_CASES: Readonly<Record<string, WireCase>> = {
  '04-writes/binding': writes((hand) => {
    hand.node('wire-n4');
    hand.pod('bind-1');
  }),
  '04-writes/create-errors': writes((hand) => void hand.pod('dup')),
  '04-writes/create-node': writes(),
  '04-writes/create-pod': writes(),
  '04-writes/dry-run': writes((hand) => void hand.pod('dup')),
  '04-writes/generate-name': writes(),
  '04-writes/namespace': writes(),
  '04-writes/patch-json': writes(
    (hand) => {
      hand.node('wire-n1');
      const taints = [{ key: 'a', effect: 'NoExecute' }];
      hand.patchNode('wire-n1', { metadata: { labels: { step: '3' } }, spec: { taints } });
    },
    { without: { 4: 'a bug of the real server: replace of a missing member adds it' } },
  ),
  '04-writes/patch-merge': writes((hand) => {
    hand.node('wire-n1');
    const labels = { step: '3', 'a/b': 'x' };
    hand.patchNode('wire-n1', { metadata: { labels }, spec: { taints: null } });
  }),
  '04-writes/patch-strategic-conditions': {
    namespace: 'wire-writes',
    prepare: (hand) => {
      hand.node('wire-n4');
      hand.patchNode('wire-n4', { spec: { taints: [{ key: 'dup', effect: 'NoExecute' }] } });
      return { '<uid-2>': hand.pod('cond', { nodeName: 'wire-n4' }) };
    },
  },
  '04-writes/patch-strategic-taints': writes((hand) => void hand.node('wire-n4'), {
    without: { 6: 'a directive without a list is passed over' },
  }),
  '04-writes/patch-types': writes((hand) => void hand.node('wire-n4'), {
    without: { 4: NO_YAML, 5: NO_YAML, 7: NO_YAML },
  }),
  '04-writes/pod-update-allowed': writes(
    (hand) => {
      const mine = { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 };
      hand.pod('upd', { nodeName: 'wire-n4', tolerations: [mine] });
    },
    { without: { 9: DIFF, 10: DIFF, 14: DIFF } },
  ),
  '04-writes/pod-validation': writes(),
  '04-writes/server-side-apply': writes(),
  '04-writes/update-put': {
    namespace: 'wire-writes',
    prepare: (hand) => {
      const uid = hand.node('wire-n1');
      const rv = hand.api.get('nodes', '', 'wire-n1')?.metadata.resourceVersion ?? '';
      return { '<uid-1>': uid, '<rv-1>': rv };
    },
  },
  '04-writes/validation-node': writes((hand) => void hand.node('wire-n4'), {
    without: { 5: CUT, 8: 'the real server lists labels in random order' },
  }),
  '04-writes/validation-pod-tolerations': writes(),
};

function deletes(prepare: (hand: Hand) => void): WireCase {
  return {
    namespace: 'wire-delete',
    prepare: (hand) => {
      prepare(hand);
      return undefined;
    },
  };
}

const DELETE_CASES: Readonly<Record<string, WireCase>> = {
  '05-delete/bound-pod': deletes((hand) => void hand.pod('b-1', { nodeName: 'x' })),
  '05-delete/delete-collection': deletes((hand) => {
    const labels = { dc: 'a' };
    hand.pod('c-1', {}, { labels });
    hand.pod('c-2', {}, { labels });
    hand.pod('c-3', { nodeName: 'x' }, { labels });
    hand.pod('c-4');
  }),
  '05-delete/finalizers': deletes((hand) => {
    const finalizers = ['wire.test/hold'];
    for (const name of ['f-1', 'f-2']) hand.pod(name, { nodeName: 'x' }, { finalizers });
    hand.node('wire-d6', {}, { finalizers });
  }),
  '05-delete/grace-variants': deletes((hand) => {
    for (const name of ['g-1', 'g-2', 'g-3']) hand.pod(name, { nodeName: 'x' });
    hand.pod('g-4', { nodeName: 'x', terminationGracePeriodSeconds: 0 });
    for (const phase of ['Succeeded', 'Failed', 'Running']) {
      const name = `g-${phase.toLowerCase()}`;
      hand.pod(name, { nodeName: 'x' });
      hand.podStatus(name, { phase });
    }
  }),
  '05-delete/options': deletes((hand) => {
    hand.pod('o-1', { nodeName: 'x' });
    for (const name of ['wire-d1', 'wire-d4', 'wire-d5']) hand.node(name);
  }),
  '05-delete/other-kinds': {
    ...deletes((hand) => {
      const namespace = 'wire-delete';
      hand.node('wire-d2');
      hand.api.create('leases', { metadata: { name: 'l', namespace } });
      hand.api.create('poddisruptionbudgets', { metadata: { name: 'b', namespace } });
      hand.api.create('events', {
        metadata: { name: 'e', namespace },
        involvedObject: { namespace },
      });
    }),
    without: { 7: 'a stream' },
  },
  '05-delete/preconditions': deletes((hand) => {
    hand.pod('p-1', { nodeName: 'x' });
    hand.node('wire-d1');
  }),
  '05-delete/unbound-pod': deletes((hand) => {
    hand.pod('u-1');
    hand.pod('u-2');
  }),
};

function evictions(prepare: (hand: Hand) => void, rest: Partial<WireCase> = {}): WireCase {
  return {
    namespace: 'wire-evict',
    prepare: (hand) => {
      prepare(hand);
      return undefined;
    },
    ...rest,
  };
}

const one = { minAvailable: 1 };

const EVICTION_CASES: Readonly<Record<string, WireCase>> = {
  '06-eviction/dry-run': evictions((hand) => void hand.running('d-1'), {
    before: {
      4: (hand) => hand.budget('b', one, {}),
      5: (hand) => hand.budgetStatus('b', { disruptionsAllowed: 1 }),
    },
  }),
  '06-eviction/errors': {
    namespace: 'wire-evict',
    prepare: (hand) => ({ '<uid-2>': hand.running('e-1') }),
  },
  '06-eviction/pdb-blocked': evictions(
    (hand) => {
      hand.running('k-1');
      hand.budget('web-pdb', one, {});
    },
    {
      before: {
        2: (hand) => {
          const message = 'found no controllers for pod "k-1"';
          const failed = {
            type: 'DisruptionAllowed',
            status: 'False',
            reason: 'SyncFailed',
            message,
          };
          hand.budgetStatus('web-pdb', { conditions: [failed] });
        },
      },
    },
  ),
  '06-eviction/pdb-consume': evictions((hand) => {
    hand.running('c-1');
    hand.running('c-2');
    hand.budget('b', one, { currentHealthy: 2, expectedPods: 2, disruptionsAllowed: 1 });
  }),
  '06-eviction/pdb-crud': { namespace: 'wire-evict' },
  '06-eviction/pdb-ignored': evictions((hand) => {
    for (const phase of ['Succeeded', 'Failed', 'Pending']) {
      const name = `i-${phase.toLowerCase()}`;
      hand.pod(name, { nodeName: 'x' }, { labels: { app: 'x' } });
      hand.podStatus(name, { phase });
    }
    hand.running('i-term');
    hand.api.delete('pods', 'wire-evict', 'i-term');
    hand.pod('i-other', { nodeName: 'x' });
    hand.podStatus('i-other', { phase: 'Running' });
    hand.budget('b', one, {});
  }),
  '06-eviction/pdb-multiple': evictions((hand) => {
    hand.running('m-1');
    hand.budget('b-1', one, { disruptionsAllowed: 5 });
    hand.budget('b-2', one, { disruptionsAllowed: 5 });
  }),
  '06-eviction/pdb-selectors': evictions(
    (hand) => {
      hand.running('q-1');
      hand.budget('all', { ...one, selector: {} }, {});
    },
    {
      before: {
        1: (hand) => {
          hand.removeBudgets();
          hand.budget('none', { ...one, selector: undefined }, {});
        },
        2: (hand) => {
          hand.removeBudgets();
          const matchExpressions = [{ key: 'app', operator: 'In', values: ['x', 'y'] }];
          hand.budget('exp', { ...one, selector: { matchExpressions } }, {});
        },
      },
    },
  ),
  '06-eviction/pdb-stale': evictions(
    (hand) => {
      hand.running('t-1');
      hand.budget('fresh', one, null);
    },
    {
      before: {
        2: (hand) => {
          hand.budgetStatus('fresh', { disruptionsAllowed: 1 });
          hand.budgetSpec('fresh', { minAvailable: 0 });
        },
      },
    },
  ),
  '06-eviction/success': evictions(
    (hand) => {
      for (const name of ['s-1', 's-2', 's-3']) hand.running(name);
    },
    { without: { 3: 'a stream' } },
  ),
  '06-eviction/unhealthy-policy': evictions(
    (hand) => {
      hand.running('h-1', false);
      hand.running('h-2');
      hand.budget('dflt', one, { currentHealthy: 0 });
    },
    {
      before: {
        1: (hand) => hand.budgetStatus('dflt', {}),
        2: (hand) => hand.budgetStatus('dflt', { currentHealthy: 0, desiredHealthy: 0 }),
        3: (hand) => {
          hand.removeBudgets();
          const policy = { unhealthyPodEvictionPolicy: 'IfHealthyBudget' };
          hand.budget('ifh', { ...one, ...policy }, { currentHealthy: 0 });
        },
        4: (hand) => {
          hand.removeBudgets();
          const policy = { unhealthyPodEvictionPolicy: 'AlwaysAllow' };
          hand.budget('always', { ...one, ...policy }, { currentHealthy: 0 });
        },
      },
    },
  ),
};

const EVENT = 'p.1840a1b2c3d4e5f6';

const EVENT_CASES: Readonly<Record<string, WireCase>> = {
  '07-events-leases/core-aggregate': {
    namespace: 'wire-events',
    prepare: (hand) => {
      const { metadata } = hand.api.create('events', {
        metadata: { name: EVENT, namespace: 'wire-events' },
        involvedObject: {
          kind: 'Pod',
          namespace: 'wire-events',
          name: 'p',
          uid: 'u-1',
          apiVersion: 'v1',
          resourceVersion: '5',
        },
        reason: 'TaintManagerEviction',
        message: 'Marking for deletion Pod x/p',
        source: { component: 'taint-eviction-controller' },
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:00:00Z',
        count: 1,
        type: 'Normal',
        reportingComponent: 'taint-eviction-controller',
      });
      return { '<uid-1>': metadata.uid ?? '' };
    },
  },
  '07-events-leases/core-create': { namespace: 'wire-events' },
  '07-events-leases/core-validation': { namespace: 'wire-events' },
  '07-events-leases/events-v1-create': { namespace: 'wire-events' },
  '07-events-leases/events-v1-series': {
    namespace: 'wire-events',
    prepare: (hand) => {
      hand.client.post('/apis/events.k8s.io/v1/namespaces/wire-events/events', {
        metadata: { name: 'n1' },
        eventTime: '2026-01-01T00:00:00.123456Z',
        reportingController: 'taint-eviction-controller',
        reportingInstance: 'taint-eviction-controller-host1',
        action: 'Evict',
        reason: 'TaintManagerEviction',
        regarding: { kind: 'Pod', namespace: 'wire-events', name: 'p', apiVersion: 'v1' },
        note: 'Marking for deletion',
        type: 'Normal',
      });
      return undefined;
    },
  },
  '07-events-leases/lease-election': { namespace: 'wire-events', without: { 11: CUT } },
  '07-events-leases/microtime': { namespace: 'wire-events' },
  '07-events-leases/node-lease': { namespace: 'default' },
};

const NO_CONFIG_MAPS = 'config maps are not served';

const AUTH_CASES: Readonly<Record<string, WireCase>> = {
  '08-auth/access-review': {
    namespace: 'wire',
    without: {
      0: 'rules have no RBAC object to name as the reason',
      3: 'rules have no RBAC object to name as the reason',
      5: 'the rules that everybody has are fewer',
    },
  },
  '08-auth/anonymous': { namespace: 'wire' },
  '08-auth/forbidden': { namespace: 'wire', without: { 14: NO_CONFIG_MAPS } },
  '08-auth/health': { namespace: 'wire', without: { 3: 'no checks are listed' } },
  '08-auth/unauthorized': { namespace: 'wire', without: { 2: NO_YAML } },
};

/** Every recorded case that is replayed, by its file. */
export const WIRE_CASES: Readonly<Record<string, WireCase>> = {
  ...LIST_CASES,
  ...WRITE_CASES,
  ...DELETE_CASES,
  ...EVICTION_CASES,
  ...EVENT_CASES,
  ...AUTH_CASES,
};
