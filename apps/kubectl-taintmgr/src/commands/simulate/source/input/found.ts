import type { Field, TextBegin } from '@taintmgr/k8s-adapter/manifests';

/** Where something stands in a file. */
export type Place = TextBegin;

/** An object of a file. */
export interface FoundObject {
  /** With the kind and apiVersion that its list implies. */
  readonly value: unknown;
  readonly place: Place;
  /** The same with the place of each member, read once more. Throws FaultyFile. */
  readonly field: () => Field | null;
}

/** Takes objects, one by one, and the faults of the rest. */
export interface ObjectSink {
  object(found: FoundObject): void;
  /** `file:line:column: text` */
  fault(text: string): void;
}

/** Tells whether something has members. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The kind that a list implies for its items. */
export function impliedBy(list: unknown): object {
  if (!isObject(list) || !('kind' in list) || typeof list.kind !== 'string') return {};
  const kind = /^(.+)List$/.exec(list.kind)?.[1];
  return kind === undefined
    ? {}
    : { kind, apiVersion: 'apiVersion' in list ? list.apiVersion : '' };
}

/** Single objects, and those of lists. */
export function* objectsIn(value: unknown, implied: object = {}): Generator<unknown> {
  if (!isObject(value)) yield value;
  else if ('items' in value && Array.isArray(value.items)) {
    const ofItems = impliedBy(value);
    for (const item of value.items) yield* objectsIn(item, ofItems);
  } else yield 'kind' in value ? value : { ...implied, ...value };
}
