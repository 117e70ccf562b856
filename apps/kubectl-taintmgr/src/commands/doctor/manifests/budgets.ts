// Budgets of manifests that let no pod be evicted, and workloads that lack one.
import { type LabelExpression, type LabelSelector, type Labels, selects } from '@taintmgr/core';
import type { Field } from '@taintmgr/k8s-adapter/manifests';
import type { Manifest } from '../../../cluster/manifests.ts';
import { aboutOf, findingAt, type PlacedFinding, placeOf } from './placed-finding.ts';

const check = 'budgets';
const policies = ['AlwaysAllow', 'IfHealthyBudget'];
const relax = 'run more replicas, or relax the PDB';

/** Everything about the budgets, and about pods under more than one. */
export function checkBudgets(
  manifests: readonly Manifest[],
  workloads: readonly Workload[],
): readonly PlacedFinding[] {
  const budgets = manifests.filter(({ kind }) => kind === 'PodDisruptionBudget');
  return [
    ...budgets.flatMap((budget) => {
      const over = workloads.filter((workload) => isOver(budget, workload));
      return [
        ...checkSpec(budget),
        ...checkSelector(budget, over, workloads),
        ...checkAmount(budget, over),
        ...checkUnhealthy(budget),
      ];
    }),
    ...workloads.flatMap((workload) => checkShared(workload, budgets)),
  ];
}

function checkSpec(budget: Manifest): readonly PlacedFinding[] {
  const { apiVersion, field } = budget;
  const [min, max] = [at(budget, 'minAvailable'), at(budget, 'maxUnavailable')];
  const found: PlacedFinding[] = [];
  if (apiVersion !== 'policy/v1') {
    const message = `${apiVersion} is not served since Kubernetes 1.25`;
    const place = { manifest: budget, at: field.find(['apiVersion']) };
    found.push(findingAt(check, 'FAIL', place, message, 'write policy/v1'));
  }
  if (min && max) {
    const message = 'the API server refuses a PDB with both minAvailable and maxUnavailable';
    found.push(
      findingAt(check, 'FAIL', { manifest: budget, at: max }, message, 'leave one of them'),
    );
  }
  if (!min && !max) {
    const message = 'has neither minAvailable nor maxUnavailable: it never allows an eviction';
    found.push(findingAt(check, 'FAIL', { manifest: budget }, message, 'set maxUnavailable'));
  }
  for (const [name, amount] of [
    ['minAvailable', min],
    ['maxUnavailable', max],
  ] as const) {
    const read = amount && readAmount(amount.value);
    if (!amount || (read && !(read.isPercent && read.count > 100))) continue;
    const message = `${name}: want a whole number from 0 or a percentage of at most 100%, got ${JSON.stringify(amount.value)}`;
    found.push(findingAt(check, 'FAIL', { manifest: budget, at: amount }, message));
  }
  return found;
}

function checkSelector(
  budget: Manifest,
  over: readonly Workload[],
  workloads: readonly Workload[],
): readonly PlacedFinding[] {
  const selector = at(budget, 'selector');
  const place = { manifest: budget, at: selector };
  if (selectorOf(budget) === null) {
    return [findingAt(check, 'FAIL', place, 'has no selector: it selects no pods', 'add one')];
  }
  const wrong = selector ? wrongExpressions(budget, selector) : [];
  if (wrong.length > 0) return wrong;
  if (over.length > 0) return [];
  const { namespace } = budget;
  const isAlone = !workloads.some(({ manifest }) => manifest.namespace === namespace);
  const message = isAlone
    ? `selects nothing here: no workload of namespace ${namespace} is among these files`
    : `selects none of the workloads of namespace ${namespace}`;
  return [
    findingAt(check, isAlone ? 'WARN' : 'FAIL', place, message, 'fix its selector, or delete it'),
  ];
}

/**
 * The reasons of the API server to refuse matchExpressions: such a selector selects nothing, and means
 * something else.
 */
function wrongExpressions(budget: Manifest, selector: Field): readonly PlacedFinding[] {
  const expressions = selector.find(['matchExpressions']);
  const items = Array.isArray(expressions?.value) ? (expressions?.items() ?? []) : [];
  return items.flatMap((item) => {
    const [name, why] = expressionFault(item) ?? [];
    if (name === undefined) return [];
    const place = { manifest: budget, at: item.find([name]) ?? item };
    return [findingAt(check, 'FAIL', place, `matchExpressions: ${name}: ${why}`)];
  });
}

function expressionFault(item: Field): readonly [member: string, why: string] | null {
  const operator = item.find(['operator'])?.value;
  const values = item.find(['values'])?.value;
  if (operator === 'In' || operator === 'NotIn') {
    const hasSome = Array.isArray(values) && values.length > 0;
    return hasSome ? null : ['values', `${operator} needs at least one`];
  }
  if (operator === 'Exists' || operator === 'DoesNotExist') {
    const hasNone = values === undefined || values === null || String(values) === '';
    return hasNone ? null : ['values', `${operator} takes none`];
  }
  return ['operator', `want In, NotIn, Exists or DoesNotExist, got ${JSON.stringify(operator)}`];
}

/** Warns of a budget that can never allow an eviction. */
function checkAmount(budget: Manifest, over: readonly Workload[]): readonly PlacedFinding[] {
  const [min, max] = [at(budget, 'minAvailable'), at(budget, 'maxUnavailable')];
  const fail = (field: Field, why: string) => [
    findingAt(
      check,
      'FAIL',
      { manifest: budget, at: field },
      `${why}: it never allows an eviction`,
      relax,
    ),
  ];
  const most = max && readAmount(max.value);
  if (max && most?.count === 0) return fail(max, `maxUnavailable ${most.text}`);
  const least = min && readAmount(min.value);
  if (!min || !least || max) return [];
  if (least.isPercent && least.count > 100) return [];
  if (least.isPercent && least.count === 100) return fail(min, `minAvailable ${least.text}`);
  const expected = sumOf(over);
  if (expected === null || expected === 0) return [];
  // As the disruption controller rounds.
  const needed = least.isPercent ? Math.ceil((least.count * expected) / 100) : least.count;
  if (needed < expected) return [];
  return fail(
    min,
    `minAvailable ${least.text} of ${expected} (${over.map(replicasText).join(', ')})`,
  );
}

/** Without the policy, a pod that never becomes ready blocks every drain of its node. */
function checkUnhealthy(budget: Manifest): readonly PlacedFinding[] {
  const policy = at(budget, 'unhealthyPodEvictionPolicy');
  if (!policy) {
    const message = 'holds back pods that are not ready as well';
    const fix = 'set unhealthyPodEvictionPolicy: AlwaysAllow';
    return [
      findingAt(check, 'WARN', { manifest: budget, at: budget.field.find(['spec']) }, message, fix),
    ];
  }
  if (policies.includes(String(policy.value))) return [];
  const message = `unhealthyPodEvictionPolicy: want ${policies.join(' or ')}, got ${JSON.stringify(policy.value)}`;
  return [findingAt(check, 'FAIL', { manifest: budget, at: policy }, message)];
}

/** Pods under more than one budget cannot be evicted at all. */
function checkShared(workload: Workload, budgets: readonly Manifest[]): readonly PlacedFinding[] {
  const [first, second, ...more] = budgets.filter((budget) => isOver(budget, workload));
  if (!first || !second) return [];
  const place = placeOf(findingAt(check, 'FAIL', { manifest: first }, ''));
  const names = [first, ...more].map(({ name }) => name).join(', ');
  const message =
    `selects the pods of ${workload.manifest.kind}/${workload.manifest.name} as ${names} does (${place}): ` +
    'the Eviction API refuses to evict pods under two PDBs';
  const at = second.field.find(['spec', 'selector']);
  return [
    findingAt(
      check,
      'FAIL',
      { manifest: second, at },
      message,
      `leave one PDB, or set ${aboutOf(first)} apart`,
    ),
  ];
}

function isOver(budget: Manifest, { manifest, labels }: Workload): boolean {
  const selector = selectorOf(budget);
  return manifest.namespace === budget.namespace && selector !== null && selects(selector, labels);
}

/** Null: there is none. A value that is no selector is left to the API server to refuse. */
function selectorOf(budget: Manifest): LabelSelector | null {
  const selector = at(budget, 'selector');
  if (!selector || !isObject(selector.value)) return null;
  const labels = selector.find(['matchLabels'])?.value;
  const expressions = selector.find(['matchExpressions'])?.value;
  return {
    matchLabels: isObject(labels)
      ? Object.fromEntries(Object.entries(labels).map(([key, value]) => [key, String(value)]))
      : {},
    matchExpressions: Array.isArray(expressions) ? expressions.filter(isExpression) : [],
  };
}

function isExpression(value: unknown): value is LabelExpression {
  return isObject(value) && 'key' in value && 'operator' in value;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function at({ field }: Manifest, name: string): Field | null {
  const found = field.find(['spec', name]);
  return found?.value === null ? null : found;
}

interface Amount {
  readonly count: number;
  readonly isPercent: boolean;
  readonly text: string;
}

/** `2` or `50%`; null: it is neither. */
function readAmount(value: unknown): Amount | null {
  const text = String(value);
  const [, digits, sign] = /^(\d+)(%?)$/.exec(text) ?? [];
  const isPercent = sign === '%';
  if (digits === undefined || (typeof value === 'string') !== isPercent) return null;
  return { count: Number(digits), isPercent, text };
}

/** The least number of pods; null: unknown for some. */
function sumOf(workloads: readonly Workload[]): number | null {
  return workloads.reduce<number | null>(
    (sum, { replicas }) => (sum === null || replicas === null ? null : sum + replicas),
    0,
  );
}

function replicasText({ manifest, replicas, scaledBy }: Workload): string {
  const by = scaledBy === null ? '' : ` by ${scaledBy}`;
  return `${manifest.kind}/${manifest.name} has ${replicas}${by}`;
}

/** The pods that one object makes. */
interface Workload {
  readonly manifest: Manifest;
  readonly labels: Labels;
  /** The least number of pods; null: the manifest does not say. */
  readonly replicas: number | null;
  /** The object that sets the number of pods, where it is another one; null: the object itself does. */
  readonly scaledBy: string | null;
}

/** Kinds that make one pod where they do not say how many. */
const oneByDefault: readonly string[] = [
  'Deployment',
  'ReplicaSet',
  'ReplicationController',
  'StatefulSet',
];

/** Of kinds that we do not know too: whatever has a template of pods makes pods. */
export function workloadsIn(manifests: readonly Manifest[]): readonly Workload[] {
  const scalers = manifests.filter(({ kind }) => kind === 'HorizontalPodAutoscaler');
  return manifests.flatMap((manifest) => {
    const template = templateOf(manifest);
    if (!template) return [];
    const scaler = scalers.find((one) => scales(one, manifest));
    const replicas = scaler ? minReplicas(scaler) : replicasOf(manifest);
    const scaledBy = scaler ? `${scaler.kind}/${scaler.name}` : null;
    return [{ manifest, labels: labelsOf(template), replicas, scaledBy }];
  });
}

/** The pod, or the template of pods. */
function templateOf({ kind, field }: Manifest): Field | null {
  if (kind === 'Pod') return field;
  const template =
    kind === 'CronJob'
      ? field.find(['spec', 'jobTemplate', 'spec', 'template'])
      : field.find(['spec', 'template']);
  return template?.find(['spec', 'containers']) ? template : null;
}

function labelsOf(template: Field): Labels {
  const value = template.find(['metadata', 'labels'])?.value;
  const labels = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return Object.fromEntries(labels.map(([key, label]) => [key, String(label)]));
}

function replicasOf({ kind, field }: Manifest): number | null {
  if (kind === 'Pod') return 1;
  const replicas = field.find(['spec', 'replicas'])?.value;
  if (typeof replicas === 'number') return replicas;
  return oneByDefault.includes(kind) ? 1 : null;
}

function scales(scaler: Manifest, { kind, name, namespace }: Manifest): boolean {
  const target = (member: string) => scaler.field.find(['spec', 'scaleTargetRef', member])?.value;
  return scaler.namespace === namespace && target('kind') === kind && target('name') === name;
}

function minReplicas({ field }: Manifest): number {
  const min = field.find(['spec', 'minReplicas'])?.value;
  return typeof min === 'number' ? min : 1;
}
