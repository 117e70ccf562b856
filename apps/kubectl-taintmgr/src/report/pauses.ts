// What a pause holds, in words.
import type { LabelExpression, LabelSelector } from '@taintmgr/core';
import type { EvictionPauseScope } from '@taintmgr/core/policy';

/** `all evictions`; `evictions in zone eu/a, for taint maintenance`. */
export function heldText({ zones, nodes, taintKeys, namespaces }: EvictionPauseScope): string {
  const parts = [
    ...(zones.length > 0 ? [`in ${oneOf('zone', zones)}`] : []),
    ...(nodes === null ? [] : [`on nodes with ${selectorText(nodes) || 'any labels'}`]),
    ...(taintKeys.length > 0 ? [`for ${oneOf('taint', taintKeys)}`] : []),
    ...(namespaces.length > 0 ? [`of pods in ${oneOf('namespace', namespaces)}`] : []),
  ];
  return parts.length === 0 ? 'all evictions' : `evictions ${parts.join(', ')}`;
}

function oneOf(what: string, names: readonly string[]): string {
  const [last = '', ...others] = [...names].reverse();
  if (others.length === 0) return `${what} ${last}`;
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
