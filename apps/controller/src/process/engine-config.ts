import type { Config } from '@taintmgr/core';
import type { LifecycleConfig } from '@taintmgr/core/lifecycle';
import { type ConditionRule, needsRecord } from '@taintmgr/core/policy';
import type { PressureConditionType } from '@taintmgr/core/pressure';
import { ownConditionType, ownTaintKey } from '@taintmgr/k8s-adapter';
import type { Checked } from '../flags/checks.ts';
import { limitsOf, taintRulesOf } from '../flags/policy-files.ts';
import type { Choices } from '../flags/resolve.ts';
import type { Settings } from '../flags/settings.ts';

/** Nothing that is accepted in a dry run is ever seen to happen, and once it was said is enough. */
const dryRunConfig = {
  keepTaintStarts: false,
  keepLimits: false,
  confirmationWaitMs: 24 * 3_600_000,
};

/** The settings of the user as the engine's configuration. */
export function engineConfig(
  { settings, policies, lifecycle, policyObjects, ownPod }: Choices,
  { featureGates, controllers, pressure }: Checked,
): Partial<Config> {
  return {
    ...policies,
    taintEviction: controllers.enabled.includes('taint-eviction-controller'),
    lifecycle: controllers.enabled.includes('node-lifecycle-controller')
      ? {
          ...lifecycle,
          ...lifecycleConfig(settings),
          ...(pressure && { conditionRules: pressureTaintRules(taintRulesOf(policyObjects)) }),
          // Once node pressure is switched off, no other controller removes its taints.
          retiredRules: pressureTaintRules([]),
        }
      : settings.takeover
        ? observing({ ...lifecycle, ...lifecycleConfig(settings) })
        : null,
    mode: settings.mode,
    deleteAfterMs: settings.deleteAfter === 'never' ? null : settings.deleteAfter,
    semantics: settings.semantics,
    takeover: settings.takeover,
    ...(controllers.enabled.includes('device-taint-eviction-controller') && {
      deviceTaints: true,
    }),
    ownPod,
    nodeDrains: carriesOutDrains(settings, controllers.enabled),
    keepLimits: followsCluster(settings) || needsRecord(limitsOf(policyObjects)),
    evictionsInFlightMax: settings.concurrentEvictions,
    comparisonOperators: featureGates.TaintTolerationComparisonOperators,
    ...(settings.dryRun !== 'none' && dryRunConfig),
  };
}

/** kube-controller-manager marks nodes after 40 s (50 s from 1.32 on); by then we have to hold. */
const observedGraceMsMax = 30_000;

/** With takeover, kube-controller-manager watches the nodes, and this process checks its judgment. */
function observing(config: Partial<LifecycleConfig>): Partial<LifecycleConfig> {
  const { nodeMonitorGracePeriodMs = observedGraceMsMax } = config;
  const grace = Math.min(nodeMonitorGracePeriodMs, observedGraceMsMax);
  return { ...config, nodeMonitorGracePeriodMs: grace, observes: true };
}

/** A dry run would never see a drain begin, and a drain does not evict for taints of the cluster. */
function carriesOutDrains(settings: Settings, enabled: readonly string[]): boolean {
  const isMeant = enabled.includes('node-drain-controller') && followsCluster(settings);
  return isMeant && settings.dryRun === 'none';
}

/** Tells whether policies of the cluster count; under kube-controller-manager's rules none does. */
export function followsCluster({ clusterPolicies, semantics }: Settings): boolean {
  return clusterPolicies && semantics !== 'upstream-1.36';
}

function lifecycleConfig(settings: Settings): Partial<LifecycleConfig> {
  return {
    nodeMonitorPeriodMs: settings.nodeMonitorPeriod,
    nodeMonitorGracePeriodMs: settings.nodeMonitorGracePeriod,
    nodeStartupGracePeriodMs: settings.nodeStartupGracePeriod,
    nodeEvictionRate: settings.nodeEvictionRate,
    secondaryNodeEvictionRate: settings.secondaryNodeEvictionRate,
    largeClusterSizeThreshold: settings.largeClusterSizeThreshold,
    unhealthyZoneThreshold: settings.unhealthyZoneThreshold,
  };
}

const types: readonly PressureConditionType[] = ['MemoryPressure', 'DiskPressure', 'PIDPressure'];

/**
 * The rules by which node-lifecycle-controller keeps new pods off nodes that node-pressure-controller
 * sees under pressure, as it does for what kubelets see. A rule of the user's own for the same
 * condition (`own`) takes the place of ours.
 */
export function pressureTaintRules(own: readonly ConditionRule[]): readonly ConditionRule[] {
  const missing = types.filter((type) => {
    return !own.some(({ condition }) => condition === ownConditionType(type));
  });
  return missing.map(ruleFor);
}

function ruleFor(type: PressureConditionType): ConditionRule {
  return {
    name: ownTaintKey(type),
    condition: ownConditionType(type),
    status: 'True',
    holdsMs: 0,
    clearMs: 0,
    taint: { key: ownTaintKey(type), value: '', effect: 'NoSchedule' },
    nodes: {},
    nodesMax: null,
    dryRun: false,
  };
}
