// Limits and choices of node pressure with their defaults, and settings for pools of nodes.
import {
  noOthers,
  numberFrom,
  oneOf,
  trueOrFalse,
  wholeNumber,
  withDefaults,
} from '../kernel/checks.ts';
import type { Millis } from '../kernel/time.ts';
import type { LabelSelector } from '../model/selector.ts';
import type { OwnPod } from '../own-replicas.ts';
import type { PressureSemantics } from './rank.ts';
import { type PressureSettingsInput, resolvePressureSettings } from './settings/settings.ts';

/** Settings for the nodes that a selector selects. */
export interface PressurePool {
  /** Name of the pool, for reports. */
  readonly name: string;
  /** Selects the nodes. */
  readonly selector: LabelSelector;
  /** The settings of their kubelets. */
  readonly settings: PressureSettingsInput;
}

/** The limits and choices of the node pressure machine. Times are in milliseconds. */
export interface PressureConfig {
  /** The rules that decide: `precise` are those of taintmgr. */
  readonly semantics: PressureSemantics;
  /** The first pool that selects a node counts. */
  readonly pools: readonly PressurePool[];
  /** For nodes that no pool selects; null: they are left alone. */
  readonly settings: PressureSettingsInput | null;
  /**
   * The pod in which this runs, which is not evicted; null: unknown, or the process runs in none.
   */
  readonly ownPod: OwnPod | null;
  /** True when this replica acts from the start; false for one that waits to be elected. */
  readonly leader: boolean;
  /** A sample older than this is not believed, nor one that is this far in the future. */
  readonly sampleAgeMsMax: Millis;
  /** An evicted pod that is not gone after this time is no longer waited for. */
  readonly leavingWaitMsMax: Millis;
  /** Evictions sent and not yet answered, at most. */
  readonly evictionsInFlightMax: number;
  /** Evictions that begin in a second in all nodes together, at most; null: no limit. */
  readonly evictionsPerSecond: number | null;
  /** Wait after the first failed attempt on a node; it doubles with each further one. */
  readonly retryWaitMsMin: Millis;
  /** The longest wait after failed attempts on a node. */
  readonly retryWaitMsMax: Millis;
  /** The time for which a pod whose eviction was refused is passed over, where no time is named. */
  readonly blockedRetryWaitMs: Millis;
}

/** The configuration of a machine without options. */
export const defaultPressureConfig: PressureConfig = {
  semantics: 'precise',
  pools: [],
  settings: {},
  ownPod: null,
  leader: true,
  sampleAgeMsMax: 60_000,
  leavingWaitMsMax: 30_000,
  evictionsInFlightMax: 50,
  evictionsPerSecond: 1,
  retryWaitMsMin: 1_000,
  retryWaitMsMax: 60_000,
  blockedRetryWaitMs: 30_000,
};

/** Fills in the defaults. Throws RangeError naming the field, the value and what is allowed. */
export function resolvePressureConfig(options: Partial<PressureConfig>): PressureConfig {
  noOthers('pressure.', options, defaultPressureConfig);
  const config = withDefaults(defaultPressureConfig, options);
  trueOrFalse('pressure.', config, defaultPressureConfig);
  oneOf('pressure.semantics', config.semantics, ['precise', 'kubelet-1.36', 'kubelet-1.6']);
  wholeNumber('pressure.sampleAgeMsMax', config.sampleAgeMsMax, 1);
  wholeNumber('pressure.leavingWaitMsMax', config.leavingWaitMsMax, 0);
  wholeNumber('pressure.evictionsInFlightMax', config.evictionsInFlightMax, 1);
  if (config.evictionsPerSecond !== null) {
    numberFrom('pressure.evictionsPerSecond', config.evictionsPerSecond, 0.001);
  }
  wholeNumber('pressure.retryWaitMsMin', config.retryWaitMsMin, 1);
  wholeNumber('pressure.retryWaitMsMax', config.retryWaitMsMax, config.retryWaitMsMin);
  wholeNumber('pressure.blockedRetryWaitMs', config.blockedRetryWaitMs, 1);
  if (config.settings) checkSettings('pressure.settings', config.settings);
  for (const { name, settings } of config.pools) {
    checkSettings(`pressure.pools[${JSON.stringify(name)}]`, settings);
  }
  return config;
}

/** Refuses settings in the kubelet's words, and says where they stand. */
function checkSettings(path: string, settings: PressureSettingsInput): void {
  try {
    resolvePressureSettings(settings);
  } catch (error) {
    if (error instanceof RangeError) throw new RangeError(`config.${path}: ${error.message}`);
    throw error;
  }
}
