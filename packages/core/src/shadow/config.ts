// Limits and times of the shadow.
import { wholeNumber, withDefaults } from '../kernel/checks.ts';
import type { Millis } from '../kernel/time.ts';

/** Times and bounds of the comparison. */
export interface ShadowConfig {
  /** Two events that lie no further apart happened in the same instant: the API keeps whole seconds. */
  readonly sameMsMax: Millis;
  /**
   * Watches deliver taints and pods in any order: this long after a deletion everything is known
   * about it.
   */
  readonly settleMs: Millis;
  /** The time for which the other is waited for after one of the two has acted. */
  readonly followMs: Millis;
  /** Pods that are followed or remembered at once; beyond, the oldest is given up. */
  readonly podsMax: number;
  /** Taint keys, namespaces and policies that are counted by name, each; the rest is one row. */
  readonly namesMax: number;
  /** Verdicts that are kept one by one. */
  readonly recentMax: number;
}

const defaultShadowConfig: ShadowConfig = {
  sameMsMax: 2_000,
  settleMs: 5_000,
  followMs: 15 * 60_000,
  podsMax: 10_000,
  namesMax: 100,
  recentMax: 50,
};

/** Fills in the defaults. Throws RangeError naming the field, the value and what is allowed. */
export function resolveShadowConfig(options: Partial<ShadowConfig> = {}): ShadowConfig {
  const config = withDefaults(defaultShadowConfig, options);
  wholeNumber('sameMsMax', config.sameMsMax, 0);
  wholeNumber('settleMs', config.settleMs, 1);
  wholeNumber('followMs', config.followMs, config.settleMs);
  wholeNumber('podsMax', config.podsMax, 1);
  wholeNumber('namesMax', config.namesMax, 1);
  wholeNumber('recentMax', config.recentMax, 0);
  return config;
}
