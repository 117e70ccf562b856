// The numbers of ready and of serving pods of each workload but Jobs during a run.
import type { WorkloadTrack } from '@taintmgr/page';
import type { Change, ClusterApi, KubeObject } from '@taintmgr/sim-cluster';
import { type StateOf, Timelines } from './timelines.ts';

type WorkloadId = Pick<WorkloadTrack, 'kind' | 'namespace' | 'name'>;

interface Workload extends WorkloadId {
  wanted: number;
  ready: number;
  serving: number;
  /** Of a DaemonSet: pods of nodes that are new, which were never ready. Their absence is no loss. */
  fresh: number;
}

const wanting: Readonly<Record<string, (object: KubeObject) => number>> = {
  deployments: ({ spec }) => spec.replicas ?? 1,
  statefulsets: ({ spec }) => spec.replicas ?? 1,
  replicasets: ({ spec }) => spec.replicas ?? 1,
  // A pod that runs where the controller would make none any more, as on a silent node, is wanted.
  daemonsets: ({ status }) =>
    (status?.desiredNumberScheduled ?? 0) + (status?.numberMisscheduled ?? 0),
};

/** Records workloads: the present ones at the beginning, and all changes. */
export class WorkloadTimelines {
  readonly #api: Pick<ClusterApi, 'get' | 'list'>;
  readonly #workloads = new Map<string, Workload>();
  readonly #timelines = new Timelines<WorkloadId, StateOf<WorkloadTrack>>();
  readonly #serving = new Timelines<object, { readonly pods: number }>();

  /**
   * Begins with the present pods: pods of unknown owners count as wanted in their present number, except
   * those that have ended or are ending, which no controller replaces.
   */
  constructor(api: Pick<ClusterApi, 'get' | 'list'>) {
    this.#api = api;
    for (const resource of Object.keys(wanting)) {
      for (const object of api.list(resource)) this.record(0, { resource, object, type: 'ADDED' });
    }
    for (const pod of api.list('pods').filter(isLasting)) {
      const workload = this.#workloadOf(pod);
      if (workload && !this.#isKnown(workload)) workload.wanted++;
    }
  }

  /** True for a resource whose changes matter. */
  takes(resource: string): boolean {
    return resource in wanting;
  }

  record(at: number, { resource, object, type }: Omit<Change, 'key' | 'previous'>): void {
    const wanted = wanting[resource];
    // A ReplicaSet of a Deployment is a part of it.
    if (!wanted || ownerOf(object)) return;
    const { name, namespace = '' } = object.metadata;
    const workload = this.#workload(object.kind ?? '', namespace, name);
    const before = workload.wanted;
    workload.wanted = type === 'DELETED' ? 0 : wanted(object);
    const isDaemonSet = at > 0 && workload.kind === 'DaemonSet';
    // A node that a taint kept from it and whose pod has stayed is not new.
    const more = isDaemonSet ? Math.min(workload.wanted - before, nodesWithoutPod(object)) : 0;
    workload.fresh = Math.max(0, workload.fresh + more);
    this.#write(at, workload);
  }

  /** A pod has become ready (1), or is so no more (-1). */
  countReady(at: number, pod: KubeObject, change: 1 | -1): void {
    const workload = this.#workloadOf(pod);
    if (!workload) return;
    workload.ready += change;
    if (change > 0) workload.fresh = Math.max(0, workload.fresh - 1);
    this.#write(at, workload);
  }

  /** A pod has ended by itself, ready or not: where no controller recreates it, its work is done. */
  countDone(at: number, pod: KubeObject): void {
    const workload = this.#workloadOf(pod);
    if (!workload || !hasSucceeded(pod) || this.#isKnown(workload)) return;
    workload.wanted--;
    this.#write(at, workload);
  }

  /** A pod has begun to serve (1), or serves no more (-1). */
  countServing(at: number, pod: KubeObject, change: 1 | -1): void {
    const workload = this.#workloadOf(pod);
    if (!workload) return;
    workload.serving += change;
    this.#write(at, workload);
  }

  /** `Deployment shop/web`; null for pods of no workload that is counted. */
  nameOf(pod: KubeObject): string | null {
    const workload = this.#workloadOf(pod);
    return workload && `${workload.kind} ${workload.namespace}/${workload.name}`;
  }

  /** Writes all down as it is at the beginning. */
  begin(): void {
    for (const workload of this.#workloads.values()) this.#write(0, workload);
  }

  tracks(): readonly WorkloadTrack[] {
    const serving = this.#serving.inOrder();
    return this.#timelines
      .inOrder()
      .map((track, index) => ({ ...track, serving: serving[index]?.states ?? [] }))
      .filter(({ states }) => states.some(({ wanted, ready }) => wanted > 0 || ready > 0));
  }

  #write(at: number, { wanted: all, ready, serving, fresh, ...id }: Workload): void {
    const wanted = all - fresh;
    const key = `${id.namespace}/${id.name}/${id.kind}`;
    this.#timelines.add(key, id);
    this.#timelines.push(at, key, { wanted, ready });
    this.#serving.add(key, {});
    this.#serving.push(at, key, { pods: serving });
  }

  /** The workload of a pod: what owns it, or what owns that. */
  #workloadOf(pod: KubeObject): Workload | null {
    const namespace = pod.metadata.namespace ?? '';
    const owner = ownerOf(pod);
    if (!owner) return this.#workload('Pod', namespace, pod.metadata.name);
    if (owner.kind === 'Node' || owner.kind === 'Job') return null;
    const set =
      owner.kind === 'ReplicaSet' ? this.#api.get('replicasets', namespace, owner.name) : null;
    const top = (set && ownerOf(set)) ?? owner;
    return this.#workload(top.kind, namespace, top.name);
  }

  #isKnown({ kind, namespace, name }: Workload): boolean {
    const resource = `${kind.toLowerCase()}s`;
    return resource in wanting && this.#api.get(resource, namespace, name) !== null;
  }

  #workload(kind: string, namespace: string, name: string): Workload {
    const key = `${kind} ${namespace}/${name}`;
    const workload = this.#workloads.get(key) ?? {
      ...{ kind, namespace, name },
      ...{ wanted: 0, ready: 0, serving: 0, fresh: 0 },
    };
    this.#workloads.set(key, workload);
    return workload;
  }
}

/** Nodes that a DaemonSet wants a pod on and that have none. */
function nodesWithoutPod({ status }: KubeObject): number {
  return (status?.desiredNumberScheduled ?? 0) - (status?.currentNumberScheduled ?? 0);
}

/** True for a pod that stays: it has neither ended nor is it ending. */
function isLasting({ metadata, status }: KubeObject): boolean {
  const hasEnded = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  return !hasEnded && metadata.deletionTimestamp === undefined;
}

/** True for a pod whose work is done, and that was not asked to leave. */
function hasSucceeded({ metadata, status }: KubeObject): boolean {
  return status?.phase === 'Succeeded' && metadata.deletionTimestamp === undefined;
}

function ownerOf({
  metadata,
}: KubeObject): { readonly kind: string; readonly name: string } | null {
  return metadata.ownerReferences?.find(({ controller }) => controller) ?? null;
}
