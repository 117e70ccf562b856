// Decides what becomes of one pod of a drain, with the functions that decide in the eviction engine.
import { defaultEvictionConfig } from '../eviction/config.ts';
import { type Concern, type DecideOptions, type Decision, decide } from '../eviction/decide.ts';
import { Decider } from '../eviction/decider.ts';
import { Pauses } from '../eviction/pauses.ts';
import type { Reason } from '../eviction/reason.ts';
import { type ObservedTaint, TaintClock } from '../eviction/taint-clock.ts';
import type { ClusterTime } from '../kernel/cluster-clock.ts';
import type { Instant } from '../kernel/time.ts';
import { withTolerations } from '../model/kept-pod.ts';
import type { Node } from '../model/node.ts';
import type { Pod } from '../model/pod.ts';
import { isEqualTaint, type Taint } from '../model/taint.ts';
import { decidingToleration } from '../model/toleration.ts';
import type { Governance } from '../policy/eviction-policy.ts';
import type { Change, NodeChange, StoreView } from '../store.ts';
import { type DrainConfig, filterPod, hasFinished, type Respect } from './config.ts';
import type { DrainFault } from './state.ts';

/** The fate of one pod in a drain. */
export type Fate =
  /** At once, or when its time is over. */
  | { readonly kind: 'evict'; readonly at: Instant }
  /** It stays on the node. */
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
  /** It terminates already, and is waited for. */
  | { readonly kind: 'leaving' }
  /** It has terminated for so long that it is not. */
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
    const at = skipAt(pod, config, decider.store.clock);
    return { fate: { kind: at !== null && now >= at ? 'skip' : 'leaving' }, because };
  }
  const isStaying = decision.kind === 'keep' || hasFinished(pod, config.waitCompleted);
  if (isStaying) return { fate: { kind: 'keep' }, because };
  const filtered = byFilters(pod, config);
  if (decision.kind === 'pause') return { fate: filtered ?? { kind: 'hold' }, because };
  return { fate: filtered ?? { kind: 'evict', at: decision.deadline }, because };
}

/** When, by our own time, a pod that terminates is waited for no more; null: it is, however long it takes. */
export function skipAt(
  { deletionTimestamp }: Pod,
  { skipTerminatingMs }: Pick<DrainConfig, 'skipTerminatingMs'>,
  clock: ClusterTime,
): Instant | null {
  if (deletionTimestamp === null || skipTerminatingMs === null) return null;
  // kubectl drain compares whole seconds.
  return clock.when(deletionTimestamp) + skipTerminatingMs + 1000;
}

/** The fate that kubectl drain's filters give a pod; null: they take it. */
function byFilters(pod: Pod, config: DrainConfig): Fate | null {
  const { filters, goneDaemonSets } = config;
  const isOrphan = goneDaemonSets.has(`${pod.namespace}/${pod.owner?.name ?? ''}`);
  const verdict = filterPod(pod, filters, isOrphan);
  if (verdict.kind === 'take') return null;
  if (verdict.kind === 'refuse') return verdict;
  return { kind: 'leave', faults: [verdict.fault], goesAnyway: isRemovedByDaemonSet(pod, config) };
}

/**
 * True if the DaemonSet controller deletes its pod on account of the taint: one of NoExecute that the
 * pod does not tolerate, for however short a time. It asks no budgets.
 */
function isRemovedByDaemonSet({ tolerations }: Pod, config: DrainConfig): boolean {
  const { taint } = config;
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

  constructor(store: StoreView) {
    this.store = store;
    this.#pauses = new Pauses(store);
    const config = defaultEvictionConfig;
    this.#decider = new Decider(store, this.#taints, this.#pauses, null, null, config);
  }

  /** Takes in what has changed; true where policies or pauses may decide otherwise about every pod. */
  follow(now: Instant, changes: readonly Change[]): boolean {
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
 * Decides about pods as the eviction engine does, with the functions that decide there: the taint of the
 * drain is one more concern, as though it were on each node already. A drain by a taint of another effect
 * judges pods as though that were NoExecute: what a pod tolerates for how long is the same, and no other
 * controller evicts for it.
 */
export class DrainDecider {
  readonly #taint: Taint;
  readonly #executed: Taint;
  readonly #respect: Respect;
  readonly #times: DrainTimes;
  readonly #options: DecideOptions;

  constructor({ taint, respect, comparisonOperators }: DecidingConfig, times: DrainTimes) {
    this.#taint = taint;
    this.#executed = { ...taint, effect: 'NoExecute' };
    this.#respect = respect;
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
    if (isExempt || (this.#respect === 'limitless' && decision.kind === 'keep')) return decision;
    const { clock } = this.store;
    if (this.#respect === 'tolerations') {
      return decision.kind === 'keep'
        ? decision
        : { kind: 'evict', deadline: clock.when(decision.deadline), because };
    }
    const start = decisive && 'start' in decisive ? decisive.start : null;
    return { kind: 'evict', deadline: clock.since(now, start), because };
  }

  /** Where no toleration is respected, a policy or a pause holds those too that tolerate the taint. */
  #decisionOn(now: Instant, pod: Pod): Decision {
    const bare = this.#respect === 'nothing' && this.#judge(now, withTolerations(pod, []));
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

  /** Those of NoExecute and the drain's own, in the node's order. One of NoExecute that says the same counts as its own. */
  #taintsOn(now: Instant, nodeName: string): readonly ObservedTaint[] {
    const { key, effect } = this.#taint;
    const observed = this.#times.taintsOf(now, nodeName).map((one) => {
      const isSame = isEqualTaint(one.taint, this.#executed);
      return isSame ? { ...one, taint: { ...one.taint, effect } } : one;
    });
    const isOwn = ({ taint }: ObservedTaint): boolean => isEqualTaint(taint, this.#taint);
    const counted = observed.filter((one) => one.taint.effect === 'NoExecute' || isOwn(one));
    if (this.#isOn(nodeName)) return counted;
    // One of its key and effect gives way, as in kubectl taint.
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

type DecidingConfig = Pick<DrainConfig, 'taint' | 'respect' | 'comparisonOperators'>;

/** Of policies a drain heeds that one keeps a pod; how and when the others go it says itself. */
function heeded({ by, undecided, ...policy }: Governance): Governance {
  const times = { minTaintAgeMs: 0, defaultTolerationSeconds: null };
  return { ...policy, ...times, by: by?.action === 'Keep' ? by : null, undecided };
}

/** True if the node has this very taint. */
export function carriesTaint({ taints }: Node, taint: Omit<Taint, 'timeAdded'>): boolean {
  return taints.some((one) => isEqualTaint(one, taint));
}
