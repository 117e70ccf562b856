// The settings with which kube-controller-manager is played, by the names of its flags.
import { defaultLifecycleConfig as defaults, type LifecycleConfig } from '@taintmgr/core/lifecycle';
import { formatDuration } from '@taintmgr/core/time';
import type { Field } from '@taintmgr/k8s-adapter/manifests';

/** The settings that a simulation plays. */
export type ManagerSettings = Pick<LifecycleConfig, (typeof flags)[number]['field']>;

const flags = [
  { flag: 'node-monitor-period', field: 'nodeMonitorPeriodMs', unit: 'time' },
  { flag: 'node-monitor-grace-period', field: 'nodeMonitorGracePeriodMs', unit: 'time' },
  { flag: 'node-startup-grace-period', field: 'nodeStartupGracePeriodMs', unit: 'time' },
  { flag: 'node-eviction-rate', field: 'nodeEvictionRate', unit: 'number' },
  { flag: 'secondary-node-eviction-rate', field: 'secondaryNodeEvictionRate', unit: 'number' },
  { flag: 'unhealthy-zone-threshold', field: 'unhealthyZoneThreshold', unit: 'number' },
  { flag: 'large-cluster-size-threshold', field: 'largeClusterSizeThreshold', unit: 'number' },
] as const;

/** Until 1.31 a node might be silent for 40 s; since 1.32 for 50 s. */
const longerGraceSince = 32;
const shorterGraceMs = 40_000;

/** The defaults of a version 1.MINOR; null: the latest. */
export function managerDefaults(minor: number | null): ManagerSettings {
  const { nodeMonitorPeriodMs, nodeMonitorGracePeriodMs, nodeStartupGracePeriodMs } = defaults;
  const { nodeEvictionRate, secondaryNodeEvictionRate } = defaults;
  const { unhealthyZoneThreshold, largeClusterSizeThreshold } = defaults;
  const isEarly = minor !== null && minor < longerGraceSince;
  return {
    ...{ nodeMonitorPeriodMs, nodeStartupGracePeriodMs },
    nodeMonitorGracePeriodMs: isEarly ? shorterGraceMs : nodeMonitorGracePeriodMs,
    ...{ nodeEvictionRate, secondaryNodeEvictionRate },
    ...{ unhealthyZoneThreshold, largeClusterSizeThreshold },
  };
}

/** Reads flags and their values, as `node-monitor-grace-period: 40s`. Throws FileFault. */
export function readManagerFlags(field: Field): Partial<ManagerSettings> {
  const members = field.members(flags.map(({ flag }) => flag));
  const entries = flags.flatMap(({ flag, field: name, unit }) => {
    const given = members.get(flag);
    if (!given) return [];
    return [[name, unit === 'time' ? given.duration() : numberOf(given)] as const];
  });
  return Object.fromEntries(entries);
}

function numberOf(field: Field): number {
  const { value } = field;
  if (typeof value === 'number' && value >= 0) return value;
  throw field.fault(`want a number from 0 on, got ${JSON.stringify(value)}`);
}

/** `--node-monitor-period=5s --node-monitor-grace-period=50s ...` */
export function managerFlagsText(settings: ManagerSettings): string {
  return flags
    .map(({ flag, field, unit }) => {
      const value = settings[field];
      return `--${flag}=${unit === 'time' ? formatDuration(value) : value}`;
    })
    .join(' ');
}
