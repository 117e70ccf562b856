// A small language for the shape of API objects, read by everything that must know a field: the
// decoder (unknown fields, types, what is left out when empty), strategic merge patch (merge keys),
// server-side apply (which lists are atomic) and the OpenAPI documents.
import type { Json } from '../objects/kube-object.ts';

/** The type in Go of a value that is no struct, list or map. */
export type ScalarName =
  | 'string'
  /** Text in base64. */
  | 'bytes'
  | 'bool'
  | 'int32'
  | 'int64'
  | 'number'
  | 'time'
  | 'microTime'
  | 'intOrString'
  /** An amount such as `100m`, text or number. */
  | 'quantity'
  /** Any JSON below this point is kept unchanged: no rule of the simulator reads it. */
  | 'any'
  /** Any value, as text in Go: null stays null. */
  | 'json';

/** `*` is a Go pointer: kept whenever given, even zero. `!` is always written, even when empty. */
export type ScalarText = ScalarName | `${ScalarName}*` | `${ScalarName}!`;

/** A Go struct: named members in the order in which they are written. */
export interface Struct {
  /** Tells a struct from other shapes. */
  readonly type: 'struct';
  /** The Go type name, as error texts show it. */
  readonly name: string;
  /** The members by their names in JSON. */
  readonly fields: Readonly<Record<string, Shape>>;
  /** True for a struct held by value: written even when empty. */
  readonly always?: boolean;
  /** True for a struct that appliers own as a whole. */
  readonly atomic?: boolean;
  /** True for a struct that a strategic merge patch replaces as a whole. */
  readonly isReplaced?: boolean;
}

/** A list; without `mergeKey` or `set` it is atomic: replaced and owned as a whole. */
export interface List {
  /** Tells a list from other shapes. */
  readonly type: 'list';
  /** The shape of each item. */
  readonly items: Shape;
  /** The field by which a strategic merge patch finds an item. */
  readonly mergeKey?: string;
  /** The fields that identify an item for server-side apply, where they differ from mergeKey. */
  readonly keys?: readonly string[];
  /**
   * The default of such a field in an item without one, where a definition has a default for the
   * field.
   */
  readonly keyDefaults?: Readonly<Record<string, Json>>;
  /** A list of scalars merged as a set. */
  readonly set?: boolean;
  /** A strategic merge patch still replaces the list; only apply treats it as a set. */
  readonly isReplaced?: boolean;
  /** True for a list that is written even when it is empty. */
  readonly always?: boolean;
}

/** A map from strings. */
export interface Dictionary {
  readonly type: 'map';
  readonly values: Shape;
  /** True for a map that says something even when it is empty. */
  readonly keptEmpty?: boolean;
  /** True for a map that appliers own as a whole. */
  readonly atomic?: boolean;
}

/** A struct, or a value of other types that is kept unchanged. */
export interface Either {
  readonly type: 'either';
  readonly struct: Struct;
  /** The name of the type in Go. */
  readonly name: string;
  readonly isOther: (value: Json) => boolean;
}

/** The shape of one value. */
export type Shape = ScalarText | Struct | List | Dictionary | Either;

/** A struct type. */
export function struct(name: string, fields: Readonly<Record<string, Shape>>): Struct {
  return { type: 'struct', name, fields };
}

/** The same struct held by value (or the same list without omitempty): written even when empty. */
export function always<T extends Struct | List>(shape: T): T {
  return { ...shape, always: true };
}

/** An atomic list. */
export function list(items: Shape): List {
  return { type: 'list', items };
}

/** A list merged by one field of its items. */
export function listBy(mergeKey: string, items: Shape, keys?: readonly string[]): List {
  return { type: 'list', items, mergeKey, ...(keys ? { keys } : {}) };
}

/** A list of scalars merged as a set. */
export function set(items: Shape): List {
  return { type: 'list', items, set: true };
}

/** The same struct or map, owned by appliers as a whole. */
export function atomic<T extends Struct | Dictionary>(shape: T): T {
  return { ...shape, atomic: true };
}

/** A map from strings. */
export function map(values: Shape): Dictionary {
  return { type: 'map', values };
}

/** Whatever a definition leaves open: of the maps in it, all members are fields. */
export const freeForm: Dictionary = {
  type: 'map',
  get values(): Shape {
    return freeForm;
  },
};

/** The parts of a scalar's text. */
export interface Scalar {
  readonly name: ScalarName;
  readonly pointer: boolean;
  readonly always: boolean;
}

const scalars = new Map<ScalarText, Scalar>();

/** Takes a scalar's text apart. */
export function scalar(text: ScalarText): Scalar {
  let parts = scalars.get(text);
  if (!parts) {
    const mark = text.at(-1);
    const name = (mark === '*' || mark === '!' ? text.slice(0, -1) : text) as ScalarName;
    parts = { name, pointer: mark === '*', always: mark === '!' };
    scalars.set(text, parts);
  }
  return parts;
}
