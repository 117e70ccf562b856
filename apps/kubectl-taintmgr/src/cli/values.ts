// Reads names and label selectors as users type them.
import { type CommandUnknownOpts, InvalidArgumentError } from '@commander-js/extra-typings';
import type { LabelExpression, LabelSelector } from '@taintmgr/core';
import { spelled, UsageError } from '@taintmgr/k8s-adapter/command-line';
import { type Output, warn } from './output.ts';

const nameLengthMax = 253;

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';

const pattern = new RegExp(`^${label}([.]${label})*$`);

/** True where an object of Kubernetes may have this name. */
export function isObjectName(text: string): boolean {
  return text.length <= nameLengthMax && pattern.test(text);
}

/** Reads an argument that is the name of an object; `refuseBlank` says it of one that is blank. Throws InvalidArgumentError. */
export function objectName(text: string): string {
  return isBlank(text) ? text : namedObject(text);
}

/** Reads a flag that is the name of an object. Throws InvalidArgumentError. */
export function namedObject(text: string): string {
  if (isObjectName(text)) return text;
  throw new InvalidArgumentError(
    "Want the name of an object: lower case letters, digits, '-' and '.', beginning and ending alphanumeric.",
  );
}

/** Reads names of objects, one after another. Throws InvalidArgumentError. */
export function objectNames(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, objectName(text)];
}

/** Reads `n1` or `node/n1`, one after another. Throws InvalidArgumentError. */
export function nodeNames(text: string, before: readonly string[] = []): readonly string[] {
  if (/[=:]/.test(text)) {
    throw new InvalidArgumentError(
      `Want the name of a node; ${text} looks like a taint, which comes before the nodes.`,
    );
  }
  return [...before, objectName(text.replace(/^(node|nodes|no)\//, ''))];
}

/** Reads `web-0` or `pod/web-0`, one after another. Throws InvalidArgumentError. */
export function podNames(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, objectName(text.replace(/^(pod|pods|po)\//, ''))];
}

/** Reads a flag that is one of these words; warns of an earlier spelling. Throws UsageError. */
export function wordOf<const T extends string>(
  output: Output,
  flag: string,
  text: string,
  words: readonly T[],
): T {
  const { word, hint = null } = spelled(text, words) ?? {};
  if (word === undefined) {
    throw new UsageError(`${flag}: got ${JSON.stringify(text)}, want ${words.join(' or ')}`);
  }
  if (hint !== null) warn(output, `${flag}: ${hint}`);
  return word;
}

/** Reads a selector that must leave something out. Throws InvalidArgumentError. */
export function narrowingSelector(text: string): string {
  if (!isBlank(text)) return text;
  throw new InvalidArgumentError('Want a label selector such as pool=blue; it is empty.');
}

/**
 * Refuses arguments that are blank: a shell makes one of a variable that is not set, and it would mean
 * everything, or nothing. Throws CommanderError.
 */
export function refuseBlank(command: CommandUnknownOpts, args: readonly unknown[]): void {
  for (const [at, argument] of command.registeredArguments.entries()) {
    const given: readonly unknown[] = [args[at]].flat();
    if (given.every((one) => typeof one !== 'string' || !isBlank(one))) continue;
    command.error(`error: argument '${argument.name()}' is empty`);
  }
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}

const key = '(?:[a-z0-9][-a-z0-9.]*/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?';

const value = '(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?';

const equality = new RegExp(`^(${key})\\s*(=|==|!=)\\s*(${value})$`);

const set = new RegExp(`^(${key})\\s+(in|notin)\\s*\\(([^()]*)\\)$`);

const presence = new RegExp(`^(!?)\\s*(${key})$`);

const oneValue = new RegExp(`^${value}$`);

/** Reads `pool=blue,tier!=db,zone in (a,b),!gpu`. Throws UsageError; `flag` names where it stood. */
export function readLabelSelector(flag: string, text: string): LabelSelector {
  // Commas within parentheses part values.
  const parts = text.match(/(?:^|,)[^,(]*(?:\([^)]*\)?[^,(]*)*/g) ?? [];
  const matchExpressions = parts.map((part, index) => {
    return expressionOf(part.slice(index === 0 ? 0 : 1).trim()) ?? fail(flag, text);
  });
  return { matchExpressions };
}

function fail(flag: string, text: string): never {
  const want = 'a label selector such as pool=blue,tier!=db';
  throw new UsageError(`${flag}: got ${JSON.stringify(text)}, want ${want}`);
}

function expressionOf(text: string): LabelExpression | null {
  const [, equalKey, sign, wanted] = equality.exec(text) ?? [];
  if (equalKey !== undefined && wanted !== undefined) {
    return { key: equalKey, operator: sign === '!=' ? 'NotIn' : 'In', values: [wanted] };
  }
  const [, setKey, word, list] = set.exec(text) ?? [];
  if (setKey !== undefined && list !== undefined) {
    const values = list.split(',').map((one) => one.trim());
    if (!values.every((one) => oneValue.test(one))) return null;
    return { key: setKey, operator: word === 'in' ? 'In' : 'NotIn', values };
  }
  const [, not, plainKey] = presence.exec(text) ?? [];
  if (plainKey === undefined) return null;
  return { key: plainKey, operator: not === '!' ? 'DoesNotExist' : 'Exists' };
}
