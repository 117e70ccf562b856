import { budgetPolicyOf } from '../attempt/budget-policy.ts';
import type { Terms } from '../attempt/delete-or-evict.ts';
import type { AttemptState } from '../attempt/state.ts';
import { finite, type Instant } from '../kernel/time.ts';
import type { Pod } from '../model/pod.ts';
import type { Taint } from '../model/taint.ts';
import { Policies } from '../policy/eviction-policy.ts';
import type { StoreView } from '../store.ts';
import type { EvictionConfig } from './config.ts';
import { type DecideOptions, type Decision, decide } from './decide.ts';
import type { Reason } from './reason.ts';
import type { TaintClock } from './taint-clock.ts';

/** A node that is still there so long after its deadline does not go: its deadline was wrong. */
const endForgottenMs = 600_000;

/** Gathers what the pure functions need to know about a pod, and asks them. */
export class Decider {
  readonly #store: StoreView;
  readonly #taints: TaintClock;
  readonly #config: EvictionConfig;
  readonly #policies: Policies;
  readonly #options: DecideOptions;

  constructor(store: StoreView, taints: TaintClock, config: EvictionConfig) {
    this.#store = store;
    this.#taints = taints;
    this.#config = config;
    this.#policies = new Policies(config.policies, config);
    this.#options = { ...config, policyFor: (taint) => this.#policies.for(taint) };
  }

  /** The decision on a pod that holds now. */
  decide(pod: Pod): Decision {
    const { nodeName } = pod;
    const site = {
      node: this.#store.node(nodeName),
      taints: this.#taints.of(nodeName),
      pausedAt: this.#taints.pausedAt(nodeName),
      pauses: this.#taints.pausesOf(nodeName),
    };
    return decide(pod, site, this.#options);
  }

  /**
   * Whether the pod was bound to its node after the taint that makes it go, as we have seen that taint
   * appear: a time that is written on it may be long past, and says nothing of who came when.
   */
  isLate({ nodeName, boundAt }: Pod, because: readonly Reason[]): boolean {
    const taint = decidingTaint(because);
    const observed = this.#taints.of(nodeName).find((one) => one.taint === taint);
    const bound = finite(boundAt);
    return !!observed && bound !== null && bound > Math.max(observed.start, observed.seenAt);
  }

  /** What decides how a pod goes whose deadline has passed. */
  terms(now: Instant, pod: Pod, deadline: Instant, because: readonly Reason[]): Terms {
    const taint = decidingTaint(because);
    const policy = taint ? this.#policies.for(taint) : this.#config;
    const { gracePeriodSeconds } = policy;
    const nodeEnd = this.#endOf(now, pod);
    return { deadline, budgets: budgetPolicyOf(policy), gracePeriodSeconds, nodeEnd };
  }

  /** What we know may be old: a live read found it so, or the pod should have gone long ago. */
  isDoubtful(now: Instant, { nodeName }: Pod, state: AttemptState, deadline: Instant): boolean {
    if (this.#store.podView(nodeName) !== 'watched') return true;
    if ('setback' in state) return state.setback.kind === 'changed';
    return now - deadline > this.#config.confirmLateMs;
  }

  /** When the pod's node goes, where that is heeded; null: nobody said, or long ago. */
  #endOf(now: Instant, { nodeName }: Pod): Instant | null {
    const end = finite(this.#store.node(nodeName)?.deadline);
    const isHeeded = this.#config.heedNodeDeadlines && end !== null && now <= end + endForgottenMs;
    return isHeeded ? end : null;
  }
}

/** The taint that decided; null where none did. */
export function decidingTaint([decisive]: readonly Reason[]): Taint | null {
  return decisive && 'taint' in decisive ? decisive.taint : null;
}
