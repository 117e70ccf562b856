// The checkers of single evictions: none too early or without a reason, with the grace period of the pod, and within budgets.
import type { KubeObject } from '@taintmgr/sim-cluster';
import type { Call } from './call.ts';
import type { SeenDrain } from './drain-marks.ts';
import { Checker, type Evidence } from './evidence.ts';
import type { ObservedChange, State } from './object-history.ts';
import { isReady, isSelected, isTerminating, nameOf } from './objects.ts';
import { givenBack } from './pauses.ts';
import { type NoExecuteTaint, noExecuteTaints, toleratedMs } from './taint-rule.ts';
import { clockTime, isRemoval } from './terms.ts';

/** On a node: when it will be gone. Budgets are asked for less long then. */
const nodeDeadline = 'taintmgr.dev/deadline';

/** When a pod has to go by one state of it and of its node: Infinity for never. */
interface Verdict {
  /** From when on it may go: its time has come, and no drain has it any more. */
  readonly deadline: number;
  /** When its time came or comes by the taints that count then. */
  readonly dueAt: number;
  readonly node: State;
  /** Why never; null where there is a deadline. */
  readonly never: 'tolerated' | 'untainted' | 'kept' | 'paused' | null;
  /** True if the pod is due by a taint that belongs to no drain. */
  readonly isFree: boolean;
  /** The drains that it has been left to until then. */
  readonly drains: readonly Left[];
}

/** A pod is left to a drain for that taint. */
interface Left {
  readonly taint: NoExecuteTaint;
  readonly drain: SeenDrain;
  /** When the pod has to go for the taint, were it not for the drain. */
  readonly at: number;
}

/** A decision's run and time; they determine the run's knowledge. */
interface Decision {
  readonly run: number;
  readonly decidedAt: number;
}

/**
 * No pod begins to terminate by the client before its deadline, or without one: judged by the
 * client's possible knowledge at its decision, which is when it sent the first request of the
 * eviction.
 */
export class EvictionChecker extends Checker<Evidence> {
  observe({ at, change, by }: ObservedChange): void {
    const { resource, previous, object, type } = change;
    if (resource !== 'pods' || !by || !isRemoval(by) || !previous) return;
    if (previous.metadata.deletionTimestamp !== undefined) return;
    if (type === 'DELETED' || object.metadata.deletionTimestamp !== undefined) {
      this.#judge(at, previous, by);
    }
  }

  #judge(at: number, pod: KubeObject, by: Call): void {
    const { apiHistory, history } = this.evidence;
    const states = history.pod(pod.metadata.uid ?? '');
    const createdAt = states[0]?.at ?? at;
    // A look at its predecessor was not for this one, if the request was for this one.
    const chain = apiHistory.calls
      .chainOf(by)
      .filter(({ sentAt }) => by.uid !== pod.metadata.uid || sentAt >= createdAt);
    const decidedAt = chain[0]?.sentAt ?? by.sentAt;
    const podsKnown = apiHistory.known.upTo(by.run, 'pods', decidedAt);
    const nodesKnown = apiHistory.known.upTo(by.run, 'nodes', decidedAt);
    const knowledge = `decided ${clockTime(decidedAt)}, sent ${clockTime(by.sentAt)}, knew pods up to ${clockTime(podsKnown)}, nodes up to ${clockTime(nodesKnown)}`;
    const report = (invariant: string, what: string): void =>
      this.evidence.report({
        invariant,
        at,
        evidence: `${nameOf(pod)}, run ${by.run}: ${what}; ${knowledge}`,
      });
    if (createdAt > podsKnown) {
      report('wrong uid', `created ${clockTime(createdAt)}, which was not known`);
      return;
    }
    if (this.evidence.pauses.covers(pod.spec.nodeName ?? '', decidedAt)) {
      report('evicts in a pause', 'deadlines stood still on its node');
    }
    const oldest = decidedAt - this.evidence.terms.cacheAgeMsMax;
    const decision = { run: by.run, decidedAt };
    const { policies, storedPauses, terms } = this.evidence;
    const isRead = !terms.clusterPolicies || storedPauses.isRead(by.run, decidedAt);
    if (!isRead || !policies.isKnown(by.run, decidedAt)) {
      report('evicts without the policies', 'it had not read them');
      return;
    }
    const verdicts = this.#verdicts(decision, states, [
      Math.min(podsKnown, Math.max(oldest, apiHistory.known.inTurnUpTo(by.run, 'pods', decidedAt))),
      Math.min(
        nodesKnown,
        Math.max(oldest, apiHistory.known.inTurnUpTo(by.run, 'nodes', decidedAt)),
      ),
      decidedAt,
    ]);
    const earliest = verdicts.reduce(clearer, nothing);
    if (earliest.deadline > decidedAt + this.evidence.terms.clockMs) {
      const { deadline, never } = earliest;
      const isLeft = earliest.drains.some(({ at }) => at <= decidedAt);
      if (never === null && isLeft) report('evicts beside a drain', 'its pods are left to it');
      else if (never === null) report('before its deadline', `deadline ${clockTime(deadline)}`);
      else if (never === 'paused')
        report('evicts in a pause', 'every pause that it may have known holds it');
      else if (never === 'kept')
        report('evicts what a policy keeps', 'every policy that it may have known keeps it');
      else if (never === 'tolerated') report('tolerates for ever', 'no deadline');
      else report('no taint', 'its node had no NoExecute taint that was still known');
      return;
    }
    this.#judgeDrains(decidedAt, chain, pod, verdicts, report);
    const nodes = verdicts.map(({ node }) => node);
    const dueAt = Math.min(...verdicts.map((verdict) => verdict.dueAt));
    const deletableAt = this.#deletableAt(decision, pod, dueAt, nodes);
    if (by.kind === 'deletePod' && decidedAt + this.evidence.terms.clockMs < deletableAt) {
      report('deletes too early', `budgets are asked until ${clockTime(deletableAt)}`);
    }
    const age = decidedAt - Math.min(podsKnown, nodesKnown);
    if (age > this.evidence.terms.cacheAgeMsMax) this.#judgeLook(chain, states, report);
  }

  /**
   * Checks that, where only drains have held a pod back, their nodes were read before and show no
   * sign of life.
   */
  #judgeDrains(
    decidedAt: number,
    chain: readonly Call[],
    { spec: { nodeName } }: KubeObject,
    verdicts: readonly Verdict[],
    report: (invariant: string, what: string) => void,
  ): void {
    if (verdicts.some(({ isFree }) => isFree)) return;
    const over = verdicts
      .flatMap(({ drains }) => drains)
      .filter(({ drain, at }) => Math.max(drain.until, at) <= decidedAt);
    const lookedAt = chain.find(({ kind }) => kind === 'readNode')?.servedAt ?? null;
    const hasStopped = ({ taint, drain: { heartbeat } }: Left): boolean =>
      lookedAt !== null && this.evidence.drains.isUnmoved(nodeName, lookedAt, taint, heartbeat);
    if (!over.some(hasStopped))
      report('evicts beside a drain', 'nobody looked whether it gives a sign of life');
  }

  /**
   * From when on a pod may be deleted that is due, by one of the taints that its node may have had: a
   * drain that had it until then has asked its budgets, or was to.
   */
  #deletableAt(
    { run, decidedAt }: Decision,
    pod: KubeObject,
    dueAt: number,
    nodes: readonly State[],
  ): number {
    const { policies } = this.evidence;
    const hasDeadline = nodes.some(({ object }) => object?.metadata.annotations?.[nodeDeadline]);
    const instants = nodes
      .flatMap(({ object: node }) =>
        noExecuteTaints(node).flatMap((taint) =>
          policies.inForce(run, decidedAt, { pod, node, taint }),
        ),
      )
      .map(({ mode, deleteAfterMs, keeps }) => {
        if (keeps) return Number.POSITIVE_INFINITY;
        if (mode === 'evict') return Number.POSITIVE_INFINITY;
        return mode === 'delete' || hasDeadline ? dueAt : dueAt + deleteAfterMs;
      });
    return Math.min(Number.POSITIVE_INFINITY, ...instants);
  }

  /** On an old view pod and node have to be looked at, and still speak for the eviction. */
  #judgeLook(
    chain: readonly Call[],
    states: readonly State[],
    report: (invariant: string, what: string) => void,
  ): void {
    const { history } = this.evidence;
    const lookedAt = chain.find(({ kind }) => kind === 'readNode')?.servedAt;
    if (lookedAt == null) {
      report('stale cache', 'nobody looked at pod and node before');
      return;
    }
    const seen = history.during(states, lookedAt, lookedAt);
    const stillDue = seen.some(({ object }) =>
      history
        .during(history.node(object?.spec.nodeName ?? ''), lookedAt, lookedAt)
        .some((node) => object && never(object, node) === null),
    );
    if (!stillDue) report('stale cache', `nothing spoke for it at ${clockTime(lookedAt)} any more`);
  }

  #verdicts(
    decision: Decision,
    states: readonly State[],
    [podsKnown, nodesKnown, decidedAt]: readonly [number, number, number],
  ): readonly Verdict[] {
    const { history } = this.evidence;
    return history.during(states, podsKnown, decidedAt).flatMap(({ object: pod }) => {
      const nodeName: string = pod?.spec.nodeName ?? '';
      if (!pod || nodeName === '') return [];
      const boundAt = states.find(({ object }) => object?.spec.nodeName === nodeName)?.at ?? 0;
      return history
        .during(history.node(nodeName), nodesKnown, decidedAt)
        .map((node) => this.#verdict(decision, pod, boundAt, node));
    });
  }

  #verdict(decision: Decision, pod: KubeObject, boundAt: number, node: State): Verdict {
    const { run, decidedAt } = decision;
    const { storedPauses, drains, terms } = this.evidence;
    const judged = noExecuteTaints(node.object).map((taint) => {
      const { namespace = '' } = pod.metadata;
      const subject = { node: node.object, taintKey: taint.key, namespace };
      const isPaused = terms.clusterPolicies && storedPauses.holds(run, decidedAt, subject);
      const at = this.#deadline(decision, pod, boundAt, node, taint);
      return { isPaused, at, taint, drain: drains.of(run, pod.spec.nodeName, node, taint) };
    });
    const running = judged.filter(({ isPaused, at }) => !isPaused && Number.isFinite(at));
    const left = running.flatMap((one) => (one.drain ? [{ ...one, drain: one.drain }] : []));
    const freeAt = ({ at, drain }: (typeof running)[number]): number =>
      Math.max(at, drain?.until ?? at);
    const deadline = Math.min(Number.POSITIVE_INFINITY, ...running.map(freeAt));
    const isFree = running.some(({ at, drain }) => !drain && at <= decidedAt + terms.clockMs);
    const counting = running.filter((one) => freeAt(one) <= decidedAt + terms.clockMs);
    const dueAt = Math.min(Number.POSITIVE_INFINITY, ...counting.map(({ at }) => at));
    const verdict = { deadline, dueAt, node, isFree, drains: left };
    const reason = never(pod, node);
    if (reason !== null || deadline < Number.POSITIVE_INFINITY)
      return { ...verdict, never: reason };
    const isHeld = judged.some(({ isPaused, at }) => isPaused && Number.isFinite(at));
    return { ...verdict, never: isHeld ? 'paused' : 'kept' };
  }

  /**
   * The earliest time at which the pod has to go for a taint, by any policy that may have been
   * known.
   */
  #deadline(
    { run, decidedAt }: Decision,
    pod: KubeObject,
    boundAt: number,
    node: State,
    taint: NoExecuteTaint,
  ): number {
    const { starts, policies, storedPauses } = this.evidence;
    const { nodeName } = pod.spec;
    const { namespace = '' } = pod.metadata;
    const subject = { node: node.object, taintKey: taint.key, namespace };
    const spans = storedPauses.heardSpans(run, decidedAt, subject);
    const came = givenBack(starts.earliestComing(run, nodeName, node, taint), spans);
    const earliest = starts.earliest(run, nodeName, node, taint);
    const inherited = starts.inherited(run, nodeName, node, taint, namespace);
    const start = givenBack(Math.max(earliest, inherited), spans);
    const bound = givenBack(boundAt, spans);
    const named = givenBack(Math.max(taint.timeAdded ?? start, inherited), spans);
    const deadlines = policies
      .inForce(run, decidedAt, { pod, node: node.object, taint })
      .map(({ minTaintAgeMs, keeps, isUpstream, defaultTolerationMs }) => {
        if (keeps) return Number.POSITIVE_INFINITY;
        const tolerated = toleratedMs(pod, taint, defaultTolerationMs);
        if (isUpstream) return Math.max(came, bound) + tolerated;
        // A pod that is given no time goes when the taint is there, whenever it was bound.
        if (tolerated === 0 && minTaintAgeMs === 0) return Math.min(start, named);
        const given = tolerated === 0 ? start : Math.max(start, bound);
        return Math.max(start + minTaintAgeMs, given + tolerated);
      });
    return Math.min(Number.POSITIVE_INFINITY, ...deadlines);
  }
}

const nothing: Verdict = {
  deadline: Number.POSITIVE_INFINITY,
  dueAt: Number.POSITIVE_INFINITY,
  node: { at: 0, object: null },
  never: 'untainted',
  isFree: false,
  drains: [],
};

/** The one with the earlier deadline; of two without, the one with a policy or toleration to show. */
function clearer(a: Verdict, b: Verdict): Verdict {
  if (a.deadline === b.deadline) return b.never === 'untainted' ? a : b;
  return b.deadline < a.deadline ? b : a;
}

function never(pod: KubeObject, { object }: State): Verdict['never'] {
  const taints = noExecuteTaints(object);
  if (taints.length === 0) return 'untainted';
  return taints.some((taint) => Number.isFinite(toleratedMs(pod, taint))) ? null : 'tolerated';
}

/** On a node: when it will be gone. Pods get no more time than is left. */
const deadlineAnnotation = 'taintmgr.dev/deadline';
const defaultSeconds = 30;

/**
 * A pod is given the grace period of the policy for the taint that makes it leave, else its own;
 * less, though never nothing, only where its node has a deadline.
 */
export class GraceChecker extends Checker<Evidence> {
  observe({ at, change: { resource, type, object, previous }, by }: ObservedChange): void {
    if (resource !== 'pods' || !by || !isRemoval(by) || !previous) return;
    if (previous.metadata.deletionTimestamp !== undefined) return;
    if (type !== 'DELETED' && object.metadata.deletionTimestamp === undefined) return;
    // Containers that have ended need no time to stop.
    if (['Succeeded', 'Failed'].includes(previous.status?.phase)) return;
    const given = type === 'DELETED' ? 0 : (object.metadata.deletionGracePeriodSeconds ?? 0);
    const own: number = previous.spec.terminationGracePeriodSeconds ?? defaultSeconds;
    const nodes = this.#nodesKnown(previous, by, at);
    const { gracePeriodSeconds } = this.evidence.terms;
    const allowed = [own, gracePeriodSeconds ?? own, ...this.#policySeconds(previous, by, nodes)];
    const hasDeadline = nodes.some((node) => node.metadata.annotations?.[deadlineAnnotation]);
    const isAllowed =
      allowed.includes(given) || (hasDeadline && given >= 1 && given <= Math.max(...allowed));
    if (isAllowed) return;
    const { namespace, name } = previous.metadata;
    const evidence = `pod ${namespace}/${name} was given ${given} s at ${clockTime(at)}, where ${allowed.join(' or ')} s are promised; run ${by.run}`;
    this.evidence.report({ invariant: 'grace period', at, evidence });
  }

  /** The pod's node in all the states that the client may have gone by. */
  #nodesKnown(pod: KubeObject, by: Call, at: number): readonly KubeObject[] {
    const { history, apiHistory, terms } = this.evidence;
    const decidedAt = apiHistory.calls.chainOf(by)[0]?.sentAt ?? by.sentAt;
    const known = apiHistory.known.inTurnUpTo(by.run, 'nodes', decidedAt);
    const from = Math.min(known, decidedAt - terms.cacheAgeMsMax);
    const states = history.during(history.node(pod.spec.nodeName ?? ''), from, at);
    return states.flatMap(({ object }) => object ?? []);
  }

  #policySeconds(pod: KubeObject, by: Call, nodes: readonly KubeObject[]): readonly number[] {
    const { policies, apiHistory } = this.evidence;
    const decidedAt = apiHistory.calls.chainOf(by)[0]?.sentAt ?? by.sentAt;
    return nodes.flatMap((node) =>
      noExecuteTaints(node)
        .flatMap((taint) => policies.inForce(by.run, decidedAt, { pod, node, taint }))
        .flatMap(({ gracePeriodSeconds }) => gracePeriodSeconds ?? []),
    );
  }
}

/** Changes of health that the budget's status may not show yet. */
const statusLagMs = 1000;

/** True if the budget covers this pod. */
export function selectedBy(budget: KubeObject, pod: KubeObject): boolean {
  return isSelected(budget.spec.selector, pod);
}

/**
 * With mode `evict`, no eviction takes the healthy pods of a budget below its minimum. Counted from
 * the pods themselves, not from the budget's status, which follows after a moment.
 */
export class BudgetChecker extends Checker<Evidence> {
  /** When the health of a pod last changed but by an eviction, by namespace. */
  readonly #shakenAt = new Map<string, number>();

  observe({ at, change, by }: ObservedChange): void {
    const { resource, object, previous, type } = change;
    const { namespace = '' } = object.metadata;
    const shakes = resource === 'pods' || resource === 'poddisruptionbudgets';
    if (!shakes || (resource !== 'pods' && by)) return;
    const healthyAfter = type !== 'DELETED' && resource === 'pods' && isHealthy(object);
    const healthyBefore = resource === 'pods' && previous !== null && isHealthy(previous);
    const isEviction = by !== null && isRemoval(by) && healthyBefore && !healthyAfter;
    const asks = isEviction && previous && this.#asksBudgets(at, previous, by);
    if (asks) this.#judge(at, previous);
    const isSpec =
      resource !== 'pods' && previous?.metadata.generation !== object.metadata.generation;
    if (!asks && (isSpec || healthyBefore !== healthyAfter)) this.#shakenAt.set(namespace, at);
  }

  /**
   * True if each taint that the client may have acted on lets its pods go only within the budgets.
   */
  #asksBudgets(at: number, pod: KubeObject, { run, sentAt }: Call): boolean {
    const { history, terms, apiHistory, policies } = this.evidence;
    if (terms.policies.length === 0 && !terms.clusterPolicies) return terms.mode === 'evict';
    const known = apiHistory.known.inTurnUpTo(run, 'nodes', sentAt);
    const states = history.during(history.node(pod.spec.nodeName ?? ''), known, at);
    return states.every(({ object: node }) =>
      noExecuteTaints(node)
        .flatMap((taint) => policies.inForce(run, sentAt, { pod, node, taint }))
        .every(({ mode }) => mode === 'evict'),
    );
  }

  #judge(at: number, pod: KubeObject): void {
    const { report } = this.evidence;
    const { namespace = '', name } = pod.metadata;
    if (at - (this.#shakenAt.get(namespace) ?? 0) < statusLagMs) return;
    for (const budget of this.evidence.api.list('poddisruptionbudgets', namespace)) {
      if (!selectedBy(budget, pod)) continue;
      const pods = this.evidence.api.list('pods', namespace);
      const left = pods.filter((one) => selectedBy(budget, one) && isHealthy(one)).length;
      const { desiredHealthy = 0 } = budget.status ?? {};
      if (left >= desiredHealthy) continue;
      const evidence = `pod ${namespace}/${name} left ${left} healthy pods where budget ${budget.metadata.name} needs ${desiredHealthy}`;
      report({ invariant: 'budget overdrawn', at, evidence });
    }
  }
}

function isHealthy(pod: KubeObject): boolean {
  return isReady(pod) && !isTerminating(pod);
}
