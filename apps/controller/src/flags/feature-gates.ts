import { boolean } from './kind.ts';

/** The gates of Kubernetes that matter here. */
const gates = ['TaintTolerationComparisonOperators'] as const;

export type FeatureGates = Readonly<Record<(typeof gates)[number], boolean>>;

/** Reads entries such as `Name=true`; the entry that cannot be used, where there is one. */
export function readFeatureGates(entries: readonly string[]): FeatureGates | string {
  const chosen = { TaintTolerationComparisonOperators: false };
  for (const entry of entries) {
    const [name = '', value = ''] = entry.split('=', 2);
    const gate = gates.find((known) => known === name);
    const on = boolean.parse(value);
    if (gate === undefined || on === null) return entry;
    chosen[gate] = on;
  }
  return chosen;
}
