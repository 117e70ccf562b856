// The validation of kinds that make pods from a template.
import type { Cause } from '../objects/errors.ts';
import { equal, isList, isObject } from '../objects/json.ts';
import type { Json, KubeObject } from '../objects/kube-object.ts';
import { numberIn, validateAmount, validateCount, validateShare } from './amounts.ts';
import {
  forbiddenValue,
  immutableMessage,
  invalidValue,
  notSupported,
  required,
} from './causes.ts';
import type { Container } from './containers.ts';
import { validateLabels, validateMetadata } from './metadata.ts';
import { validatePodSpec } from './pod.ts';
import { type LabelSelector, selects, validateSelector } from './selector.ts';

// The validation specific to Jobs.

const jobCounts = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
] as const;
const modes = ['NonIndexed', 'Indexed'] as const;

/** The rules for the spec of a Job beside those of all workloads: its pods end. */
function validateJobSpec(spec: Spec): readonly Cause[] {
  const causes = jobCounts.flatMap((member) => validateCount(spec[member], `spec.${member}`));
  const { completionMode, completions, template } = spec;
  if (!modes.some((mode) => mode === completionMode)) {
    causes.push(notSupported('spec.completionMode', completionMode, modes));
  }
  if (completionMode === 'Indexed' && completions === undefined) {
    causes.push(required('spec.completions', 'when completion mode is Indexed'));
  }
  if (template?.spec?.restartPolicy === 'Always') {
    const text = 'valid values: "OnFailure", "Never"';
    causes.push(required('spec.template.spec.restartPolicy', text));
  }
  return causes;
}

const lasting = [
  'selector',
  'template',
  'completionMode',
  'podFailurePolicy',
  'backoffLimitPerIndex',
  'managedBy',
  'successPolicy',
] as const;

/** The faults of an update of a Job's immutable fields. */
function validateJobUpdate(next: KubeObject, previous: KubeObject): readonly Cause[] {
  const before = hasBegun(previous)
    ? previous.spec
    : { ...previous.spec, template: withPlace(previous.spec.template, next.spec.template) };
  const isChanged = (member: string): boolean => !isSame(next.spec[member], before[member]);
  return [
    ...validateCompletions(next.spec, before),
    ...lasting
      .filter(isChanged)
      .map((member) => invalidValue(`spec.${member}`, next.spec[member], immutableMessage)),
  ];
}

/** The completions of an indexed Job change with its parallelism. */
function validateCompletions(spec: Spec, before: Spec): readonly Cause[] {
  const { completions, parallelism, completionMode } = spec;
  if (completions === before.completions) return [];
  if (completionMode !== 'Indexed') {
    return [invalidValue('spec.completions', completions, immutableMessage)];
  }
  const text = `can only be modified in tandem with spec.parallelism`;
  return completions === parallelism ? [] : [invalidValue('spec.completions', completions, text)];
}

const hasBegun = ({ spec, status }: KubeObject): boolean =>
  spec.suspend !== true || status?.startTime !== undefined;

/**
 * A template with the placement and the requests of another one: they may change before a Job
 * begins.
 */
function withPlace(template: Spec, { metadata, spec }: Spec): Spec {
  const place: Spec = {};
  for (const member of ['nodeSelector', 'affinity', 'tolerations', 'schedulingGates'] as const) {
    place[member] = spec?.[member];
  }
  for (const member of ['containers', 'initContainers'] as const) {
    place[member] = withResources(template.spec?.[member], spec?.[member]);
  }
  const { labels, annotations } = metadata ?? {};
  return {
    ...template,
    metadata: { ...template.metadata, labels, annotations },
    spec: { ...template.spec, ...place },
  };
}

type Containers = readonly Container[] | undefined;

function withResources(containers: Containers, next: Containers): Containers {
  return containers?.map((container, index) => {
    const resources = next?.[index]?.resources;
    return resources ? { ...container, resources } : container;
  });
}

type Spec = KubeObject['spec'];

/** The message for an empty selector; that of a Job may be empty. */
const emptyMessages: Readonly<Record<string, string>> = {
  Deployment: 'empty selector is invalid for deployment',
  // The real server's own words.
  ReplicaSet: 'empty selector is invalid for deployment',
  StatefulSet: 'empty selector is invalid for statefulset',
  DaemonSet: 'empty selector is invalid for daemonset',
};

const counts = ['replicas', 'minReadySeconds', 'revisionHistoryLimit'] as const;

/** The rules for a workload; where its status alone is written, its spec was valid before. */
export function validateWorkload(
  workload: KubeObject,
  { subresource, previous }: { readonly subresource?: string; readonly previous?: KubeObject } = {},
): readonly Cause[] {
  const metadata = validateMetadata(workload);
  if (subresource === 'status') return metadata;
  const { kind = '', spec } = workload;
  return [
    ...metadata,
    ...counts.flatMap((member) => validateCount(spec[member], `spec.${member}`)),
    ...validateOwnSelector(kind, spec),
    ...validateTemplate(spec, previous?.spec),
    ...(kind === 'Job' ? validateJobSpec(spec) : validateLastingPods(kind, spec)),
  ];
}

/** The selector must match the pods of the template. */
function validateOwnSelector(kind: string, { selector, template }: Spec): readonly Cause[] {
  const labels: Readonly<Record<string, string>> = template?.metadata?.labels ?? {};
  const given: LabelSelector | undefined = selector;
  const isMet = given !== undefined && selects(given, labels);
  const empty = given && isEmpty(given) ? emptyMessages[kind] : undefined;
  const mismatch = '`selector` does not match template `labels`';
  return [
    ...(given ? validateSelector(given, 'spec.selector') : [required('spec.selector')]),
    ...(empty ? [invalidValue('spec.selector', given, empty)] : []),
    ...(isMet ? [] : [invalidValue('spec.template.metadata.labels', labels, mismatch)]),
  ];
}

function isEmpty({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  return Object.keys(matchLabels).length + matchExpressions.length === 0;
}

function validateTemplate(
  { template, volumeClaimTemplates = [] }: Spec,
  before: Spec | undefined,
): readonly Cause[] {
  return [
    ...validateLabels(template?.metadata?.labels ?? {}, 'spec.template.labels'),
    ...validatePodSpec(
      template?.spec ?? {},
      'spec.template.spec',
      before?.template?.spec,
      volumeClaimTemplates,
    ),
  ];
}

/** The rules for those whose pods never end. */
function validateLastingPods(kind: string, spec: Spec): readonly Cause[] {
  const { restartPolicy, activeDeadlineSeconds } = spec.template?.spec ?? {};
  const causes: Cause[] = [];
  if (restartPolicy !== 'Always') {
    causes.push(notSupported('spec.template.spec.restartPolicy', restartPolicy, ['Always']));
  }
  if (activeDeadlineSeconds !== undefined) {
    const owner = kind === 'Deployment' ? 'ReplicaSet' : kind;
    const text = `activeDeadlineSeconds in ${owner} is not Supported`;
    causes.push(forbiddenValue('spec.template.spec.activeDeadlineSeconds', text));
  }
  return [...causes, ...validateStrategy(kind, spec)];
}

/** The faults of an update of a workload's immutable fields. */
export function validateWorkloadUpdate(next: KubeObject, previous: KubeObject): readonly Cause[] {
  if (next.kind === 'Job') return validateJobUpdate(next, previous);
  if (next.kind === 'StatefulSet') return validateStatefulSetUpdate(next, previous);
  if (equal(next.spec.selector, previous.spec.selector)) return [];
  return [invalidValue('spec.selector', next.spec.selector, immutableMessage)];
}

/** The mutable fields in the spec of a StatefulSet. */
const changeable = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
] as const;

function validateStatefulSetUpdate(next: KubeObject, previous: KubeObject): readonly Cause[] {
  const spec = { ...next.spec };
  for (const member of changeable) spec[member] = previous.spec[member];
  if (isSame(spec, previous.spec)) return [];
  const names = changeable.map((member) => `'${member}'`);
  const list = `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
  const text = `updates to statefulset spec for fields other than ${list} are forbidden`;
  return [forbiddenValue('spec', text)];
}

// The validation of how workloads replace their pods.

interface Strategy {
  readonly type?: string;
  readonly rollingUpdate?: Rolling | null;
}

interface Rolling {
  readonly maxUnavailable?: number | string;
  readonly maxSurge?: number | string;
  readonly partition?: number;
}

/** The rules for the strategy of a kind that has one. */
function validateStrategy(kind: string, spec: KubeObject['spec']): readonly Cause[] {
  switch (kind) {
    case 'Deployment':
      return [...ofDeployment(spec.strategy ?? {}, 'spec.strategy'), ...validateDeadline(spec)];
    case 'DaemonSet':
      return ofDaemonSet(spec.updateStrategy ?? {}, 'spec.updateStrategy');
    case 'StatefulSet':
      return ofStatefulSet(spec, 'spec.updateStrategy');
    default:
      return [];
  }
}

function ofDeployment(strategy: Strategy, field: string): readonly Cause[] {
  const { type, rollingUpdate } = strategy;
  if (type === 'RollingUpdate') return ofRolling(rollingUpdate ?? {}, `${field}.rollingUpdate`);
  if (type !== 'Recreate') {
    return [notSupported(field, inGo(strategy), ['Recreate', 'RollingUpdate'])];
  }
  const text = "may not be specified when strategy `type` is 'Recreate'";
  return rollingUpdate ? [forbiddenValue(`${field}.rollingUpdate`, text)] : [];
}

function ofRolling({ maxUnavailable, maxSurge }: Rolling, field: string): readonly Cause[] {
  const isStill = numberIn(maxUnavailable) === 0 && numberIn(maxSurge) === 0;
  const text = 'may not be 0 when `maxSurge` is 0';
  return [
    ...validateAmount(maxUnavailable, `${field}.maxUnavailable`),
    ...validateShare(maxSurge, `${field}.maxSurge`),
    ...(isStill ? [invalidValue(`${field}.maxUnavailable`, maxUnavailable, text)] : []),
  ];
}

function validateDeadline(spec: KubeObject['spec']): readonly Cause[] {
  const { progressDeadlineSeconds: deadline, minReadySeconds = 0 } = spec;
  if (typeof deadline !== 'number' || deadline > minReadySeconds) return [];
  const text = 'must be greater than minReadySeconds';
  return [invalidValue('spec.progressDeadlineSeconds', deadline, text)];
}

function ofDaemonSet(strategy: Strategy, field: string): readonly Cause[] {
  if (strategy.type === 'OnDelete') return [];
  if (strategy.type !== 'RollingUpdate') {
    return [notSupported(field, inGo(strategy), ['RollingUpdate', 'OnDelete'])];
  }
  const { maxUnavailable, maxSurge } = strategy.rollingUpdate ?? {};
  const [unavailable, surge] = [numberIn(maxUnavailable) !== 0, numberIn(maxSurge) !== 0];
  const rolling = `${field}.rollingUpdate`;
  const causes = [
    ...validateAmount(maxUnavailable, `${rolling}.maxUnavailable`),
    ...validateAmount(maxSurge, `${rolling}.maxSurge`),
  ];
  if (unavailable && surge) {
    const text = 'may not be set when `maxUnavailable` is non-zero';
    causes.push(invalidValue(`${rolling}.maxSurge`, maxSurge, text));
  }
  if (!unavailable && !surge) {
    causes.push(required(`${rolling}.maxUnavailable`, 'cannot be 0 when `maxSurge` is 0'));
  }
  return causes;
}

function ofStatefulSet(spec: KubeObject['spec'], field: string): readonly Cause[] {
  const strategy: Strategy = spec.updateStrategy ?? {};
  const { type, rollingUpdate } = strategy;
  const causes: Cause[] = [];
  const policy: string = spec.podManagementPolicy ?? '';
  if (policy !== 'OrderedReady' && policy !== 'Parallel') {
    const text = "must be 'OrderedReady' or 'Parallel'";
    causes.push(invalidValue('spec.podManagementPolicy', policy, text));
  }
  if (type !== 'RollingUpdate' && type !== 'OnDelete') {
    causes.push(invalidValue(field, inGo(strategy), "must be 'RollingUpdate' or 'OnDelete'"));
  }
  if (type === 'OnDelete' && rollingUpdate) {
    const text = "only allowed for updateStrategy 'RollingUpdate'";
    causes.push(invalidValue(`${field}.rollingUpdate`, inGo(rollingUpdate), text));
  }
  const partition = type === 'RollingUpdate' ? rollingUpdate?.partition : undefined;
  return [...causes, ...validateCount(partition, `${field}.rollingUpdate.partition`)];
}

/** A strategy under the names of Go's fields, as the real server shows it. */
function inGo({ type, rollingUpdate, ...rolling }: Strategy & Rolling): object {
  if (type !== undefined)
    return { Type: type, RollingUpdate: rollingUpdate ? inGo(rollingUpdate) : null };
  const { maxUnavailable, maxSurge, partition } = rolling;
  return { MaxUnavailable: maxUnavailable, MaxSurge: maxSurge, Partition: partition };
}

// Compares values as the real server does, which reads every part as its type.

/**
 * True if both are equal, also where free-form parts hold zeros that only one of them has: a client
 * in Go leaves out `value: ""` and `readOnly: false` of an object it has read, and adds `status:
 * {}`.
 */
function isSame(one: Json | undefined, other: Json | undefined): boolean {
  return equal(one, other) || equal(withoutZeros(one ?? null), withoutZeros(other ?? null));
}

function withoutZeros(value: Json): Json {
  if (isList(value)) return value.map(withoutZeros);
  if (!isObject(value)) return value;
  const members = Object.entries(value)
    .map(([name, member]) => [name, withoutZeros(member ?? null)] as const)
    .filter(([, member]) => !isZero(member));
  return Object.fromEntries(members);
}

function isZero(value: Json): boolean {
  if (isList(value)) return value.length === 0;
  if (isObject(value)) return Object.keys(value).length === 0;
  return value === null || value === '' || value === false;
}
