import type { Config } from '@taintmgr/core';
import type { Checked } from './flags/checks.ts';
import type { Choices } from './flags/resolve.ts';

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
  };
}
