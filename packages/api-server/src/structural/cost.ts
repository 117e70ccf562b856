// Refuses rules of a definition that may cost too much: each, and all of them together.
import { type Cause, entry, forbiddenValue } from '@taintmgr/sim-cluster/server';
import { itemsStep, keysStep, type SizeAt, valuesStep } from '../cel/cost-values.ts';
import { fieldName } from '../cel/value.ts';
import { itemsSchema, type JsonSchema, valuesSchema } from './json-schema.ts';
import type { RuleTree } from './rules.ts';

// The largest size of values by their schema, when a request may have three megabytes.

const requestBytesMax = 3 * 1024 * 1024;
/** No text can be longer than this, without its quotation marks. */
const textMax = requestBytesMax - 2;

/** The longest and the shortest text of a format, quotation marks included. */
const formatSizes: Readonly<Record<string, { readonly max: number; readonly min: number }>> = {
  duration: { max: 32, min: 3 },
  date: { max: 12, min: 12 },
  'date-time': { max: 32, min: 21 },
};

/** The smallest number of bytes of a value, as JSON. */
function minSize(schema: JsonSchema): number {
  if (schema['x-kubernetes-int-or-string']) return 1;
  switch (schema.type) {
    case 'boolean':
      return 4;
    case 'integer':
    case 'number':
      return 1;
    case 'string':
      return entry(formatSizes, schema.format ?? '')?.min ?? 2;
    case 'object':
      return valuesSchema(schema) ? 2 : minObjectSize(schema);
    default:
      return 2;
  }
}

function minObjectSize({ properties = {}, required = [] }: JsonSchema): number {
  return Object.entries(properties).reduce((sum, [name, inner]) => {
    const isThere = required.includes(name) && inner.default === undefined;
    return isThere ? sum + name.length + minSize(inner) + 4 : sum;
  }, 2);
}

/** The greatest number of characters, items or members of a value; 0 for objects and numbers. */
function maxElements(schema: JsonSchema): number {
  if (schema['x-kubernetes-int-or-string']) return (schema.maxLength ?? textMax / 4) * 4;
  const values = valuesSchema(schema);
  const items = itemsSchema(schema);
  if (schema.type === 'array' && items) {
    return schema.maxItems ?? Math.floor(textMax / (minSize(items) + 1));
  }
  if (schema.type === 'object' && values) {
    return schema.maxProperties ?? Math.floor(textMax / (minSize(values) + 6));
  }
  return schema.type === 'string' ? maxText(schema) : 0;
}

function maxText({ format = '', maxLength, enum: allowed = [] }: JsonSchema): number {
  const known = entry(formatSizes, format);
  if (known) return known.max;
  // A character may take four bytes.
  if (maxLength !== undefined) return maxLength * (format === 'byte' ? 1 : 4);
  if (allowed.length === 0) return textMax;
  return Math.max(...allowed.map((value) => (typeof value === 'string' ? value.length : 0)));
}

const wholeMetadata: JsonSchema = {
  type: 'object',
  properties: { name: { type: 'string' }, generateName: { type: 'string' } },
};

/**
 * The sizes of the values that rules of a schema see, by the path that begins with `self` or
 * `oldSelf`.
 */
export function sizesOf(schema: JsonSchema, isWhole: boolean): SizeAt {
  return ([, ...steps]) => {
    let here: JsonSchema | null = schema;
    let isRoot = isWhole;
    for (const step of steps) {
      // The keys of a map have no schema.
      if (step === keysStep) return 0;
      here = here && stepTo(here, step, isRoot);
      isRoot = here?.['x-kubernetes-embedded-resource'] === true;
    }
    return here && maxElements(here);
  };
}

function stepTo(schema: JsonSchema, step: string, isRoot: boolean): JsonSchema | null {
  if (step === itemsStep) return itemsSchema(schema);
  if (step === valuesStep) return valuesSchema(schema);
  if (isRoot && step === 'metadata') return wholeMetadata;
  if (isRoot && (step === 'apiVersion' || step === 'kind')) return { type: 'string' };
  const found = Object.entries(schema.properties ?? {}).find(([name]) => fieldName(name) === step);
  return found?.[1] ?? valuesSchema(schema);
}

/** The factor by which the number of values grows below a schema; null: unlimited. */
function branching(schema: JsonSchema): number | null {
  if (schema.type === 'array') return schema.maxItems ?? null;
  if (schema.type !== 'object' || schema.additionalProperties === undefined) return 1;
  return schema.maxProperties ?? null;
}

/** The number of times that an unlimited value fits into one request. */
function unlimitedCount(schema: JsonSchema): number {
  return Math.floor(requestBytesMax / (minSize(schema) + 1));
}

const ruleCostMax = 10_000_000;
const totalCostMax = 100_000_000;
const shownMax = 4;
const advice =
  'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared';

interface RuleCost {
  /** The schema that has the rule. */
  readonly place: string;
  readonly field: string;
  /** The name of the cost in the error. */
  readonly what: string;
  readonly cost: number;
}

export interface Costs {
  /** The refusals of single rules. */
  readonly own: readonly Cause[];
  /** The refusal of all rules together. */
  readonly total: readonly Cause[];
}

/** The faults in the costs of the rules of a schema at `path`, for rules in valid places. */
export function costCauses(
  tree: RuleTree | null,
  path: string,
  isSound: (place: string) => boolean,
): Costs {
  const costs = tree ? costsOf(tree, path, 1, true).filter(({ place }) => isSound(place)) : [];
  const own = costs
    .filter(({ cost }) => cost > ruleCostMax)
    .map(({ field, what, cost }) => forbiddenValue(field, excess(what, cost, ruleCostMax)));
  const sum = costs.reduce((total, { cost }) => total + cost, 0);
  if (sum <= totalCostMax) return { own, total: [] };
  const contributed =
    'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
  const what = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
  const dearest = costs
    .filter(({ cost }) => cost >= totalCostMax / 100)
    .toSorted((a, b) => (a.cost === b.cost ? 0 : b.cost - a.cost))
    .slice(0, shownMax);
  return {
    own,
    total: [
      ...dearest.map(({ field }) => forbiddenValue(field, contributed)),
      forbiddenValue(path, excess(what, sum, totalCostMax)),
    ],
  };
}

/** The cost of each rule, as often as its part may be in one object; null: nothing limits that. */
function costsOf(
  tree: RuleTree,
  path: string,
  count: number | null,
  isRoot: boolean,
): readonly RuleCost[] {
  const { schema } = tree;
  const isWhole = isRoot || schema['x-kubernetes-embedded-resource'] === true;
  const sizes = sizesOf(schema, isWhole);
  const times = count ?? unlimitedCount(schema);
  const own = tree.rules.flatMap(({ program, message, index }): readonly RuleCost[] => {
    const field = `${path}.x-kubernetes-validations[${index}]`;
    const ofRule = program.maxCost(sizes) * times;
    const rule = { place: path, field: `${field}.rule`, what: 'estimated rule cost', cost: ofRule };
    if (!message) return [rule];
    // A message is made once, for the first part that breaks the rule.
    const what = 'estimated messageExpression cost';
    const cost = message.maxCost(sizes);
    return [rule, { place: path, field: `${field}.messageExpression`, what, cost }];
  });
  const factor = branching(schema);
  const below = count === null || factor === null ? null : count * factor;
  const inner = (part: RuleTree | null, step: string): readonly RuleCost[] =>
    part ? costsOf(part, `${path}${step}`, below, false) : [];
  return [
    ...own,
    ...[...tree.properties].flatMap(([name, part]) => inner(part, `.properties[${name}]`)),
    ...(valuesSchema(schema) ? inner(tree.values, '.additionalProperties') : []),
    ...(itemsSchema(schema) ? inner(tree.items, '.items') : []),
  ];
}

function excess(what: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const shown = factor > 100 ? 'more than 100' : factor.toFixed(factor < 1.5 ? 6 : 1);
  return `${what} exceeds budget by factor of ${shown}x (${advice})`;
}
