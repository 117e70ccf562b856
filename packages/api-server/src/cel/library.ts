// The functions that Kubernetes has and the CEL library has not: texts, lists, sets, quantities, addresses.
import { type Environment, Optional } from '@marcbachmann/cel-js';
import { quantity } from '@taintmgr/sim-cluster/server';
import { Address, addressFunctions, IpAddress, Network } from './addresses.ts';
import { formatText } from './format.ts';
import { addMacros } from './macros.ts';
import { goRegExp, type Pattern } from './regular-expression.ts';
import { tooDear } from './run-cost.ts';
import { isSameSemver, Semver, semverFunctions } from './semver.ts';
import { addNamedFormats } from './string-formats.ts';
import { addTwoVariableMacros } from './two-variables.ts';
import {
  type CelDuration,
  CelError,
  type CelValue,
  celEqual,
  compareValues,
  isDuration,
  type Ordered,
  timeText,
} from './value.ts';

class Quantity {
  readonly amount: number;
  constructor(amount: number) {
    this.amount = amount;
  }
}

/** The names before the dot in `sets.contains(a, b)`. */
class Sets {}
class Lists {}
class Strings {}
class Ips {}

const timestamp = 'google.protobuf.Timestamp';
const duration = 'google.protobuf.Duration';

/** Adds all of them to an environment. */
export function addLibrary(environment: Environment): void {
  environment.registerType('Quantity', { ctor: Quantity, fields: {} });
  environment.registerOperator('Quantity == Quantity', (a: Quantity, b: Quantity) => {
    return a.amount === b.amount;
  });
  for (const [name, ctor, isSame] of [
    ['IP', IpAddress, isSameText],
    ['CIDR', Network, isSameText],
    ['URL', Address, (a: Address, b: Address) => a.url.href === b.url.href],
    ['Semver', Semver, isSameSemver],
  ] as const) {
    environment.registerType(name, { ctor, fields: {} });
    environment.registerOperator(`${name} == ${name}`, isSame);
  }
  // The signatures below know these types by name, and a class in a bundle has another one.
  for (const [name, typeName, type] of [
    ['sets', 'Sets', Sets],
    ['lists', 'Lists', Lists],
    ['strings', 'Strings', Strings],
    ['ip', 'Ips', Ips],
  ] as const) {
    environment.registerType(typeName, type);
    environment.registerConstant(name, typeName, new type());
  }
  const ours = { ...conversions, ...texts, ...lists, ...sets, ...quantities };
  const all = { ...ours, ...addressFunctions, ...semverFunctions };
  for (const [signature, handler] of Object.entries(all)) {
    environment.registerFunction(signature, handler, { async: false });
  }
  environment.registerOperator('optional<dyn> == optional<dyn>', celEqual);
  addNamedFormats(environment);
  addMacros(environment);
  addTwoVariableMacros(environment);
}

function isSameText(a: IpAddress | Network, b: IpAddress | Network): boolean {
  return String(a) === String(b);
}

// biome-ignore lint/suspicious/noExplicitAny: the signature beside each handler says what it takes
type Handlers = Readonly<Record<string, (...args: any[]) => CelValue>>;

const conversions: Handlers = {
  'OptionalNamespace.ofNonZeroValue(A): optional<A>': (_: object, value: CelValue) =>
    isZero(value) ? Optional.none() : Optional.of(value),
  [`string(${timestamp}): string`]: (time: Date) => timeText(time),
  [`string(${duration}): string`]: (length: CelDuration) => length.toString(),
  [`int(${timestamp}): int`]: (time: Date) => BigInt(Math.floor(time.getTime() / 1000)),
};

function isZero(value: CelValue): boolean {
  if (value === null || value === false || value === '' || value === 0n || value === 0) return true;
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length === 0;
  return value instanceof Map && value.size === 0;
}

const texts: Handlers = {
  'string.charAt(int): string': (text: string, at: bigint) => {
    if (at < 0n || at > BigInt(text.length)) throw new CelError(`index out of range: ${at}`);
    return text.charAt(Number(at));
  },
  'string.replace(string, string): string': (text: string, from: string, to: string) =>
    text.replaceAll(from, () => to),
  'string.replace(string, string, int): string': (
    text: string,
    from: string,
    to: string,
    count: bigint,
  ) => {
    if (count < 0n) return text.replaceAll(from, () => to);
    let left = count;
    return text.replaceAll(from, (found) => (left-- > 0n ? to : found));
  },
  'string.find(string): string': (text: string, pattern: string) =>
    regularExpression(pattern).all(text, 1)[0] ?? '',
  'string.findAll(string): list<string>': (text: string, pattern: string) =>
    regularExpression(pattern).all(text),
  'string.findAll(string, int): list<string>': (text: string, pattern: string, count: bigint) =>
    regularExpression(pattern).all(text, count < 0n ? undefined : Number(count)),
  'string.format(list): string': formatText,
  'Strings.quote(string): string': (_: Strings, text: string) => JSON.stringify(text),
};

function regularExpression(source: string): Pattern {
  const compiled = goRegExp(source);
  if ('error' in compiled) throw new CelError(compiled.error);
  return compiled.pattern;
}

/** The real server lets one expression cost a million, and each item costs one. */
const rangeMax = 1_000_000;

const lists: Handlers = {
  'list<A>.isSorted(): bool': (items: readonly Ordered[]) =>
    items.every((item, at) => at === 0 || compareValues(items[at - 1] as Ordered, item) <= 0),
  'list<A>.sum(): A': sum,
  'list<A>.min(): A': (items: readonly Ordered[]) => outermost(items, 'min', 1),
  'list<A>.max(): A': (items: readonly Ordered[]) => outermost(items, 'max', -1),
  'list<A>.indexOf(A): int': (items: readonly CelValue[], wanted: CelValue) =>
    BigInt(items.findIndex((item) => celEqual(item, wanted))),
  'list<A>.lastIndexOf(A): int': (items: readonly CelValue[], wanted: CelValue) =>
    BigInt(items.findLastIndex((item) => celEqual(item, wanted))),
  'list<A>.sort(): list<A>': (items: readonly Ordered[]) => [...items].sort(compareValues),
  'list<A>.reverse(): list<A>': (items: readonly CelValue[]) => [...items].reverse(),
  'list<A>.distinct(): list<A>': (items: readonly CelValue[]) =>
    items.filter((item, at) => items.findIndex((other) => celEqual(item, other)) === at),
  'list<A>.flatten(): list<dyn>': (items: readonly CelValue[]) => items.flat(),
  'list<A>.flatten(int): list<dyn>': (items: readonly CelValue[], depth: bigint) => {
    if (depth < 0n) throw new CelError('level must be non-negative');
    return items.flat(Number(depth));
  },
  'list<A>.slice(int, int): list<A>': (items: readonly CelValue[], from: bigint, to: bigint) => {
    if (from < 0n || to < from || to > BigInt(items.length)) {
      throw new CelError(`cannot slice(${from}, ${to}), list is length ${items.length}`);
    }
    return items.slice(Number(from), Number(to));
  },
  'Lists.range(int): list<int>': (_: Lists, count: bigint) => {
    if (count > rangeMax) throw new CelError(tooDear);
    return Array.from({ length: Number(count) }, (_item, at) => BigInt(at));
  },
};

function sum(items: readonly (bigint | number | CelDuration)[]): CelValue {
  if (items.length === 0) return 0n;
  return items.reduce((left, right) => {
    if (isDuration(left)) return left.addDuration(right as CelDuration);
    if (typeof left === 'bigint') return left + BigInt(right as bigint);
    return left + Number(right);
  });
}

function outermost(items: readonly Ordered[], name: string, sign: number): CelValue {
  if (items.length === 0) throw new CelError(`${name} called on empty list`);
  return items.reduce((best, item) => (sign * compareValues(best, item) > 0 ? item : best));
}

const hasAll = (a: readonly CelValue[], b: readonly CelValue[]): boolean =>
  b.every((wanted) => a.some((item) => celEqual(item, wanted)));

type List = readonly CelValue[];
const sets: Handlers = {
  'Sets.contains(list<A>, list<A>): bool': (_: Sets, a: List, b: List) => hasAll(a, b),
  'Sets.equivalent(list<A>, list<A>): bool': (_: Sets, a: List, b: List) =>
    hasAll(a, b) && hasAll(b, a),
  'Sets.intersects(list<A>, list<A>): bool': (_: Sets, a: List, b: List) =>
    a.some((item) => b.some((other) => celEqual(item, other))),
};

/** An amount as expressions have it. Throws CelError for a text that is none. */
export function readQuantity(text: string): Quantity {
  const amount = quantity(text);
  if (Number.isNaN(amount)) {
    throw new CelError(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    );
  }
  return new Quantity(amount);
}

const quantities: Handlers = {
  'isQuantity(string): bool': (text: string) => !Number.isNaN(quantity(text)),
  'quantity(string): Quantity': readQuantity,
  'Quantity.isGreaterThan(Quantity): bool': (a: Quantity, b: Quantity) => a.amount > b.amount,
  'Quantity.isLessThan(Quantity): bool': (a: Quantity, b: Quantity) => a.amount < b.amount,
  'Quantity.compareTo(Quantity): int': (a: Quantity, b: Quantity) =>
    BigInt(compareValues(a.amount, b.amount)),
  'Quantity.add(Quantity): Quantity': (a: Quantity, b: Quantity) =>
    new Quantity(a.amount + b.amount),
  'Quantity.add(int): Quantity': (a: Quantity, b: bigint) => new Quantity(a.amount + Number(b)),
  'Quantity.sub(Quantity): Quantity': (a: Quantity, b: Quantity) =>
    new Quantity(a.amount - b.amount),
  'Quantity.sub(int): Quantity': (a: Quantity, b: bigint) => new Quantity(a.amount - Number(b)),
  'Quantity.sign(): int': (a: Quantity) => BigInt(Math.sign(a.amount)),
  'Quantity.isInteger(): bool': (a: Quantity) => Number.isInteger(a.amount),
  'Quantity.asInteger(): int': (a: Quantity) => {
    if (!Number.isInteger(a.amount)) throw new CelError('cannot convert value to integer');
    return BigInt(a.amount);
  },
  'Quantity.asApproximateFloat(): double': (a: Quantity) => a.amount,
};
