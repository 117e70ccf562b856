// The validation of what is special to Jobs.
import type { Cause } from '../objects/errors.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { validateCount } from './amounts.ts';
import { immutableMessage, invalidValue, notSupported, required } from './causes.ts';
import type { Container } from './containers.ts';
import { isSame } from './same.ts';

type Spec = KubeObject['spec'];

const counts = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
] as const;
const modes = ['NonIndexed', 'Indexed'] as const;

/** The rules for the spec of a Job beside those of all workloads: its pods end. */
export function validateJobSpec(spec: Spec): readonly Cause[] {
  const causes = counts.flatMap((member) => validateCount(spec[member], `spec.${member}`));
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

/** What never changes in a Job. */
export function validateJobUpdate(next: KubeObject, previous: KubeObject): readonly Cause[] {
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

/** Those of an indexed Job change with its parallelism. */
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

/** A template with what says where pods may run, and what they ask for, from another one: it may change before a Job begins. */
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
