import type { Config } from '@taintmgr/core';
import type { Checked } from './flags/checks.ts';
import type { Choices } from './flags/resolve.ts';

/** Nothing that is accepted in a dry run is ever seen to happen, and once it was said is enough. */
const dryRunConfig = { keepTaintStarts: false, confirmationWaitMs: 24 * 3_600_000 };

/** The engine's configuration for what the user has chosen. */
export function engineConfig(
  { settings, policies }: Choices,
  { featureGates }: Checked,
): Partial<Config> {
  return {
    ...policies,
    mode: settings.mode,
    semantics: settings.semantics,
    evictionsInFlightMax: settings.concurrentEvictions,
    comparisonOperators: featureGates.TaintTolerationComparisonOperators,
    ...(settings.dryRun && dryRunConfig),
  };
}
