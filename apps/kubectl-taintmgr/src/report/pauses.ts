// What a pause holds, in words.

import type { LabelExpression, LabelSelector } from '@taintmgr/core';
import type { EvictionPause } from '@taintmgr/core/policy';
import type { Instant } from '@taintmgr/core/time';
import type { PolicyObject } from '@taintmgr/k8s-adapter/kinds';
import { choicesMax, choicesText } from '../render/count.ts';

/** Those that are not over at `at`. */
export function pausesInForce(
  objects: readonly PolicyObject[],
  at: Instant,
): readonly EvictionPause[] {
  return objects.flatMap(({ kind, value }) => {
    return kind === 'EvictionPause' && (value.until === null || value.until > at) ? [value] : [];
  });
}

/** `all evictions for taints`; `evictions in zone eu/a, for taint maintenance`; `evictions and node health`. */
export function pausedText({
  scope: { zones, nodes, taintKeys, namespaces },
  deadlines,
  readiness,
}: Pick<EvictionPause, 'scope' | 'deadlines' | 'readiness'>): string {
  const parts = [
    ...(zones.length > 0 ? [`in ${oneOf('zone', zones)}`] : []),
    ...(nodes === null ? [] : [`on nodes with ${selectorText(nodes) || 'any labels'}`]),
    ...(taintKeys.length > 0 ? [`for ${oneOf('taint', taintKeys)}`] : []),
    ...(namespaces.length > 0 ? [`of pods in ${oneOf('namespace', namespaces)}`] : []),
  ];
  const health = readiness ? ['node health'] : [];
  const isAll = parts.length === 0;
  const held = [
    ...(deadlines ? [isAll ? 'all evictions for taints' : 'evictions'] : []),
    ...health,
  ];
  return [held.join(' and '), parts.join(', ')].filter((part) => part !== '').join(' ');
}

function oneOf(what: string, names: readonly string[]): string {
  const [last = '', ...others] = [...names].reverse();
  if (others.length === 0) return `${what} ${last}`;
  if (names.length > choicesMax) return `${what}s ${choicesText(names)}`;
  return `${what}s ${others.reverse().join(', ')} and ${last}`;
}

/** As kubectl takes it. */
function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const labels = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  return [...labels, ...matchExpressions.map(expressionText)].join(',');
}

function expressionText({ key, operator, values = [] }: LabelExpression): string {
  const [only = '', ...more] = values;
  switch (operator) {
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
    case 'In':
      return more.length === 0 ? `${key}=${only}` : `${key} in (${values.join(',')})`;
    case 'NotIn':
      return more.length === 0 ? `${key}!=${only}` : `${key} notin (${values.join(',')})`;
  }
}
