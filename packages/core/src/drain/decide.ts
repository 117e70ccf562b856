import type { Event } from '../event.ts';
import { defaultEvictionConfig } from '../eviction/config.ts';
import type { Decision } from '../eviction/decide.ts';
import { Decider } from '../eviction/decider.ts';
import { Pauses } from '../eviction/pauses.ts';
import type { Reason } from '../eviction/reason.ts';
import { TaintClock } from '../eviction/taint-clock.ts';
import type { Instant } from '../kernel/time.ts';
import { withTolerations } from '../model/kept-pod.ts';
import type { Node } from '../model/node.ts';
import type { Pod } from '../model/pod.ts';
import { isEqualTaint, type Taint } from '../model/taint.ts';
import type { EvictionPolicy } from '../policy/values.ts';
import { Store, type StoreView } from '../store.ts';
import type { DrainConfig, Respect } from './config.ts';

/**
 * Decides about pods as the eviction engine does, with the functions that decide there, and as
 * though the drain's taint were on each node already. A drain by a taint of another effect judges
 * pods as though that were NoExecute: what a pod tolerates for how long is the same, and no other
 * controller evicts for it.
 */
export class DrainDecider {
  readonly #taint: Taint;
  readonly #respect: Respect;
  readonly #store = new Store();
  readonly #taintClock = new TaintClock();
  readonly #pauses = new Pauses(this.#store);
  readonly #decider: Decider;
  /** Nodes that do not have the taint: there it is as though it were put on now. */
  readonly #bare = new Set<string>();

  constructor(config: Pick<DrainConfig, 'taint' | 'respect' | 'comparisonOperators'>) {
    const { taint, respect, comparisonOperators } = config;
    this.#taint = taint;
    this.#respect = respect;
    this.#decider = new Decider(this.#store, this.#taintClock, this.#pauses, null, null, {
      ...defaultEvictionConfig,
      comparisonOperators,
    });
  }

  get store(): StoreView {
    return this.#store;
  }

  /**
   * Takes in what an event says of nodes, pods, policies and pauses; whether policies or pauses
   * may decide otherwise now about every pod.
   */
  take(now: Instant, event: Event): boolean {
    const wall = this.#store.clock.wall(now);
    const ended = this.#store.endPauses(now);
    for (const change of ended) if (change.kind === 'pauseEnd') this.#pauses.follow(wall, change);
    const change = this.#store.apply(now, this.#asSeen(wall, event));
    if (change?.kind === 'node') {
      const { name, node } = change;
      if (node && this.#hasCome(event)) {
        // What was made up until now says nothing of when it came.
        this.#taintClock.update(wall, { ...change, node: this.#withoutOurs(node) });
      }
      this.#taintClock.update(wall, change);
      this.#pauses.followNode(wall, name, node !== null);
    }
    if (change?.kind === 'pause') this.#pauses.follow(wall, change);
    const isAboutAll = ['policy', 'pause', 'namespace'].includes(change?.kind ?? '');
    return isAboutAll || ended.length > 0;
  }

  /** When the next pause is over; null: none ends by itself. */
  nextPauseEnd(): Instant | null {
    return this.#store.nextPauseEnd();
  }

  #asSeen(wall: Instant, event: Event): Event {
    if (event.kind === 'nodeUpsert') return { ...event, node: this.#asExecuted(wall, event.node) };
    return event.kind === 'policyUpsert' ? { ...event, policy: forDrains(event.policy) } : event;
  }

  /**
   * When a pod is due, by our own time, or why it stays, or waits. Where tolerations are not waited
   * for, it is due since its taint came.
   */
  decide(now: Instant, pod: Pod): Decision {
    const decided = this.#decisionOn(pod);
    const because = decided.because.map((reason) => this.#asGiven(reason));
    const decision = { ...decided, because };
    const [decisive] = because;
    if (decision.kind === 'pause') return decision;
    const isExempt = decisive?.code !== 'ToleratedForever' && decision.kind === 'keep';
    if (isExempt || (this.#respect === 'limitless' && decision.kind === 'keep')) return decision;
    const { clock } = this.#store;
    if (this.#respect === 'tolerations') {
      return decision.kind === 'keep'
        ? decision
        : { kind: 'evict', deadline: clock.when(decision.deadline), because };
    }
    const start = decisive && 'start' in decisive ? decisive.start : null;
    return { kind: 'evict', deadline: clock.since(now, start), because };
  }

  /** Where no toleration is respected, a policy or a pause holds those too that tolerate the taint. */
  #decisionOn(pod: Pod): Decision {
    const bare = this.#respect === 'nothing' && this.#decider.decide(withTolerations(pod, []));
    return bare && bare.kind !== 'evict' ? bare : this.#decider.decide(pod);
  }

  /** A reason names the taint as it is on the node. */
  #asGiven(given: Reason): Reason {
    const reason = withoutPolicy(given);
    if (!('taint' in reason) || this.#taint.effect === 'NoExecute') return reason;
    const { taint } = reason;
    if (!this.#isOurs(taint)) return reason;
    const ours = { ...taint, effect: this.#taint.effect };
    return isByTolerations(reason)
      ? { ...reason, taint: ours, asExecuted: true }
      : { ...reason, taint: ours };
  }

  #asExecuted(wall: Instant, node: Node): Node {
    const taints = withTaint(node, this.#taint, wall).taints.map((taint) =>
      isEqualTaint(taint, this.#taint) ? { ...taint, effect: 'NoExecute' } : taint,
    );
    return { ...node, taints };
  }

  /** Whether a node has the taint that did not have it before. */
  #hasCome(event: Event): boolean {
    if (event.kind !== 'nodeUpsert') return false;
    const { node } = event;
    if (carriesTaint(node, this.#taint)) return this.#bare.delete(node.name);
    this.#bare.add(node.name);
    return false;
  }

  #withoutOurs(node: Node): Node {
    return { ...node, taints: node.taints.filter((taint) => !this.#isOurs(taint)) };
  }

  /** Whether it is the drain's own, as decided by. */
  #isOurs(taint: Taint): boolean {
    return isEqualTaint(taint, { ...this.#taint, effect: 'NoExecute' });
  }
}

/** Of policies a drain heeds that one keeps a pod; how and when the others go it says itself. */
function forDrains(policy: EvictionPolicy): EvictionPolicy {
  const { action } = policy;
  const times = { minTaintAgeMs: null, deleteAfterMs: null, defaultTolerationSeconds: null };
  const kept = action === 'Keep' || action === null ? action : 'Evict';
  return { ...policy, ...times, gracePeriodSeconds: null, action: kept, limits: [] };
}

/** A policy that only counts before others says nothing about the pod. */
function withoutPolicy(reason: Reason): Reason {
  if (reason.code !== 'NoToleration' && reason.code !== 'TolerationExpires') return reason;
  const { policy: _, ...plain } = reason;
  return plain;
}

/** Whether a reason says what the pod tolerates. */
function isByTolerations(reason: Reason): reason is Extract<Reason, { asExecuted?: true }> {
  return ['NoToleration', 'TolerationExpires', 'ToleratedForever'].includes(reason.code);
}

/** Whether the node has this very taint. */
export function carriesTaint({ taints }: Node, taint: Omit<Taint, 'timeAdded'>): boolean {
  return taints.some((one) => isEqualTaint(one, taint));
}

/** The node with the taint put on at `wall`: one of its key and effect gives way, as in kubectl taint. */
function withTaint(node: Node, taint: Taint, wall: Instant): Node {
  if (carriesTaint(node, taint)) return node;
  const others = node.taints.filter(
    ({ key, effect }) => key !== taint.key || effect !== taint.effect,
  );
  return { ...node, taints: [...others, { ...taint, timeAdded: wall }] };
}
