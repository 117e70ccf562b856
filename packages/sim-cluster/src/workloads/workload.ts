import type { ControllerContext } from '../controllers/controller.ts';
import { isTerminating } from '../controllers/pods.ts';
import { hash } from '../kernel/hash.ts';
import { equal } from '../objects/json.ts';
import type { Json, KubeObject, OwnerReference } from '../objects/kube-object.ts';
import type { ClusterApi } from '../store/cluster-api.ts';
import type { DaemonBackoffs } from './daemon-backoff.ts';
import type { JobBackoffs } from './job-backoff.ts';
import type { Revisions } from './revisions.ts';

/** The dependencies of the controllers of workloads. */
export interface WorkloadContext extends ControllerContext {
  readonly revisions: Revisions;
  readonly jobBackoffs: JobBackoffs;
  readonly daemonBackoffs: DaemonBackoffs;
  /**
   * True if the objects that kubectl rollout reads are written: see `rolloutHistory` of a cluster.
   */
  readonly keepsHistory: boolean;
  /** Looks at the workload again after a delay. */
  again(delayMs: number): void;
  /** Settles the workload in a moment: its latest writes are known everywhere by then. */
  lookTwice(): void;
}

/** The interface that the controllers of all workloads share. */
export interface WorkloadKind {
  readonly apiVersion: string;
  readonly kind: string;
  /** Plural name of the kind. */
  readonly resource: string;
  /** The plural name of the created resource. */
  readonly creates: 'pods' | 'replicasets';
  /**
   * True if a new or changed node requires the workload to act; left out: nodes do not concern it.
   */
  concernsNode?(
    context: ControllerContext,
    workload: KubeObject,
    node: KubeObject,
    previous: KubeObject | null,
  ): boolean;
  /**
   * The time it gathers changes of its created objects, and of its own status, before it looks;
   * left out: no time.
   */
  readonly patienceMs?: number;
  /** True if an object that the selector matches can be its own; left out: every object can. */
  fits?(workload: KubeObject, created: KubeObject): boolean;
  /** Takes the next steps from the stored state to the workload's spec. */
  sync(context: WorkloadContext, workload: KubeObject): void;
  /** Ends what a step has begun, where it says so by `lookTwice`. */
  settle?(context: WorkloadContext, workload: KubeObject): void;
}

/**
 * The number of pods created at once, as by the real controllers; further pods follow when these
 * exist.
 */
export const podsPerSyncMax = 500;

type Labels = Readonly<Record<string, string>>;

/** The decision of a workload about one pod; the rest comes from its template. */
export interface PodPlan {
  /** A fixed name; without one the server makes it from the workload's name. */
  readonly name?: string;
  /** The prefix of a name that the server generates; left out: the workload's name. */
  readonly generateName?: string;
  readonly labels?: Labels;
  readonly annotations?: Labels;
  readonly finalizers?: readonly string[];
  /** Fields of the pod's spec that replace those of the template. */
  readonly spec?: { readonly [field: string]: Json };
}

/** True if no pods can be made in the workload's namespace any more; that is no failure. */
export function isClosing(api: ClusterApi, { metadata }: KubeObject): boolean {
  const namespace = api.get('namespaces', '', metadata.namespace ?? '');
  return namespace !== null && isTerminating(namespace);
}

/** Creates one pod from the workload's template. */
export function createPod(
  api: ClusterApi,
  kind: WorkloadKind,
  workload: KubeObject,
  plan: PodPlan,
): void {
  const { template } = workload.spec;
  const { name, namespace = '' } = workload.metadata;
  const annotations = { ...template.metadata?.annotations, ...plan.annotations };
  const finalizers = [...(template.metadata?.finalizers ?? []), ...(plan.finalizers ?? [])];
  api.create('pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: plan.name ?? '',
      ...(plan.name === undefined ? { generateName: plan.generateName ?? `${name}-` } : {}),
      namespace,
      labels: { ...template.metadata?.labels, ...plan.labels },
      ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
      ...(finalizers.length > 0 ? { finalizers } : {}),
      ownerReferences: [ownerReference(kind, workload)],
    },
    // The same object where nothing is changed: pods of one template are recognised by it.
    spec: plan.spec ? { ...template.spec, ...plan.spec } : template.spec,
  });
}

/** Deletes the pod with its own grace period. */
export function deletePod(api: ClusterApi, pod: KubeObject): void {
  const { namespace = '', name, uid = '' } = pod.metadata;
  api.delete('pods', namespace, name, { uid });
}

/** The reference by which `owned` objects name their controller. */
export function ownerReference(kind: WorkloadKind, owner: KubeObject): OwnerReference {
  return {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid ?? '',
    controller: true,
    blockOwnerDeletion: true,
  };
}

/**
 * Writes the named fields of the workload's status; equal values are not written. Returns the
 * present workload.
 */
export function setStatus(
  api: ClusterApi,
  kind: WorkloadKind,
  workload: KubeObject,
  fields: Fields,
): KubeObject {
  if (isWritten(fields, workload.status)) return workload;
  const status = { ...workload.status, ...fields };
  return api.update(kind.resource, { ...workload, status }, 'status');
}

type Fields = { readonly [field: string]: unknown };

function isWritten(fields: Fields, status: Fields | undefined): boolean {
  for (const name in fields) if (!equal(fields[name], status?.[name])) return false;
  return true;
}

const hashAlphabet = 'bcdfghjklmnpqrstvwxz2456789';

const hashes = new WeakMap<object, string>();

/** Names a pod template: equal templates have equal hashes, in the letters of generated names. */
export function templateHash(template: object): string {
  const known = hashes.get(template) ?? hashOf(template);
  // A frozen template cannot change.
  if (Object.isFrozen(template)) hashes.set(template, known);
  return known;
}

function hashOf(template: object): string {
  let rest = hash(JSON.stringify(template));
  let text = '';
  for (let digit = 0; digit < 7; digit++) {
    text += hashAlphabet[rest % hashAlphabet.length];
    rest = Math.floor(rest / hashAlphabet.length);
  }
  return text;
}
