// The costs of functions, by the sizes of their arguments.

/** The facts known of a value before it exists. */
export interface Valued {
  readonly kind: string;
  readonly size: number;
  readonly itemSize: number;
  /** Null: it is not in the expression. */
  readonly literal: unknown;
}

export interface CallCost {
  readonly cost: number;
  /** The greatest size of the result; left out: by its type. */
  readonly size?: number;
}

/** Names before a dot that are no variables. */
export const namespaces: readonly string[] = [
  'format',
  'ip',
  'lists',
  'optional',
  'sets',
  'strings',
];

/** The cost of reading one character of a text, and one of a regular expression. */
export const perCharacter = 0.1;
const perPatternCharacter = 0.25;
/** The length of the regular expressions of the named formats. */
const formatPatternSize = 60;
/** The greatest length of the text of a number, a time or a boolean. */
const scalarTextSize = 32;

/** A multiple of a size. Zero times infinity is zero. */
export function times(size: number, factor: number): number {
  return size === 0 || factor === 0 ? 0 : Math.ceil(size * factor);
}

type Cost = (on: Valued, args: readonly Valued[]) => CallCost;

const none: Valued = { kind: 'null', size: 0, itemSize: 0, literal: null };
const sizeOf = (args: readonly Valued[], at = 0): number => (args[at] ?? none).size;

const onePass: Cost = ({ size }) => ({ cost: times(size, perCharacter), size });
const argumentPass: Cost = (_on, args) => ({ cost: times(sizeOf(args), perCharacter) });

const search: Cost = ({ size }, args) => ({
  cost: times(times(size + 1, perCharacter), times(sizeOf(args), perPatternCharacter)),
  size,
});

/** Once over a list, and over the texts in it. */
const listPass: Cost = ({ kind, size, itemSize }, args) => {
  if (kind !== 'list') return { cost: times(size, perCharacter) };
  const isText = (args[0]?.kind ?? 'string') === 'string' && Number.isFinite(itemSize);
  return { cost: times(size, 1 + (isText ? times(itemSize, perCharacter) : 0)) };
};

/** The same list again, or some of it. */
const rearranged: Cost = ({ size }) => ({ cost: Math.max(1, times(size, 1)), size });

const everyPair: Cost = (_on, args) => ({ cost: 1 + times(sizeOf(args), sizeOf(args, 1)) });

const replaced: Cost = ({ size }, args) => {
  const from = args[0]?.literal;
  const fromMin = typeof from === 'string' ? [...from].length : 0;
  const to = sizeOf(args, 1);
  const cost = times(size, 2 * perCharacter);
  if (fromMin === 0) return { cost, size: times(size + 1, to) + size };
  if (to <= fromMin) return { cost, size };
  return { cost, size: times(Math.ceil(size / fromMin), to) };
};

const split: Cost = ({ size }, args) => {
  const limit = args[1]?.literal;
  const max = typeof limit === 'bigint' && limit >= 0n ? Number(limit) : size;
  return { cost: times(size, 2 * perCharacter), size: max };
};

const joined: Cost = ({ size, itemSize }, args) => {
  const all = times(size, itemSize) + times(Math.max(0, size - 1), sizeOf(args));
  return { cost: times(all, perCharacter), size: all };
};

const asText: Cost = (_on, [value = none]) => {
  const isLong = value.kind === 'string' || value.kind === 'bytes' || value.kind === 'dyn';
  return isLong
    ? { cost: times(value.size, perCharacter), size: value.size }
    : { cost: 1, size: scalarTextSize };
};

const costs: Readonly<Record<string, Cost>> = {
  contains: ({ size }, args) => ({
    cost: times(times(size, perCharacter), times(sizeOf(args), perCharacter)),
  }),
  startsWith: argumentPass,
  endsWith: argumentPass,
  matches: search,
  find: search,
  findAll: search,
  lowerAscii: onePass,
  upperAscii: onePass,
  substring: onePass,
  trim: onePass,
  charAt: () => ({ cost: 1, size: 1 }),
  replace: replaced,
  split,
  join: joined,
  quote: (_on, args) => ({
    cost: times(sizeOf(args), perCharacter),
    size: 2 * sizeOf(args) + 2,
  }),
  format: ({ size }) => ({ cost: times(size, perCharacter), size: Number.POSITIVE_INFINITY }),
  validate: (_on, args) => ({
    cost: times(
      times(sizeOf(args) + 1, perCharacter),
      times(formatPatternSize, perPatternCharacter),
    ),
    size: Number.POSITIVE_INFINITY,
  }),
  bytes: (_on, args) => ({ cost: times(sizeOf(args), perCharacter), size: 4 * sizeOf(args) }),
  string: asText,
  isSorted: listPass,
  sum: listPass,
  min: listPass,
  max: listPass,
  indexOf: listPass,
  lastIndexOf: listPass,
  sort: rearranged,
  sortBy: rearranged,
  distinct: rearranged,
  reverse: rearranged,
  slice: rearranged,
  flatten: rearranged,
  equivalent: everyPair,
  intersects: everyPair,
  ...Object.fromEntries(
    ['url', 'isURL', 'ip', 'isIP', 'cidr', 'isCIDR', 'quantity', 'isQuantity'].map((name) => [
      name,
      argumentPass,
    ]),
  ),
};

/** The cost of one call without its parts. */
export function callCost(name: string, on: Valued | null, args: readonly Valued[]): CallCost {
  // `sets.contains(a, b)`, which is no function of texts.
  if (name === 'contains' && on === null) return everyPair(none, args);
  const cost = Object.hasOwn(costs, name) ? costs[name] : undefined;
  // `cidr.ip()` reads an already parsed value.
  if (!cost || (cost === argumentPass && args.length === 0)) return { cost: 1 };
  return cost(on ?? args[0] ?? none, args);
}
