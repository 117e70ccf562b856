/** The part of JSON Schema that config.schema.json is written in. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: object;
  readonly items?: Schema;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly anyOf?: readonly Schema[];
  readonly definitions?: object;
}

/** A file that is wrong in one place. */
export interface Breakage {
  /** Of the field, as messages write it. */
  readonly path: string;
  readonly content: object;
  /** The wrong value as JSON. */
  readonly got: string;
}

type Build = (value: unknown) => unknown;

/** For each field at whatever depth a file that is right but for a value of the wrong type there. */
export function breakages(root: Schema): readonly Breakage[] {
  return fieldsOf(root, root, '', (value) => value);
}

function fieldsOf(root: Schema, one: Schema, path: string, build: Build): readonly Breakage[] {
  const { properties = {}, items } = resolve(root, one);
  const inner = Object.entries<Schema>({ ...properties }).flatMap(([name, schema]) => {
    const others = requiredOf(root, one, name);
    const buildInner: Build = (value) => build({ ...others, [name]: value });
    const innerPath = path === '' ? name : `${path}.${name}`;
    return [breakage(root, schema, innerPath, buildInner)].concat(
      fieldsOf(root, schema, innerPath, buildInner),
    );
  });
  if (!items) return inner;
  const buildItem: Build = (value) => build([value]);
  const itemPath = `${path}[0]`;
  return [
    ...inner,
    breakage(root, items, itemPath, buildItem),
    ...fieldsOf(root, items, itemPath, buildItem),
  ];
}

function breakage(root: Schema, schema: Schema, path: string, build: Build): Breakage {
  const { type = [] } = resolve(root, schema);
  // No field may be a list and an object.
  const value = [type].flat().includes('array') ? {} : [];
  return { path, got: JSON.stringify(value), content: build(value) as object };
}

/** The least that the others need beside this one. */
function requiredOf(root: Schema, schema: Schema, name: string): object {
  const { required = [], anyOf = [], properties = {} } = resolve(root, schema);
  const needed = [...required, ...(anyOf[0]?.required ?? [])].filter((other) => other !== name);
  return Object.fromEntries(
    needed.map((other) => [other, leastOf(root, Reflect.get(properties, other))]),
  );
}

function leastOf(root: Schema, schema: Schema): unknown {
  const { type, enum: words, minimum, exclusiveMinimum, ...resolved } = resolve(root, schema);
  if (words) return words[0];
  switch ([type].flat()[0]) {
    case 'object':
      return requiredOf(root, resolved, '');
    case 'string':
      return '1s';
    case 'integer':
    case 'number':
      return minimum ?? (exclusiveMinimum ?? 0) + 1;
    default:
      return [];
  }
}

function resolve(root: Schema, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const name = schema.$ref.replace('#/definitions/', '');
  return Reflect.get(root.definitions ?? {}, name);
}
