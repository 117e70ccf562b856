// The fields of a JSON schema, each with what may stand there: of the configuration file and of our kinds.

import { code } from './page.ts';

/** A schema as far as it is read here: of draft 7, or of OpenAPI v3. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number | boolean;
  readonly format?: string;
  readonly pattern?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly definitions?: Readonly<Record<string, Schema>>;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-validations'?: readonly { readonly message: string }[];
}

/** One field. */
export interface Field {
  /** `spec.limits[].pods`; `{}` stands for any key. */
  readonly path: string;
  /** What may stand there, in words. */
  readonly kind: string;
  readonly default: unknown;
  readonly isRequired: boolean;
  readonly description: string;
  /** What has to hold between it and what is below it. */
  readonly rules: readonly string[];
}

/** All named fields below a schema, in its order. */
export function fieldsOf(root: Schema, path = ''): readonly Field[] {
  return below(root, root, path);
}

function below(root: Schema, schema: Schema, path: string): readonly Field[] {
  const { properties = {}, required = [], items, additionalProperties } = resolved(root, schema);
  const named = Object.entries(properties).flatMap(([name, given]) => {
    const at = path === '' ? name : `${path}.${name}`;
    return [fieldOf(root, given, at, required.includes(name)), ...below(root, given, at)];
  });
  const each = items ? below(root, items, `${path}[]`) : [];
  const values =
    typeof additionalProperties === 'object' ? below(root, additionalProperties, `${path}{}`) : [];
  return [...named, ...each, ...values];
}

function fieldOf(root: Schema, given: Schema, path: string, isRequired: boolean): Field {
  const whole = resolved(root, given);
  return {
    path,
    kind: kindOf(root, whole),
    default: whole.default,
    isRequired,
    description: whole.description ?? '',
    rules: (whole['x-kubernetes-validations'] ?? []).map(({ message }) => message),
  };
}

/** With what it refers to; what stands beside the reference counts. */
function resolved(root: Schema, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const { $ref, ...own } = schema;
  const name = $ref.split('/').at(-1) ?? '';
  return { ...resolved(root, root.definitions?.[name] ?? {}), ...own };
}

function kindOf(root: Schema, schema: Schema): string {
  const whole = resolved(root, schema);
  const { items, additionalProperties, format, pattern } = whole;
  const type = [whole.type ?? ''].flat().join(' or ');
  if (whole.const !== undefined) return code(JSON.stringify(whole.const));
  if (whole.enum) return whole.enum.map((value) => code(String(value))).join(', ');
  if (whole['x-kubernetes-int-or-string']) return 'whole number or text';
  const ways = whole.oneOf ?? whole.anyOf;
  if (ways && type === '') return ways.map((one) => kindOf(root, one)).join(' or ');
  if (type === 'array' && items) return `list of ${kindOf(root, items)}`;
  if (type === 'object' && typeof additionalProperties === 'object') {
    return `map to ${kindOf(root, additionalProperties)}`;
  }
  if (type === 'object') return 'object';
  if (type === 'integer' || type === 'number') return `${numberName(type)}${rangeOf(whole)}`;
  if (format === 'date-time') return 'time, RFC 3339';
  if (pattern?.includes('ms') || pattern?.includes('[smh]')) return 'duration';
  return type === 'string' ? 'text' : type;
}

const numberName = (type: string): string => (type === 'integer' ? 'whole number' : 'number');

function rangeOf({ minimum, maximum, exclusiveMinimum }: Schema): string {
  const from = typeof exclusiveMinimum === 'number' ? exclusiveMinimum : minimum;
  const isAbove = exclusiveMinimum !== undefined && exclusiveMinimum !== false;
  const low = from === undefined ? '' : isAbove ? ` above ${from}` : ` from ${from}`;
  return `${low}${maximum === undefined ? '' : ` to ${maximum}`}`;
}
