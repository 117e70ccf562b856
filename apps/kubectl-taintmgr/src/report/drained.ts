// Pods that leave because of a drain whose taint nobody else evicts for.
import {
  type Decision,
  formatTaint,
  type Node,
  type Reason,
  type Taint,
  type WorkingDrain,
} from '@taintmgr/core';
import { drainStaleMs } from '@taintmgr/core/drain';
import { type Instant, parseTime } from '@taintmgr/core/time';
import type { DrainMark } from '@taintmgr/k8s-adapter/drain';
import { drainedBy } from '../cluster/drain-marks.ts';
import type { NodeFacts, PodFacts } from '../cluster/facts.ts';

/** The drains that make pods leave a node, and the node as though their taints were NoExecute. */
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

  /** A drain judges pods as though its taint were NoExecute, whatever its effect is. */
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

/** Whether a reason says what the pod tolerates. */
function isByTolerations(reason: Reason): reason is Extract<Reason, { asExecuted?: true }> {
  return ['NoToleration', 'TolerationExpires', 'ToleratedForever'].includes(reason.code);
}

function executed(taint: Taint): Taint {
  return { ...taint, effect: 'NoExecute' };
}

/** Whether a drain makes the pod go, and nobody else, be it after a pause. */
export function isByDrain({ because }: Pick<Decision, 'because'>): boolean {
  const decisive = because.find(({ code }) => code !== 'Paused');
  return decisive !== undefined && 'asExecuted' in decisive && decisive.asExecuted === true;
}
