import { boolean } from './kind.ts';
import { removedGateText } from './removed.ts';

/** The feature gates of Kubernetes that matter here, and how they are written. */
export const featureGates = ['TaintTolerationComparisonOperators'] as const;

type Gate = (typeof featureGates)[number];

/** True for those that are on. */
export type FeatureGates = Readonly<Record<Gate, boolean>>;

/** The stage of each gate in Kubernetes 1.36. */
export const gateStages: Readonly<Record<Gate, 'ALPHA' | 'BETA'>> = {
  TaintTolerationComparisonOperators: 'ALPHA',
};

/**
 * Reads entries such as `Name=true`; the entry that cannot be used, where there is one. Gates of
 * other programs, as a start line of kube-controller-manager has them, change nothing here.
 */
export function readFeatureGates(entries: readonly string[]): FeatureGates | string {
  const chosen = { TaintTolerationComparisonOperators: false };
  for (const entry of entries) {
    const [, name = '', value = ''] = /^(?:\w+:)?(\w+)=(.*)$/.exec(entry) ?? [];
    const gate = featureGates.find((known) => known === name);
    const on = boolean.parse(value);
    if (on === null || removedGateText(entry) !== null) return entry;
    if (gate !== undefined) chosen[gate] = on;
  }
  return chosen;
}

/** The gates among these entries that are none of ours. */
export function foreignGates(entries: readonly string[]): readonly string[] {
  const names = entries.map((entry) => entry.replace(/^\w+:/, '').replace(/=.*$/, ''));
  const ours: readonly string[] = featureGates;
  return names.filter((name) => !ours.includes(name));
}
