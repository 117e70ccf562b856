// What expressions of --fail-if may say: metrics, amounts, and how they compare and add up.
import { Environment } from '@marcbachmann/cel-js';
import { metrics } from './metrics.ts';
import { Amount, type AmountName, amountTypes, type Unit } from './quantities.ts';

/** Answers a metric where an expression asks for it; null: it names no variant. */
export type Measure = (
  metric: string,
  subject: string,
  variant: string | null,
) => (unit: Unit) => number;

const comparisons: Readonly<Record<string, (one: number, other: number) => boolean>> = {
  '>': (one, other) => one > other,
  '>=': (one, other) => one >= other,
  '<': (one, other) => one < other,
  '<=': (one, other) => one <= other,
};

type Operand = Amount | number;

/** An environment of the library for one condition. */
export function environmentOf(measure: Measure): Environment {
  const environment = new Environment();
  for (const [name, { make }] of Object.entries(amountTypes)) {
    environment.registerType(name, { ctor: make, fields: {} });
  }
  const { Time, Share } = amountTypes;
  environment.registerFunction('time(double): Time', (value: number) => new Time.make(() => value));
  environment.registerFunction('share(double): Share', (value: number) => {
    return new Share.make(() => value);
  });
  for (const [name, { type }] of Object.entries(metrics)) {
    const { make } = amountTypes[type];
    const answer = (subject: string, variant: string | null = null): Amount =>
      new make(measure(name, subject, variant));
    environment.registerFunction(`${name}(string): ${type}`, answer);
    environment.registerFunction(`${name}(string, string): ${type}`, answer);
  }
  for (const name of Object.keys(amountTypes)) addOperators(environment, name as AmountName);
  return environment;
}

function addOperators(environment: Environment, name: AmountName): void {
  const { make, beside } = amountTypes[name];
  for (const [other, unit] of Object.entries(beside)) {
    const amountOf = (one: Operand): number => (one instanceof Amount ? one.in(unit) : one);
    for (const [operator, holds] of Object.entries(comparisons)) {
      const compare = (one: Operand, two: Operand): boolean => holds(amountOf(one), amountOf(two));
      environment.registerOperator(`${name} ${operator} ${other}`, compare);
      const isOwnWay = amountTypes[other as AmountName]?.beside[name] !== undefined;
      if (!isOwnWay) environment.registerOperator(`${other} ${operator} ${name}`, compare);
    }
    const combine = (sign: 1 | -1) => (one: Amount, two: Operand) =>
      new make((read) => one.in(read) + sign * (two instanceof Amount ? two.in(read) : two));
    if (other === 'Share' && name !== 'Share') continue;
    environment.registerOperator(`${name} + ${other}: ${name}`, combine(1));
    environment.registerOperator(`${name} - ${other}: ${name}`, combine(-1));
  }
  environment.registerOperator(
    `${name} * double: ${name}`,
    (one: Amount, factor: number) => new make((read) => one.in(read) * factor),
  );
}
