import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  fileFindings,
  inEmptyFolder,
  ofWeb,
  pdb,
  web,
  workload,
} from '../../../world/doctor-files.ts';

// `doctor -f` of budgets, beside the workloads that they are over.

inEmptyFolder();
const hpa = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec: {scaleTargetRef: {kind: Deployment, name: web}, minReplicas: 2}
`;

const never = 'it never allows an eviction';
const cases: readonly (readonly [
  name: string,
  content: readonly string[],
  found: readonly string[],
])[] = [
  ['a budget that lets one go', [pdb(`maxUnavailable: 1, ${ofWeb}`), web('replicas: 2')], []],
  ['half of three', [pdb(`minAvailable: 50%, ${ofWeb}`), web('replicas: 3')], []],
  [
    'none at all',
    [pdb(`maxUnavailable: 0, ${ofWeb}`), web('replicas: 9')],
    [`FAIL 4: maxUnavailable 0: ${never}`],
  ],
  [
    'no percent at all, of pods whose number is not known',
    [pdb('maxUnavailable: 0%, selector: {}'), workload('DaemonSet', 'agent', '')],
    [`FAIL 4: maxUnavailable 0%: ${never}`],
  ],
  [
    'all of two',
    [pdb(`minAvailable: 2, ${ofWeb}`), web('replicas: 2')],
    [`FAIL 4: minAvailable 2 of 2 (Deployment/web has 2): ${never}`],
  ],
  [
    'one of one, where that is the default',
    [pdb(`minAvailable: 1, ${ofWeb}`), web('')],
    [`FAIL 4: minAvailable 1 of 1 (Deployment/web has 1): ${never}`],
  ],
  [
    'more than half of one, rounded up',
    [pdb(`minAvailable: 51%, ${ofWeb}`), web('replicas: 1')],
    [`FAIL 4: minAvailable 51% of 1 (Deployment/web has 1): ${never}`],
  ],
  [
    'all of them',
    [pdb(`minAvailable: 100%, ${ofWeb}`), web('replicas: 8')],
    [`FAIL 4: minAvailable 100%: ${never}`],
  ],
  [
    'as many as an autoscaler may leave',
    [pdb(`minAvailable: 2, ${ofWeb}`), web('replicas: 8'), hpa],
    [`FAIL 4: minAvailable 2 of 2 (Deployment/web has 2 by HorizontalPodAutoscaler/web): ${never}`],
  ],
  [
    'two of the pods of two workloads',
    [pdb('minAvailable: 2, selector: {}'), web(''), workload('StatefulSet', 'db', 'replicas: 2')],
    [],
  ],
  [
    'of a workload that is scaled to none',
    [pdb(`minAvailable: 1, ${ofWeb}`), web('replicas: 0')],
    [],
  ],
  [
    'of a kind that we do not know',
    [pdb(`minAvailable: 3, ${ofWeb}`), workload('Rollout', 'web', 'replicas: 3')],
    [`FAIL 4: minAvailable 3 of 3 (Rollout/web has 3): ${never}`],
  ],
  [
    'neither',
    [pdb(ofWeb), web('replicas: 2')],
    [`FAIL 3: has neither minAvailable nor maxUnavailable: ${never}`],
  ],
  [
    'both',
    [pdb(`minAvailable: 1, maxUnavailable: 1, ${ofWeb}`), web('replicas: 2')],
    ['FAIL 4: the API server refuses a PDB with both minAvailable and maxUnavailable'],
  ],
  [
    'an amount that is none',
    [pdb(`maxUnavailable: '1', ${ofWeb}`), web('replicas: 2')],
    ['FAIL 4: maxUnavailable: want a whole number from 0 or a percentage of at most 100%, got "1"'],
  ],
  [
    'more than all pods',
    [pdb(`maxUnavailable: 150%, ${ofWeb}`), web('replicas: 2')],
    [
      'FAIL 4: maxUnavailable: want a whole number from 0 or a percentage of at most 100%, got "150%"',
    ],
  ],
  [
    'at least more than all pods',
    [pdb(`minAvailable: 150%, ${ofWeb}`), web('replicas: 2')],
    [
      'FAIL 4: minAvailable: want a whole number from 0 or a percentage of at most 100%, got "150%"',
    ],
  ],
  [
    'an operator that is none',
    [
      pdb(
        'maxUnavailable: 1, selector: {matchExpressions: [{key: app, operator: in, values: [web]}]}',
      ),
      web(''),
    ],
    ['FAIL 4: matchExpressions: operator: want In, NotIn, Exists or DoesNotExist, got "in"'],
  ],
  [
    'values that are missing, or too many',
    [
      pdb(
        'maxUnavailable: 1, selector: {matchExpressions: [{key: app, operator: In}, {key: a, operator: Exists, values: [b]}]}',
      ),
      web(''),
    ],
    [
      'FAIL 4: matchExpressions: values: In needs at least one',
      'FAIL 4: matchExpressions: values: Exists takes none',
    ],
  ],
  [
    'an old version',
    [pdb(`maxUnavailable: 1, ${ofWeb}`).replace('policy/v1', 'policy/v1beta1'), web('')],
    ['FAIL 1: policy/v1beta1 is not served since Kubernetes 1.25'],
  ],
  [
    'other labels',
    [pdb('maxUnavailable: 1, selector: {matchLabels: {app: wbe}}'), web('')],
    ['FAIL 4: selects none of the workloads of namespace default'],
  ],
  [
    'expressions',
    [
      pdb(
        'maxUnavailable: 1, selector: {matchExpressions: [{key: app, operator: In, values: [web]}]}',
      ),
      web(''),
    ],
    [],
  ],
  [
    'parts of a selector that are none',
    [pdb('maxUnavailable: 1, selector: {matchLabels: null, matchExpressions: [1]}'), web('')],
    ['FAIL 4: matchExpressions: operator: want In, NotIn, Exists or DoesNotExist, got undefined'],
  ],
  [
    'another namespace',
    [
      pdb(`maxUnavailable: 1, ${ofWeb}`).replace('{name: web}', '{name: web, namespace: b}'),
      web(''),
    ],
    ['WARN 4: selects nothing here: no workload of namespace b is among these files'],
  ],
  [
    'no selector',
    [pdb('maxUnavailable: 1, selector: null'), web('')],
    ['FAIL 3: has no selector: it selects no pods'],
  ],
  [
    'two budgets over one workload',
    [pdb(`maxUnavailable: 1, ${ofWeb}`), pdb('maxUnavailable: 1, selector: {}', 'all'), web('')],
    [
      'FAIL 9: selects the pods of Deployment/web as web does (file.yaml:3): the Eviction API refuses to evict pods under two PDBs',
    ],
  ],
  [
    'no word of pods that are not ready',
    [pdb(`maxUnavailable: 1, ${ofWeb}`, 'web', ''), web('')],
    ['WARN 4: holds back pods that are not ready as well'],
  ],
  [
    'a policy that is meant so',
    [
      pdb(`maxUnavailable: 1, ${ofWeb}`, 'web', ', unhealthyPodEvictionPolicy: IfHealthyBudget'),
      web(''),
    ],
    [],
  ],
  [
    'a policy that is none',
    [pdb(`maxUnavailable: 1, ${ofWeb}`, 'web', ', unhealthyPodEvictionPolicy: Always'), web('')],
    ['FAIL 4: unhealthyPodEvictionPolicy: want AlwaysAllow or IfHealthyBudget, got "Always"'],
  ],
  [
    'the pods of a CronJob',
    [
      pdb(`maxUnavailable: 1, ${ofWeb}`),
      workload('CronJob', 'web', '').replace(
        /spec: {(template.*)}/,
        'spec: {jobTemplate: {spec: {$1}}}',
      ),
    ],
    [],
  ],
];

describe('doctor -f of budgets', () => {
  for (const [name, content, found] of cases) {
    it(name, async () => assert.deepEqual(await fileFindings(content.join('---\n')), found));
  }
});
