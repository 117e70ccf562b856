// Checks of settings that depend on one another.
import { type AllPodsNeed, allPodsNeeds } from '@taintmgr/core';
import type { PressureConfig } from '@taintmgr/core/pressure';
import { formatDuration } from '@taintmgr/core/time';
import { type ChosenControllers, chooseControllers, controllerNames } from './controllers.ts';
import { type FeatureGates, readFeatureGates } from './feature-gates.ts';
import { SettingError } from './kind.ts';
import { limitsOf } from './policy-files.ts';
import { checkThresholds, pressureConfig } from './pressure/config.ts';
import { removedGateText } from './removed.ts';
import type { Choices } from './resolve.ts';
import { type Setting, type Settings, settings, variableOf } from './settings.ts';

/** The sum of all settings. */
export interface Checked {
  readonly controllers: ChosenControllers;
  readonly featureGates: FeatureGates;
  /** Null: node-pressure-controller does not run. */
  readonly pressure: Partial<PressureConfig> | null;
  /** `auto` only where nothing needs all pods. */
  readonly podWatch: Settings['podWatch'];
}

/** The jitter of client-go's retries. */
const jitter = 1.2;

/** Checks what one setting alone cannot say. Throws SettingError. */
export function checkChoices(choices: Choices): Checked {
  const { settings: chosen, connection, pressurePools, ownPod } = choices;
  const refuse = refuser(choices);
  checkLeaderElection(chosen, refuse);
  if (chosen.tlsCertFile !== '' && chosen.tlsPrivateKeyFile === '') {
    refuse('tlsPrivateKeyFile', 'the key of --tls-cert-file');
  }
  if (chosen.tlsPrivateKeyFile !== '' && chosen.tlsCertFile === '') {
    refuse('tlsCertFile', 'the certificate of --tls-private-key-file');
  }
  if (chosen.simulate && Object.keys(connection).length > 0) {
    refuse('simulate', 'no connection flag with it: it starts a cluster of its own');
  }
  const controllers = chooseControllers(chosen.controllers);
  if (typeof controllers === 'string') {
    return refuse('controllers', `${JSON.stringify(controllers)} left out: ${known}`);
  }
  if (controllers.enabled.length === 0) refuse('controllers', `one that runs: ${known}`);
  const featureGates = readFeatureGates(chosen.featureGates);
  if (typeof featureGates === 'string') {
    const removed = removedGateText(featureGates);
    if (removed !== null) throw SettingError.saying(removed);
    return refuse('featureGates', 'NAME=true or NAME=false');
  }
  const fault = takeoverFault(chosen, controllers);
  if (fault) refuse(fault.name, fault.want);
  const unmet = deviceFault(chosen, controllers);
  if (unmet) refuse(unmet.name, unmet.want);
  checkEnforcement(choices);
  checkTaintRules(choices, controllers);
  checkThresholds(chosen, pressurePools, (name) => placeOf(choices, name));
  const pressure = controllers.enabled.includes('node-pressure-controller')
    ? { ...pressureConfig(chosen, pressurePools), ownPod }
    : null;
  return {
    controllers,
    featureGates,
    pressure,
    podWatch: podWatchFor(choices, controllers, refuse),
  };
}

/** Only the semantics of kube-controller-manager have the mode that decides by the pods. */
function checkEnforcement({ settings: { config, semantics }, lifecycle }: Choices): void {
  if (lifecycle.enforcement !== 'pods' || semantics === 'upstream-1.36') return;
  const where = `--config ${config}: nodeLifecycle.enforcement`;
  throw new SettingError(where, 'pods', 'taints, or --semantics=kube-controller-manager beside it');
}

/** A rule that no controller acts on only looks active. */
function checkTaintRules({ policyObjects }: Choices, { enabled }: ChosenControllers): void {
  if (enabled.includes('node-lifecycle-controller')) return;
  const rule = policyObjects.find(({ kind }) => kind === 'NodeTaintRule');
  if (!rule) return;
  const want = 'node-lifecycle-controller among --controllers, which acts on it';
  throw new SettingError('--policy', `NodeTaintRule ${rule.value.name}`, want);
}

/** The parts of a configuration that need all pods, with their names. */
const needTexts: Readonly<Record<AllPodsNeed, string>> = {
  semantics: '--semantics=kube-controller-manager',
  compare: 'a comparison with upstream',
  limits: 'a limit with percent or pods',
  takeover: '--takeover',
  deviceTaints: '--controllers=device-taint-eviction-controller',
};

/** Limits are in policies alone. */
function podWatchFor(
  choices: Choices,
  { enabled }: ChosenControllers,
  refuse: Refuse,
): Settings['podWatch'] {
  const { settings, policyObjects } = choices;
  const { podWatch, semantics, takeover, dryRun } = settings;
  const limits = limitsOf(policyObjects);
  const deviceTaints = enabled.includes(deviceController);
  const [need] = allPodsNeeds({ limits, semantics, takeover, deviceTaints });
  // The shadow must have seen a pod before another program evicts it, which may happen as soon as the node is
  // tainted.
  if (need === undefined) return dryRun !== 'none' && podWatch === 'auto' ? 'all' : podWatch;
  if (podWatch === 'tainted-nodes') {
    refuse('podWatch', `all or auto beside ${needTexts[need]}, which needs to know all pods`);
  }
  return 'all';
}

const known = `the known controllers are ${controllerNames.join(', ')}`;

function checkLeaderElection(chosen: Settings, refuse: Refuse): void {
  if (!chosen.leaderElect) return;
  const { leaseDuration, renewDeadline, retryPeriod } = chosen;
  // The API keeps whole seconds.
  if (leaseDuration % 1000 !== 0) refuse('leaseDuration', 'whole seconds, such as 15s');
  if (renewDeadline >= leaseDuration) {
    refuse('renewDeadline', `less than the lease duration of ${formatDuration(leaseDuration)}`);
  }
  if (retryPeriod * jitter >= renewDeadline) {
    refuse('retryPeriod', `${jitter} times it below the ${formatDuration(renewDeadline)} to renew`);
  }
}

type Refuse = (name: keyof Settings, want: string) => never;

/** Names the setting where the user has chosen it. */
function refuser(choices: Choices): Refuse {
  return (name, want) => {
    const setting: Setting<unknown> = settings[name];
    const got = setting.kind.format(choices.settings[name]);
    throw new SettingError(placeOf(choices, name), got, want);
  };
}

/** Where the user has chosen a setting: a variable, a field of the file, or else its flag. */
export function placeOf({ settings: { config }, origins }: Choices, name: keyof Settings): string {
  const { flag, field }: Setting<unknown> = settings[name];
  switch (origins[name]) {
    case 'environment':
      return variableOf(flag);
    case 'file':
      return `--config ${config}: ${field}`;
    default:
      return `--${flag}`;
  }
}

type Need = readonly [
  name: keyof Settings,
  isMet: (settings: Settings, controllers: ChosenControllers) => boolean,
  want: string,
];

const needs: readonly Need[] = [
  ['dryRun', ({ dryRun }) => dryRun === 'none', 'none beside --takeover, which refuses evictions'],
  ['leaderElect', ({ leaderElect }) => leaderElect, 'true beside --takeover: one replica decides'],
  [
    'publishStatus',
    ({ publishStatus }) => publishStatus,
    'true with --takeover: the admission policies read its heartbeat',
  ],
  [
    'clusterPolicies',
    ({ clusterPolicies }) => clusterPolicies,
    'true beside --takeover, which reads the labels of namespaces',
  ],
  [
    'semantics',
    ({ semantics }) => semantics === 'precise',
    'taintmgr beside --takeover: kube-controller-manager follows its own rules itself',
  ],
  [
    'controllers',
    (_, { enabled }) => enabled.includes('taint-eviction-controller'),
    'taint-eviction-controller among them beside --takeover',
  ],
  [
    'controllers',
    (_, { enabled }) => !enabled.includes('node-lifecycle-controller'),
    'beside --takeover none that kube-controller-manager runs: *,-node-lifecycle-controller',
  ],
];

const deviceController = 'device-taint-eviction-controller';

/** It belongs to the machine that evicts for taints of nodes, and has separate rules. */
const deviceNeeds: readonly Need[] = [
  [
    'controllers',
    (_, { enabled }) => enabled.includes('taint-eviction-controller'),
    `taint-eviction-controller among them beside ${deviceController}`,
  ],
  [
    'semantics',
    ({ semantics }) => semantics === 'precise',
    `taintmgr beside --controllers=${deviceController}`,
  ],
];

type Fault = { readonly name: keyof Settings; readonly want: string } | null;

/** The setting that is missing for taints of devices; null: nothing. */
function deviceFault(settings: Settings, controllers: ChosenControllers): Fault {
  if (!controllers.enabled.includes(deviceController)) return null;
  const [unmet] = deviceNeeds.filter(([, isMet]) => !isMet(settings, controllers));
  return unmet ? { name: unmet[0], want: unmet[2] } : null;
}

/** The missing setting for --takeover, with the wanted value; null: none. */
function takeoverFault(settings: Settings, controllers: ChosenControllers): Fault {
  if (!settings.takeover) return null;
  const [unmet] = needs.filter(([, isMet]) => !isMet(settings, controllers));
  return unmet ? { name: unmet[0], want: unmet[2] } : null;
}
