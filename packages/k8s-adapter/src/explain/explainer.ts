// Asks about a cluster that was read the machine of the one who acts there.
import type { Decision, Engine, NodeExplanation, PodExplanation } from '@taintmgr/core';
import { type Comparison, classify } from '@taintmgr/core/differences';
import { predictBlockers } from '@taintmgr/core/drain';
import type { BudgetPolicy } from '@taintmgr/core/policy';
import type { Instant, Millis } from '@taintmgr/core/time';
import { comparesNumbers, type Evictor, withOtherNumbers } from '../survey/evictors.ts';
import type { NodeFacts, PodFacts } from '../survey/facts.ts';
import { policyEvents } from '../survey/policies.ts';
import { type ForecastSurvey, ownIn } from '../survey/survey.ts';
import { AskedEngines, besides } from './asked-engines.ts';
import { Drained, isByDrain, LeftToDrains, leavesToDrains } from './left-to-drains.ts';
import { isLegacy, isStopped, legacyDecision } from './legacy.ts';
import { type LimitedTime, LimitForecast } from './limit-forecast.ts';
import { hypotheticalNode, isWhatIf, type Question } from './question.ts';
import { UpstreamForecast } from './upstream-forecast.ts';

/** The program that makes a pod leave; null: none does, or it is unknown. */
export type PodEvictor =
  | 'taintmgr-controller'
  | 'kube-controller-manager'
  | 'drain-by-taint'
  | null;

/** The verdict on a pod, by the rules of its evictor. */
export interface Judged {
  readonly explanation: PodExplanation;
  readonly evictor: PodEvictor;
  /** True when its time is an estimate: timers of kube-controller-manager are in its memory. */
  readonly isEstimate: boolean;
  /** The budget policy of the drain that evicts the pod; left out: no drain does, or its policy is not known and budgets are asked. */
  readonly drainBudgets?: BudgetPolicy | undefined;
  /** The effect of taintmgr-controller's limits on it; null: none, as far as is known. */
  readonly limit: LimitedTime | null;
}

/** The same without limits. */
type JudgedAlone = Omit<Judged, 'limit'>;

/** The facts that are read before the engines are asked. */
type Given = Pick<ForecastSurvey, 'at' | 'nodes' | 'pods' | 'evictor' | 'policies' | 'past'> &
  Pick<ForecastSurvey, 'crowd' | 'limits' | 'budgets' | 'leases' | 'replicas' | 'nodeDrains'> &
  Pick<ForecastSurvey, 'zoneNodes' | 'devices'>;

/**
 * Asks the engine about a cluster that was read, and kube-controller-manager's machine where that
 * controller acts or is compared with. Never acts. Remembers earlier readings, such as the start of
 * a taint that does not name it.
 */
export class Explainer {
  readonly #question: Question;
  readonly #engines: AskedEngines;
  #evictor: Evictor | null = null;
  #upstream: UpstreamForecast | null = null;
  #upstreamPresent: UpstreamForecast | null = null;
  /** The effect of limits; null: none. */
  #limits: LimitForecast | null = null;
  /** The last reading; null: nothing yet. */
  #given: Given | null = null;
  /** The same if tolerations with Lt and Gt count otherwise; null: whether they do is known, or there are none. */
  #other: Explainer | null = null;
  /** The effect of drains in the place of the evictor; null: nothing was read yet. */
  #byDrains: LeftToDrains | null = null;
  #latest: Instant = Number.NEGATIVE_INFINITY;

  constructor(question: Question) {
    this.#question = question;
    this.#engines = new AskedEngines(question);
  }

  /** The time after the reading that the question is about. */
  get after(): Millis {
    return this.#question.after;
  }

  /** Takes the present state of everything; missing objects are gone. */
  take(given: Given): void {
    const { at, nodes, pods, evictor, policies } = given;
    const now = Math.max(at, this.#latest);
    this.#latest = now;
    this.#evictor = evictor;
    this.#given = given;
    this.#engines.take(now, given);
    const comparisonOperators = comparesNumbers(evictor);
    const { nodeDrains } = given;
    const site = { now: at, nodes, pods, policies, nodeDrains, comparisonOperators };
    this.#byDrains = new LeftToDrains({ ...site, ...ownIn(evictor, given.replicas) });
    const isOurs = evictor.rules === 'taintmgr-controller' && !evictor.takesOver;
    const isAsked = this.#question.compare || !isOurs;
    this.#upstream = isAsked ? this.#forecast(now, given, true) : null;
    const isTwofold = isAsked && this.#engines.present !== null;
    this.#upstreamPresent = isTwofold ? this.#forecast(now, given, false) : null;
    this.#limits = this.#limitsOf(now, given);
    const other = pods.some(comparesAny) ? withOtherNumbers(evictor) : null;
    this.#other = other && (this.#other ?? new Explainer({ ...this.#question, compare: false }));
    if (other) this.#other?.take({ ...given, evictor: other });
  }

  /** The answer about one node as it would be; null for one that was not events of. */
  node(now: Instant, name: string): NodeExplanation | null {
    const at = now + this.#question.after;
    const explanation = this.#engines.asked.explain(at, { kind: 'node', name });
    if (explanation?.kind !== 'node') return null;
    const drained = this.#engines.drained(name);
    const taints = explanation.taints.map((observed) => {
      return drained ? { ...observed, taint: drained.taint(observed.taint) } : observed;
    });
    return { ...explanation, taints };
  }

  /** The answer about one pod that is on none of the nodes. */
  stray(now: Instant, facts: PodFacts): PodExplanation | null {
    return explainPod(this.#engines.asked, now + this.#question.after, facts);
  }

  /** By the rules of the one who evicts it; `ours` is what the engine says of the pod. */
  judge(now: Instant, facts: PodFacts, ours: PodExplanation): Judged {
    const at = now + this.#question.after;
    const judged = this.#withDevices(at, facts, this.#judge(at, facts, ours, this.#upstream));
    const { explanation, evictor } = judged;
    const isOurs = explanation.decision.kind === 'evict' && evictor === 'taintmgr-controller';
    const limit = (isOurs && this.#limits?.of(facts.pod.uid)) || null;
    if (!limit) return { ...judged, limit };
    const remaining = limit.tripped ? explanation.remaining : limit.notBefore - at;
    return { ...judged, limit, explanation: { ...explanation, remaining }, isEstimate: true };
  }

  /**
   * The decision on a pod if tolerations with Lt and Gt count otherwise than assumed; null: that
   * makes no difference, or it is known if they count.
   */
  otherwise(now: Instant, facts: PodFacts, { decision }: PodExplanation): Decision | null {
    const other = this.#other;
    if (!other || !comparesAny(facts)) return null;
    const ours = explainPod(other.#engines.asked, now + this.#question.after, facts);
    const then = ours && other.judge(now, facts, ours).explanation.decision;
    return then && then.kind !== decision.kind ? then : thenAtAnotherTime(decision, then);
  }

  /** The same without the hypothetical taints; null where there are none. */
  present(now: Instant, facts: PodFacts): PodExplanation | null {
    const engine = this.#engines.present;
    const ours = engine && explainPod(engine, now, facts);
    const judged = ours && this.#judge(now, facts, ours, this.#upstreamPresent);
    return judged && this.#withDevices(now, facts, judged).explanation;
  }

  /** The fate of a pod under kube-controller-manager; null where that was not asked. */
  compared(now: Instant, facts: PodFacts, ours: PodExplanation): Comparison | null {
    if (!this.#question.compare) return null;
    const decision = this.#upstream?.decisionOn(now + this.#question.after, facts);
    if (!decision) return null;
    const isSame = isAboutThen(ours.decision, decision);
    return { decision, differences: isSame ? [] : classify(ours.decision, decision) };
  }

  #judge(
    at: Instant,
    facts: PodFacts,
    engineSays: PodExplanation,
    upstream: UpstreamForecast | null,
  ): JudgedAlone {
    const { pod } = facts;
    const own = this.#engines.drained(pod.nodeName)?.decision(engineSays.decision, facts);
    const judged = own ? withDecision(engineSays, own, at) : engineSays;
    const beside = this.#byDrains?.decisionBeside(facts, judged.decision);
    const ours = beside ? withDecision(judged, beside.decision, at) : judged;
    const { rules = 'taintmgr-controller', name = 'nobody' } = this.#evictor ?? {};
    const { takesOver = false } = this.#evictor ?? {};
    if (isByDrain(ours.decision) && ours.decision.kind !== 'keep') {
      const drainBudgets = beside?.budgets;
      return { explanation: ours, evictor: 'drain-by-taint', isEstimate: false, drainBudgets };
    }
    const byDrain = this.#byDrains?.decisionOn(facts, ours.decision);
    if (byDrain) {
      const explanation = { ...withDecision(ours, byDrain, at), budgets: ours.budgets };
      return { explanation, evictor: 'drain-by-taint', isEstimate: false };
    }
    const isNamed = name !== 'nobody' && name !== 'unknown';
    const byOurs: JudgedAlone = {
      explanation: ours,
      evictor: isNamed && ours.decision.kind !== 'keep' ? 'taintmgr-controller' : null,
      isEstimate: false,
    };
    // With takeover a pod belongs to kube-controller-manager when its namespace is not taken over,
    // and no other pod does.
    const isTheirs = takesOver ? isLeftToManager(ours.decision) : rules !== 'taintmgr-controller';
    const byTaints = isTheirs ? upstream?.decisionOn(at, facts) : null;
    const theirs = this.#withLegacy(byTaints, facts);
    if (!theirs || pod.deletionTimestamp !== null || isNowhere(ours.decision)) return byOurs;
    if (rules === 'both' && isSooner(ours.decision, theirs)) return byOurs;
    return {
      explanation: withDecision(ours, theirs, at),
      evictor: isNamed && theirs.kind === 'evict' ? upstreamOf(name, takesOver) : null,
      isEstimate: theirs.kind === 'evict' && theirs.deadline > at,
    };
  }

  /**
   * The same with the taints of its devices, where kube-controller-manager decides about these: the
   * first of them counts, and a later one is reported beside it.
   */
  #withDevices(at: Instant, facts: PodFacts, judged: JudgedAlone): JudgedAlone {
    const { devices } = this.#given ?? {};
    const { decision } = judged.explanation;
    if (decision.kind === 'keep' && devices?.isReleased(facts)) {
      const because = [{ code: 'Finished', phase: facts.pod.phase } as const, ...decision.because];
      return {
        ...judged,
        explanation: withDecision(judged.explanation, { ...decision, because }, at),
      };
    }
    // Of the engine's pods the engine has said so already.
    const isLeft = devices && (!devices.byOurs || isLeftToManager(decision));
    const theirs = isLeft ? devices.decisionOn(facts) : null;
    if (!theirs) return judged;
    const isFirst = theirs.kind === 'evict' && !isEarlier(decision, theirs);
    if (!isFirst && decision.kind !== 'keep') {
      const because = [...decision.because, ...theirs.because];
      return {
        ...judged,
        explanation: { ...judged.explanation, decision: { ...decision, because } },
      };
    }
    const others = decision.kind === 'evict' ? decision.because : [];
    const because = [...theirs.because, ...others];
    const explanation = withDecision(judged.explanation, { ...theirs, because }, at);
    const isKnown = theirs.kind === 'evict' && devices?.byUpstream === true;
    const evictor = isKnown ? 'kube-controller-manager' : null;
    return { explanation, evictor, isEstimate: false };
  }

  /** In the legacy mode pods leave without a taint too; the first of the two counts. */
  #withLegacy(decision: Decision | null | undefined, facts: PodFacts): Decision | null {
    const { evictor, nodes, leases, zoneNodes = null, at = 0 } = this.#given ?? {};
    const isAsked = evictor && isLegacy(evictor);
    const node = nodes?.find((one) => one.node.name === facts.pod.nodeName);
    const isHeld = isAsked && node && isStopped(at, evictor, node, zoneNodes) === true;
    const legacy = isAsked && node && leases && !isHeld;
    const found = legacy ? legacyDecision(evictor, node, facts, leases.get(node.node.name)) : null;
    const isFirst = decision?.kind !== 'evict' || isEarlier(found, decision);
    return (isFirst ? found : null) ?? decision ?? null;
  }

  /** kube-controller-manager's machine after all that is known of the past. */
  #forecast(now: Instant, given: Given, isHypothetical: boolean): UpstreamForecast {
    const { past, evictor, replicas } = given;
    // kube-controller-manager itself spares no replica of ours.
    const { name, rules } = evictor;
    const isOurs = name === 'taintmgr-controller' && rules === 'kube-controller-manager';
    const beside = isOurs ? besides(replicas, given.nodes, given.pods) : { nodes: [], pods: [] };
    const [nodes, pods] = [
      [...given.nodes, ...beside.nodes],
      [...given.pods, ...beside.pods],
    ];
    const states = nodes.map((facts) => {
      const known = past?.nodes.get(facts.node.name) ?? [facts];
      const isAsked = isHypothetical && !beside.nodes.includes(facts);
      return isAsked ? this.#hypotheticalStates(known, facts, now) : known;
    });
    return new UpstreamForecast({
      now,
      nodes: states,
      present: pods,
      pods: pods.map((facts) => past?.pods.get(facts.pod.uid) ?? [facts]),
      since: evictor.upstreamSince,
      comparisonOperators: evictor.comparesNumbers === true || comparesNumbers(evictor),
      ...(isOurs && replicas && evictor.ownPod && { ownPod: evictor.ownPod }),
    });
  }

  /** The controller's own engine, with all that counts in its limits. */
  #limitsOf(now: Instant, given: Given): LimitForecast | null {
    const { nodes, policies, limits, evictor, budgets, crowd } = given;
    if (!crowd) return null;
    const asked = new Map(nodes.map((facts) => [facts.node.name, facts] as const));
    const isHeeded = leavesToDrains(evictor);
    return new LimitForecast({
      ...{ now, config: this.#engines.config, events: policyEvents(policies), pods: crowd.pods },
      nodes: crowd.nodes.map((facts) => {
        const mine = asked.get(facts.node.name);
        const drained = new Drained(facts, now, isHeeded);
        return drained.leaving(
          mine ? hypotheticalNode(mine.node, this.#question, now) : facts.node,
        );
      }),
      record: limits?.record ?? null,
      rates: evictor.rates ?? [],
      isBlocked: ({ pod }) =>
        predictBlockers(pod, { budgets, finalizers: [], nodeAnswers: null }).length > 0,
    });
  }

  /** A taint that is assumed comes now, one that is assumed away was never there. */
  #hypotheticalStates(
    states: readonly NodeFacts[],
    present: NodeFacts,
    now: Instant,
  ): readonly NodeFacts[] {
    if (!isWhatIf(this.#question)) return states;
    const without = { ...this.#question, with: [] };
    const past = states.map((facts): NodeFacts => {
      return { ...facts, node: hypotheticalNode(facts.node, without, now) };
    });
    const node = { ...hypotheticalNode(present.node, this.#question, now), taintsWrittenAt: null };
    return [...past, { ...present, node }];
  }
}

function comparesAny({ pod }: PodFacts): boolean {
  return pod.tolerations.some(({ operator }) => operator === 'Lt' || operator === 'Gt');
}

/** The second of two decisions of a kind, where a pod leaves by it at another time. */
function thenAtAnotherTime(decision: Decision, then: Decision | null): Decision | null {
  const isOther = then?.kind === 'evict' && !isAboutThen(decision, then);
  return isOther ? then : null;
}

/** Who keeps timers as kube-controller-manager does: that one, or ours by its rules. */
function upstreamOf(name: Evictor['name'], takesOver: boolean): PodEvictor {
  return name === 'taintmgr-controller' && !takesOver ? name : 'kube-controller-manager';
}

/**
 * True when the engine leaves the pod to kube-controller-manager for one of its taints, as its
 * namespace is not taken over. Another taint does not change that.
 */
export function isLeftToManager({ because }: Decision): boolean {
  return because.some(({ code }) => code === 'NotTakenOver');
}

/** The rules of no program apply to a pod that is on no known node. */
function isNowhere({ because }: Decision): boolean {
  const [reason] = because;
  return reason?.code === 'NotBound' || reason?.code === 'NodeUnknown';
}

function explainPod(
  engine: Engine,
  now: Instant,
  { pod: { namespace, name } }: PodFacts,
): PodExplanation | null {
  const explanation = engine.explain(now, { kind: 'pod', namespace, name });
  return explanation?.kind === 'pod' ? explanation : null;
}

/** The same with another decision. */
function withDecision(ours: PodExplanation, decision: Decision, at: Instant): PodExplanation {
  if (decision === ours.decision) return ours;
  return {
    ...ours,
    decision,
    budgets: { kind: 'ignore' },
    deletedAt: null,
    remaining: remainingIn(decision, at),
    attempt: null,
    blocker: null,
  };
}

function remainingIn(decision: Decision, at: Instant): number | null {
  if (decision.kind === 'pause') return decision.remaining;
  return decision.kind === 'evict' ? decision.deadline - at : null;
}

function isEarlier(one: Decision | null, other: Extract<Decision, { kind: 'evict' }>): boolean {
  return one?.kind === 'evict' && one.deadline < other.deadline;
}

/** True when both leave at the same time, as far as times in whole seconds can tell. */
function isAboutThen(ours: Decision, theirs: Decision): boolean {
  if (ours.kind !== 'evict' || theirs.kind !== 'evict') return false;
  return Math.abs(ours.deadline - theirs.deadline) <= 1000;
}

/** True when ours comes first; at the same time the program that asks no budgets wins. */
function isSooner(ours: Decision, theirs: Decision): boolean {
  if (ours.kind !== 'evict' || isAboutThen(ours, theirs)) return false;
  return theirs.kind !== 'evict' || ours.deadline < theirs.deadline;
}
