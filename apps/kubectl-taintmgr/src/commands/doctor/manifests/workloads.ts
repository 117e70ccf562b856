// What pods the workloads of manifests make: their labels, and how many there are.
import type { Labels } from '@taintmgr/core';
import type { Field } from '@taintmgr/k8s-adapter/manifests';
import type { Manifest } from './files.ts';

/** The pods that one object makes. */
export interface Workload {
  readonly manifest: Manifest;
  readonly labels: Labels;
  /** How many there are at least; null: that does not stand there. */
  readonly replicas: number | null;
  /** What says how many there are, where it is not the object itself; null: the object does. */
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
