// What kubectl notes on the objects that it applies by patches of its own, for the time when it
// lets the server apply.

import type { Json, KubeObject, Resource } from '@taintmgr/sim-cluster/server';
import {
  apiVersionOf,
  equal,
  type FieldPath,
  fieldsOf,
  hasField,
  isObject,
  type JsonObject,
  sortedCopy,
  valueAtField,
} from '@taintmgr/sim-cluster/server';

/** The annotation. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';
/** The manager by whose name kubectl lets the server apply unless it is told another. */
const kubectl = 'kubectl';

/**
 * Whether a field of the stored object is as kubectl applied it last by itself: nobody objects when
 * kubectl then lets the server apply another value.
 */
export function notedFields(
  live: KubeObject | null,
  manager: string,
  resource: Resource,
): (path: FieldPath) => boolean {
  const noted = manager === kubectl ? noteOf(live) : null;
  if (!live || noted?.apiVersion !== apiVersionOf(resource)) return () => false;
  const fields = fieldsOf(resource.schema, noted);
  return (path) =>
    hasField(fields, path) && equal(valueAtField(noted, path), valueAtField(live, path));
}

function noteOf(object: KubeObject | null): JsonObject | null {
  const text = object?.metadata.annotations?.[lastApplied];
  if (!text) return null;
  try {
    const value = JSON.parse(text) as Json;
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** The object with the configuration as kubectl's note, where it has one and kubectl applies. */
export function withNote<T extends KubeObject>(
  object: T,
  configuration: JsonObject,
  manager: string,
): T {
  const { annotations } = object.metadata;
  if (manager !== kubectl || !annotations?.[lastApplied]) return object;
  const text = `${JSON.stringify(sortedCopy(withoutNote(configuration)))}\n`;
  const metadata = { ...object.metadata, annotations: { ...annotations, [lastApplied]: text } };
  return { ...object, metadata };
}

function withoutNote(configuration: JsonObject): Json {
  const { metadata } = configuration;
  if (!isObject(metadata) || !isObject(metadata.annotations)) return configuration;
  const { [lastApplied]: _noted, ...annotations } = metadata.annotations;
  return { ...configuration, metadata: { ...metadata, annotations } };
}
