// Decides which pods a drain takes and when: by kubectl drain's filters (DaemonSets, emptyDir, pods without a
// controller), and with the functions that decide in the eviction engine.
import { defaultEvictionConfig } from '../eviction/config.ts';
import { type Concern, type DecideOptions, type Decision, decide } from '../eviction/decide.ts';
import { Decider } from '../eviction/decider.ts';
import { Pauses } from '../eviction/pauses.ts';
import type { Reason } from '../eviction/reason.ts';
import { type ObservedTaint, TaintClock } from '../eviction/taint-clock.ts';
import type { ClusterTime, Instant, Millis } from '../kernel/time.ts';
import { withTolerations } from '../model/kept-pod.ts';
import type { Node } from '../model/node.ts';
import type { Pod } from '../model/pod.ts';
import { selects } from '../model/selector.ts';
import { isEqualTaint, type Taint } from '../model/taint.ts';
import { decidingToleration } from '../model/toleration.ts';
import type { Governance } from '../policy/eviction-policy.ts';
import {
  type DrainConfig,
  drainTaint,
  type NodeDrainSpec,
  type WaitCompleted,
} from '../policy/node-drain.ts';
import type { Change, NodeChange, StoreView } from '../store.ts';
import type { DrainFault } from './state.ts';

/** The fate of one pod in a drain. */
export type Fate =
  /** At once, or when its time is over. */
  | { readonly kind: 'evict'; readonly at: Instant }
  /** The pod stays on the node. */
  | { readonly kind: 'keep' }
  /** A pause holds it; it goes when that is over. */
  | { readonly kind: 'hold' }
  | { readonly kind: 'refuse'; readonly faults: readonly DrainFault[] }
  /** We leave it. `goesAnyway`: the DaemonSet controller deletes it as soon as the taint is there. */
  | {
      readonly kind: 'leave';
      readonly faults: readonly DrainFault[];
      readonly goesAnyway: boolean;
    }
  /** The pod terminates already, and is waited for. */
  | { readonly kind: 'leaving' }
  /** The pod has terminated for too long to be waited for. */
  | { readonly kind: 'skip' };

/** The fate of a pod at `now`, and why it goes or stays. */
export function fateOf(
  now: Instant,
  pod: Pod,
  decider: DrainDecider,
  config: DrainConfig,
): { readonly fate: Fate; readonly because: readonly Reason[] } {
  const decision = decider.decide(now, pod);
  const { because } = decision;
  if (pod.deletionTimestamp !== null) {
    const at = skipAt(pod, config.spec.timeouts, decider.store.clock);
    return { fate: { kind: at !== null && now >= at ? 'skip' : 'leaving' }, because };
  }
  const isStaying = decision.kind === 'keep' || hasFinished(pod, config.spec.pods.waitCompleted);
  if (isStaying) return { fate: { kind: 'keep' }, because };
  const filtered = byFilters(pod, config);
  if (decision.kind === 'pause') return { fate: filtered ?? { kind: 'hold' }, because };
  return { fate: filtered ?? { kind: 'evict', at: decision.deadline }, because };
}

/** The end of the wait for a pod that terminates, by our own time; null: the wait has no end. */
export function skipAt(
  { deletionTimestamp }: Pod,
  { terminatingPods }: Pick<NodeDrainSpec['timeouts'], 'terminatingPods'>,
  clock: ClusterTime,
): Instant | null {
  if (deletionTimestamp === null || terminatingPods === undefined) return null;
  // kubectl drain compares whole seconds.
  return clock.when(deletionTimestamp) + terminatingPods + 1000;
}

/** The fate that kubectl drain's filters give a pod; null: they take it. */
function byFilters(pod: Pod, config: DrainConfig): Fate | null {
  const isOrphan = config.goneDaemonSets.has(`${pod.namespace}/${pod.owner?.name ?? ''}`);
  const verdict = filterPod(pod, config, isOrphan);
  if (verdict.kind === 'take') return null;
  if (verdict.kind === 'refuse') return verdict;
  return { kind: 'leave', faults: [verdict.fault], goesAnyway: isRemovedByDaemonSet(pod, config) };
}

/**
 * True if the DaemonSet controller deletes its pod because of the taint: a NoExecute taint that the
 * pod does not tolerate, even for a short time. The DaemonSet controller asks no budgets.
 */
function isRemovedByDaemonSet({ tolerations }: Pod, config: DrainConfig): boolean {
  const taint = drainTaint(config.spec);
  return taint.effect === 'NoExecute' && !decidingToleration(tolerations, taint, config);
}

/** Since when taints of drained nodes count, and when pauses held them: one for all drains of a store. */
export class DrainTimes {
  readonly store: StoreView;
  readonly #taints = new TaintClock(() => true);
  readonly #pauses: Pauses;
  readonly #decider: Decider;
  /** Nodes about whose pods a drain decides. */
  readonly #nodes = new Set<string>();
  /** The lead of the cluster's clock when the taints were seen. */
  #ahead: Millis;

  constructor(store: StoreView) {
    this.store = store;
    this.#ahead = store.clock.wall(0);
    this.#pauses = new Pauses(store);
    const config = defaultEvictionConfig;
    this.#decider = new Decider({
      store,
      taints: this.#taints,
      pauses: this.#pauses,
      drains: null,
      replicas: null,
      config,
    });
  }

  /** Takes in what has changed; true where policies or pauses may decide otherwise about every pod. */
  follow(now: Instant, changes: readonly Change[]): boolean {
    const ahead = this.store.clock.wall(0);
    this.#taints.correct(ahead - this.#ahead);
    this.#ahead = ahead;
    let isAboutAll = false;
    for (const change of changes) {
      switch (change.kind) {
        case 'node':
          if (this.#nodes.has(change.name)) this.#followNode(now, change);
          break;
        case 'pause':
        case 'pauseEnd':
          this.#pauses.follow(this.store.clock.wall(now), change);
          isAboutAll = true;
          break;
        case 'policy':
        case 'namespace':
          isAboutAll = true;
          break;
        default: // decides about one pod at most
      }
    }
    return isAboutAll;
  }

  /** Follows a node from now on, if it is not followed yet. */
  see(now: Instant, name: string): void {
    const node = this.#nodes.has(name) ? null : this.store.node(name);
    if (!node) return;
    this.#nodes.add(name);
    this.#followNode(now, { kind: 'node', name, node, previous: null, afterGap: false });
  }

  /** No drain is at work any more. */
  forget(): void {
    for (const name of [...this.#nodes]) {
      this.#followNode(0, { kind: 'node', name, node: null, previous: null, afterGap: false });
    }
  }

  /** The taints of a node, of whatever effect, in the node's order. */
  taintsOf(now: Instant, nodeName: string): readonly ObservedTaint[] {
    this.see(now, nodeName);
    return this.#taints.of(nodeName);
  }

  /** The concern of a pod and a taint that counts as `judged`. */
  concern(pod: Pod, observed: ObservedTaint, judged: Taint): Concern {
    const concern = this.#decider.concern(pod, observed, true, judged);
    return { ...concern, governance: heeded(concern.governance) };
  }

  #followNode(now: Instant, change: NodeChange): void {
    const wall = this.store.clock.wall(now);
    this.#taints.update(wall, change);
    this.#pauses.followNode(wall, change.name, change.node !== null);
    if (!change.node) this.#nodes.delete(change.name);
  }
}

/**
 * Decides about pods as the eviction engine does, with the same functions: the taint of the drain
 * is one more concern, as if it were on each node already. A drain by a taint of another effect
 * judges pods as if it were NoExecute: the pod's toleration and its time are the same, and no other
 * controller evicts for it.
 */
export class DrainDecider {
  readonly #taint: Taint;
  readonly #executed: Taint;
  readonly #respects: NodeDrainSpec['tolerations'];
  readonly #times: DrainTimes;
  readonly #options: DecideOptions;

  constructor({ spec, comparisonOperators }: DecidingConfig, times: DrainTimes) {
    this.#taint = drainTaint(spec);
    this.#executed = { ...this.#taint, effect: 'NoExecute' };
    this.#respects = spec.tolerations;
    this.#times = times;
    const { leave } = defaultEvictionConfig;
    this.#options = { leave, comparisonOperators };
  }

  get store(): StoreView {
    return this.#times.store;
  }

  /**
   * When a pod is due, by our own time, or why it stays, or waits. Where tolerations are not waited
   * for, it is due since its taint came.
   */
  decide(now: Instant, pod: Pod): Decision {
    const decision = this.#decisionOn(now, pod);
    const { because } = decision;
    const [decisive] = because;
    if (decision.kind === 'pause') return decision;
    const isExempt = decisive?.code !== 'ToleratedForever' && decision.kind === 'keep';
    if (isExempt || (this.#respects === 'NoWait' && decision.kind === 'keep')) return decision;
    const { clock } = this.store;
    if (this.#respects === 'Respect') {
      return decision.kind === 'keep'
        ? decision
        : { kind: 'evict', deadline: clock.when(decision.deadline), because };
    }
    const start = decisive && 'start' in decisive ? decisive.start : null;
    return { kind: 'evict', deadline: clock.since(now, start), because };
  }

  /** Where no toleration is respected, a policy or a pause holds those too that tolerate the taint. */
  #decisionOn(now: Instant, pod: Pod): Decision {
    const bare = this.#respects === 'Ignore' && this.#judge(now, withTolerations(pod, []));
    return bare && bare.kind !== 'evict' ? bare : this.#judge(now, pod);
  }

  #judge(now: Instant, pod: Pod): Decision {
    const concerns = (): readonly Concern[] =>
      this.#taintsOn(now, pod.nodeName).map((observed) => this.#concern(pod, observed));
    return decide(pod, this.store.node(pod.nodeName), concerns, this.#options);
  }

  #concern(pod: Pod, observed: ObservedTaint): Concern {
    if (!isEqualTaint(observed.taint, this.#taint)) {
      return this.#times.concern(pod, observed, observed.taint);
    }
    const concern = this.#times.concern(pod, observed, this.#executed);
    return this.#taint.effect === 'NoExecute' ? concern : { ...concern, judgedAs: this.#executed };
  }

  /**
   * The NoExecute taints and the drain's own, in the node's order. A NoExecute taint with the same
   * key and effect counts as the drain's own, and keeps its name: the node shows it where the
   * decision is looked at again.
   */
  #taintsOn(now: Instant, nodeName: string): readonly ObservedTaint[] {
    const { key, effect } = this.#taint;
    const isOwn = ({ taint }: ObservedTaint): boolean => isEqualTaint(taint, this.#taint);
    const all = this.#times.taintsOf(now, nodeName);
    const own = all.find(isOwn)?.taint;
    const observed = all.map((one) => {
      const isSame = isEqualTaint(one.taint, this.#executed);
      return isSame ? { ...one, taint: own ?? { ...one.taint, effect } } : one;
    });
    const counted = observed.filter((one) => one.taint.effect === 'NoExecute' || isOwn(one));
    if (this.#isOn(nodeName)) return counted;
    // A taint of the drain's key and effect gives way, as in kubectl taint.
    const others = counted.filter((one) => {
      return isOwn(one) || one.taint.key !== key || one.taint.effect !== effect;
    });
    const start = this.store.clock.wall(now);
    const taint = { ...this.#taint, timeAdded: start };
    return [...others, { taint, start, startSource: 'timeAdded', seenAt: start }];
  }

  #isOn(nodeName: string): boolean {
    const node = this.store.node(nodeName);
    return node !== null && carriesTaint(node, this.#taint);
  }
}

type DecidingConfig = Pick<DrainConfig, 'spec' | 'comparisonOperators'>;

/**
 * A drain applies the policies that keep a pod; it decides itself how and when the others leave.
 */
function heeded({ by, undecided, ...policy }: Governance): Governance {
  const times = { minTaintAgeMs: 0, defaultTolerationSeconds: null };
  return { ...policy, ...times, by: by?.action === 'Keep' ? by : null, undecided };
}

/** True if the node has this very taint. */
export function carriesTaint({ taints }: Node, taint: Omit<Taint, 'timeAdded'>): boolean {
  return taints.some((one) => isEqualTaint(one, taint));
}

/** The settings that decide which pods a drain may take along. */
export type DrainOptions = Pick<DrainConfig, 'leavesDaemonSets'> & {
  readonly spec: {
    readonly pods: Pick<NodeDrainSpec['pods'], 'withoutController' | 'withEmptyDir'>;
  };
};

/** The verdict of kubectl drain's filters on a pod that the taint would evict. */
export type DrainFilterResult =
  | { readonly kind: 'take' }
  /** Left on the node without further ado. */
  | { readonly kind: 'leave'; readonly fault: 'DaemonSet' }
  /** The drain does not begin while this pod is there, unless the named flag is given. */
  | { readonly kind: 'refuse'; readonly faults: readonly DrainFault[] };

/** The flag of kubectl drain that overrides a fault. */
export const drainFlag: Readonly<Record<DrainFault, string>> = {
  DaemonSet: '--ignore-daemonsets',
  OrphanedDaemonSetPod: '--force',
  EmptyDir: '--delete-emptydir-data',
  Unmanaged: '--force',
};

/** A fault in words. */
export const drainFaultText: Readonly<Record<DrainFault, string>> = {
  DaemonSet: 'managed by a DaemonSet, which would recreate it',
  OrphanedDaemonSetPod: 'its DaemonSet is gone, nothing would recreate it',
  EmptyDir: 'has local storage (emptyDir), whose data would be lost',
  Unmanaged: 'is not managed by a controller',
};

/** Writes each fault and the flag of kubectl drain that overrides it. */
export function drainFaultsText(faults: readonly DrainFault[]): string {
  return faults.map((fault) => `${drainFaultText[fault]} (${drainFlag[fault]})`).join('; ');
}

/**
 * Judges one pod by the filters of kubectl drain (k8s.io/kubectl/pkg/drain/filters.go). Finished
 * pods are taken in any case; otherwise every fault is named, so that one answer shows all flags
 * that are missing. `isOrphan`: the DaemonSet it names is not there.
 */
export function filterPod(
  pod: Pod,
  { spec: { pods }, leavesDaemonSets }: DrainOptions,
  isOrphan: boolean = false,
): DrainFilterResult {
  if (pod.phase === 'Succeeded' || pod.phase === 'Failed') return { kind: 'take' };
  if (isDaemonSetPod(pod) && !isOrphan) {
    return leavesDaemonSets
      ? { kind: 'leave', fault: 'DaemonSet' }
      : { kind: 'refuse', faults: ['DaemonSet'] };
  }
  const faults: DrainFault[] = [];
  if (isOrphan && isDaemonSetPod(pod) && !pods.withoutController)
    faults.push('OrphanedDaemonSetPod');
  if (pod.hasEmptyDir && !pods.withEmptyDir) faults.push('EmptyDir');
  if (pod.owner === null && !pods.withoutController) faults.push('Unmanaged');
  return faults.length === 0 ? { kind: 'take' } : { kind: 'refuse', faults };
}

/** True if a DaemonSet of today's API started it, so that it would be back at once. */
function isDaemonSetPod({ owner }: Pod): boolean {
  return owner?.kind === 'DaemonSet' && owner.apiVersion === 'apps/v1';
}

/**
 * The time at which a pod that may finish is evicted if it has not; null: it is given no time, or
 * its node's turn is yet to come.
 */
export function finishBy(
  pod: Pod,
  wait: WaitCompleted | undefined,
  begunAt: Instant | null,
): Instant | null {
  const time = wait && mayFinish(pod, wait) ? wait.timeout : null;
  return time === null || begunAt === null ? null : begunAt + time;
}

/** True if it has finished within its time: it is left on the node, with its logs. */
function hasFinished(pod: Pod, wait: WaitCompleted | undefined): boolean {
  const isOver = pod.phase === 'Succeeded' || pod.phase === 'Failed';
  return isOver && wait !== undefined && mayFinish(pod, wait);
}

function mayFinish({ owner, labels = {} }: Pod, { podSelector }: WaitCompleted): boolean {
  if (podSelector) return selects(podSelector, labels);
  return owner?.kind === 'Job' && owner.apiVersion.startsWith('batch/');
}
