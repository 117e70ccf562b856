import { depthMax, isList, isObject, isShallow, type JsonObject, setOwn } from '../objects/json.ts';
import type { Json } from '../objects/kube-object.ts';
import { canonicalQuantity, quantityError } from '../objects/quantity.ts';
import { normaliseMicroTime, normaliseTime } from '../objects/time.ts';
import {
  type Either,
  type List,
  type ScalarName,
  type ScalarText,
  type Shape,
  type Struct,
  scalar,
} from './types.ts';

/** A body that does not fit its kind; the message is the one Go's decoder gives. */
export class DecodeError extends Error {}

/** An object read as its kind. */
export interface Decoded {
  /** The object with the members that the kind has. */
  readonly value: { readonly [key: string]: Json };
  /** Paths of members the kind does not have, in the order found; they are dropped. */
  readonly unknown: readonly string[];
}

/**
 * Reads a JSON object as its kind: members in the kind's order, empty ones left out or written as
 * the real server does, times normalised. `known` has been read before: its unchanged parts are not
 * read again. Throws DecodeError for a wrong type and TimeError for a time that does not parse.
 */
export function decode(shape: Struct, value: unknown, known: Known | null = null): Decoded {
  const unknown: string[] = [];
  const decoded = decodeStruct(
    shape,
    value,
    { path: '', field: '', owner: shape.name, unknown },
    known,
  );
  return { value: decoded, unknown };
}

type Known = { readonly [key: string]: Json };

interface Place {
  readonly path: string;
  /** The path as error texts show it: without the indexes of lists and the keys of maps. */
  readonly field: string;
  /** True for a map, whose members are keys. */
  readonly isMap?: boolean;
  /** The Go struct that holds the field, for error texts. */
  readonly owner: string;
  readonly unknown: string[];
}

/** The place of a member or an item; made only where something is inside, for it costs. */
function below({ path, field, isMap, owner, unknown }: Place, key: string | number): Place {
  if (typeof key === 'number') return { path: `${path}[${key}]`, field, owner, unknown };
  const inner = isMap ? field : joined(field, key);
  return { path: joined(path, key), field: inner, owner, unknown };
}

const joined = (path: string, key: string): string => (path ? `${path}.${key}` : key);

const goTypes: Readonly<Record<ScalarName, string>> = {
  string: 'string',
  bytes: '[]uint8',
  bool: 'bool',
  int32: 'int32',
  int64: 'int64',
  number: 'float64',
  time: 'string',
  microTime: 'string',
  intOrString: 'intstr.IntOrString',
  quantity: 'resource.Quantity',
  any: 'interface {}',
  json: 'interface {}',
};

function goType(shape: Shape): string {
  if (typeof shape === 'string') return goTypes[scalar(shape).name];
  if (shape.type === 'list') return `[]${goType(shape.items)}`;
  return shape.type === 'map' ? `map[string]${goType(shape.values)}` : `v1.${shape.name}`;
}

function wrongType(value: unknown, shape: Shape, place: Place): never {
  const found = isList(value)
    ? 'array'
    : isObject(value)
      ? 'object'
      : typeof value === 'boolean'
        ? 'bool'
        : typeof value;
  // Go shows a number that it tried to read as one.
  const isShown = typeof value === 'number' && (isWhole(shape) || !Number.isInteger(value));
  const text = isShown ? `number ${value}` : found;
  const field = `${place.owner}.${place.field}`;
  throw new DecodeError(
    `json: cannot unmarshal ${text} into Go struct field ${field} of type ${goType(shape)}`,
  );
}

const isWhole = (shape: Shape): boolean =>
  typeof shape === 'string' && ['int32', 'int64'].includes(scalar(shape).name);

function decodeStruct(
  shape: Struct,
  value: unknown,
  place: Place,
  known: Known | null = null,
): JsonObject {
  if (!isObject(value)) wrongType(value, shape, place);
  const { path, field, unknown } = place;
  const inside = { path, field, owner: shape.name, unknown };
  for (const key in value) {
    const isUnknown = !Object.hasOwn(shape.fields, key) && value[key] !== undefined;
    if (isUnknown) place.unknown.push(below(place, key).path);
  }
  const result: JsonObject = {};
  for (const key in shape.fields) {
    const field = shape.fields[key] as Shape;
    const given = value[key];
    const read = known?.[key];
    const isRead = known !== null && given === read;
    const member = isRead ? given : decodeShape(field, given, inside, key, read);
    if (member !== undefined) result[key] = member;
  }
  return result;
}

/** The value under `key` of `around` as written, or undefined when it is left out. */
function decodeShape(
  shape: Shape,
  value: unknown,
  around: Place,
  key: string | number,
  known?: Json,
): Json | undefined {
  if (typeof shape === 'string') return decodeScalar(shape, value, around, key);
  const given = value !== undefined && value !== null;
  if (shape.type === 'struct') {
    if (!given && !shape.always) return undefined;
    return decodeStruct(shape, value ?? {}, below(around, key), isObject(known) ? known : null);
  }
  if (shape.type === 'either') return given ? decodeEither(shape, value, around, key) : undefined;
  if (!given) return shape.type === 'list' && shape.always ? null : undefined;
  const place = below(around, key);
  if (shape.type === 'list') return decodeList(shape, value, place, isList(known) ? known : []);
  if (!isObject(value)) wrongType(value, shape, place);
  const inside = { ...place, isMap: true };
  const result: JsonObject = {};
  // Go writes maps sorted.
  for (const key of Object.keys(value).sort()) {
    const read = decodeShape(shape.values, value[key], inside, key) ?? zero(shape.values);
    setOwn(result, key, read);
  }
  return Object.keys(result).length === 0 && !shape.keptEmpty ? undefined : result;
}

function decodeEither(shape: Either, value: unknown, around: Place, key: string | number): Json {
  const other = value as Json;
  const place = below(around, key);
  if (isObject(value)) return decodeStruct(shape.struct, value, place);
  return shape.isOther(other) ? other : wrongType(value, shape, place);
}

function decodeList(
  shape: List,
  value: unknown,
  place: Place,
  known: readonly Json[],
): Json | undefined {
  if (!isList(value)) wrongType(value, shape, place);
  if (value.length === 0 && !shape.always) return undefined;
  return value.map((item, index) => {
    const read = known[index];
    if (item !== undefined && item === read) return item;
    return decodeShape(shape.items, item, place, index, read) ?? zero(shape.items);
  });
}

/** The stored form of an empty item of a list or a map. */
function zero(shape: Shape): Json {
  if (typeof shape !== 'string') return shape.type === 'struct' ? {} : null;
  return zeroValues[scalar(shape).name];
}

/** The zero of each scalar; free-form items are structs in Go. */
const zeroValues: Readonly<Record<ScalarName, Json>> = {
  string: '',
  bytes: '',
  bool: false,
  int32: 0,
  int64: 0,
  number: 0,
  time: null,
  microTime: null,
  intOrString: 0,
  quantity: '0',
  any: {},
  json: null,
};

function decodeScalar(
  shape: ScalarText,
  value: unknown,
  around: Place,
  key: string | number,
): Json | undefined {
  const field = scalar(shape);
  if (value === undefined || value === null) {
    return field.always ? zero(field.name) : undefined;
  }
  const decoded = scalars[field.name](value);
  if (decoded === undefined) wrongType(value, shape, below(around, key));
  const empty = decoded === '' || decoded === 0 || decoded === false;
  const keptEmpty = field.pointer || field.always || field.name === 'intOrString';
  return empty && !keptEmpty && field.name !== 'any' && field.name !== 'json' ? undefined : decoded;
}

const integer = (value: unknown): Json | undefined =>
  typeof value === 'number' && Number.isInteger(value) ? value : undefined;

const int32Max = 2 ** 31 - 1;

const int32 = (value: unknown): Json | undefined =>
  typeof value === 'number' && value <= int32Max && value >= -int32Max - 1
    ? integer(value)
    : undefined;

/** Go reads this type by itself, without the name of the field. */
function int32OfUnion(value: unknown): Json | undefined {
  const whole = integer(value);
  if (whole === undefined || int32(value) !== undefined) return whole;
  throw new DecodeError(`json: cannot unmarshal number ${whole} into Go value of type int32`);
}

/** Reads a present value as each scalar; undefined is a wrong type. */
const scalars: Readonly<Record<ScalarName, (value: unknown) => Json | undefined>> = {
  string: (value) => (typeof value === 'string' ? value : undefined),
  bytes: (value) => (typeof value === 'string' ? checkedBase64(value) : undefined),
  bool: (value) => (typeof value === 'boolean' ? value : undefined),
  int32,
  int64: integer,
  number: numberOf,
  time: (value) => (typeof value === 'string' ? normaliseTime(value) : undefined),
  microTime: (value) => (typeof value === 'string' ? normaliseMicroTime(value) : undefined),
  intOrString: (value) => (typeof value === 'string' ? value : int32OfUnion(value)),
  quantity: quantityOf,
  any: shallow,
  json: shallow,
};

function numberOf(value: unknown): Json | undefined {
  return typeof value === 'number' ? value : undefined;
}

function quantityOf(value: unknown): Json | undefined {
  if (typeof value === 'number') return canonicalQuantity(value);
  if (typeof value !== 'string') return undefined;
  const error = quantityError(value);
  if (error === null) return canonicalQuantity(value);
  throw new DecodeError(error);
}

function checkedBase64(text: string): string {
  const wrong = /[^A-Za-z0-9+/=]/.exec(text)?.index;
  const isWhole = /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text);
  if (isWhole) return text;
  const at = wrong ?? text.length - (text.length % 4);
  throw new DecodeError(`illegal base64 data at input byte ${at}`);
}

/**
 * Free-form values may be nested this deep: the ownership of an object's fields is nested deeper
 * than the fields.
 */
const freeDepthMax = 2 * depthMax;

function shallow(value: unknown): Json {
  if (!isShallow(value, freeDepthMax)) throw new DecodeError('exceeded max depth');
  return value as Json;
}
