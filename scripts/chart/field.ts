// What a value of the chart is: its schema, its default and what is said of it, in one place.

/** One value, or a group of them. */
export type Field = Value | Group;

/** JSON Schema, draft 7. */
export type Schema = Readonly<Record<string, unknown>>;

export interface Value {
  readonly kind: 'value';
  readonly about: string;
  readonly schema: Schema;
  readonly initial: unknown;
}

export interface Group {
  readonly kind: 'group';
  readonly about: string;
  readonly fields: Readonly<Record<string, Field>>;
}

/** A value with any schema. */
export function value(about: string, initial: unknown, schema: Schema): Value {
  return { kind: 'value', about, initial, schema };
}

export function group(about: string, fields: Readonly<Record<string, Field>>): Group {
  return { kind: 'group', about, fields };
}

export function flag(about: string, initial: boolean): Value {
  return value(about, initial, { type: 'boolean' });
}

/** `pattern` is a regular expression for the whole of it. */
export function text(about: string, initial: string, pattern?: string): Value {
  return value(about, initial, { type: 'string', ...(pattern && { pattern: `^(${pattern})$` }) });
}

export function choice(about: string, of: readonly [initial: string, ...string[]]): Value {
  return value(about, of[0], { type: 'string', enum: of });
}

/** Labels, annotations and the like. */
export function texts(about: string, initial: Readonly<Record<string, string>> = {}): Value {
  return value(about, initial, { type: 'object', additionalProperties: { type: 'string' } });
}

/** A list of objects of Kubernetes, which the API server checks. */
export function objects(about: string, initial: readonly object[] = []): Value {
  return value(about, initial, { type: 'array', items: { type: 'object' } });
}

/** An object of Kubernetes, which the API server checks; null: what `about` says. */
export function orDefault(about: string, type: 'array' | 'object'): Value {
  return value(about, null, { type: [type, 'null'] });
}
