// The validation of what makes pods from a template.
import type { Cause } from '../objects/errors.ts';
import { equal } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { validateCount } from './amounts.ts';
import {
  forbiddenValue,
  immutableMessage,
  invalidValue,
  notSupported,
  required,
} from './causes.ts';
import { validateJobSpec, validateJobUpdate } from './job.ts';
import { validateLabels, validateMetadata } from './metadata.ts';
import { validatePodSpec } from './pod.ts';
import { isSame } from './same.ts';
import { type LabelSelector, selects, validateSelector } from './selector.ts';
import { validateStrategy } from './strategy.ts';

type Spec = KubeObject['spec'];

/** What an empty selector is told; that of a Job may be empty. */
const emptyMessages: Readonly<Record<string, string>> = {
  Deployment: 'empty selector is invalid for deployment',
  // As the real server says it.
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

/** It picks the pods of the template. */
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

/** What never changes in a workload. */
export function validateWorkloadUpdate(next: KubeObject, previous: KubeObject): readonly Cause[] {
  if (next.kind === 'Job') return validateJobUpdate(next, previous);
  if (next.kind === 'StatefulSet') return validateStatefulSetUpdate(next, previous);
  if (equal(next.spec.selector, previous.spec.selector)) return [];
  return [invalidValue('spec.selector', next.spec.selector, immutableMessage)];
}

/** What may change in the spec of a StatefulSet. */
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
