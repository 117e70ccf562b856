import { badRequest } from '../errors.ts';
import type { KubeObject } from '../objects.ts';
import type { Resource } from '../resource.ts';
import { apiVersionOf } from '../resources.ts';
import { type Decoded, DecodeError, decode } from '../schema/decode.ts';
import { TimeError } from '../time.ts';

/** Reads `value` as the resource's kind; a value that does not fit is a 400. */
export function decodeAs(
  resource: Pick<Resource, 'kind' | 'version' | 'schema'>,
  value: unknown,
): Decoded {
  try {
    return decode(resource.schema, value);
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

/** The object as its kind writes it: members in order, empty ones left out, times normalised. */
export function canonical(resource: Resource, object: KubeObject): KubeObject {
  const named = { ...object, kind: resource.kind, apiVersion: apiVersionOf(resource) };
  return decodeAs(resource, named).value as KubeObject;
}

/** The stored form of an object that was given as `resource` shows it. */
export function toStored(resource: Resource, object: KubeObject): KubeObject {
  return resource.view ? resource.view.toStored(object) : object;
}

/** A stored object as `resource` shows it. */
export function toView(resource: Resource, object: KubeObject): KubeObject {
  return resource.view ? resource.view.toView(object) : object;
}
