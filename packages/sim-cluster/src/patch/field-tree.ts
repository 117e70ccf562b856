import { entry, equal, isList, isObject } from '../objects/json.ts';
import type { FieldTree, Json, KubeObject } from '../objects/kube-object.ts';
import { decode } from '../schema/decode.ts';
import { freeForm, type Shape, type Struct } from '../schema/types.ts';
import { elementOf, isAtomic, isMerged, memberShape } from './field-set.ts';
import { isEmpty, leaf, selfKey, sorted } from './tree-sets.ts';

/** True if a client's JSON is fields of this form, all the way down. */
export function isFieldTree(value: unknown): value is FieldTree {
  return isObject(value) && Object.keys(value).every((key) => isElement(key, value[key]));
}

function isElement(element: string, node: unknown): boolean {
  if (!isFieldTree(node)) return false;
  if (element === selfKey || element.startsWith('f:')) return true;
  return /^[kv]:/.test(element) && isJson(element.slice(2));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The changes that a write makes to the fields of an object; null if there are none. */
export interface FieldChanges {
  /** Fields that have a new value. */
  readonly taken: FieldTree | null;
  /** Fields that are there no more. */
  readonly gone: FieldTree | null;
}

const noChanges: FieldChanges = { taken: null, gone: null };
/** The members of metadata that have owners; the others are the server's. */
const ownedMetadata = new Set([
  'annotations',
  'finalizers',
  'generateName',
  'labels',
  'ownerReferences',
]);
/** The members of an object that no manager owns as a whole; metadata is owned by its parts. */
const unowned = new Set(['apiVersion', 'kind', 'metadata']);

/** The changes of the fields between two states of an object, null for none before. */
export function changedFields(
  shape: Struct,
  before: KubeObject | null,
  after: KubeObject,
): FieldChanges {
  const earlier: Members = before ?? emptyObject(shape);
  const changes = new Changes();
  changes.noteMembers(shape, earlier, after, (name) => !unowned.has(name));
  const metadata = new Changes();
  const [had, has] = [membersOf(earlier.metadata), membersOf(after.metadata)];
  const metadataShape = memberShape(shape, 'metadata');
  metadata.noteMembers(metadataShape, had, has, (name) => ownedMetadata.has(name));
  changes.note('f:metadata', metadata.result());
  return changes.result();
}

type Members = { readonly [name: string]: Json };

/** A new object is compared with the empty object of its kind. */
const emptyObjects = new WeakMap<Struct, Members>();

function emptyObject(shape: Struct): Members {
  const object = emptyObjects.get(shape) ?? decode(shape, {}).value;
  emptyObjects.set(shape, object);
  return object;
}

function membersOf(value: Json | undefined): Members {
  return isObject(value) ? value : {};
}

function owned({ apiVersion: _version, kind: _kind, metadata, ...rest }: Members): Json {
  const given = membersOf(metadata);
  const kept: Record<string, Json> = {};
  for (const name of ownedMetadata) {
    const member = given[name];
    if (member !== undefined) kept[name] = member;
  }
  return Object.keys(kept).length > 0 ? { ...rest, metadata: kept } : rest;
}

function compare(
  shape: Shape | undefined,
  before: Json | undefined,
  after: Json | undefined,
): FieldChanges {
  if (before === after) return noChanges;
  if (before === undefined) return { taken: fieldsIn(shape, after as Json), gone: null };
  if (after === undefined) return { taken: null, gone: fieldsIn(shape, before) };
  const changes = new Changes();
  if (hasMembers(shape, before) && hasMembers(shape, after)) {
    changes.noteMembers(shape, before, after, () => true);
    return changes.result();
  }
  const had = partsOf(shape, before);
  const has = partsOf(shape, after);
  if (!had || !has) return equal(before, after) ? noChanges : ofOtherForm(shape, before, after);
  changes.noteParts(had, has);
  return changes.result();
}

/** A value that takes the place of one whose parts are not those of it, such as a map of a text. */
function ofOtherForm(shape: Shape | undefined, before: Json, after: Json): FieldChanges {
  const { [selfKey]: _itself, ...gone } = fieldsIn(shape, before);
  return { taken: fieldsIn(shape, after), gone: isEmpty(gone) ? null : gone };
}

/** Collects the changes of the parts of one value. */
class Changes {
  #taken: Record<string, FieldTree> | null = null;
  #gone: Record<string, FieldTree> | null = null;

  note(element: string, { taken, gone }: FieldChanges): void {
    if (taken) {
      this.#taken ??= {};
      this.#taken[element] = taken;
    }
    if (gone) {
      this.#gone ??= {};
      this.#gone[element] = gone;
    }
  }

  /** Most members are as they were: those cost no more than a look. */
  noteMembers(
    shape: Shape | undefined,
    had: Members,
    has: Members,
    counts: (name: string) => boolean,
  ): void {
    for (const name in has) {
      const value = has[name];
      const known = entry(had, name);
      if (value === undefined || value === known || !counts(name)) continue;
      this.note(`f:${name}`, compare(memberShape(shape, name), known, value));
    }
    for (const name in had) {
      const value = had[name];
      if (value === undefined || entry(has, name) !== undefined || !counts(name)) continue;
      this.note(`f:${name}`, compare(memberShape(shape, name), value, undefined));
    }
  }

  noteParts(had: Parts, has: Parts): void {
    for (const [element, { shape, value }] of has) {
      this.note(element, compare(shape, had.get(element)?.value, value));
    }
    for (const [element, { shape, value }] of had) {
      if (!has.has(element)) this.note(element, compare(shape, value, undefined));
    }
  }

  result(): FieldChanges {
    if (!this.#taken && !this.#gone) return noChanges;
    return { taken: this.#taken && sorted(this.#taken), gone: this.#gone && sorted(this.#gone) };
  }
}

/** True if a value is owned member by member. */
function hasMembers(shape: Shape | undefined, value: Json): value is Members {
  const isMergedList = typeof shape === 'object' && shape.type === 'list' && isMerged(shape);
  return isObject(value) && !isMergedList && !isAtomic(shape);
}

/** The fields that a configuration sets; an empty map or struct is itself one. */
export function fieldsOf(shape: Struct, configuration: Members): FieldTree {
  return fieldsSet(shape, owned(configuration)) ?? {};
}

function fieldsSet(shape: Shape | undefined, value: Json): FieldTree | null {
  const parts = value === null ? null : partsOf(shape, value);
  if (!parts) return leaf;
  const tree: Record<string, FieldTree> = {};
  for (const [element, part] of parts) {
    const isItself = !isDeclared(shape, element);
    const inner = fieldsSet(part.shape ?? (isItself ? freeForm : undefined), part.value);
    if (inner && !isEmpty(inner)) tree[element] = isItself ? { [selfKey]: leaf, ...inner } : inner;
    else if (inner || isItself || isEmptyObject(part.value)) tree[element] = leaf;
  }
  return sorted(tree);
}

/** True if the shape declares a part: an item, or a member of a map, is a field itself. */
function isDeclared(shape: Shape | undefined, element: string): boolean {
  if (element.startsWith('k:')) return false;
  if (typeof shape !== 'object') return true;
  if (shape.type === 'struct') return Object.hasOwn(shape.fields, element.slice(2));
  return shape.type !== 'map';
}

function isEmptyObject(value: Json): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}

/** All fields of a value, itself first. */
function fieldsIn(shape: Shape | undefined, value: Json): FieldTree {
  const parts = partsOf(shape, value);
  if (!parts || parts.size === 0) return leaf;
  const tree: Record<string, FieldTree> = { [selfKey]: leaf };
  for (const [element, part] of parts) tree[element] = fieldsIn(part.shape, part.value);
  return sorted(tree) ?? leaf;
}

interface Part {
  readonly shape: Shape | undefined;
  readonly value: Json;
}
type Parts = ReadonlyMap<string, Part>;

/** The parts of a value that are owned one by one; null for a value that is owned as a whole. */
function partsOf(shape: Shape | undefined, value: Json): Parts | null {
  const list = typeof shape === 'object' && shape.type === 'list' ? shape : null;
  const parts = new Map<string, Part>();
  if (list && isMerged(list)) {
    if (value !== null && !isList(value)) return null;
    for (const item of value ?? []) {
      parts.set(elementOf(list, item), { shape: list.set ? undefined : list.items, value: item });
    }
    return parts;
  }
  if (!isObject(value) || isAtomic(shape)) return null;
  for (const name in value) {
    const member = value[name];
    if (member === undefined) continue;
    parts.set(`f:${name}`, { shape: memberShape(shape, name), value: member });
  }
  return parts;
}
