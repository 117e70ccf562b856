// The effect of drains at work on the pods that are left to them.
import {
  type Decision,
  type Event,
  formatTaint,
  type Node,
  type Reason,
  type Taint,
  type WorkingDrain,
} from '@taintmgr/core';
import {
  type DrainConfig,
  drainBudgetsOf,
  drainStaleMs,
  type PlanInput,
  type PlannedPod,
  planDrain,
  resolveDrainConfig,
} from '@taintmgr/core/drain';
import { type BudgetPolicy, type NodeDrain, plainDrainSpec } from '@taintmgr/core/policy';
import { type Instant, parseTime } from '@taintmgr/core/time';
import { type DrainMark, isAtWork, readMarks } from '../drain/marks.ts';
import { drainedBy } from '../survey/drained-nodes.ts';
import type { Evictor } from '../survey/evictors.ts';
import type { NodeFacts, PodFacts } from '../survey/facts.ts';
import { type ClusterPolicies, policyEvents } from '../survey/policies.ts';

interface Plan {
  /** By uid. */
  readonly planned: ReadonlyMap<string, PlannedPod>;
  readonly config: DrainConfig;
}

/** The pods and drains on nodes. */
interface Site {
  readonly now: Instant;
  readonly nodes: readonly NodeFacts[];
  readonly pods: readonly PodFacts[];
  readonly policies: ClusterPolicies;
  /** The NodeDrains at work; of other drains only the marks are known. Left out: none. */
  readonly nodeDrains?: readonly NodeDrain[] | undefined;
  /** True when tolerations with Lt and Gt count. */
  readonly comparisonOperators: boolean;
  /** Keeps its last ready replica; left out: no replica is kept. */
  readonly own?: PlanInput['own'];
}

/** A drain at work on a node. */
export interface ActingDrain {
  readonly id: string;
  /** The program that runs it; '': unknown. */
  readonly by: string;
}

/**
 * True when other evictors leave the pods of a working drain's taints to it: none evicts, or they
 * respect it.
 */
export function leavesToDrains({ heedsDrains, name }: Evictor): boolean {
  return heedsDrains === true || name === 'nobody';
}

/**
 * The drains with a NoExecute taint that make pods of a node leave, in the place of any other
 * evictor.
 */
export function drainsInstead(
  now: Instant,
  { node, annotations }: NodeFacts,
  evictor: Evictor,
): readonly ActingDrain[] {
  if (!leavesToDrains(evictor)) return [];
  const names = new Set(node.taints.map(formatTaint));
  return readMarks(annotations).filter((mark) => {
    return names.has(formatTaint(mark.taint)) && isAtWork(mark, now) && isExecuted(mark.taint);
  });
}

/** A drain's decision on a pod, and its budget policy. */
interface DrainDecision {
  readonly decision: Decision;
  readonly budgets: BudgetPolicy;
}

/** Plans each such drain as it plans itself; of drains by drain-by-taint the marks do not say the flags. */
export class LeftToDrains {
  readonly #site: Site;
  readonly #policies: readonly Event[];
  /** By drain and taint. */
  readonly #plans = new Map<string, Plan>();

  constructor(site: Site) {
    this.#site = site;
    this.#policies = policyEvents(site.policies);
  }

  /**
   * The decision of the drain to which the engine leaves a pod; null: none, or later than the
   * engine's.
   */
  decisionOn({ pod }: PodFacts, engineSays: Decision): Decision | null {
    const left = engineSays.because.find(isLeft);
    const planned = left && this.#planFor(left.taint, pod.nodeName).planned.get(pod.uid);
    if (!planned) return null;
    const decision = decisionIn(planned);
    return decision && isFirst(decision, engineSays) ? decision : null;
  }

  /**
   * The decision of the drains on a pod for whose taints no other program evicts. The times of
   * policies do not count there, and finished pods leave too, also those of DaemonSets. Null: no
   * such drain has a say. Only the engine knows the age of a taint that does not name its start.
   */
  decisionBeside({ pod }: PodFacts, engineSays: Decision): DrainDecision | null {
    const { kind, because } = engineSays;
    if (kind === 'keep' && !mayGoByDrain(because[0])) return null;
    const decisive = because.find(({ code }) => !isNote(code));
    const found = because.flatMap((reason): readonly DrainDecision[] => {
      if (!isOfDrain(reason) || reason.taint.timeAdded === null) return [];
      const { planned, config } = this.#planFor(reason.taint, pod.nodeName);
      const one = planned.get(pod.uid);
      const decision = one ? (keptIn(one) ?? decisionIn(one)) : null;
      if (!decision || (reason !== decisive && !isFirst(decision, engineSays))) return [];
      return [{ decision, budgets: drainBudgetsOf(config.spec) }];
    });
    return found.reduce<DrainDecision | null>((first, one) => {
      return first === null || isFirst(one.decision, first.decision) ? one : first;
    }, null);
  }

  #planFor(taint: Taint, nodeName: string): Plan {
    const name = formatTaint(taint);
    const on = this.#site.nodes.find(({ node }) => node.name === nodeName)?.node.drains ?? [];
    const { id = '' } = on.find((one) => one.taint === name) ?? {};
    const key = `${id} ${name}`;
    const plan = this.#plans.get(key) ?? this.#plan(taint, id);
    this.#plans.set(key, plan);
    return plan;
  }

  #plan(taint: Taint, id: string): Plan {
    const { now, nodes, nodeDrains = [], own, comparisonOperators } = this.#site;
    const name = formatTaint(taint);
    const drained = nodes.filter(({ node }) =>
      node.drains?.some((one) => one.id === id && one.taint === name),
    );
    const names = new Set(drained.map(({ node }) => node.name));
    const object = nodeDrains.find(
      (one) => one.name === id && formatTaint(one.spec.taint) === name,
    );
    const { key, value, effect } = taint;
    const marked = { key, value, effect: effect === 'NoExecute' ? effect : 'NoSchedule' } as const;
    const asked = object?.spec ?? { ...plainDrainSpec, taint: marked };
    const pods = { ...asked.pods, withoutController: true, withEmptyDir: true };
    const config = resolveDrainConfig({
      ...{ spec: { ...asked, pods }, leavesDaemonSets: true, comparisonOperators },
    });
    const plan = planDrain(now, {
      config,
      nodes: drained.map(({ node }) => node),
      pods: this.#site.pods.filter(({ pod }) => names.has(pod.nodeName)),
      policies: this.#policies,
      budgets: [],
      nodeAnswers: () => null,
      ...(own && { own }),
      begunAt: (nodeName) => {
        const on = drained.find(({ node }) => node.name === nodeName)?.node.taints ?? [];
        return on.find((one) => formatTaint(one) === name)?.timeAdded ?? null;
      },
    });
    return { planned: new Map(plan.pods.map((one) => [one.pod.uid, one])), config };
  }
}

/** True where the engine keeps a pod that the drain may take by its own rules. */
function mayGoByDrain(reason: Reason | undefined): boolean {
  return reason?.code === 'ReturningDaemonSetPod' || reason?.code === 'ToleratedForever';
}

/** The drain's decision to keep a pod, and why; null: it does not keep it. */
function keptIn({ pod: { phase }, fate, because }: PlannedPod): Decision | null {
  if (fate.kind !== 'keep') return null;
  // A pod that was given time to finish is left where it is once it has finished.
  const isDone = because.some((reason) => 'start' in reason);
  return { kind: 'keep', because: isDone ? [{ code: 'Finished', phase }, ...because] : because };
}

/** The plan as a decision; null: the drain leaves the pod where it is. */
function decisionIn({ fate, because }: PlannedPod): Decision | null {
  if (because[0]?.code === 'LastReplica') return { kind: 'keep', because };
  if (fate.kind === 'evict') return { kind: 'evict', deadline: fate.at, because };
  const timed = because.find((reason) => 'start' in reason);
  const hold = because.find((reason) => reason.code === 'Paused');
  if (fate.kind !== 'hold' || !timed || !hold) return null;
  const remaining = timed.deadline - Math.max(hold.since, timed.start);
  return { kind: 'pause', remaining, because };
}

/** True when a drain comes before the engine's eviction for other taints. */
function isFirst(drain: Decision, engine: Decision): boolean {
  if (engine.kind === 'keep') return true;
  if (drain.kind !== 'evict') return false;
  return engine.kind !== 'evict' || drain.deadline < engine.deadline;
}

/** True when a reason is the taint of a drain, by which the engine would not evict. */
function isOfDrain(reason: Reason): reason is Extract<Reason, { asExecuted?: true }> {
  return 'asExecuted' in reason && reason.asExecuted === true;
}

/** True when a reason says why a pod waits or stays that would leave by the next one. */
function isNote(code: Reason['code']): boolean {
  return code === 'Paused' || code === 'ReturningDaemonSetPod';
}

type Left = Extract<Reason, { code: 'LeftToDrain' | 'NotTakenOver' }>;

/**
 * True when the engine leaves the pod to a drain. Where its namespace is not taken over it leaves
 * it to kube-controller-manager, which does nothing for a taint of another effect: only a drain
 * does.
 */
function isLeft(reason: Reason): reason is Left {
  if (reason.code === 'NotTakenOver') return !isExecuted(reason.taint);
  return reason.code === 'LeftToDrain';
}

function isExecuted({ effect }: Taint): boolean {
  return effect === 'NoExecute';
}

/** The drains that make pods leave a node, and the node as if their taints were NoExecute. */
export class Drained {
  readonly #marks: readonly DrainMark[];

  readonly #working: readonly WorkingDrain[];

  /** `isHeeded`: the controller that acts leaves pods to drains that are at work. */
  constructor(facts: NodeFacts, now: Instant, isHeeded: boolean) {
    this.#marks = drainedBy(facts, now);
    const { drains = [] } = facts.node;
    this.#working = drains.filter(({ heartbeat }) => {
      return isHeeded && now - (parseTime(heartbeat) ?? 0) < drainStaleMs;
    });
  }

  /** The node with the drains to which the controller that acts leaves pods. */
  leaving({ drains: _, ...bare }: Node): Node {
    return { ...bare, ...(this.#working.length > 0 && { drains: this.#working }) };
  }

  /** A drain judges pods as if its taint were NoExecute, regardless of its effect. */
  node(given: Node): Node {
    const node = this.leaving(given);
    if (this.#marks.length === 0) return node;
    const taints = node.taints.map((taint) => (this.#isMarked(taint) ? executed(taint) : taint));
    return { ...node, taints };
  }

  /** A decision on such a node with its taints as they are. */
  decision(decision: Decision, { pod }: PodFacts): Decision {
    if (this.#marks.length === 0) return decision;
    const because = decision.because.map((reason) => this.#asGiven(reason));
    if (!isByDrain({ because })) return { ...decision, because };
    // A drain leaves these: a successor would come straight back.
    const stays = pod.owner?.kind === 'DaemonSet' && decision.kind !== 'keep';
    return stays
      ? { kind: 'keep', because: [{ code: 'ReturningDaemonSetPod' }, ...because] }
      : { ...decision, because };
  }

  /** The taint with the effect that it has; its time is its own, and not when the drain had put it on. */
  taint(taint: Taint): Taint {
    const mark = this.#markOf(taint);
    return mark ? { ...mark.taint, timeAdded: taint.timeAdded } : taint;
  }

  #asGiven(reason: Reason): Reason {
    if (!('taint' in reason)) return reason;
    if (!this.#markOf(reason.taint)) return reason;
    const taint = this.taint(reason.taint);
    return isByTolerations(reason) ? { ...reason, taint, asExecuted: true } : { ...reason, taint };
  }

  #isMarked(taint: Taint): boolean {
    return this.#marks.some((mark) => formatTaint(mark.taint) === formatTaint(taint));
  }

  #markOf(taint: Taint): DrainMark | undefined {
    return this.#marks.find((mark) => formatTaint(executed(mark.taint)) === formatTaint(taint));
  }
}

/** True when a reason names the pod's tolerations. */
function isByTolerations(reason: Reason): reason is Extract<Reason, { asExecuted?: true }> {
  return ['NoToleration', 'TolerationExpires', 'ToleratedForever'].includes(reason.code);
}

function executed(taint: Taint): Taint {
  return { ...taint, effect: 'NoExecute' };
}

/** True when only a drain makes the pod leave, even after a pause. */
export function isByDrain({ because }: Pick<Decision, 'because'>): boolean {
  const decisive = because.find(({ code }) => code !== 'Paused');
  return decisive !== undefined && 'asExecuted' in decisive && decisive.asExecuted === true;
}
