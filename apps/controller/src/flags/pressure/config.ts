// The settings of node-pressure-controller as the machine's configuration.
import { type LabelSelector, selects } from '@taintmgr/core';
import {
  type PressureConfig,
  type PressureNode,
  type PressurePool,
  type PressureSettingsInput,
  resolvePressureConfig,
} from '@taintmgr/core/pressure';
import type { ConfigFile } from '../config-file.ts';
import { SettingError } from '../kind.ts';
import type { Settings } from '../settings.ts';

/** A pool as the schema describes it. */
interface PoolFields extends PressureSettingsInput {
  readonly name: string;
  readonly selector: LabelSelector;
}

/** The settings that only the configuration file has: thresholds of their own for the nodes of pools. */
export function pressurePools(file: ConfigFile): readonly PressurePool[] {
  const { pools = [] }: { readonly pools?: readonly PoolFields[] } = file.nodePressure ?? {};
  return pools.map(({ name, selector, ...settings }) => ({
    name,
    selector,
    settings: { evictionHard: {}, ...settings },
  }));
}

/** Nothing that is accepted in a dry run is ever seen to happen, and once it was said is enough. */
const dryRunConfig = { leavingWaitMsMax: 24 * 3_600_000 };

/**
 * The configuration of the machine for what the user has chosen, once it is checked. Throws
 * SettingError where there are no thresholds at all.
 */
export function pressureConfig(
  settings: Settings,
  pools: readonly PressurePool[],
): Partial<PressureConfig> {
  const hasThresholds = [settings.evictionHard, settings.evictionSoft].some(
    (thresholds) => Object.keys(thresholds).length > 0,
  );
  if (!hasThresholds && pools.length === 0) {
    const want = 'thresholds: node-pressure-controller has none of its own';
    throw new SettingError('--eviction-hard and --eviction-soft', '', want);
  }
  return {
    semantics: settings.nodePressureSemantics,
    settings: hasThresholds ? settingsOf(settings) : null,
    pools,
    evictionsPerSecond: settings.nodePressureEvictionRate,
    // A dry run elects no leader.
    leader: !settings.leaderElect || settings.dryRun !== 'none',
    ...(settings.dryRun !== 'none' && dryRunConfig),
  };
}

/** The place where the user has chosen a setting. */
type PlaceOf = (name: keyof Settings) => string;

/** In this order the last addition causes the fault: a soft threshold needs its grace period. */
const thresholdSettings = [
  'evictionHard',
  'evictionMinimumReclaim',
  'evictionSoftGracePeriod',
  'evictionSoft',
] as const;

/** Throws SettingError, in a kubelet's words, for thresholds that are none. */
export function checkThresholds(
  settings: Settings,
  pools: readonly PressurePool[],
  placeOf: PlaceOf,
): void {
  let chosen: PressureSettingsInput = {};
  for (const name of thresholdSettings) {
    chosen = { ...chosen, [name]: settings[name] };
    check({ settings: chosen }, placeOf(name));
  }
  check({ settings: null, pools }, `--config ${settings.config}: nodePressure.pools`);
}

/** Tells whether any thresholds hold for a node. */
export function watchesNode({
  settings = null,
  pools = [],
}: Partial<PressureConfig>): (node: PressureNode) => boolean {
  return ({ labels }) =>
    settings !== null || pools.some(({ selector }) => selects(selector, labels));
}

function settingsOf(settings: Settings): PressureSettingsInput {
  return {
    evictionHard: settings.evictionHard,
    evictionSoft: settings.evictionSoft,
    evictionSoftGracePeriod: settings.evictionSoftGracePeriod,
    evictionMinimumReclaim: settings.evictionMinimumReclaim,
    evictionPressureTransitionPeriod: `${settings.evictionPressureTransitionPeriod}ms`,
    evictionMaxPodGracePeriod: settings.evictionMaxPodGracePeriod,
  };
}

function check(config: Partial<PressureConfig>, where: string): void {
  try {
    resolvePressureConfig(config);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new SettingError(where, error.message, 'thresholds as a kubelet takes them');
  }
}
