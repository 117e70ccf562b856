// Creates an object.

import { randomSuffix, randomUid } from '../kernel/prng.ts';
import {
  alreadyExists,
  badRequest,
  forbidden,
  invalid,
  notFound,
  serverError,
} from '../objects/errors.ts';
import type { KubeObject, ObjectMeta } from '../objects/kube-object.ts';
import { formatTime } from '../objects/time.ts';
import { trackUpdate } from '../patch/managed-fields.ts';
import { type Resource, type StoredObjects, storageOf } from '../resources/resource.ts';
import { apiVersionOf, hasSubresource } from '../resources/resources.ts';
import { judgeCreate } from './admit.ts';
import { type Backend, unknownManager, type WriteOptions } from './backend.ts';
import { canonical, markCanonical, toStored, toView } from './canonical.ts';

/** The number of collisions of a generated name before it is a 409. */
const nameAttemptsMax = 8;
/** Longer prefixes are cut, so that the name is still a label. */
const generatedPrefixLengthMax = 58;

/**
 * Creates an object given as `resource` shows it, in `namespace`; returns its stored form.
 * Refuses with 400, 403, 404, 409, 422 or 500 as the real server does.
 */
export function createObject(
  backend: Backend,
  resource: Resource,
  given: KubeObject,
  namespace: string,
  options: WriteOptions = {},
): KubeObject {
  const { store } = backend;
  const storage = storageOf(resource);
  checkPlace(backend, resource, given, namespace);
  const named = { ...given, metadata: newMetadata(backend, resource, given.metadata, namespace) };
  const object = newObject(backend, resource, toStored(resource, named), options);
  const read = (): KubeObject => (resource.custom ? toView(resource, object) : object);
  const causes = options.isTrusted ? [] : resource.validate(read());
  if (causes.length > 0) throw invalid(storage, object.metadata.name ?? '', causes);
  for (const text of resource.warnings(object, null)) options.writer?.warn(text);
  judgeCreate(backend, resource, toView(resource, object), { namespace, options });
  const present = store.get(storage.storeKey, namespace, object.metadata.name);
  if (present) throw alreadyExists(resource, present);
  if (options.dryRun) return object;
  if (storage.storeKey === 'pods') notePod(backend, given.metadata, namespace);
  return markCanonical(store.put(storage.storeKey, object, null));
}

/**
 * The stored form; the form and the owners of an Event that is written the short way do not matter.
 */
function newObject(
  backend: Backend,
  resource: Resource,
  given: KubeObject,
  options: WriteOptions,
): KubeObject {
  const storage = storageOf(resource);
  if (backend.isBrief && storage.storeKey === 'events') {
    return { ...given, kind: storage.kind, apiVersion: apiVersionOf(storage) };
  }
  const stored: StoredObjects = (plural) => backend.store.collection(plural).list('');
  const shaped = canonical(storage, given);
  const now = backend.clock.now();
  const admitted = storage.derive(storage.admit(shaped, stored), '', null, now);
  return trackUpdate(canonical(storage, admitted), null, {
    manager: options.manager ?? unknownManager,
    ...(options.owners ? { owners: options.owners } : {}),
    subresource: '',
    now,
    resource: storage,
    apiVersion: apiVersionOf(resource),
    claimed: claimed(storage, shaped, now),
  });
}

/**
 * The fields that the creator owns: those that it gave, with the defaults of the API; without
 * admission's additions and without a status.
 */
function claimed(storage: Resource, given: KubeObject, now: number): KubeObject {
  const whole = storage.defaults?.(given) ?? storage.derive(given, '', null, now);
  if (!hasSubresource(storage, 'status')) return whole;
  const { status: _status, ...rest } = whole;
  return rest as KubeObject;
}

/** The checks of namespace and resourceVersion, before anything is defaulted. */
export function checkPlace(
  backend: Backend,
  resource: Resource,
  given: KubeObject,
  namespace: string,
): void {
  const { metadata } = given;
  const isElsewhere = metadata.namespace && metadata.namespace !== namespace;
  // A definition may make of any object one without a namespace.
  if (isElsewhere && (resource.namespaced || !resource.custom)) {
    throw badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  }
  if (metadata.resourceVersion) {
    throw serverError('resourceVersion should not be set on objects to be created');
  }
  if (resource.custom?.isTerminating) {
    const text = 'create not allowed while custom resource definition is terminating';
    throw forbidden(resource, metadata.name ?? '', text);
  }
  if (!resource.namespaced) return;
  const home = backend.store.get('namespaces', '', namespace);
  if (!home) throw notFound({ group: '', plural: 'namespaces' }, namespace);
  if (home.status?.phase !== 'Terminating') return;
  throw forbidden(
    resource,
    metadata.name ?? '',
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  );
}

/** The metadata of a new object: its name, its uid, and the given rest. */
export function newMetadata(
  backend: Backend,
  resource: Resource,
  given: ObjectMeta,
  namespace: string,
): ObjectMeta {
  const { name, generateName, labels, annotations, ownerReferences, finalizers } = given;
  const isPod = storageOf(resource).storeKey === 'pods';
  const random = isPod
    ? backend.podDice.ofNext(namespace, name || (generateName ?? ''))
    : backend.random;
  return {
    name: name || generatedName({ ...backend, random }, resource, generateName ?? '', namespace),
    ...(generateName ? { generateName } : {}),
    ...(resource.namespaced ? { namespace } : {}),
    uid: randomUid(random),
    ...(resource.generation ? { generation: 1 } : {}),
    creationTimestamp: formatTime(backend.clock.now()),
    ...(labels ? { labels } : {}),
    ...(annotations ? { annotations } : {}),
    ...(ownerReferences ? { ownerReferences } : {}),
    ...(finalizers ? { finalizers } : {}),
  };
}

/** Counts a new pod: the next one of its name or prefix has other numbers. */
export function notePod({ podDice }: Backend, given: ObjectMeta, namespace: string): void {
  podDice.note(namespace, given.name || (given.generateName ?? ''));
}

function generatedName(
  backend: Backend,
  resource: Resource,
  prefix: string,
  namespace: string,
): string {
  if (prefix === '') return '';
  const collection = backend.store.collection(storageOf(resource).storeKey);
  let name = '';
  for (let attempt = 0; attempt < nameAttemptsMax; attempt++) {
    name = `${prefix.slice(0, generatedPrefixLengthMax)}${randomSuffix(backend.random)}`;
    if (!collection.named(namespace, name)) break;
  }
  return name;
}
