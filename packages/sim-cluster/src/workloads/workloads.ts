import { Controller, type ControllerContext } from '../controllers/controller.ts';
import { isOwnedAlike } from '../controllers/lookup.ts';
import { controllerOf, isTerminating, keyOf, splitKey } from '../controllers/pods.ts';
import { equal } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import type { Change } from '../store/cluster-api.ts';
import { DaemonBackoffs } from './daemon-backoff.ts';
import { isLeftByJob, releaseFromJob } from './job.ts';
import { JobBackoffs } from './job-backoff.ts';
import { workloadKinds, workloadResources } from './kinds.ts';
import { Revisions } from './revisions.ts';
import type { WorkloadKind } from './workload.ts';

const followed = new Set(['nodes', ...workloadResources]);

/** Changes within this time are answered together; pods of one workload often change in a row. */
const gatherMs: Readonly<Record<WorkloadKind['creates'], number>> = {
  pods: 5,
  // Readers of the sets see each of their statuses.
  replicasets: 2,
};

/** The prefix of keys for workloads to settle, and the delay. */
const secondLook = 'second look at ';
const secondLookMs = 10;

/**
 * The controllers of the workloads that create pods, or of those that create sets. A change of a
 * workload, of a created object, or for DaemonSets of a node, leads to one comparison of the stored
 * state with the spec.
 */
export class Workloads extends Controller {
  readonly #revisions = new Revisions();
  readonly #jobBackoffs = new JobBackoffs();
  readonly #daemonBackoffs = new DaemonBackoffs();
  readonly #kinds: readonly WorkloadKind[];
  readonly #keepsHistory: boolean;

  /** `keepsHistory`: whether what kubectl rollout reads is written. */
  constructor(context: ControllerContext, creates: WorkloadKind['creates'], keepsHistory = false) {
    super(context, gatherMs[creates]);
    this.#kinds = workloadKinds.filter((kind) => kind.creates === creates);
    this.#keepsHistory = keepsHistory;
  }

  protected override get follows(): ReadonlySet<string> {
    return followed;
  }

  protected override begin(): void {
    for (const kind of this.#kinds) this.#addAll(kind);
    for (const pod of this.api.list('pods')) this.#addLeft(pod);
  }

  /** Queues a pod that its Job has left behind, to release it. */
  #addLeft(pod: KubeObject): void {
    if (isLeftByJob(this.api, pod)) this.queue.add(`pods/${keyOf(pod)}`);
  }

  #addAll(kind: WorkloadKind): void {
    for (const workload of this.api.list(kind.resource)) this.#add(kind, keyOf(workload));
  }

  #addConcerned(kind: WorkloadKind, node: KubeObject, previous: KubeObject | null): void {
    const context = { api: this.api, lookup: this.lookup };
    for (const workload of this.api.list(kind.resource)) {
      if (kind.concernsNode?.(context, workload, node, previous)) this.#add(kind, keyOf(workload));
    }
  }

  #add(kind: WorkloadKind, key: string): void {
    this.queue.add(`${kind.resource}/${key}`);
  }

  /** Queues a workload after a change of its created objects, or of its status. */
  #addSoon(kind: WorkloadKind, key: string): void {
    const { patienceMs = 0, resource } = kind;
    if (patienceMs === 0) this.#add(kind, key);
    else this.queue.addAfter(`${resource}/${key}`, patienceMs);
  }

  protected override notice({ type, resource, key, object, previous }: Change): void {
    for (const kind of this.#kinds) {
      if (kind.resource === resource && type !== 'DELETED') {
        if (previous && isOnlyStatus(object, previous)) this.#addSoon(kind, key);
        else this.#add(kind, key);
      }
      if (kind.creates === resource) {
        const isNews =
          resource === 'replicasets' && previous !== null && object.status !== previous.status;
        this.#addOwner(kind, object, isNews);
        if (previous && !isOwnedAlike(previous, object)) this.#addOwner(kind, previous, false);
      }
      if (kind.concernsNode && resource === 'nodes' && type !== 'DELETED') {
        if (isPlaceChanged(object, previous)) this.#addConcerned(kind, object, previous);
      }
    }
    if (resource === 'pods' && type !== 'DELETED') this.#addLeft(object);
    if (type !== 'DELETED' && !isTerminating(object)) return;
    if (resource === 'jobs')
      for (const pod of this.lookup.ownedBy(object, 'pods')) this.#addLeft(pod);
    if (type !== 'DELETED') return;
    this.#revisions.forget(object);
    this.#jobBackoffs.forget(object);
    this.#daemonBackoffs.forget(object);
  }

  #addOwner(kind: WorkloadKind, object: KubeObject, isNews: boolean): void {
    const owner = controllerOf(object);
    if (owner?.kind !== kind.kind) return;
    const key = `${object.metadata.namespace}/${owner.name}`;
    if (isNews) this.#add(kind, key);
    else this.#addSoon(kind, key);
  }

  protected override sync(work: string): void {
    const isSecond = work.startsWith(secondLook);
    const key = isSecond ? work.slice(secondLook.length) : work;
    const slash = key.indexOf('/');
    const resource = key.slice(0, slash);
    const [namespace, name] = splitKey(key.slice(slash + 1));
    const workload = this.api.get(resource, namespace, name);
    if (workload && resource === 'pods') releaseFromJob(this.api, workload);
    const kind = this.#kinds.find((candidate) => candidate.resource === resource);
    if (!kind || !workload) return;
    const keepsHistory = this.#keepsHistory;
    const memory = {
      revisions: this.#revisions,
      jobBackoffs: this.#jobBackoffs,
      daemonBackoffs: this.#daemonBackoffs,
      keepsHistory,
    };
    const again = (delayMs: number): void => this.queue.addAfter(key, delayMs);
    const lookTwice = (): void => this.queue.addAfter(`${secondLook}${key}`, secondLookMs);
    const context = { api: this.api, lookup: this.lookup, ...memory, again, lookTwice };
    if (isSecond) kind.settle?.(context, workload);
    else kind.sync(context, workload);
  }
}

/** True if no more than its status has changed: an unchanged part is the same value. */
function isOnlyStatus({ metadata, spec }: KubeObject, previous: KubeObject): boolean {
  const { annotations, deletionTimestamp, labels } = previous.metadata;
  return (
    spec === previous.spec &&
    annotations === metadata.annotations &&
    labels === metadata.labels &&
    deletionTimestamp === metadata.deletionTimestamp
  );
}

/** Heartbeats do not: only what decides whether a daemon pod belongs on the node. */
function isPlaceChanged(node: KubeObject, previous: KubeObject | null): boolean {
  return (
    !previous ||
    !equal(node.spec?.taints, previous.spec?.taints) ||
    !equal(node.metadata.labels, previous.metadata.labels)
  );
}
