import { Controller, type ControllerContext } from '../controllers/controller.ts';
import { isOwnedAlike } from '../controllers/lookup.ts';
import { controllerOf, isTerminating, keyOf, splitKey } from '../controllers/pods.ts';
import { equal } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import type { Change } from '../store/cluster-api.ts';
import { isLeftByJob, releaseFromJob } from './job.ts';
import { JobBackoffs } from './job-backoff.ts';
import { workloadKinds, workloadResources } from './kinds.ts';
import { Revisions } from './revisions.ts';
import type { WorkloadKind } from './workload.ts';

const followed = new Set(['nodes', ...workloadResources]);

/** Changes within this time are answered together; pods of one workload often change in a row. */
const gatherMs = 20;

/**
 * The controllers of all workloads. A change of a workload, of something it created, or for
 * DaemonSets of a node, leads to one comparison of what is stored with what the spec asks for.
 */
export class Workloads extends Controller {
  readonly #revisions = new Revisions();
  readonly #jobBackoffs = new JobBackoffs();

  readonly #keepsHistory: boolean;

  /** `keepsHistory`: whether what kubectl rollout reads is written. */
  constructor(context: ControllerContext, keepsHistory = false) {
    super(context, gatherMs);
    this.#keepsHistory = keepsHistory;
  }

  protected override get follows(): ReadonlySet<string> {
    return followed;
  }

  protected override begin(): void {
    for (const kind of workloadKinds) this.#addAll(kind);
    for (const pod of this.api.list('pods')) this.#addLeft(pod);
  }

  /** A pod that its Job has left behind is let go. */
  #addLeft(pod: KubeObject): void {
    if (isLeftByJob(this.api, pod)) this.queue.add(`pods/${keyOf(pod)}`);
  }

  #addAll(kind: WorkloadKind): void {
    for (const workload of this.api.list(kind.resource)) this.#add(kind, keyOf(workload));
  }

  #add(kind: WorkloadKind, key: string): void {
    this.queue.add(`${kind.resource}/${key}`);
  }

  protected override notice({ type, resource, key, object, previous }: Change): void {
    for (const kind of workloadKinds) {
      if (kind.resource === resource && type !== 'DELETED') this.#add(kind, key);
      if (kind.creates === resource) this.#addOwner(kind, object);
      if (kind.creates === resource && previous && !isOwnedAlike(previous, object)) {
        this.#addOwner(kind, previous);
      }
      if (kind.followsNodes && resource === 'nodes') {
        if (type !== 'MODIFIED' || concernsDaemons(object, previous)) this.#addAll(kind);
      }
    }
    if (resource === 'pods' && type !== 'DELETED') this.#addLeft(object);
    if (type !== 'DELETED' && !isTerminating(object)) return;
    if (resource === 'jobs')
      for (const pod of this.lookup.ownedBy(object, 'pods')) this.#addLeft(pod);
    if (type !== 'DELETED') return;
    this.#revisions.forget(object);
    this.#jobBackoffs.forget(object);
  }

  #addOwner(kind: WorkloadKind, object: KubeObject): void {
    const owner = controllerOf(object);
    if (owner?.kind === kind.kind) this.#add(kind, `${object.metadata.namespace}/${owner.name}`);
  }

  protected override sync(key: string): void {
    const slash = key.indexOf('/');
    const resource = key.slice(0, slash);
    const [namespace, name] = splitKey(key.slice(slash + 1));
    const workload = this.api.get(resource, namespace, name);
    if (workload && resource === 'pods') releaseFromJob(this.api, workload);
    const kind = workloadKinds.find((candidate) => candidate.resource === resource);
    if (!kind || !workload || isTerminating(workload)) return;
    const keepsHistory = this.#keepsHistory;
    const memory = { revisions: this.#revisions, jobBackoffs: this.#jobBackoffs, keepsHistory };
    const again = (delayMs: number): void => this.queue.addAfter(key, delayMs);
    kind.sync({ api: this.api, lookup: this.lookup, ...memory, again }, workload);
  }
}

/** Heartbeats do not: only what decides whether a daemon pod belongs on the node. */
function concernsDaemons(node: KubeObject, previous: KubeObject | null): boolean {
  return (
    !previous ||
    !equal(node.spec?.taints, previous.spec?.taints) ||
    !equal(node.metadata.labels, previous.metadata.labels)
  );
}
