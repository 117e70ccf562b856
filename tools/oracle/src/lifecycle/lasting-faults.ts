// The checker of lasting faults: in the end every node has the conditions and taints it should
// have.

import type { KubeObject } from '@taintmgr/sim-cluster';
import { Checker } from '../checker.ts';
import { clockTime } from '../terms.ts';
import type { LifecycleEvidence } from './evidence.ts';
import {
  areConditionTaintsRight,
  hasWrongUnhealthyTaint,
  readinessOf,
  unhealthyTaints,
} from './node-rule.ts';

/** A node at one instant. */
interface Look {
  readonly node: KubeObject;
  /** Whether it has had no heartbeat for longer than its grace period. */
  readonly isUnheard: boolean;
}

/** What may not last, with the name of the invariant. */
const faults: readonly (readonly [invariant: string, holds: (look: Look) => boolean])[] = [
  [
    'unreachable node not Unknown',
    ({ node, isUnheard }) => isUnheard && readinessOf(node) !== 'Unknown',
  ],
  [
    'healthy node stays tainted',
    ({ node, isUnheard }) =>
      !isUnheard && readinessOf(node) === 'True' && unhealthyTaints(node).length > 0,
  ],
  ['wrong taint of an unhealthy node', ({ node }) => hasWrongUnhealthyTaint(node)],
  ['condition taints', ({ node }) => !areConditionTaintsRight(node)],
];

/** Nothing that the client has to set right on a node stays as it is beyond the bound. */
export class LastingFaultChecker extends Checker<LifecycleEvidence> {
  /** Judges the undisturbed time from `calmSince` to `now`. */
  atRest(calmSince: number, now: number): void {
    for (const nodeName of this.evidence.history.nodeNames) {
      const looks = this.#looks(nodeName, calmSince, now);
      for (const [invariant, holds] of faults) this.#judge(invariant, holds, nodeName, looks, now);
    }
  }

  #judge(
    invariant: string,
    holds: (look: Look) => boolean,
    nodeName: string,
    looks: readonly (readonly [at: number, look: Look | null])[],
    now: number,
  ): void {
    const { terms, report } = this.evidence;
    let since: number | null = null;
    for (const [index, [at, look]] of looks.entries()) {
      const isWrong = look !== null && holds(look);
      const until = looks[index + 1]?.[0] ?? now;
      if (!isWrong) since = null;
      else since ??= at;
      if (since === null || until - since <= terms.boundMs) continue;
      const evidence = `node ${nodeName}, since ${clockTime(since)}`;
      report({ invariant, at: since + terms.boundMs, evidence });
      return;
    }
  }

  /** The node at each instant at which something about it changes. */
  #looks(
    nodeName: string,
    from: number,
    to: number,
  ): readonly (readonly [at: number, look: Look | null])[] {
    const { history, heartbeats, terms } = this.evidence;
    const states = history.node(nodeName);
    const graces = [terms.nodeMonitorGraceMs, terms.nodeStartupGraceMs];
    const beats = [from, ...heartbeats.during(nodeName, from, to)];
    const instants = new Set([
      from,
      ...states.map(({ at }) => at).filter((at) => at > from && at <= to),
      ...beats,
      ...beats.flatMap((at) => graces.map((grace) => at + grace + 1)).filter((at) => at <= to),
    ]);
    return [...instants]
      .sort((a, b) => a - b)
      .map((at) => {
        const node = states.findLast((state) => state.at <= at)?.object ?? null;
        return [at, node && { node, isUnheard: this.#isUnheard(node, from, at) }];
      });
  }

  #isUnheard(node: KubeObject, calmSince: number, at: number): boolean {
    const { heartbeats, terms, zones } = this.evidence;
    const isNew = readinessOf(node) === 'absent';
    const grace = isNew ? terms.nodeStartupGraceMs : terms.nodeMonitorGraceMs;
    // While no node at all was ready no heartbeats could be expected; all begin anew afterwards.
    const lastBeat = Math.max(
      heartbeats.last(node.metadata.name, at),
      zones.lastExit(at),
      calmSince,
    );
    return at - lastBeat > grace;
  }
}
