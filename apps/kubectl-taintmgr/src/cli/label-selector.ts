// Reads label selectors as kubectl takes them, for what is kept in an object and not asked of the
// API server.
import type { LabelExpression, LabelSelector } from '@taintmgr/core';
import { UsageError } from '../usage-error.ts';

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
