// Label selectors as kubectl takes them.
import type { LabelExpression, LabelSelector } from '@taintmgr/core';

/** `pool=blue,tier!=db`; '': it selects everything. */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
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
