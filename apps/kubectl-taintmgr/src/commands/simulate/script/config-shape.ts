import type { Config, LabelSelector } from '@taintmgr/core';
import type { Flapping, LifecycleConfig, MassUnreachable } from '@taintmgr/core/lifecycle';
import type { Policy } from '@taintmgr/core/policy';
import type { PressureConfig, PressurePool, PressureSettingsInput } from '@taintmgr/core/pressure';
import type { Field } from '@taintmgr/k8s-adapter/manifests';

// Which members the configurations in a script may have, and of what kind. Numbers and words it
// checks itself.

/** Throws FileFault for a value of another kind. */
type Check = (field: Field) => unknown;

/** What is said by manifests instead. */
type SaidByManifests = 'limits' | 'conditionRules' | 'retiredRules';

/** The members of an object; the compiler sees to it that none is forgotten. */
type Members<T> = { readonly [Name in keyof Required<T>]: Check };

const where = 'under policies of the script, or in a file of --policy';

/** Fields of earlier versions, and what is written instead now. */
const renamed: ReadonlyMap<string, string> = new Map([
  ['settleMs', 'minTaintAgeMs'],
  ['massSilence', 'massUnreachable'],
  ['deadZone', 'fullDisruption'],
  [
    'policies',
    `an EvictionPolicy ${where}: key, value and effect are in spec.match.taints, mode is ` +
      'spec.action (Delete, Evict, EvictThenDelete), the others are in spec',
  ],
  [
    'limits',
    `an EvictionPolicy ${where}: they are its spec.limits, with per Zone for zone, ` +
      'window for windowMs, onLimit Queue or Trip, and nodeSelector for nodes',
  ],
  [
    'conditionRules',
    `a NodeTaintRule ${where}: condition is spec.condition.type, status spec.condition.status, ` +
      'holdsMs and clearMs spec.holds and spec.clear, nodes spec.nodeSelector, nodesMax spec.maxNodes',
  ],
]);

const checked: Check = () => undefined;
const text: Check = (field) => field.text();
const truth: Check = (field) => field.truth();

function listOf(item: Check): Check {
  return (field) => {
    for (const each of field.items()) item(each);
  };
}

/** An object with members of any names. */
function tableOf(value: Check): Check {
  return (field) => {
    for (const each of field.entries().values()) value(each);
  };
}

function objectOf<T>(members: Members<T>, required: readonly (keyof T)[] = []): Check {
  const checks = new Map<string, Check>(Object.entries(members));
  return (field) => {
    const given = field.members([...checks.keys()], renamed);
    const missing = required.find((name) => !given.has(String(name)));
    if (missing !== undefined) throw field.fault(`${String(missing)} is missing`);
    for (const [name, each] of given) checks.get(name)?.(each);
  };
}

function orNull(check: Check): Check {
  return (field) => (field.value === null ? undefined : check(field));
}

const policy: Members<Policy> = {
  mode: checked,
  deleteAfterMs: checked,
  gracePeriodSeconds: checked,
  minTaintAgeMs: checked,
};

const selector = objectOf<LabelSelector>({
  matchLabels: tableOf(text),
  matchExpressions: listOf(
    objectOf({ key: text, operator: text, values: listOf(text) }, ['key', 'operator']),
  ),
});

const lifecycle = objectOf<Omit<LifecycleConfig, SaidByManifests>>({
  enforcement: checked,
  podEvictionTimeoutMs: checked,
  nodeMonitorPeriodMs: checked,
  nodeMonitorGracePeriodMs: checked,
  nodeStartupGracePeriodMs: checked,
  nodeEvictionRate: checked,
  secondaryNodeEvictionRate: checked,
  largeClusterSizeThreshold: checked,
  unhealthyZoneThreshold: checked,
  zoneMembers: selector,
  fullDisruption: checked,
  podReadiness: checked,
  massUnreachable: orNull(
    objectOf<MassUnreachable>({
      share: checked,
      nodesMin: checked,
      withinMs: checked,
      holdMs: checked,
    }),
  ),
  healthyMs: checked,
  flapping: orNull(objectOf<Flapping>({ times: checked, withinMs: checked, healthyMs: checked })),
  writesInFlightMax: checked,
  observes: truth,
});

const ownPod = orNull(objectOf<NonNullable<Config['ownPod']>>({ namespace: text, name: text }));

/** The options of the engine. */
export const engineShape: Check = objectOf<Omit<Config, SaidByManifests | 'drainProgram'>>({
  ...policy,
  semantics: checked,
  taintEviction: truth,
  lifecycle: orNull(lifecycle),
  leave: objectOf<Config['leave']>({
    finishedPods: truth,
    returningDaemonSetPods: truth,
    optedOutPods: truth,
  }),
  keepLimits: truth,
  compare: truth,
  nodeDrains: truth,
  ownPod,
  keepTaintStarts: truth,
  heedNodeDeadlines: truth,
  takeover: truth,
  leader: truth,
  comparisonOperators: truth,
  evictionsInFlightMax: checked,
  retryWaitMsMin: checked,
  retryWaitMsMax: checked,
  blockedRetryWaitMs: checked,
  interceptedRetryWaitMs: checked,
  confirmationWaitMs: checked,
});

const settings = objectOf<PressureSettingsInput>({
  evictionHard: tableOf(text),
  evictionSoft: tableOf(text),
  evictionSoftGracePeriod: tableOf(text),
  evictionMinimumReclaim: tableOf(text),
  evictionPressureTransitionPeriod: text,
  evictionMaxPodGracePeriod: checked,
  mergeDefaultEvictionSettings: truth,
  localStorageCapacityIsolation: truth,
  enforceNodeAllocatable: listOf(text),
  filesystemLayout: checked,
  nodeReclaim: truth,
});

/** The options of the node pressure agent. */
export const pressureShape: Check = objectOf<PressureConfig>({
  semantics: checked,
  pools: listOf(
    objectOf<PressurePool>({ name: text, selector, settings }, ['name', 'selector', 'settings']),
  ),
  settings: orNull(settings),
  ownPod,
  leader: truth,
  sampleAgeMsMax: checked,
  leavingWaitMsMax: checked,
  evictionsInFlightMax: checked,
  evictionsPerSecond: checked,
  retryWaitMsMin: checked,
  retryWaitMsMax: checked,
  blockedRetryWaitMs: checked,
});
