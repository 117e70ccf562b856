import type { Attempt } from '../attempt/attempt.ts';
import {
  type BudgetPolicy,
  budgetPolicyOf,
  escalationOf,
  type Terms,
} from '../attempt/delete-or-evict.ts';
import { finite, type Instant } from '../kernel/time.ts';
import type { Pod } from '../model/pod.ts';
import { formatTaint, type Taint } from '../model/taint.ts';
import type { OwnReplicas } from '../own-replicas.ts';
import { PodPolicies } from '../policy/choice.ts';
import { type Governance, governedBy } from '../policy/eviction-policy.ts';
import { isTakenOver } from '../policy/scope.ts';
import type { StoreView } from '../store.ts';
import type { EvictionConfig } from './config.ts';
import { type Concern, type Decision, decide, type Eviction, type LeaveOptions } from './decide.ts';
import { isOverlooked, observedOf, type TaintHit, taintHitsOn } from './device-taints.ts';
import { cutAt, givenBack, heldSince, type Pauses, takenBack } from './pauses.ts';
import type { Interception } from './pod-events.ts';
import type { Reason } from './reason.ts';
import { countedFor, countsFrom, type ObservedTaint, type TaintClock } from './taint-clock.ts';
import type { WorkingDrains } from './working-drains.ts';

/** A node that is still there this long after its deadline does not go: its deadline was wrong. */
const endForgottenMs = 600_000;

/** Whom we leave alone is nothing to kube-controller-manager. */
const nobody: LeaveOptions = {
  finishedPods: false,
  returningDaemonSetPods: false,
  optedOutPods: false,
};

/** A reason with a time that counts from the start of a taint. */
type TimedReason = Extract<Reason, { code: 'NoToleration' | 'TolerationExpires' }>;

const noPolicy = { counts: null, undecided: null };

/** `deadline`: by the clock of the cluster; null: it is paused. */
export interface EvictionAttempt extends Attempt {
  readonly deadline: Instant | null;
  /** The earlier eviction was accepted, and the pod was never seen to leave. */
  readonly isUnconfirmed?: boolean;
  /** The last news of a webhook that keeps the pod. */
  readonly interception?: Interception;
  /**
   * The decision that made it due. Every change that could affect it makes the machine decide
   * again, so that it holds until then. Left out: its time has yet to come, and the pod is decided
   * about then.
   */
  readonly decision?: Eviction;
}

/** The surroundings of decisions. `drains` and `replicas`: null for a drain, which looks after those itself. */
interface DeciderSite {
  readonly store: StoreView;
  readonly taints: TaintClock;
  readonly pauses: Pauses;
  readonly drains: WorkingDrains | null;
  readonly replicas: OwnReplicas | null;
  readonly config: EvictionConfig;
}

/** Gathers what the pure functions need to know about a pod, and asks them. */
export class Decider {
  readonly #site: DeciderSite;
  readonly #podPolicies = new PodPolicies();

  constructor(site: DeciderSite) {
    this.#site = site;
  }

  /** The decision on a pod that holds now. */
  decide(pod: Pod): Decision {
    const decision = this.#decideAlone(pod);
    if (decision.kind !== 'evict' || !this.#site.replicas) return decision;
    if (!this.#isLastReplica(pod, decision, this.#site.replicas)) return decision;
    const last = { code: 'LastReplica', workload: this.#site.replicas.nameOf(pod) } as const;
    return { kind: 'keep', because: [last, ...decision.because] };
  }

  /** The same of a pod with an attempt: a due pod is not decided about twice. */
  decideOnce(pod: Pod, attempt: EvictionAttempt | undefined): Decision {
    // The turn of a replica of taintmgr depends on the last requests for the others.
    const isKnown = attempt?.decision && !this.#site.replicas?.has(pod);
    return isKnown ? attempt.decision : this.decide(pod);
  }

  /**
   * True when no other replica of ours would go on working. Of the replicas that have to leave we
   * keep our own pod to the last: it works for certain, the others as far as the API has heard.
   */
  #isLastReplica(pod: Pod, { deadline }: Eviction, replicas: OwnReplicas): boolean {
    const others = replicas.standIns(pod);
    if (others === null) return false;
    const goesFirst = (other: Pod): boolean => {
      const decision = this.#decideAlone(other);
      return decision.kind === 'evict' && decision.deadline <= deadline;
    };
    return others.every((other) => replicas.isOwn(pod) && goesFirst(other));
  }

  #decideAlone(pod: Pod): Decision {
    const { nodeName, namespace } = pod;
    const isOurs = this.isOurs(namespace);
    const { taints, store, config } = this.#site;
    const ofNode = (): readonly Concern[] =>
      taints.of(nodeName).map((observed) => this.concern(pod, observed, isOurs));
    const options = isOurs ? config : { ...config, leave: nobody };
    const node = store.node(nodeName);
    if (!config.deviceTaints || !pod.claims) return decide(pod, node, ofNode, options);
    const lacks = store.devices?.hidden ?? [];
    const concerns = (): readonly Concern[] =>
      lacks.length > 0 ? ofNode() : [...ofNode(), ...this.#deviceConcerns(pod, isOurs)];
    return decide(pod, node, concerns, options, lacks);
  }

  #deviceConcerns(pod: Pod, isOurs: boolean): readonly Concern[] {
    return taintHitsOn(this.#site.store.devices, pod).flatMap((hit) => {
      const governance = this.#governanceOf(pod, hit.taint);
      return isOverlooked(hit, governance.by) ? [] : [this.#deviceConcern(pod, hit, isOurs)];
    });
  }

  /** Of pauses that were over before we began nothing is known: a node alone has them written down. */
  #deviceConcern(pod: Pod, hit: TaintHit, isOurs: boolean): Concern {
    const { nodeName, namespace } = pod;
    const { taint } = hit;
    const governance = this.#governanceOf(pod, taint);
    const paused = this.#site.pauses.of(nodeName, taint.key, namespace);
    const observed = later(observedOf(hit), (start) => givenBack(start, paused.past));
    return { observed, paused, governance, isOurs, drain: null, hit };
  }

  /** Gathers the facts about a pod and one taint of its node; `judged`: the taint as policies are asked about it. */
  concern(
    pod: Pod,
    observed: ObservedTaint,
    isOurs: boolean,
    judged: Taint = observed.taint,
  ): Concern {
    const { nodeName, namespace } = pod;
    const { key } = observed.taint;
    const governance = this.#governanceOf(pod, judged);
    const counted = this.counted(nodeName, observed, namespace);
    const { hold } = this.#site.pauses.of(nodeName, key, namespace, counted.keptAt);
    const paused = heldSince(this.#site.pauses.of(nodeName, key, namespace), hold);
    const drain = this.#site.drains?.of(nodeName, formatTaint(observed.taint)) ?? null;
    return { observed: counted, paused, governance, isOurs, drain };
  }

  /** True when we decide about the pods of a namespace. */
  isOurs(namespace: string): boolean {
    return !this.#site.config.takeover || isTakenOver(this.#site.store.namespaceLabels(namespace));
  }

  /**
   * A taint as it counts for pods of a namespace, with the time given back for which its deadlines
   * stood still. Null: as far as that holds for pods of all namespaces.
   */
  counted(nodeName: string, observed: ObservedTaint, namespace: string | null): ObservedTaint {
    const known = countedFor(observed, namespace);
    const { past } = this.#site.pauses.of(nodeName, known.taint.key, namespace, known.keptAt);
    if (past.length === 0) return known;
    return later(known, (start) => givenBack(start, past));
  }

  /** The same without the time that a new leader finds in the pauses that are there. */
  countedToKeep(
    wall: Instant,
    nodeName: string,
    observed: ObservedTaint,
    namespace: string | null,
  ): ObservedTaint {
    const known = countedFor(observed, namespace);
    const { taint, keptAt } = known;
    const all = cutAt(wall, this.#site.pauses.of(nodeName, taint.key, namespace, keptAt));
    const kept = cutAt(wall, this.#site.pauses.keptOf(nodeName, taint.key, namespace));
    return later(known, (start) => takenBack(givenBack(start, all), kept, start));
  }

  #governanceOf(pod: Pod, taint: Taint): Governance {
    const policies = this.#site.store.policies();
    if (policies.length === 0) return governedBy(noPolicy, this.#site.config);
    const node = this.#site.store.node(pod.nodeName);
    const namespaceLabels = this.#site.store.namespaceLabels(pod.namespace);
    const site = { policies, node, namespaceLabels };
    return governedBy(this.#podPolicies.choose(pod, taint, site), this.#site.config);
  }

  /**
   * True when the pod was bound to its node after the taint that makes it go, as we have seen that taint
   * appear: a time that is written on it may be long past, and says nothing of who came when.
   */
  isLate({ nodeName, boundAt }: Pod, because: readonly Reason[]): boolean {
    const taint = decidingTaint(because);
    const observed = this.#site.taints.of(nodeName).find((one) => one.taint === taint);
    const bound = finite(boundAt);
    return !!observed && bound !== null && bound > Math.max(observed.start, observed.seenAt);
  }

  /** The treatment of its budgets when a pod goes for these reasons. */
  budgetsOf(pod: Pod, because: readonly Reason[]): BudgetPolicy {
    return budgetPolicyOf(this.#deciding(pod, because) ?? this.#site.config);
  }

  /** The terms on which a pod goes whose deadline has passed. */
  terms(now: Instant, pod: Pod, deadline: Instant, because: readonly Reason[]): Terms {
    const policy = this.#deciding(pod, because);
    const { gracePeriodSeconds } = policy ?? this.#site.config;
    const nodeEnd = policy?.by?.action === 'KubeControllerManager' ? null : this.#endOf(now, pod);
    return {
      deadline,
      budgets: budgetPolicyOf(policy ?? this.#site.config),
      gracePeriodSeconds,
      nodeEnd,
    };
  }

  #deciding(pod: Pod, because: readonly Reason[]): Governance | null {
    const taint = decidingTaint(because);
    return taint ? this.#governanceOf(pod, taint) : null;
  }

  /** True when it depends on the taint's start when the pod goes, or how long its budgets are asked. */
  countsTime(pod: Pod, reason: Reason): reason is TimedReason {
    // The taint of a device says itself since when it counts.
    if ('device' in reason) return false;
    if (reason.code !== 'NoToleration') return reason.code === 'TolerationExpires';
    const governance = this.#governanceOf(pod, reason.taint);
    const budgets = budgetPolicyOf(governance);
    const asksMs = budgets.kind === 'deleteAfter' ? budgets.afterMs : 0;
    return governance.minTaintAgeMs > 0 || (asksMs > 0 && asksMs < Number.POSITIVE_INFINITY);
  }

  /**
   * The time at which budgets are no longer asked about a pod that leaves for these reasons, by our
   * own time; null: never.
   */
  escalationAt(
    wall: Instant,
    pod: Pod,
    deadline: Instant,
    because: readonly Reason[],
  ): Instant | null {
    const at = this.deletedAt(wall, pod, deadline, because);
    return at === null ? null : this.#site.store.clock.when(at);
  }

  /** The same by the clock of the cluster. */
  deletedAt(
    wall: Instant,
    pod: Pod,
    deadline: Instant,
    because: readonly Reason[],
  ): Instant | null {
    return escalationOf(pod, this.terms(wall, pod, deadline, because));
  }

  /**
   * Our view may be old: the pod's watch is cut off, or a live read or our last request found it
   * so. The delay of an eviction says nothing of that: a queue of our own may have held it. Of pods
   * that are being read, each known pod was reported a moment ago; the reader judges how long ago.
   */
  isDoubtful(
    pod: Pod,
    { state, isUnconfirmed = false }: EvictionAttempt,
    [decisive]: readonly Reason[],
  ): boolean {
    // Slices and rules are read again whenever a pod leaves because of one.
    if (decisive && 'device' in decisive) return true;
    const view = this.#site.store.podView(pod.nodeName);
    if (isUnconfirmed || view === 'old' || view === 'unread') return true;
    if ('setback' in state && state.setback.kind === 'changed') return true;
    // Each time: the drain may have gone on since.
    return decisive !== undefined && 'staleDrain' in decisive;
  }

  /**
   * The time at which the pod's node goes, where node deadlines are respected; null: not announced,
   * or long ago.
   */
  #endOf(now: Instant, { nodeName }: Pod): Instant | null {
    const end = finite(this.#site.store.node(nodeName)?.deadline);
    const isHeeded =
      this.#site.config.heedNodeDeadlines && end !== null && now <= end + endForgottenMs;
    return isHeeded ? end : null;
  }
}

/** The taint that decided; null where none did. */
export function decidingTaint([decisive]: readonly Reason[]): Taint | null {
  return decisive && 'taint' in decisive ? decisive.taint : null;
}

/** The same taint, if it counts from later on; a taint of whom nothing was given back as it is. */
function later(observed: ObservedTaint, by: (start: Instant) => Instant): ObservedTaint {
  const from = countsFrom(observed);
  const start = by(from);
  return start > from ? { ...observed, start, startSource: 'givenBack' } : observed;
}
