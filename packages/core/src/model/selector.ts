/**
 * True when the labels match the selector, as metav1.LabelSelectorAsSelector of k8s.io/apimachinery
 * decides.
 */
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

/** metadata.labels: values by their keys. */
export type Labels = Readonly<Record<string, string>>;

/** metav1.LabelSelector: everything in it must hold; an empty one selects everything. */
export interface LabelSelector {
  /** Labels that must be present with these values. */
  readonly matchLabels?: Labels;
  /** Further conditions on labels. */
  readonly matchExpressions?: readonly LabelExpression[];
}

/** metav1.LabelSelectorRequirement: a condition on the value of one label. */
export interface LabelExpression {
  /** Key of the label. */
  readonly key: string;
  /** Relation of the label to the values. */
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  /** For In and NotIn. */
  readonly values?: readonly string[];
}
