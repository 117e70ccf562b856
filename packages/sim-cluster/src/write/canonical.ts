import { badRequest } from '../objects/errors.ts';
import type { Json, KubeObject } from '../objects/kube-object.ts';
import { TimeError } from '../objects/time.ts';
import type { Resource } from '../resources/resource.ts';
import { apiVersionOf } from '../resources/resources.ts';
import { type Decoded, DecodeError, decode } from '../schema/decode.ts';

/** Reads `value` as the resource's kind; a value that does not fit is a 400. */
export function decodeAs(
  resource: Pick<Resource, 'kind' | 'version' | 'schema'> & Partial<Pick<Resource, 'custom'>>,
  value: unknown,
  known: { readonly [member: string]: Json } | null = null,
): Decoded {
  try {
    return resource.custom?.read(value, true) ?? decode(resource.schema, value, known);
  } catch (error) {
    if (!(error instanceof DecodeError || error instanceof TimeError)) throw error;
    throw cannotBeHandled(resource, resource.kind, resource.version, error.message);
  }
}

/** 400 for a body that is not an object of the kind wanted. */
export function cannotBeHandled(
  resource: Pick<Resource, 'kind'>,
  kind: string,
  version: string,
  message: string,
): Error {
  return badRequest(
    `${kind} in version "${version}" cannot be handled as a ${resource.kind}: ${message}`,
  );
}

/** Stored objects in the canonical form of their kind; loaded objects are stored as they came. */
const canonicalObjects = new WeakSet<KubeObject>();

/** Notes that an object is as its kind writes it. */
export function markCanonical(object: KubeObject): KubeObject {
  canonicalObjects.add(object);
  return object;
}

/** True if an object is known to have the canonical form of its kind, with its defaults. */
export function isCanonical(object: KubeObject): boolean {
  return canonicalObjects.has(object);
}

/**
 * The object in the canonical form of its kind: members in order, empty ones left out, times
 * normalised. The parts shared with its last state are not read again.
 */
export function canonical(
  resource: Resource,
  object: KubeObject,
  previous: KubeObject | null = null,
): KubeObject {
  if (canonicalObjects.has(object)) return object;
  const named = { ...object, kind: resource.kind, apiVersion: apiVersionOf(resource) };
  return decodeAs(resource, named, previous && membersRead(previous)).value as KubeObject;
}

type Members = { readonly [member: string]: Json };

/** The members of a stored object that are as their kind writes them; null when that is not known. */
export function membersRead(object: KubeObject): Members | null {
  if (!canonicalObjects.has(object)) return null;
  // The metadata was given its version after it had been read: as a whole it was not.
  return { ...object, metadata: { ...object.metadata } };
}

/** The stored form of an object that was given as `resource` shows it. */
export function toStored(resource: Resource, object: KubeObject): KubeObject {
  return resource.view ? resource.view.toStored(object) : object;
}

/** A stored object as `resource` shows it. */
export function toView(resource: Resource, object: KubeObject): KubeObject {
  return resource.view ? resource.view.toView(object) : object;
}
