// Flags and feature gates of earlier kube-controller-managers and kubelets, and what replaces them.
import { SettingError } from './kind.ts';

/** The fate of a flag, and what does its work now. docs/history.md has a row for each. */
interface Removed {
  /** The version of Kubernetes that removed it; '': that does not matter, or it still has it. */
  readonly since: string;
  readonly instead: string;
}

const failingNodes =
  'failing nodes are tainted, and pods say how long they stay by tolerationSeconds (300 by default); ' +
  'for the mode before that: nodeLifecycle.enforcement: pods in --config, with --semantics=kube-controller-manager';
const own = 'kubelets see to it: it cannot be done from outside';
const logs = 'logs go to stderr; see --logging-format and -v';

/** By their names without dashes. */
export const removedFlags: Readonly<Record<string, Removed>> = {
  'pod-eviction-timeout': {
    since: '1.27',
    instead: `${failingNodes}, where it is nodeLifecycle.podEvictionTimeout`,
  },
  'enable-taint-manager': {
    since: '1.27',
    instead: '--controllers=*,-taint-eviction-controller is its false',
  },
  'deleting-pods-qps': { since: '', instead: '--node-eviction-rate, in nodes instead of pods' },
  'deleting-pods-burst': { since: '', instead: '--node-eviction-rate, whose burst is 1' },
  'register-retry-count': { since: '', instead: 'nothing: nodes register themselves' },
  'node-sync-period': { since: '', instead: '--node-monitor-period' },
  'insecure-experimental-approve-all-kubelet-csrs-for-group': {
    since: '',
    instead: 'nothing: certificates are not approved here',
  },
  master: { since: '', instead: '--server, or --kubeconfig' },
  address: { since: '1.24', instead: '--bind-address' },
  port: { since: '1.24', instead: '--secure-port' },
  'use-service-account-credentials': {
    since: '',
    instead: 'nothing: there is one account, whose rights are in deploy/',
  },
  logtostderr: { since: '1.26', instead: logs },
  alsologtostderr: { since: '1.26', instead: logs },
  'log-dir': { since: '1.26', instead: logs },
  'log-file': { since: '1.26', instead: logs },
  stderrthreshold: { since: '1.26', instead: logs },
  'low-diskspace-threshold-mb': { since: '', instead: '--eviction-hard=nodefs.available<...' },
  'outofdisk-transition-frequency': {
    since: '',
    instead: '--eviction-pressure-transition-period',
  },
  'kernel-memcg-notification': {
    since: '',
    instead: `--summary-period, as often as statistics are read; notifications of the kernel: ${own}`,
  },
  'experimental-kernel-memcg-notification': {
    since: '',
    instead: `--summary-period, as often as statistics are read; notifications of the kernel: ${own}`,
  },
  'experimental-allocatable-ignore-eviction': { since: '', instead: own },
  'maximum-dead-containers': { since: '', instead: own },
  'maximum-dead-containers-per-container': { since: '', instead: own },
  'minimum-container-ttl-duration': { since: '', instead: own },
  'image-gc-high-threshold': { since: '', instead: own },
  'image-gc-low-threshold': { since: '', instead: own },
  'housekeeping-interval': { since: '', instead: '--summary-period' },
};

const alwaysOn = 'it is always on';

/** Removed feature gates, with the present behavior. */
export const removedGates: Readonly<Record<string, string>> = {
  TaintBasedEvictions: `${alwaysOn} since 1.18: ${failingNodes}`,
  TaintNodesByCondition: `${alwaysOn} since 1.17`,
  NodeLease: `${alwaysOn} since 1.17`,
  NodeDisruptionExclusion: `${alwaysOn} since 1.21; see nodeLifecycle.zoneMembers in --config`,
  LegacyNodeRoleBehavior:
    'names of nodes say nothing since 1.21; see nodeLifecycle.zoneMembers in --config',
  PodDisruptionConditions: `${alwaysOn} since 1.26`,
  SeparateTaintEvictionController: 'each is a controller of its own; see --controllers',
  PodPriority: `${alwaysOn} since 1.14`,
  LocalStorageCapacityIsolation: `${alwaysOn} since 1.25`,
  ExperimentalCriticalPodAnnotation:
    'removed in 1.16: the priority class system-node-critical says it',
};

/** Throws SettingError for a flag that was removed; the caller reads all others. */
export function refuseRemovedFlags(argv: readonly string[]): void {
  for (const word of argv) {
    if (word === '--') return;
    const [, flag = ''] = /^--([^=]+)/.exec(word) ?? [];
    // kube-controller-manager takes underscores too.
    const name = flag.replaceAll('_', '-');
    const removed = Object.hasOwn(removedFlags, name) ? removedFlags[name] : undefined;
    if (!removed) continue;
    const since =
      removed.since === '' ? 'is no flag here' : `was removed in Kubernetes ${removed.since}`;
    throw SettingError.saying(`--${flag} ${since}; instead: ${removed.instead}`);
  }
}

/** The state of things now where a feature gate was removed; null: there was none of that name. */
export function removedGateText(entry: string): string | null {
  const [name = ''] = entry.split('=', 1);
  const text = Object.hasOwn(removedGates, name) ? removedGates[name] : undefined;
  return text === undefined ? null : `--feature-gates: ${name} was removed: ${text}`;
}
