// The settings with which kube-controller-manager is played, by the names of its flags.
import { defaultLifecycleConfig as defaults, type LifecycleConfig } from '@taintmgr/core/lifecycle';
import { formatDuration } from '@taintmgr/core/time';
import type { Field } from '@taintmgr/k8s-adapter/manifests';
import { managerGraceMs } from '@taintmgr/k8s-adapter/survey';

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

/** The defaults of a version 1.MINOR; null: the latest. */
export function managerDefaults(minor: number | null): ManagerSettings {
  const { nodeMonitorPeriodMs, nodeStartupGracePeriodMs } = defaults;
  const { nodeEvictionRate, secondaryNodeEvictionRate } = defaults;
  const { unhealthyZoneThreshold, largeClusterSizeThreshold } = defaults;
  return {
    ...{ nodeMonitorPeriodMs, nodeStartupGracePeriodMs },
    nodeMonitorGracePeriodMs: managerGraceMs(minor),
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
