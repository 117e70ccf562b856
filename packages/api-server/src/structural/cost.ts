// Whether the rules of a definition may cost too much: each, and all of them together.
import type { Cause } from '@taintmgr/sim-cluster/server';
import { forbiddenValue } from '@taintmgr/sim-cluster/server';
import { itemsSchema, valuesSchema } from './json-schema.ts';
import type { RuleTree } from './rules.ts';
import { branching, sizesOf, unlimitedCount } from './sizes.ts';

const ruleCostMax = 10_000_000;
const totalCostMax = 100_000_000;
const shownMax = 4;
const advice =
  'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared';

interface RuleCost {
  /** The schema that has the rule. */
  readonly place: string;
  readonly field: string;
  /** As it is called where it is too high. */
  readonly what: string;
  readonly cost: number;
}

export interface Costs {
  /** What each rule is refused for. */
  readonly own: readonly Cause[];
  /** What all of them are refused for. */
  readonly total: readonly Cause[];
}

/** What is wrong with what the rules of a schema at `path` cost, as far as their places are sound. */
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
