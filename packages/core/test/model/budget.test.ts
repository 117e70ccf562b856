import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '@taintmgr/core';
import {
  type Budget,
  budgetsAsked,
  type PredictionSite,
  predictBlockers,
} from '@taintmgr/core/drain';

// What the Eviction API of Kubernetes 1.36 answers, told before it is asked.

const web: Pod = {
  namespace: 'shop',
  name: 'web-0',
  uid: 'u',
  nodeName: 'n1',
  tolerations: [],
  boundAt: null,
  deletionTimestamp: null,
  phase: 'Running',
  generation: 1,
  mirror: false,
  owner: null,
  hasEmptyDir: false,
  ready: 'True',
  labels: { app: 'web' },
};
const tight: Budget = {
  namespace: 'shop',
  name: 'web',
  selector: { matchLabels: { app: 'web' } },
  allowed: 0,
  healthy: 2,
  desired: 2,
  expected: 3,
  upToDate: true,
  alwaysEvictUnhealthy: false,
  refusal: null,
};
const cnpg = { apiVersion: 'postgresql.cnpg.io/v1', kind: 'Cluster', name: 'db' };
/** Longhorn's: its operator makes a budget of each, that has no owner. */
const manager = { apiVersion: 'longhorn.io/v1beta2', kind: 'InstanceManager', name: 'im-1' };
const subject = 'The disruption budget web';
const notNow = `${subject} does not allow evicting pods currently`;
const unready = { ready: 'False' } as const;

const cases: readonly (readonly [
  name: string,
  pod: Partial<Pod>,
  budgets: readonly Partial<Budget>[],
  expected: string,
])[] = [
  ['no budget', {}, [], ''],
  ['a budget that allows one', {}, [{ allowed: 1 }], ''],
  [
    'a budget that allows none while a pod is unhealthy',
    {},
    [{}],
    `Budget needsTime ${subject} needs 2 healthy pods and has 2 currently`,
  ],
  [
    'a budget that needs all its pods',
    {},
    [{ desired: 3, healthy: 3 }],
    `Budget never ${subject} needs 3 healthy pods and has 3 currently`,
  ],
  [
    'a budget whose numbers are old',
    {},
    [{ upToDate: false, allowed: 1 }],
    `Budget resolves ${subject} is still being processed by the server.`,
  ],
  [
    'a budget that waits for many evictions to come about',
    {},
    [{ allowed: 1, unconfirmed: 2001 }],
    `Budget needsTime ${subject} waits for too many evictions to be confirmed by its controller`,
  ],
  ['a budget that waits for as many as it may', {}, [{ allowed: 1, unconfirmed: 2000 }], ''],
  [
    'a budget that could not be counted',
    {},
    [{ refusal: { reason: 'SyncFailed', message: 'boom' } }],
    `Budget never ${notNow} because it failed sync: boom`,
  ],
  [
    'a budget that says why',
    {},
    [{ healthy: 3, refusal: { reason: 'InsufficientPods', message: 'hmm' } }],
    `Budget needsTime ${notNow} (InsufficientPods): hmm`,
  ],
  [
    'a budget of an operator that nobody may leave',
    {},
    [{ expected: 2, owners: [cnpg] }],
    `Budget othersAct ${subject} needs 2 healthy pods and has 2 currently`,
  ],
  [
    'a budget of an operator that opens by itself',
    {},
    [{ owners: [cnpg] }],
    `Budget needsTime ${subject} needs 2 healthy pods and has 2 currently`,
  ],
  [
    'a budget of an operator that could not be counted',
    {},
    [{ owners: [cnpg], refusal: { reason: 'SyncFailed', message: 'boom' } }],
    `Budget never ${notNow} because it failed sync: boom`,
  ],
  [
    'a budget of a Deployment that nobody may leave',
    {},
    [{ expected: 2, owners: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }] }],
    `Budget never ${subject} needs 2 healthy pods and has 2 currently`,
  ],
  [
    'a budget without an owner, of a pod of an operator',
    { owner: manager },
    [{ expected: 2, writers: ['kubectl'] }],
    `Budget askOperator ${subject} needs 2 healthy pods and has 2 currently im-1`,
  ],
  [
    'a budget without an owner that a program wrote',
    {},
    [{ expected: 2, writers: ['kubectl-client-side-apply', 'longhorn-manager'] }],
    `Budget askOperator ${subject} needs 2 healthy pods and has 2 currently longhorn-manager`,
  ],
  [
    'a budget that a tool of people wrote',
    {},
    [{ expected: 2, writers: ['kubectl-client-side-apply', 'Helm', 'argocd-controller'] }],
    `Budget never ${subject} needs 2 healthy pods and has 2 currently`,
  ],
  [
    'a budget of a Deployment, of a pod of an operator',
    { owner: manager },
    [{ expected: 2, owners: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }] }],
    `Budget askOperator ${subject} needs 2 healthy pods and has 2 currently im-1`,
  ],
  [
    'a budget without an owner, of a pod of an operator, that opens by itself',
    { owner: manager },
    [{}],
    `Budget needsTime ${subject} needs 2 healthy pods and has 2 currently im-1`,
  ],
  [
    'a pod of an operator that is not ready: nobody else is to open its budget',
    { ...unready, owner: manager },
    [{ healthy: 1 }],
    `Budget needsTime ${subject} needs 2 healthy pods and has 1 currently im-1`,
  ],
  [
    'a pod that is not ready, of a budget of an operator',
    unready,
    [{ healthy: 1, owners: [cnpg] }],
    `Budget needsTime ${subject} needs 2 healthy pods and has 1 currently`,
  ],
  ['a budget that does not say why', {}, [{ healthy: 3 }], `Budget needsTime ${notNow}`],
  [
    'two budgets',
    {},
    [{ allowed: 1 }, { allowed: 1, name: 'other' }],
    'TwoBudgets never This pod has more than one PodDisruptionBudget, ' +
      'which the eviction subresource does not support.',
  ],
  ['a pod that is not ready, where enough others are', unready, [{}], ''],
  [
    'a pod that is not ready, where too few others are',
    unready,
    [{ healthy: 1 }],
    `Budget needsTime ${subject} needs 2 healthy pods and has 1 currently AlwaysAllow`,
  ],
  [
    'a pod that is not ready, of a budget that needs none',
    unready,
    [{ desired: 0, healthy: 0, expected: 1 }],
    `Budget needsTime ${subject} needs 0 healthy pods and has 0 currently AlwaysAllow`,
  ],
  [
    'a pod that is not ready, where that is enough',
    unready,
    [{ alwaysEvictUnhealthy: true, upToDate: false }],
    '',
  ],
  ['a pod that is pending', { phase: 'Pending' }, [{}], ''],
  ['a pod that has failed, under two budgets', { phase: 'Failed' }, [{}, {}], ''],
  ['a pod that terminates', { deletionTimestamp: 5 }, [{}], ''],
  ['a budget of another namespace', {}, [{ namespace: 'infra' }], ''],
  ['a budget of other pods', { labels: { app: 'db' } }, [{}], ''],
  ['a budget that selects nothing', {}, [{ selector: null }], ''],
  [
    'a budget that selects everything',
    { labels: {} },
    [{ selector: {} }],
    `Budget needsTime ${subject} needs 2 healthy pods and has 2 currently`,
  ],
];

const calm: PredictionSite = { budgets: [], finalizers: [], nodeAnswers: true };

describe('foreseeBlockers', () => {
  for (const [name, pod, budgets, expected] of cases) {
    it(name, () => {
      const site = { ...calm, budgets: budgets.map((budget) => ({ ...tight, ...budget })) };
      const [blocker] = predictBlockers({ ...web, ...pod }, site);
      const { code = '', verdict = '', message = '', remedy = '', operatorSign } = blocker ?? {};
      const sign = operatorSign?.controller?.name ?? operatorSign?.writer ?? '';
      const text = `${code} ${verdict} ${message} ${remedy}${sign}`.trim();
      assert.equal(text, expected);
    });
  }

  it('agrees with budgetsAsked on whether a budget has a say', () => {
    for (const [name, pod, budgets] of cases) {
      const all = budgets.map((budget) => ({ ...tight, ...budget }));
      const one = { ...web, ...pod };
      const isHeld = predictBlockers(one, { ...calm, budgets: all }).length > 0;
      assert.ok(!isHeld || budgetsAsked(one, all).length > 0, name);
    }
    assert.deepEqual(budgetsAsked({ ...web, phase: 'Pending' }, [tight]), []);
    assert.deepEqual(budgetsAsked({ ...web, ...unready }, [tight]), []);
    assert.deepEqual(budgetsAsked(web, [{ ...tight, allowed: 1 }]), [{ ...tight, allowed: 1 }]);
  });

  it('knows nothing of budgets that could not be read', () => {
    assert.deepEqual(predictBlockers(web, { ...calm, budgets: null }), []);
  });

  it('names finalizers and a node that does not answer, which hold a pod that terminates', () => {
    const site = { ...calm, finalizers: ['a/b', 'c/d'], nodeAnswers: false };
    const found = predictBlockers({ ...web, deletionTimestamp: 5 }, site);
    assert.deepEqual(
      found.map(({ code, verdict, message }) => `${code} ${verdict} ${message}`),
      [
        'Finalizers needsTime the pod stays until a/b, c/d is removed from its finalizers',
        'NodeLost needsTime the kubelet does not answer: the pod cannot terminate until the node is back or deleted',
      ],
    );
    const [, lost] = predictBlockers(web, { ...site, nodeIsDead: true });
    assert.deepEqual([lost?.code, lost?.verdict], ['NodeLost', 'never']);
    assert.deepEqual(predictBlockers(web, { ...calm, nodeAnswers: null }), []);
  });

  it('knows that the finalizer of a Job holds no pod up', () => {
    const tracked = { ...calm, finalizers: ['batch.kubernetes.io/job-tracking'] };
    assert.deepEqual(predictBlockers(web, tracked), []);
    const [other] = predictBlockers(web, { ...calm, finalizers: [...tracked.finalizers, 'a/b'] });
    assert.equal(other?.message, 'the pod stays until a/b is removed from its finalizers');
  });
});
