import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Pod, parseTaint } from '@taintmgr/core';
import { type Budget, type PlanInput, planDrain } from '@taintmgr/core/drain';
import { type DrainOptions, drainConfig } from './standalone-drain.ts';

// The plan of a drain, as data; the apps print it.

/** No whole second: a time of the API that is one counts from its end. */
const now = 999_999;
const taint = parseTaint('m=x:NoExecute');
const targets = [
  { name: 'n2', zone: '' },
  { name: 'n1', zone: '' },
];

const rs = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs' };

function pod(name: string, fields: Partial<Pod> = {}): Pod {
  return {
    namespace: 'shop',
    name,
    uid: name,
    nodeName: 'n1',
    tolerations: [],
    boundAt: null,
    deletionTimestamp: null,
    phase: 'Running',
    generation: 1,
    mirror: false,
    owner: rs,
    hasEmptyDir: false,
    ready: 'True',
    labels: { app: name.replace(/-\d+$/, '') },
    ...fields,
  };
}

function tolerates(seconds: number | null): Pick<Pod, 'tolerations'> {
  const toleration = { key: 'm', operator: 'Exists', value: '', effect: '' };
  return { tolerations: [{ ...toleration, tolerationSeconds: seconds }] };
}

const web: Budget = {
  namespace: 'shop',
  name: 'web',
  selector: { matchLabels: { app: 'web' } },
  allowed: 1,
  healthy: 3,
  desired: 2,
  expected: 3,
  upToDate: true,
  alwaysEvictUnhealthy: false,
  refusal: null,
};

function plan(
  pods: readonly Pod[],
  options: DrainOptions = {},
  budgets: readonly Budget[] | null = [],
  nodeAnswers: (nodeName: string) => boolean = () => true,
  own?: PlanInput['own'],
): readonly string[] {
  const nodes = targets.map(({ name }) => ({ name, uid: name, taints: [] }));
  const { pods: planned } = planDrain(now, {
    config: drainConfig(taint, options),
    nodes,
    pods: pods.map((one) => ({ pod: one, finalizers: [] })),
    budgets,
    nodeAnswers,
    ...(own && { own }),
  });
  return planned.map(({ pod: { name }, fate, blockers }) => {
    const at = fate.kind === 'evict' ? ` +${(fate.at - now) / 1000}` : '';
    const faults = 'faults' in fate ? ` ${fate.faults.join(' ')}` : '';
    const held = blockers.map(({ code, verdict }) => ` ${code} ${verdict}`).join('');
    return `${name} ${fate.kind}${at}${faults}${held}`;
  });
}

describe('planDrain', () => {
  describe('names the last replica of ours, which stays until another is ready', () => {
    const times = { heartbeatAt: 0, transitionAt: 0 };
    const conditions = [{ type: 'Ready', status: 'True', reason: '', message: '', ...times }];
    const nodes = ['n1', 'n2', 'n3'].map((name) => ({ name, uid: name, taints: [], conditions }));
    const [ours, onN2, onN3] = ['c-1', 'c-2', 'c-3'].map((name, index) => {
      return pod(name, { nodeName: `n${index + 1}`, labels: {} });
    });
    assert.ok(ours && onN2 && onN3);
    const stranger = pod('c-4', { nodeName: 'n3', owner: { ...rs, name: 'other' } });
    const keeps = (...replicas: readonly Pod[]): PlanInput['own'] => {
      return { pod: { namespace: 'shop', name: 'c-1' }, replicas, nodes };
    };
    const planWith = (drained: readonly Pod[], replicas: readonly Pod[]): readonly string[] => {
      return plan(drained, {}, [], () => true, keeps(...replicas));
    };
    const cases: readonly (readonly [string, readonly string[], readonly string[]])[] = [
      ['where it is alone', planWith([ours], [ours]), ['c-1 evict +0 LastReplica needsTime']],
      [
        'where all go: the last in the order of the plan',
        planWith([ours, onN2], [ours, onN2]),
        ['c-2 evict +0', 'c-1 evict +0 LastReplica needsTime'],
      ],
      ['but not where another stays', planWith([ours], [ours, onN3]), ['c-1 evict +0']],
      [
        'and the other does not stay where it is not ready',
        planWith([ours], [ours, { ...onN3, ready: 'False' }]),
        ['c-1 evict +0 LastReplica needsTime'],
      ],
      [
        'and no pod of another workload stands in',
        planWith([ours], [ours, stranger]),
        ['c-1 evict +0 LastReplica needsTime'],
      ],
      [
        'but no pod of another workload is kept',
        planWith([{ ...stranger, nodeName: 'n1' }], [ours]),
        ['c-4 evict +0'],
      ],
    ];
    for (const [what, found, expected] of cases) {
      it(what, () => assert.deepEqual(found, expected));
    }
  });

  const all = [
    pod('later', tolerates(60)),
    pod('forever', tolerates(null)),
    pod('agent', { owner: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' } }),
    pod('bare', { owner: null, hasEmptyDir: true }),
    pod('static', { mirror: true, owner: null }),
    pod('going', { deletionTimestamp: now - 5000 }),
    pod('first', { nodeName: 'n2', ...tolerates(30) }),
    pod('now'),
  ];
  const cases: readonly (readonly [string, DrainOptions, readonly string[]])[] = [
    [
      'node by node, the next to go first',
      {},
      [
        'first evict +30',
        'now evict +0',
        'later evict +60',
        'agent refuse DaemonSet',
        'bare refuse EmptyDir Unmanaged',
        'forever keep',
        'going leaving',
        'static keep',
      ],
    ],
    [
      'nobody is waited for, and the filters are off',
      {
        respect: 'limitless',
        skipTerminatingMs: 3000,
        filters: { force: true, ignoreDaemonSets: true, deleteEmptyDirData: true },
      },
      [
        'first evict +0',
        'bare evict +0',
        'later evict +0',
        'now evict +0',
        'agent leave DaemonSet',
        'forever keep',
        'going skip',
        'static keep',
      ],
    ],
    [
      'no toleration counts, and the DaemonSet is gone',
      { respect: 'nothing', goneDaemonSets: ['shop/agent'] },
      [
        'first evict +0',
        'forever evict +0',
        'later evict +0',
        'now evict +0',
        'agent refuse OrphanedDaemonSetPod',
        'bare refuse EmptyDir Unmanaged',
        'going leaving',
        'static keep',
      ],
    ],
  ];
  for (const [name, options, expected] of cases) {
    it(name, () => assert.deepEqual(plan(all, options), expected));
  }

  it('pods of one budget go in turn', () => {
    const three = [pod('web-1'), pod('web-2', tolerates(5)), pod('web-3'), pod('api-1')];
    assert.deepEqual(plan(three, {}, [web]), [
      'api-1 evict +0',
      'web-1 evict +0',
      'web-3 evict +0 Budget needsTime',
      'web-2 evict +5 Budget needsTime',
    ]);
    assert.deepEqual(
      plan(three, { budgets: { kind: 'ignore' } }, [web]).filter((line) => /Budget/.test(line)),
      [],
    );
    const shut = { ...web, allowed: 0, desired: 3 };
    assert.deepEqual(plan([pod('web-1')], {}, [shut]), ['web-1 evict +0 Budget never']);
    assert.deepEqual(plan([pod('web-1')], {}, null), ['web-1 evict +0']);
    assert.deepEqual(
      plan(three, {}, [web], () => false).filter((line) => line.startsWith('web')),
      [
        'web-1 evict +0 NodeLost needsTime',
        'web-3 evict +0 Budget needsTime NodeLost needsTime',
        'web-2 evict +5 Budget needsTime NodeLost needsTime',
      ],
      'what holds them besides is said too',
    );
  });

  it('a budget that spares pods that are not ready keeps none of them waiting', () => {
    const two = [pod('web-1', { ready: 'False' }), pod('web-2', { ready: 'False' })];
    assert.deepEqual(plan(two, {}, [web]), ['web-1 evict +0', 'web-2 evict +0']);
  });
});
