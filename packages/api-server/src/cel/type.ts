// The types of CEL expressions and of the values they work with.

/** Types with no parts. `dyn` is a value whose type is known only when it is there. */
type CelScalar =
  | 'dyn'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'timestamp'
  | 'duration'
  | 'null'
  | 'type';

export type CelType =
  | CelScalar
  | { readonly kind: 'list'; readonly items: CelType }
  | { readonly kind: 'map'; readonly keys: CelType; readonly values: CelType }
  | { readonly kind: 'optional'; readonly of: CelType }
  | CelObject;

/**
 * An object whose fields are declared; any other field is refused when an expression is compiled.
 * Each CelObject is a separate type, whatever its name and fields.
 */
export interface CelObject {
  readonly kind: 'object';
  /** The name of the type in error messages. */
  readonly name: string;
  readonly fields: Readonly<Record<string, CelType>>;
  readonly methods?: readonly CelMethod[];
}

/** A function that is called on an object: `authorizer.path('/healthz')`. */
export interface CelMethod {
  readonly name: string;
  readonly takes: readonly CelType[];
  readonly returns: CelType;
  readonly call: (self: unknown, ...args: readonly unknown[]) => unknown;
}

/** A list of values of one type. */
export function listOf(items: CelType): CelType {
  return { kind: 'list', items };
}

/** A map with keys of text and values of one type. */
export function mapOf(values: CelType): CelType {
  return { kind: 'map', keys: 'string', values };
}

/** A value that may be missing. */
export function optionalOf(of: CelType): CelType {
  return { kind: 'optional', of };
}

/** A type as error texts write it: `int`, `list(string)`. */
export function typeName(type: CelType): string {
  if (typeof type === 'string') return type === 'null' ? 'null_type' : type;
  switch (type.kind) {
    case 'list':
      return `list(${typeName(type.items)})`;
    case 'map':
      return `map(${typeName(type.keys)}, ${typeName(type.values)})`;
    case 'optional':
      return `optional_type(${typeName(type.of)})`;
    case 'object':
      return type.name;
  }
}
