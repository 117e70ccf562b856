// Deletes an object, with grace periods, finalizers and propagation.

import { type Cause, conflict, forbidden, invalid, notFound } from '../objects/errors.ts';
import type { KubeObject, ObjectMeta } from '../objects/kube-object.ts';
import { formatTime, lastInstant } from '../objects/time.ts';
import { type Resource, storageOf } from '../resources/resource.ts';
import { invalidValue, notSupported } from '../validation/causes.ts';
import type { Writer } from './admission.ts';
import { judgeDelete } from './admit.ts';
import type { Backend, Target } from './backend.ts';
import { toView } from './canonical.ts';

/** DeleteOptions as the wire has them. */
export interface DeleteRequest {
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly orphanDependents?: boolean;
  readonly propagationPolicy?: string;
  readonly dryRun?: readonly string[];
}

export interface Deleted {
  /** The last state of the object, or its present state when it stays for now. */
  readonly object: KubeObject;
  readonly gone: boolean;
}

const propagationPolicies = ['Foreground', 'Background', 'Orphan', 'nil'] as const;
const deleteOptionsKind = { group: 'meta.k8s.io', kind: 'DeleteOptions' } as const;

/** The finalizer by which a propagation policy keeps the object for a garbage collector. */
const policyFinalizers: Readonly<Record<string, string>> = {
  Foreground: 'foregroundDeletion',
  Orphan: 'orphan',
};

/** Refuses DeleteOptions that make no sense (422). */
export function validateDeleteRequest(request: DeleteRequest): void {
  const { dryRun, propagationPolicy, orphanDependents } = request;
  const causes: Cause[] = [];
  if (dryRun?.some((value) => value !== 'All')) {
    causes.push(notSupported('dryRun', dryRun, ['All']));
  }
  if (propagationPolicy !== undefined && orphanDependents !== undefined) {
    const text = 'orphanDependents and deletionPropagation cannot be both set';
    causes.push(invalidValue('propagationPolicy', propagationPolicy, text));
  } else if (
    propagationPolicy !== undefined &&
    !propagationPolicies.some((known) => known === propagationPolicy)
  ) {
    causes.push(notSupported('propagationPolicy', propagationPolicy, propagationPolicies));
  }
  if (causes.length > 0) throw invalid(deleteOptionsKind, '', causes);
}

/** DELETE of one object: graceful for pods, held back by finalizers for every kind. */
export function deleteObject(
  backend: Backend,
  resource: Resource,
  target: Target,
  request: DeleteRequest = {},
  writer?: Writer,
): Deleted {
  validateDeleteRequest(request);
  const storage = storageOf(resource);
  const previous = backend.store.get(storage.storeKey, target.namespace, target.name);
  if (!previous) throw notFound(resource, target.name);
  checkDeletePreconditions(resource, previous, request);
  const dryRun = (request.dryRun ?? []).length > 0;
  judgeDelete(backend, resource, toView(resource, previous), { target, request, writer });
  if (storage.storeKey === 'namespaces') return deleteNamespace(backend, previous, dryRun);
  const marked = withPolicyFinalizer(mark(backend, storage, previous, request), request);
  return finish(backend, storage, marked, previous, dryRun);
}

/** 409 unless the stored object has the uid and resourceVersion asked for. */
export function checkDeletePreconditions(
  resource: Resource,
  object: KubeObject,
  { preconditions }: DeleteRequest,
): void {
  const { name, uid, resourceVersion } = object.metadata;
  // The real server names the kind here where it otherwise names the resource.
  const subject = { group: resource.group, plural: resource.kind };
  if (preconditions?.uid && preconditions.uid !== uid) {
    const text = `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`;
    throw conflict(subject, name, text);
  }
  if (preconditions?.resourceVersion && preconditions.resourceVersion !== resourceVersion) {
    const text = `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`;
    throw conflict(subject, name, text);
  }
}

/** The state a deletion leaves while something still holds the object. */
function mark(
  backend: Backend,
  storage: Resource,
  previous: KubeObject,
  request: DeleteRequest,
): KubeObject {
  const { metadata } = previous;
  const graceful = storage.storeKey === 'pods';
  if (metadata.deletionTimestamp !== undefined) {
    const now = backend.clock.now();
    return graceful ? shorten(previous, request.gracePeriodSeconds, now) : previous;
  }
  const grace = graceful ? gracePeriod(previous, request.gracePeriodSeconds) : 0;
  const marked: ObjectMeta = {
    ...metadata,
    ...(metadata.generation ? { generation: metadata.generation + 1 } : {}),
    deletionTimestamp: formatTime(backend.clock.now() + grace * 1000),
    deletionGracePeriodSeconds: grace,
  };
  const now = backend.clock.now();
  const object = { ...previous, metadata: marked };
  return storage.markDeleted?.(object, previous, now) ?? object;
}

/** Seconds a pod gets: none when no kubelet has it or nothing of it runs any more. */
function gracePeriod(pod: KubeObject, asked: number | undefined): number {
  const own: number = pod.spec.terminationGracePeriodSeconds ?? 0;
  const phase: string = pod.status?.phase ?? '';
  if (!pod.spec.nodeName || phase === 'Succeeded' || phase === 'Failed') return 0;
  const grace = asked ?? own;
  return grace < 0 ? 1 : grace;
}

/** A terminating pod: only a shorter period changes anything. */
function shorten(pod: KubeObject, asked: number | undefined, now: number): KubeObject {
  const { metadata } = pod;
  const current = metadata.deletionGracePeriodSeconds ?? 0;
  if (asked === undefined) return pod;
  const grace = asked < 0 ? 1 : asked;
  if (grace >= current) return pod;
  const last = Date.parse(metadata.deletionTimestamp ?? '');
  // An end that is the last of all does not say when the period began.
  const begin = last < lastInstant ? last - current * 1000 : now;
  const end = begin + grace * 1000;
  const shortened = { deletionTimestamp: formatTime(end), deletionGracePeriodSeconds: grace };
  return { ...pod, metadata: { ...metadata, ...shortened } };
}

/** A policy that is asked for takes the place of the one that the finalizers tell of. */
function withPolicyFinalizer(object: KubeObject, request: DeleteRequest): KubeObject {
  const policy = policyOf(request);
  if (policy === undefined) return object;
  const finalizer = policyFinalizers[policy];
  const finalizers = object.metadata.finalizers ?? [];
  const others = finalizers.filter((name) => !Object.values(policyFinalizers).includes(name));
  if (finalizer === undefined && others.length === finalizers.length) return object;
  if (finalizer && finalizers.includes(finalizer) && others.length === finalizers.length - 1) {
    return object;
  }
  const next = finalizer === undefined ? others : [...others, finalizer];
  return { ...object, metadata: { ...object.metadata, finalizers: next } };
}

function policyOf({ orphanDependents, propagationPolicy }: DeleteRequest): string | undefined {
  if (orphanDependents === undefined) return propagationPolicy;
  return orphanDependents ? 'Orphan' : 'Background';
}

/** Stores the mark where something holds the object (and for every pod), then removes the rest. */
function finish(
  backend: Backend,
  storage: Resource,
  marked: KubeObject,
  previous: KubeObject,
  dryRun: boolean,
): Deleted {
  const { finalizers, deletionGracePeriodSeconds } = marked.metadata;
  const held = (finalizers ?? []).length > 0 || (deletionGracePeriodSeconds ?? 0) > 0;
  const isMarked = held || storage.storeKey === 'pods';
  if (dryRun) return { object: isMarked ? marked : previous, gone: !held };
  const { store } = backend;
  const current =
    isMarked && marked !== previous ? store.put(storage.storeKey, marked, previous) : previous;
  if (held) return { object: current, gone: false };
  return { object: store.remove(storage.storeKey, current), gone: true };
}

const immortalNamespaces = new Set(['default', 'kube-system', 'kube-public', 'kube-node-lease']);

/** A namespace turns Terminating; it goes when its finalizers are gone. */
function deleteNamespace(backend: Backend, previous: KubeObject, dryRun: boolean): Deleted {
  const { metadata } = previous;
  if (immortalNamespaces.has(metadata.name)) {
    const text = 'this namespace may not be deleted';
    throw forbidden({ group: '', plural: 'namespaces' }, metadata.name, text);
  }
  if (metadata.deletionTimestamp !== undefined) return { object: previous, gone: false };
  const deletionTimestamp = formatTime(backend.clock.now());
  const marked = {
    ...previous,
    metadata: { ...metadata, deletionTimestamp },
    status: { ...previous.status, phase: 'Terminating' },
  };
  const finalizers = [...(previous.spec?.finalizers ?? []), ...(metadata.finalizers ?? [])];
  const gone = finalizers.length === 0;
  if (dryRun) return { object: marked, gone };
  const object = backend.store.put('namespaces', marked, previous);
  return { object: gone ? backend.store.remove('namespaces', object) : object, gone };
}
