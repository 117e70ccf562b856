// What only a drain by the plugin itself can do.
import { UsageError } from '../../../usage-error.ts';
import { flagText } from '../flag-fields.ts';
import type { DrainFlags } from '../flags.ts';

/** Flags that only a drain by this command has, and what to do instead. */
const localFlags = [
  ['podSelector', 'an EvictionPolicy with action Keep leaves pods where they are'],
  ['once', '--timeout limits how long a node may take'],
  ['ignorePolicies', 'a NodeDrain goes by the policies of the cluster'],
  ['policy', 'a NodeDrain goes by the policies of the cluster'],
] as const satisfies readonly (readonly [flag: keyof DrainFlags, instead: string])[];

/** Throws UsageError for a flag that a NodeDrain has no field for. */
export function refuseLocalFlags(flags: DrainFlags): void {
  for (const [flag, instead] of localFlags) {
    const value = flags[flag];
    const isGiven = Array.isArray(value) ? value.length > 0 : value !== undefined;
    if (!isGiven) continue;
    throw new UsageError(`${flagText(flag)} and --server-side exclude each other: ${instead}`);
  }
}
