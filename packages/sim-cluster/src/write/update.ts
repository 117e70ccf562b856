// Updates an object or its status.
import {
  type ApiError,
  badRequest,
  type Cause,
  conflict,
  invalid,
  notFound,
} from '../objects/errors.ts';
import { equal, sharing } from '../objects/json.ts';
import type { KubeObject, ObjectMeta } from '../objects/kube-object.ts';
import { trackUpdate } from '../patch/managed-fields.ts';
import { type Resource, storageOf } from '../resources/resource.ts';
import { apiVersionOf, hasSubresource } from '../resources/resources.ts';
import { invalidValue } from '../validation/causes.ts';
import { validateMetadataUpdate } from '../validation/metadata.ts';
import { judgeUpdate } from './admit.ts';
import { type Backend, type Target, unknownManager, type WriteOptions } from './backend.ts';
import { isOwnerRead, withOwnersOf } from './brief.ts';
import { canonical, isCanonical, markCanonical, toStored, toView } from './canonical.ts';
import { createObject } from './create.ts';

export interface UpdateOptions extends WriteOptions {
  /** '' for the object itself. */
  readonly subresource?: '' | 'status' | 'finalize' | 'approval';
  /** A foreign uid is a failed precondition in a PUT (409) and a forbidden change in a PATCH (422). */
  readonly patch?: boolean;
}

export interface Written {
  /** The stored form. */
  readonly object: KubeObject;
  readonly created: boolean;
}

/** PUT: replaces an object by one given as `resource` shows it. */
export function replaceObject(
  backend: Backend,
  resource: Resource,
  target: Target,
  given: KubeObject,
  options: UpdateOptions = {},
): Written {
  checkIdentity(target, given.metadata);
  const storage = storageOf(resource);
  const previous = backend.store.get(storage.storeKey, target.namespace, target.name);
  if (!previous) {
    if (!resource.createOnUpdate || options.patch) throw notFound(resource, target.name);
    const object = createObject(backend, resource, given, target.namespace, options);
    return { object, created: true };
  }
  checkPreconditions(resource, given.metadata, previous, options);
  const next = prepare(storage, toStored(resource, given), previous, options);
  return { object: writeNext(backend, resource, next, previous, options), created: false };
}

function checkIdentity(target: Target, metadata: ObjectMeta): void {
  if (metadata.name !== target.name) {
    const { name } = metadata;
    throw badRequest(
      name
        ? `the name of the object (${name}) does not match the name on the URL (${target.name})`
        : `the name of the object (${target.name} based on URL) was undeterminable: name must be provided`,
    );
  }
  if (metadata.namespace && metadata.namespace !== target.namespace) {
    throw badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  }
}

/** 409 for an object that is not the one that a request was made for. */
export function failedPrecondition(
  resource: Resource,
  { metadata }: KubeObject,
  what: 'UID' | 'ResourceVersion',
  wanted: string,
  found: string | undefined,
): ApiError {
  const { name, namespace } = metadata;
  const key = `/registry/${resource.plural === 'nodes' ? 'minions' : resource.plural}/${namespace ? `${namespace}/` : ''}${name}`;
  return conflict(
    resource,
    name,
    `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${found}`,
  );
}

function checkPreconditions(
  resource: Resource,
  given: ObjectMeta,
  previous: KubeObject,
  options: UpdateOptions,
): void {
  const { name, uid, resourceVersion } = previous.metadata;
  if (given.uid && given.uid !== uid && !options.patch) {
    throw failedPrecondition(resource, previous, 'UID', given.uid, uid);
  }
  if (given.resourceVersion && given.resourceVersion !== '0') {
    if (given.resourceVersion !== resourceVersion) throw conflict(resource, name);
  } else if (!resource.unconditionalUpdate && !options.patch) {
    const cause = invalidValue('metadata.resourceVersion', 0, 'must be specified for an update');
    throw invalid({ group: resource.group, kind: resource.plural }, name, [cause]);
  }
}

/** The next state: what the client may change from its object, everything else as it was. */
function prepare(
  storage: Resource,
  given: KubeObject,
  previous: KubeObject,
  { subresource = '' }: UpdateOptions,
): KubeObject {
  if (subresource === 'status' && storage.custom) return withGivenStatus(given, previous);
  const metadata = nextMetadata(given.metadata, previous.metadata);
  if (subresource === 'status' || subresource === 'approval') {
    const kept = storage.storeKey === 'pods' ? withOwnersIn(metadata, previous.metadata) : metadata;
    return { ...previous, metadata: kept, status: nextStatus(given, previous) };
  }
  if (subresource === 'finalize') return { ...previous, spec: given.spec ?? {} };
  const next = { ...given, metadata };
  // The finalizers of a namespace are changed through its finalize subresource alone.
  if (storage.storeKey === 'namespaces') {
    return { ...next, spec: previous.spec, status: previous.status };
  }
  if (!hasSubresource(storage, 'status')) return next;
  if (!storage.custom) return { ...next, status: previous.status };
  return withGivenStatus(previous, next);
}

/** Old kubelets sent wrong owners with the status of a pod, so that none are taken from there. */
function withOwnersIn(given: ObjectMeta, previous: ObjectMeta): ObjectMeta {
  const { ownerReferences: _given, ...rest } = given;
  const { ownerReferences } = previous;
  return ownerReferences ? { ...rest, ownerReferences } : rest;
}

/** A status write of a custom resource changes only the status, which it may remove. */
function withGivenStatus(from: KubeObject, to: KubeObject): KubeObject {
  const { status: _status, ...rest } = to;
  const object = rest as KubeObject;
  return from.status === undefined ? object : { ...object, status: from.status };
}

/** A pod's QoS class is decided once, at its creation. */
function nextStatus(given: KubeObject, previous: KubeObject): KubeObject['status'] {
  const qosClass: string | undefined = previous.status?.qosClass;
  return qosClass ? { ...given.status, qosClass } : (given.status ?? {});
}

function nextMetadata(given: ObjectMeta, previous: ObjectMeta): ObjectMeta {
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp } = previous;
  const { generateName, deletionTimestamp } = previous;
  // A later write that leaves them out keeps them.
  const grace = given.deletionGracePeriodSeconds ?? previous.deletionGracePeriodSeconds;
  const { generation: _generation, generateName: _generateName, ...changeable } = given;
  return {
    ...changeable,
    name,
    ...(generateName === undefined ? {} : { generateName }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(given.uid ? { uid: given.uid } : uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(generation === undefined ? {} : { generation }),
    ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(grace === undefined ? {} : { deletionGracePeriodSeconds: grace }),
  };
}

/**
 * Validates a prepared state and stores it. A state that changes nothing is not stored; a state
 * that removes the last finalizer of an object being deleted removes the object.
 */
export function writeNext(
  backend: Backend,
  resource: Resource,
  prepared: KubeObject,
  previous: KubeObject,
  options: UpdateOptions = {},
): KubeObject {
  const storage = storageOf(resource);
  // Unchanged parts are taken from the last state at once: the code below does not look at them
  // again.
  const form = (object: KubeObject, known: KubeObject | null = null): KubeObject =>
    backend.isBrief && !storage.custom ? object : canonical(storage, object, known);
  const shaped = form(sharing(prepared, previous), previous);
  const now = backend.clock.now();
  const derived = (object: KubeObject): KubeObject =>
    sharing(storage.derive(object, options.subresource ?? '', previous, now), object);
  const defaulted = derived(shaped);
  const whole = defaulted === shaped ? shaped : form(defaulted, shaped);
  // Loaded objects are stored without their defaults, which no write counts as a change.
  const loaded = isCanonical(previous) ? previous : derived(form(previous));
  // Fields that a definition has no more were gone when it was read: no writer takes them away.
  const before = storage.custom ? sharing(toView(storage, loaded), loaded) : loaded;
  const tracked =
    backend.isBrief && !isOwnerRead(storage, whole, before, options)
      ? withOwnersOf(whole, before)
      : trackUpdate(whole, before, {
          manager: options.manager ?? unknownManager,
          ...(options.owners ? { owners: options.owners } : {}),
          subresource: options.subresource ?? '',
          now,
          resource: storage,
          apiVersion: apiVersionOf(resource),
        });
  const next = withGeneration(storage, tracked, before, options);
  // A status comes from a program that knows how to write one; what people may get wrong is in specs.
  const isStatus = backend.isBrief && !storage.custom && options.subresource === 'status';
  const isTrusted = isStatus || options.isTrusted === true;
  const causes: readonly Cause[] = [
    ...validateMetadataUpdate(next, previous),
    ...(isTrusted ? [] : validated(resource, next, previous, options.subresource)),
    ...(options.subresource === 'status' ? [] : resource.validateUpdate(next, before)),
  ];
  if (causes.length > 0) throw invalid(storage, previous.metadata.name, causes);
  if (!options.subresource) {
    for (const text of resource.warnings(next, previous)) options.writer?.warn(text);
  }
  const [shown, shownBefore] = [toView(resource, next), toView(resource, before)];
  judgeUpdate(backend, resource, shown, shownBefore, options);
  if (equal(next, previous) || (before !== previous && equal(next, before))) return previous;
  if (options.dryRun) return next;
  if (!isFinished(next)) {
    const stored = backend.store.put(storage.storeKey, next, previous);
    return backend.isBrief ? stored : markCanonical(stored);
  }
  // Watchers see the object go as it was stored, with the finalizers that this write removes.
  backend.store.remove(storage.storeKey, previous);
  return next;
}

/** Custom resources are judged as the version has them by which they are written. */
function validated(
  resource: Resource,
  next: KubeObject,
  previous: KubeObject,
  subresource = '',
): readonly Cause[] {
  if (!resource.custom) return resource.validate(next, { previous, subresource });
  const before = toView(resource, previous);
  return resource.validate(toView(resource, next), { previous: before, subresource });
}

function withGeneration(
  storage: Resource,
  next: KubeObject,
  previous: KubeObject,
  options: UpdateOptions,
): KubeObject {
  if (!storage.generation || options.subresource === 'status') return next;
  if (isSameSpec(storage, next, previous)) return next;
  const generation = (previous.metadata.generation ?? 0) + 1;
  return { ...next, metadata: { ...next.metadata, generation } };
}

function isSameSpec(storage: Resource, next: KubeObject, previous: KubeObject): boolean {
  if (storage.generation !== 'whole') return equal(next.spec, previous.spec);
  const { metadata: _metadata, ...mine } = next;
  const { metadata: _before, ...theirs } = previous;
  return equal(mine, theirs);
}

/** True when nothing holds an object that is being deleted any more. */
function isFinished(object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = object.metadata;
  if (deletionTimestamp === undefined || (finalizers ?? []).length > 0) return false;
  if (object.kind === 'Namespace' && (object.spec.finalizers ?? []).length > 0) return false;
  return (deletionGracePeriodSeconds ?? 0) === 0;
}
