// Objects of @kubernetes/client-node as the JSON that a server is sent, by their shape: the package
// need not be installed.
import { isList, setOwn } from './json.ts';
import type { KubeObject } from './kube-object.ts';

/**
 * An object of @kubernetes/client-node, such as a V1Node: its times are Dates, and some of its fields
 * have other names than in the API.
 */
export interface ClientObject {
  /** Left out in items of lists. */
  readonly apiVersion?: string;
  /** Left out in items of lists. */
  readonly kind?: string;
  /** At least a name, and a namespace for kinds that have one. */
  readonly metadata?: object;
}

/** The object as JSON; the same object where it is JSON already. */
export function wireForm(object: KubeObject | ClientObject): KubeObject {
  return converted(object) as KubeObject;
}

/** Tells, by the head of a value alone, whether client-node has read it. */
export function isClientObject(value: unknown): value is ClientObject {
  if (!isRecord(value)) return false;
  const { metadata } = value;
  if (isClassed(value)) return true;
  return isRecord(metadata) && (isClassed(metadata) || metadata.creationTimestamp instanceof Date);
}

type Fields = Readonly<Record<string, unknown>>;

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !isList(value);
}

function isClassed(value: Fields): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== Object.prototype && prototype !== null;
}

function converted(value: unknown): unknown {
  // Only values that were read before are frozen.
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (isList(value)) return sameOr(value, value.map(converted));
  if (value instanceof Date) return timeText(value);
  return isRecord(value) ? convertedFields(value) : value;
}

/** As the API writes it: whole seconds without a fraction, others, as a V1MicroTime, with six digits. */
function timeText(time: Date): string {
  if (Number.isNaN(time.getTime())) return 'Invalid Date';
  const text = time.toISOString();
  // That of a V1MicroTime has six digits.
  return /[.]\d{6}Z$/.test(text)
    ? text
    : text.replace(/[.]000Z$/, 'Z').replace(/([.]\d{3})Z$/, '$1000Z');
}

function convertedFields(value: Fields): Fields {
  const names = apiNames(value);
  const fields: Record<string, unknown> = {};
  let isSame = !isClassed(value);
  for (const [name, member] of Object.entries(value)) {
    const own = names?.get(name) ?? name;
    const read = converted(member);
    isSame &&= read === member;
    if (member !== undefined) setOwn(fields, own, read);
  }
  return isSame ? value : fields;
}

function sameOr(list: readonly unknown[], read: readonly unknown[]): readonly unknown[] {
  return read.every((item, at) => item === list[at]) ? list : read;
}

/** The API's names for the fields of a class of client-node; null: it is none of them. */
function apiNames(value: Fields): ReadonlyMap<string, string> | null {
  const { getAttributeTypeMap } = Object(value.constructor);
  if (typeof getAttributeTypeMap !== 'function') return null;
  const attributes: readonly { readonly name: string; readonly baseName: string }[] =
    getAttributeTypeMap();
  return new Map(attributes.map(({ name, baseName }) => [name, baseName]));
}
