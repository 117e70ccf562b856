import type { Event } from '../event.ts';
import { defaultEvictionConfig } from '../eviction/config.ts';
import type { Decision } from '../eviction/decide.ts';
import { Decider } from '../eviction/decider.ts';
import { Pauses } from '../eviction/pauses.ts';
import type { Reason } from '../eviction/reason.ts';
import { TaintClock } from '../eviction/taint-clock.ts';
import type { Instant } from '../kernel/time.ts';
import type { Node } from '../model/node.ts';
import type { Pod } from '../model/pod.ts';
import { isEqualTaint, type Taint } from '../model/taint.ts';
import { Store, type StoreView } from '../store.ts';
import type { Respect } from './config.ts';

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
  readonly #decider: Decider;

  constructor(taint: Taint, respect: Respect) {
    this.#taint = taint;
    this.#respect = respect;
    this.#decider = new Decider(
      this.#store,
      this.#taintClock,
      new Pauses(this.#store),
      null,
      defaultEvictionConfig,
    );
  }

  get store(): StoreView {
    return this.#store;
  }

  /** Takes in what an event says of nodes and pods. */
  take(now: Instant, event: Event): void {
    const seen =
      event.kind === 'nodeUpsert' ? { ...event, node: this.#asExecuted(now, event.node) } : event;
    const change = this.#store.apply(now, seen);
    if (change?.kind === 'node') {
      const { name, node, afterGap } = change;
      this.#taintClock.update(this.#store.clock.wall(now), name, node, afterGap);
    }
  }

  /**
   * When a pod is due, by our own time, or why it stays. Where tolerations are not waited for, it is due since
   * its taint came.
   */
  decide(now: Instant, pod: Pod): Exclude<Decision, { kind: 'pause' }> {
    const decided = this.#decider.decide(pod);
    const because = decided.because.map((reason) => this.#asGiven(reason));
    const decision = { ...decided, because };
    const [decisive] = because;
    if (decision.kind === 'pause') return { kind: 'keep', because };
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

  /** A reason names the taint as it is on the node. */
  #asGiven(reason: Reason): Reason {
    if (!('taint' in reason) || this.#taint.effect === 'NoExecute') return reason;
    const { taint } = reason;
    const isOurs = isEqualTaint(taint, { ...this.#taint, effect: 'NoExecute' });
    if (!isOurs) return reason;
    const given = { ...taint, effect: this.#taint.effect };
    return isByTolerations(reason)
      ? { ...reason, taint: given, asExecuted: true }
      : { ...reason, taint: given };
  }

  #asExecuted(now: Instant, node: Node): Node {
    const taints = withTaint(node, this.#taint, now).taints.map((taint) =>
      isEqualTaint(taint, this.#taint) ? { ...taint, effect: 'NoExecute' } : taint,
    );
    return { ...node, taints };
  }
}

/** Whether a reason says what the pod tolerates. */
function isByTolerations(reason: Reason): reason is Extract<Reason, { asExecuted?: true }> {
  return ['NoToleration', 'TolerationExpires', 'ToleratedForever'].includes(reason.code);
}

/** Whether the node has this very taint. */
export function carriesTaint({ taints }: Node, taint: Taint): boolean {
  return taints.some((one) => isEqualTaint(one, taint));
}

/** The node with the taint put on at `now`: one of its key and effect gives way, as in kubectl taint. */
function withTaint(node: Node, taint: Taint, now: Instant): Node {
  if (carriesTaint(node, taint)) return node;
  const others = node.taints.filter(
    ({ key, effect }) => key !== taint.key || effect !== taint.effect,
  );
  return { ...node, taints: [...others, { ...taint, timeAdded: now }] };
}
