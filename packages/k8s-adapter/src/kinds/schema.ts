// The language of the tables: schemas, as the API server gets them, and kinds with their columns.

/** A structural schema of OpenAPI v3, as far as our kinds need it. */
export type Schema =
  | StringSchema
  | NumberSchema
  | BooleanSchema
  | IntegerOrStringSchema
  | ListSchema
  | MapSchema
  | ObjectSchema;

interface Common {
  readonly description?: string;
  readonly rules?: readonly Rule[];
  /** The value of a field that is left out. */
  readonly default?: unknown;
}

export interface StringSchema extends Common {
  readonly type: 'string';
  /** The engine takes it as a number of this. */
  readonly unit?: 'duration' | 'time';
  readonly enum?: readonly string[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: 'date-time';
}

export interface NumberSchema extends Common {
  readonly type: 'integer' | 'number';
  readonly minimum?: number;
  /** The minimum itself is not allowed. */
  readonly exclusiveMinimum?: true;
  readonly maximum?: number;
}

interface BooleanSchema extends Common {
  readonly type: 'boolean';
}

interface IntegerOrStringSchema extends Common {
  readonly type: 'integerOrString';
}

export interface ListSchema extends Common {
  readonly type: 'array';
  readonly items: Schema;
  readonly minItems?: number;
  readonly maxItems: number;
  /**
   * The members by which entries of several owners are told apart; left out: one owner has the
   * whole list.
   */
  readonly mapKeys?: readonly string[];
}

export interface MapSchema extends Common {
  readonly type: 'map';
  readonly values: Schema;
  readonly maxProperties: number;
}

export interface ObjectSchema extends Common {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** A rule beyond types and bounds, for the API server as CEL and for us as a function. */
export type Rule = PatternRule | CelRule;

/** The text has to match; the message says in words what the pattern means. */
interface PatternRule {
  readonly matches: string;
  readonly message: string;
}

interface CelRule {
  readonly cel: string;
  readonly message: string;
  /** The member that it is about, `.deleteAfter`; left out: the value itself. */
  readonly fieldPath?: string;
  /** The same as `cel`; a test holds the two together. */
  holds(self: unknown): boolean;
}

/**
 * The type of a value that the schema allows, its defaults filled in. `Units` are types that stand
 * for texts with a unit, and for numbers that may be texts.
 */
export type TypeOf<S, Units = Texts> = S extends {
  readonly unit: infer Unit extends keyof Units;
}
  ? Units[Unit]
  : S extends { readonly enum: readonly (infer Word)[] }
    ? Word
    : S extends { readonly type: 'string' }
      ? string
      : S extends { readonly type: 'integer' | 'number' }
        ? number
        : S extends { readonly type: 'boolean' }
          ? boolean
          : S extends { readonly type: infer Type extends keyof Units }
            ? Units[Type]
            : S extends { readonly type: 'array'; readonly items: infer Item }
              ? readonly TypeOf<Item, Units>[]
              : S extends { readonly type: 'map'; readonly values: infer Value }
                ? Readonly<Record<string, TypeOf<Value, Units>>>
                : S extends { readonly properties: infer Properties }
                  ? ObjectOf<Properties, RequiredOf<S>, Units>
                  : never;

/** As a manifest has them. */
interface Texts {
  readonly integerOrString: number | string;
}

type RequiredOf<S> = S extends { readonly required: readonly (infer Name)[] } ? Name : never;

type ObjectOf<Properties, Required, Units> = {
  readonly [Name in PresentOf<Properties, Required>]: TypeOf<Properties[Name], Units>;
} & {
  readonly [Name in Exclude<keyof Properties, PresentOf<Properties, Required>>]?: TypeOf<
    Properties[Name],
    Units
  >;
};

/** The members that are always there: those that must be given, and those with a default. */
type PresentOf<Properties, Required> = {
  [Name in keyof Properties]: Name extends Required
    ? Name
    : Properties[Name] extends { readonly default: unknown }
      ? Name
      : never;
}[keyof Properties];

interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly description: string;
  /** Above 0: only kubectl get -o wide shows it. */
  readonly priority?: 1;
}

/** A kind, as its CustomResourceDefinition has it. */
export interface Kind {
  readonly description: string;
  readonly plural: string;
  readonly shortName: string;
  /** Null: it has none. */
  readonly spec: ObjectSchema | null;
  readonly status: ObjectSchema;
  readonly columns: readonly Column[];
}

/** True when the controller applies an object. */
export const inForce: Column = {
  name: 'In Force',
  type: 'string',
  jsonPath: '.status.conditions[?(@.type=="InForce")].status',
  description: 'True while the controller applies it',
};

export const age: Column = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description: 'When it was created',
};

export function column(
  name: string,
  type: Column['type'],
  jsonPath: string,
  description: string,
  priority?: 1,
): Column {
  return { name, type, jsonPath, description, ...(priority && { priority }) };
}
