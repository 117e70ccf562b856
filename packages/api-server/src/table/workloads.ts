// The table columns of workloads.
import type { Json, KubeObject, Printer } from '@taintmgr/sim-cluster/server';
import { age, ageColumn, column, nameColumn, orNone, wide } from './columns.ts';
import { humanDuration } from './duration.ts';

interface TemplateContainer {
  readonly name: string;
  readonly image?: string;
}

const workloadWide = [
  wide('Containers', 'Names of each container in the template.'),
  wide('Images', 'Images referenced by each container in the template.'),
  wide('Selector', 'Label selector for pods.'),
] as const;

/** The wide cells that workloads share. */
function templateCells({ spec }: KubeObject): readonly Json[] {
  const containers: readonly TemplateContainer[] = spec.template?.spec?.containers ?? [];
  const labels: Readonly<Record<string, string>> =
    spec.selector?.matchLabels ?? spec.selector ?? {};
  const selector = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return [
    containers.map(({ name }) => name).join(','),
    containers.map(({ image = '' }) => image).join(','),
    orNone(selector.sort().join(',')),
  ];
}

const count = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** DaemonSets as kubectl prints them. */
export const daemonSetPrinter: Printer = {
  columns: [
    nameColumn,
    column('Desired', 'The total number of nodes that should be running the pod.', 'integer'),
    column('Current', 'The number of nodes that are running at least 1 pod.', 'integer'),
    column('Ready', 'The number of nodes with at least one ready pod.', 'integer'),
    column('Up-to-date', 'The number of nodes that are running the updated pod.', 'integer'),
    column('Available', 'The number of nodes with an available pod.', 'integer'),
    column('Node Selector', 'Selector which must match a node.'),
    ageColumn,
    ...workloadWide,
  ],
  cells: (set, now) => {
    const nodeSelector: Readonly<Record<string, string>> =
      set.spec.template?.spec?.nodeSelector ?? {};
    const pairs = Object.entries(nodeSelector).map(([key, value]) => `${key}=${value}`);
    return [
      set.metadata.name,
      count(set.status?.desiredNumberScheduled),
      count(set.status?.currentNumberScheduled),
      count(set.status?.numberReady),
      count(set.status?.updatedNumberScheduled),
      count(set.status?.numberAvailable),
      orNone(pairs.sort().join(',')),
      age(set, now),
      ...templateCells(set),
    ];
  },
};

/** Deployments as kubectl prints them. */
export const deploymentPrinter: Printer = {
  columns: [
    nameColumn,
    column('Ready', 'Number of the pod with ready state'),
    column('Up-to-date', 'Pods that have the desired template spec.', 'integer'),
    column('Available', 'Pods that are available.', 'integer'),
    ageColumn,
    ...workloadWide,
  ],
  cells: (deployment, now) => [
    deployment.metadata.name,
    `${count(deployment.status?.readyReplicas)}/${count(deployment.spec.replicas)}`,
    count(deployment.status?.updatedReplicas),
    count(deployment.status?.availableReplicas),
    age(deployment, now),
    ...templateCells(deployment),
  ],
};

/** ReplicaSets and ReplicationControllers as kubectl prints them. */
export const replicaSetPrinter: Printer = {
  columns: [
    nameColumn,
    column('Desired', 'Number of desired pods.', 'integer'),
    column('Current', 'Number of pods that exist.', 'integer'),
    column('Ready', 'Number of ready pods.', 'integer'),
    ageColumn,
    ...workloadWide,
  ],
  cells: (set, now) => [
    set.metadata.name,
    count(set.spec.replicas),
    count(set.status?.replicas),
    count(set.status?.readyReplicas),
    age(set, now),
    ...templateCells(set),
  ],
};

const desiredText = 'replicas is the desired number of instances for the scaled object.';
const thereText = 'replicas is the actual number of observed instances of the scaled object.';

/** The desired and current replicas of a workload, as kubectl prints its scale. */
export const scalePrinter: Printer = {
  columns: [
    nameColumn,
    column('Desired', desiredText, 'integer'),
    column('Available', thereText, 'integer'),
    ageColumn,
  ],
  cells: (scale, now) => [
    scale.metadata.name,
    count(scale.spec.replicas),
    count(scale.status?.replicas),
    age(scale, now),
  ],
};

/** StatefulSets as kubectl prints them. */
export const statefulSetPrinter: Printer = {
  columns: [
    nameColumn,
    column('Ready', 'Number of the pod with ready state'),
    ageColumn,
    ...workloadWide.slice(0, 2),
  ],
  cells: (set, now) => [
    set.metadata.name,
    `${count(set.status?.readyReplicas)}/${count(set.spec.replicas)}`,
    age(set, now),
    ...templateCells(set).slice(0, 2),
  ],
};

function jobStatus({ status }: KubeObject): string {
  const conditions: readonly { readonly type: string; readonly status: string }[] =
    status?.conditions ?? [];
  const has = (wanted: string) =>
    conditions.some((condition) => condition.type === wanted && condition.status === 'True');
  const found = ['Complete', 'Failed', 'Suspended', 'FailureTarget'].find(has);
  return found ?? 'Running';
}

/** Succeeded pods of the pods needed. Workers at one queue need one: `0/1 of 3`. */
function completionsOf({ spec, status }: KubeObject): string {
  const succeeded = count(status?.succeeded);
  if (spec.completions !== undefined) return `${succeeded}/${spec.completions}`;
  return `${succeeded}/1${spec.parallelism > 1 ? ` of ${spec.parallelism}` : ''}`;
}

/** Jobs as kubectl prints them. */
export const jobPrinter: Printer = {
  columns: [
    nameColumn,
    column('Status', 'Status of the job.'),
    column('Completions', 'Pods that have succeeded.'),
    column('Duration', 'Time required to complete the job.'),
    ageColumn,
    ...workloadWide,
  ],
  cells: (job, now) => {
    const { startTime, completionTime } = job.status ?? {};
    const end = completionTime ? Date.parse(completionTime) : now;
    return [
      job.metadata.name,
      jobStatus(job),
      completionsOf(job),
      startTime ? humanDuration(end - Date.parse(startTime)) : '',
      age(job, now),
      ...templateCells(job),
    ];
  },
};

/** ControllerRevisions as kubectl prints them. */
export const controllerRevisionPrinter: Printer = {
  columns: [
    nameColumn,
    column('Controller', 'Controller of the object'),
    column('Revision', 'Revision indicates the revision of the state represented by Data.'),
    ageColumn,
  ],
  cells: (revision, now) => {
    const owner = revision.metadata.ownerReferences?.find(({ controller }) => controller);
    const [group = ''] = (owner?.apiVersion ?? '').includes('/')
      ? (owner?.apiVersion ?? '').split('/')
      : [''];
    const kind = owner?.kind.toLowerCase() ?? '';
    return [
      revision.metadata.name,
      owner ? `${group ? `${kind}.${group}` : kind}/${owner.name}` : '<none>',
      revision.revision,
      age(revision, now),
    ];
  },
};
