import { boolean } from './kind.ts';

/** The feature gates of Kubernetes that matter here, and how they are written. */
export const featureGates = ['TaintTolerationComparisonOperators'] as const;

type Gate = (typeof featureGates)[number];

/** Which of them are on. */
export type FeatureGates = Readonly<Record<Gate, boolean>>;

/** How far each has come in Kubernetes 1.36. */
export const gateStages: Readonly<Record<Gate, 'ALPHA' | 'BETA'>> = {
  TaintTolerationComparisonOperators: 'ALPHA',
};

/** Reads entries such as `Name=true`; the entry that cannot be used, where there is one. */
export function readFeatureGates(entries: readonly string[]): FeatureGates | string {
  const chosen = { TaintTolerationComparisonOperators: false };
  for (const entry of entries) {
    const [name = '', value = ''] = entry.split('=', 2);
    const gate = featureGates.find((known) => known === name);
    const on = boolean.parse(value);
    if (gate === undefined || on === null) return entry;
    chosen[gate] = on;
  }
  return chosen;
}
