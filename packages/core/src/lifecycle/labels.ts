// Deprecated labels of nodes that repeat the stable ones.
import type { Labels } from '../model/selector.ts';

/** The beta label repeats the stable one. */
const pairs = [
  ['kubernetes.io/os', 'beta.kubernetes.io/os'],
  ['kubernetes.io/arch', 'beta.kubernetes.io/arch'],
] as const;

/** The labels a node lacks or has wrong; null when all are right. */
export function missingLabels(labels: Labels): Labels | null {
  const missing = pairs.flatMap(([stable, beta]) => {
    const value = labels[stable];
    return value === undefined || labels[beta] === value ? [] : [[beta, value]];
  });
  return missing.length === 0 ? null : Object.fromEntries(missing);
}
