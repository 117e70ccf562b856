/** True when the labels are such as the selector asks for. */
export function selects(selector: LabelSelector, labels: Labels): boolean {
  const { matchLabels, matchExpressions } = selector;
  // Asked for each pod and each policy: a list of keys would be garbage.
  for (const key in matchLabels) {
    if (labelOf(labels, key) !== matchLabels[key]) return false;
  }
  return !matchExpressions?.some((expression) => !holds(expression, labels));
}

/** True when it asks for anything at all. */
export function isEmptySelector({
  matchLabels = {},
  matchExpressions = [],
}: LabelSelector): boolean {
  return Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;
}

function holds({ key, operator, values = [] }: LabelExpression, labels: Labels): boolean {
  const value = labelOf(labels, key);
  switch (operator) {
    case 'In':
      return value !== null && values.includes(value);
    case 'NotIn':
      return value === null || !values.includes(value);
    case 'Exists':
      return value !== null;
    case 'DoesNotExist':
      return value === null;
  }
}

function labelOf(labels: Labels, key: string): string | null {
  return Object.hasOwn(labels, key) ? (labels[key] ?? null) : null;
}

export type Labels = Readonly<Record<string, string>>;

/** metav1.LabelSelector: everything in it must hold; an empty one selects everything. */
export interface LabelSelector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly LabelExpression[];
}

export interface LabelExpression {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  /** For In and NotIn. */
  readonly values?: readonly string[];
}
