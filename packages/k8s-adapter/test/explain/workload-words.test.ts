import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '@taintmgr/core';
import type { Budget } from '@taintmgr/core/drain';
import fc from 'fast-check';
import { Explainer } from '../../src/explain/explainer.ts';
import { type QuestionFlags, readQuestion } from '../../src/explain/question.ts';
import { reportOn } from '../../src/explain/report.ts';
import { type WorkloadReport, workloadReport } from '../../src/explain/workload-report.ts';
import { workloadFields } from '../../src/explain/workload-words.ts';
import { followed, noPolicies } from '../../src/survey/policies.ts';
import type { ForecastSurvey } from '../../src/survey/survey.ts';
import type { Workload } from '../../src/survey/workloads.ts';
import {
  budgetOf,
  nobody,
  node,
  nodeFactsOf,
  now,
  pod,
  podFactsOf,
  surveyOf,
  taint,
  tolerates,
} from '../world/values.ts';

const bad = nodeFactsOf(node('n1', taint('bad:NoExecute', 60)));
const calm = nodeFactsOf(node('n2'));
const metadata = { name: 'web', namespace: 'shop' };

function workload(kind: Workload['kind'], fields: Partial<Workload> = {}): Workload {
  const object = { metadata, spec: { replicas: 3 } };
  const none = { controllers: new Map(), jobs: new Map() };
  return { kind, namespace: 'shop', name: 'web', object, ...none, ...fields };
}

function budget(name: string, fields: Partial<Budget> = {}): Budget {
  return budgetOf(name, { allowed: 1, healthy: 3, expected: 3, ...fields });
}

const ready = { ready: 'True' };

/** A pod that somebody controls; it is ready. */
function owned(name: string, kind: string, owner: string, fields: Partial<Pod> = {}): Pod {
  const apiVersion = kind === 'Job' ? 'batch/v1' : 'apps/v1';
  return pod(name, { ...ready, owner: { apiVersion, kind, name: owner }, ...fields });
}

interface Case {
  readonly of?: Workload;
  readonly pods: readonly Pod[];
  readonly with?: Partial<ForecastSurvey>;
  readonly ask?: QuestionFlags;
}

function reported({ of = workload('Deployment'), pods, with: more, ask = {} }: Case): {
  readonly report: WorkloadReport;
  readonly survey: ForecastSurvey;
} {
  const explainer = new Explainer(readQuestion(ask));
  const facts = pods.map((one) => podFactsOf(one));
  const survey = { ...surveyOf([bad, calm], facts, more), workload: of };
  explainer.take(survey);
  return { report: workloadReport(survey, reportOn(survey, explainer)), survey };
}

/** The lines of these names. */
function said(one: Case, ...names: readonly string[]): readonly string[] {
  const { report, survey } = reported(one);
  let last = '';
  return workloadFields(report, survey).flatMap(([name, value]) => {
    last = name || last;
    return names.includes(last) ? [value] : [];
  });
}

const web = (name: string, fields: Partial<Pod> = {}): Pod =>
  owned(name, 'ReplicaSet', 'web', fields);
const on2 = { nodeName: 'n2' };

describe('what leaves a workload and what stays', () => {
  const cases: readonly (readonly [name: string, one: Case, lines: readonly string[]])[] = [
    [
      'each with its reason',
      {
        pods: [
          web('a'),
          web('b', tolerates('bad', 300)),
          web('c', tolerates('bad')),
          web('d', on2),
          web('e', on2),
          web('f', { deletionTimestamp: now - 1000 }),
          web('g', { phase: 'Succeeded' }),
        ],
      },
      [
        '6 of 3, on 2 nodes; 1 more has ended',
        '1 pod; for who made it leave: explain pod f',
        '2 pods, the first now, the last in 4m1s',
        '3 pods: no NoExecute taint on their nodes (2); tolerates bad:NoExecute without limit (1)',
        '5 of 6 now, and at least 3 until others are ready',
      ],
    ],
    [
      'a pause holds them',
      {
        pods: [web('a')],
        with: {
          policies: {
            ...noPolicies,
            ...followed('EvictionPause', {
              apiVersion: 'taintmgr.dev/v1alpha1',
              kind: 'EvictionPause',
              metadata: { name: 'night', creationTimestamp: new Date(now - 1000).toISOString() },
              spec: {},
            }),
          },
        },
      },
      [
        '1 of 3, on 1 node',
        'none',
        '1 pod: deadlines are paused by night',
        '1 of 3 now, and none until others are ready',
      ],
    ],
    [
      'a Job that is complete',
      {
        of: workload('Job', {
          object: { metadata, status: { completionTime: '2026-01-01T00:00:00Z' } },
        }),
        pods: [owned('a', 'Job', 'web', { phase: 'Succeeded' })],
      },
      ['none left: 1 has ended', 'none', '0 of 0'],
    ],
    [
      'one that has no node yet',
      { pods: [web('a', { ready: 'False', nodeName: '' })] },
      [
        '1 of 3',
        'none',
        '1 pod: no scheduler has said why: it has no condition PodScheduled',
        '0 of 3',
      ],
    ],
    [
      'its nodes may not be read',
      {
        pods: [
          web('a', { nodeName: 'n8' }),
          web('b', { nodeName: 'n9' }),
          web('c', { mirror: true, nodeName: 'n9' }),
        ],
        with: { hidesNodes: true },
      },
      [
        '3 of 3, on 2 nodes',
        'unknown',
        '2 pods: no permission to read nodes, so their taints are not known',
        '1 pod: static pod: deleting it through the API does not stop it',
        '3 of 3 now; unknown later',
      ],
    ],
    [
      'as of a later moment',
      { pods: [web('a'), web('b', tolerates('bad', 300))], ask: { at: '+2m' } },
      [
        '2 of 3, on 1 node',
        '1 pod by then',
        '1 pod, in 2m1s',
        '2 of 3 now, and none until others are ready',
      ],
    ],
  ];
  for (const [name, one, lines] of cases) {
    it(name, () => {
      const names = [
        'Pods',
        'Terminating',
        'Gone',
        'Leaving',
        'Held',
        'Unknown',
        'Pending',
        'Staying',
      ];
      assert.deepEqual(said(one, ...names, 'Ready'), lines);
    });
  }
});

it('names a silent node whose pods cannot end', () => {
  const since = now - 7_200_000;
  const lost = nodeFactsOf(node('n1', taint('bad:NoExecute', 60)), {
    ready: { status: 'Unknown', since, reason: 'NodeStatusUnknown' },
  });
  const one = { pods: [web('a', { deletionTimestamp: since })], with: { nodes: [lost] } };
  assert.deepEqual(said(one, 'Stuck'), [
    '1 pod cannot end: the kubelet has been silent for 2h, and only the kubelet may end it; for what has to be done: explain node n1',
  ]);
});

describe('what comes next', () => {
  const job = (spec: object) => new Map([['batch', { metadata, spec }]]);
  const cases: readonly (readonly [name: string, one: Case, lines: readonly string[]])[] = [
    ['nothing leaves', { pods: [web('a', on2)] }, []],
    [
      'of ReplicaSets',
      { pods: [web('a'), web('b'), web('c', on2)] },
      ['ReplicaSet web creates 2 new pods'],
    ],
    [
      'of a StatefulSet',
      { pods: [owned('db-0', 'StatefulSet', 'db'), owned('db-1', 'StatefulSet', 'db')] },
      ['StatefulSet db creates db-0, db-1 again, each when its old pod has ended'],
    ],
    [
      'of DaemonSets that tolerate the taint for a while, and not at all',
      {
        pods: [
          owned('a', 'DaemonSet', 'agent'),
          owned('b', 'DaemonSet', 'agent', tolerates('bad', 300)),
        ],
      },
      [
        'DaemonSet agent deletes 1 pod itself without asking budgets, and creates none there until the taint has gone',
        'DaemonSet agent creates 1 new pod on the same node at once',
      ],
    ],
    [
      'of a Job that may go on',
      { of: workload('Job', { jobs: job({}) }), pods: [owned('a', 'Job', 'batch')] },
      ['Job batch creates 1 new pod'],
    ],
    [
      'of a Job that fails',
      {
        of: workload('Job', { jobs: job({ backoffLimit: 0 }) }),
        pods: [owned('a', 'Job', 'batch')],
      },
      ['Job batch fails: backoffLimit 0 and no podFailurePolicy ignores DisruptionTarget'],
    ],
    [
      'of a Job that may not be read',
      { of: workload('Namespace'), pods: [owned('a', 'Job', 'batch')] },
      ['Job batch decides: no permission to read it'],
    ],
    [
      "of an operator's pods",
      { of: workload('Namespace'), pods: [owned('a', 'Cluster', 'pg')] },
      ['Cluster pg decides what comes in the place of a'],
    ],
    [
      'of pods that nobody owns',
      { of: workload('Namespace'), pods: ['a', 'b'].map((name) => pod(name, { owner: null })) },
      ['a, b are not recreated: no controller owns them'],
    ],
    [
      'of many',
      {
        of: workload('Namespace'),
        pods: Array.from({ length: 10 }, (_, index) =>
          owned(`p${index}`, 'ReplicaSet', `rs${index}`),
        ),
      },
      [
        ...Array.from({ length: 8 }, (_, index) => `ReplicaSet rs${index} creates 1 new pod`),
        'and 2 more lines',
      ],
    ],
    [
      'of a workload that is being deleted',
      {
        of: workload('Deployment', {
          object: { metadata: { ...metadata, deletionTimestamp: '2026-01-02T03:04:05Z' } },
        }),
        pods: [web('a')],
      },
      ['it is being deleted: pods that leave are not replaced'],
    ],
  ];
  for (const [name, one, lines] of cases) {
    it(name, () => assert.deepEqual(said(one, 'Next'), lines));
  }
});

describe('what budgets do', () => {
  const pods = [web('a'), web('b'), web('c', on2)];
  const shut = { allowed: 0, healthy: 3, desired: 3 };
  const cluster = {
    apiVersion: 'postgresql.cnpg.io/v1',
    kind: 'Cluster',
    name: 'pg',
    controller: true,
  };
  const acts = { kind: 'acts', who: 'x', evidence: [] } as const;
  const upstream = { ...nobody.upstream, 'taint-eviction-controller': acts };
  const cases: readonly (readonly [name: string, with_: Partial<ForecastSurvey>, line: string])[] =
    [
      ['may not be read', { budgets: null }, 'unknown: no permission to list PodDisruptionBudgets'],
      ['are none', {}, 'none: no PodDisruptionBudget covers its pods'],
      [
        'let all go',
        { budgets: [budget('web', { allowed: 2 })] },
        'PDB web lets 2 go now (3 healthy, 2 needed): all that leave',
      ],
      [
        'let some go',
        { budgets: [budget('web')] },
        'PDB web lets 1 of 2 go now (3 healthy, 2 needed); the other waits until replacements are ready',
      ],
      [
        'let none go now',
        { budgets: [budget('web', { allowed: 0, healthy: 2 })] },
        'PDB web lets 0 go now (2 healthy, 2 needed): it refuses a, b',
      ],
      [
        'never let one go',
        { budgets: [budget('web', shut)] },
        'PDB web never lets a pod go (3 healthy, 3 needed of 3): scale up or relax the PDB',
      ],
      [
        'are shut by an operator',
        { budgets: [budget('web', { ...shut, owners: [cluster] })] },
        'PDB web never lets a pod go (3 healthy, 3 needed of 3): its operator moves the pods',
      ],
      [
        'cannot be reckoned',
        {
          budgets: [
            budget('web', { ...shut, refusal: { reason: 'SyncFailed', message: 'no scale' } }),
          ],
        },
        'PDB web never lets a pod go (3 healthy, 3 needed of 3): no scale',
      ],
      [
        'are not asked',
        { budgets: [budget('web', shut)], evictors: { ...nobody, upstream } },
        'PDB web never lets a pod go (3 healthy, 3 needed of 3), and kube-controller-manager does not ask it: 2 pods leave anyway',
      ],
      [
        'overlap',
        { budgets: [budget('one'), budget('two')] },
        'PDB one (3 healthy, 2 needed) and PDB two cover the same pods: the Eviction API refuses to evict them',
      ],
    ];
  for (const [name, more, line] of cases) {
    it(name, () => assert.deepEqual(said({ pods, with: more }, 'Budget'), [line]));
  }

  it('let those go that are not ready, whatever they allow', () => {
    const broken = [web('a', { ready: 'False' }), web('b', on2), web('c', on2)];
    const budgets = [budget('web', { allowed: 0, healthy: 2 })];
    assert.deepEqual(said({ pods: broken, with: { budgets } }, 'Budget'), [
      'PDB web lets all that leave go (2 healthy, 2 needed): 1 pod, not ready',
    ]);
  });
});

describe('how many stay ready', () => {
  const labels = fc.record({ a: fc.constantFrom('1', '2'), b: fc.constantFrom('1', '2') });
  const onePod = fc.record({
    labels,
    leaves: fc.boolean(),
    ready: fc.constantFrom('True', 'False'),
  });
  const oneBudget = fc.record({
    key: fc.constantFrom('a', 'b'),
    value: fc.constantFrom('1', '2'),
    allowed: fc.nat({ max: 3 }),
  });

  it('is what is left of the largest set of pods that may leave together', () => {
    fc.assert(
      fc.property(
        fc.array(onePod, { maxLength: 7 }),
        fc.array(oneBudget, { maxLength: 2 }),
        (some, rules) => {
          const pods = some.map((one, index) =>
            web(`p${index}`, {
              labels: one.labels,
              ready: one.ready,
              nodeName: one.leaves ? 'n1' : 'n2',
            }),
          );
          const budgets = rules.map(({ key, value, allowed }, index) =>
            budget(`b${index}`, { selector: { matchLabels: { [key]: value } }, allowed }),
          );
          const { report } = reported({ pods, with: { budgets } });
          const leaving = some.filter((one) => one.leaves && one.ready === 'True');
          const covers = (rule: (typeof rules)[number], one: (typeof some)[number]): boolean =>
            one.labels[rule.key as 'a' | 'b'] === rule.value;
          let most = 0;
          for (let set = 0; set < 2 ** leaving.length; set++) {
            const gone = leaving.filter((_, index) => (set >> index) & 1);
            const isAllowed =
              rules.every(
                (rule) => gone.filter((one) => covers(rule, one)).length <= rule.allowed,
              ) && gone.every((one) => rules.filter((rule) => covers(rule, one)).length < 2);
            if (isAllowed) most = Math.max(most, gone.length);
          }
          const readyNow = some.filter((one) => one.ready === 'True').length;
          assert.deepEqual([report.ready, report.readyAtLeast], [readyNow, readyNow - most]);
        },
      ),
    );
  });
});
