// The objects of people without nodes: workloads, disruption budgets, namespaces, with their pods.
import type { LabelSelector, Owner, Pod } from '@taintmgr/core';
import { selectorText } from '../text/label-selector.ts';
import type { ObjectMeta, PodFacts } from './facts.ts';
import type { JobObject } from './job-ends.ts';
import { type ClusterReader, namespacePath } from './reader.ts';

/** Where the API server has the objects of each kind. */
const collections = {
  Deployment: ['/apis/apps/v1', 'deployments'],
  StatefulSet: ['/apis/apps/v1', 'statefulsets'],
  DaemonSet: ['/apis/apps/v1', 'daemonsets'],
  ReplicaSet: ['/apis/apps/v1', 'replicasets'],
  Job: ['/apis/batch/v1', 'jobs'],
  PodDisruptionBudget: ['/apis/policy/v1', 'poddisruptionbudgets'],
} as const;

/** The kinds that can be asked about beside nodes and pods. */
export type WorkloadKind = keyof typeof collections | 'Namespace';

/** A workload by its name; `namespace` of a Namespace is its own name. */
export interface WorkloadName {
  /** Such as `Deployment`. */
  readonly kind: WorkloadKind;
  /** The namespace of the workload. */
  readonly namespace: string;
  /** The name of the workload. */
  readonly name: string;
}

/** As the API server has it, as far as it says how its pods come and go. */
interface WorkloadObject {
  readonly metadata: ObjectMeta & { readonly deletionTimestamp?: string };
  readonly spec?: {
    readonly replicas?: number;
    readonly parallelism?: number;
    readonly selector?: LabelSelector;
    readonly minAvailable?: number | string;
    readonly maxUnavailable?: number | string;
  };
  /** Of a Job. */
  readonly status?: { readonly completionTime?: string };
}

/** A workload that was read. */
export interface Workload extends WorkloadName {
  /** Null: we may not read it, but know its pods. */
  readonly object: WorkloadObject | null;
  /**
   * The controller of each ReplicaSet that has pods among these, by its name; a ReplicaSet without
   * one is left out.
   */
  readonly controllers: ReadonlyMap<string, Owner>;
  /** The Jobs that have pods among these, by name; none of those that we may not read. */
  readonly jobs: ReadonlyMap<string, JobObject>;
}

/**
 * Reads a workload and its pods. Throws ApiError: NotFound, and Forbidden without the right to read the
 * workload or the pods of its namespace.
 */
export async function readWorkload(
  reader: ClusterReader,
  named: WorkloadName,
): Promise<{ readonly workload: Workload; readonly pods: readonly PodFacts[] }> {
  const { namespace } = named;
  const object = await readObject(reader, named);
  const selector = selectorOf(named, object);
  const selected = selector === null ? [] : await reader.podsOf(namespace, selector);
  const [controllers, jobs] = await Promise.all([
    readControllers(reader, named, selected, selector ?? ''),
    readJobs(reader, named, object, selected),
  ]);
  const pods = selected.filter(({ pod }) => isOf(named, pod, controllers));
  return { workload: { ...named, object, controllers: controllers ?? new Map(), jobs }, pods };
}

/** The names that there are of a kind, in a namespace. */
export async function workloadNames(
  reader: ClusterReader,
  kind: WorkloadKind,
  namespace: string,
): Promise<readonly string[]> {
  if (kind === 'Namespace') return await reader.namespaceNames();
  const objects = (await reader.objects(
    collectionPath(kind, namespace),
  )) as readonly WorkloadObject[];
  return objects.map(({ metadata }) => metadata.name);
}

function collectionPath(kind: keyof typeof collections, namespace: string): string {
  const [root, plural] = collections[kind];
  return `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}`;
}

/** A user who may list the pods of a namespace need not have the right to read the Namespace. */
async function readObject(
  reader: ClusterReader,
  { kind, namespace, name }: WorkloadName,
): Promise<WorkloadObject | null> {
  if (kind === 'Namespace') {
    const path = namespacePath(name);
    return (await reader.ifAllowed(() => reader.object(path))) as WorkloadObject | null;
  }
  return (await reader.object(workloadPath(kind, namespace, name))) as WorkloadObject;
}

/** Where the API server has it. */
export function workloadPath(
  kind: keyof typeof collections,
  namespace: string,
  name: string,
): string {
  return `${collectionPath(kind, namespace)}/${encodeURIComponent(name)}`;
}

/** Null: it selects no pod. */
function selectorOf({ kind }: WorkloadName, object: WorkloadObject | null): string | null {
  if (kind === 'Namespace') return '';
  const { selector } = object?.spec ?? {};
  return selector ? selectorText(selector) : null;
}

/**
 * Who controls ReplicaSets, by their names; null: we may not see that, and pods of ReplicaSets that a
 * Deployment selects are taken for its own.
 */
async function readControllers(
  reader: ClusterReader,
  { kind, namespace }: WorkloadName,
  pods: readonly PodFacts[],
  selector: string,
): Promise<ReadonlyMap<string, Owner> | null> {
  const isAsked = kind === 'Deployment' || kind === 'PodDisruptionBudget' || kind === 'Namespace';
  if (!isAsked || !pods.some(({ pod }) => pod.owner?.kind === 'ReplicaSet')) return new Map();
  const path = collectionPath('ReplicaSet', namespace);
  const sets = await reader.ifAllowed(() =>
    reader.objects(path, kind === 'Deployment' ? selector : ''),
  );
  if (sets === null) return null;
  const controlled = (sets as readonly WorkloadObject[]).flatMap(({ metadata }) => {
    const owner = metadata.ownerReferences?.find(({ controller }) => controller);
    return owner ? [[metadata.name, owner as Owner] as const] : [];
  });
  return new Map(controlled);
}

async function readJobs(
  reader: ClusterReader,
  { kind, namespace, name }: WorkloadName,
  object: WorkloadObject | null,
  pods: readonly PodFacts[],
): Promise<ReadonlyMap<string, JobObject>> {
  if (kind === 'Job') return object ? new Map([[name, object as JobObject]]) : new Map();
  const isAsked = kind === 'Namespace' || kind === 'PodDisruptionBudget';
  if (!isAsked || !pods.some(({ pod }) => pod.owner?.kind === 'Job')) return new Map();
  const path = collectionPath('Job', namespace);
  const jobs = (await reader.ifAllowed(() => reader.objects(path))) ?? [];
  return new Map(
    (jobs as readonly (WorkloadObject & JobObject)[]).map((job) => [job.metadata.name, job]),
  );
}

/** True: the selected pod belongs to the workload: a selector may find pods of others. */
function isOf(
  { kind, name }: WorkloadName,
  { owner }: Pod,
  controllers: ReadonlyMap<string, Owner> | null,
): boolean {
  switch (kind) {
    case 'Namespace':
    case 'PodDisruptionBudget':
      return true;
    case 'Deployment': {
      if (owner?.kind !== 'ReplicaSet') return false;
      const above = controllers?.get(owner.name);
      return controllers === null || (above?.kind === kind && above.name === name);
    }
    default:
      return owner?.kind === kind && owner.name === name;
  }
}
