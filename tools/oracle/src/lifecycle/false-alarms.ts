import type { KubeObject } from '@taintmgr/sim-cluster';
import type { Call } from '../call.ts';
import { Checker } from '../checker.ts';
import type { ObservedChange } from '../object-history.ts';
import { isReady, keyOf } from '../objects.ts';
import { clockTime } from '../terms.ts';
import type { LifecycleEvidence } from './evidence.ts';
import { readinessOf, unhealthyTaints } from './node-rule.ts';

/**
 * The checker of false alarms: nothing is done against a node with a heartbeat. Judged by what the
 * client could know when it began; what is older than the age that a view may have it has to know.
 */
export class FalseAlarmChecker extends Checker<LifecycleEvidence> {
  observe({ at, change: { type, resource, object, previous }, by }: ObservedChange): void {
    if (!by || !previous || type === 'DELETED') return;
    if (resource === 'nodes') {
      const readiness = readinessOf(previous);
      if (readiness !== 'Unknown' && readinessOf(object) === 'Unknown') {
        this.#judgeUnknown(at, previous, by);
      }
      const before = unhealthyTaints(previous);
      const added = unhealthyTaints(object).filter((key) => !before.includes(key));
      if (added.length > 0 && this.#wasHealthy(previous.metadata.name, by, at)) {
        this.#report('healthy node tainted', at, by, `node ${previous.metadata.name} got ${added}`);
      }
    }
    if (resource === 'pods' && isReady(previous) && !isReady(object)) {
      const nodeName: string = previous.spec.nodeName ?? '';
      if (this.#wasHealthy(nodeName, by, at)) {
        this.#report('pod of healthy node marked', at, by, `pod ${keyOf(previous)} on ${nodeName}`);
      }
    }
  }

  #judgeUnknown(at: number, node: KubeObject, by: Call): void {
    const { heartbeats, terms } = this.evidence;
    const { name } = node.metadata;
    const began = this.evidence.apiHistory.calls.begunAt(by);
    const grace =
      readinessOf(node) === 'absent' ? terms.nodeStartupGraceMs : terms.nodeMonitorGraceMs;
    for (const source of ['nodes', 'leases'] as const) {
      const last = heartbeats.last(name, this.#knownUpTo(by, source, began), source);
      if (began - last >= grace) continue;
      const what = `node ${name} goes Unknown; last heartbeat ${clockTime(last)} (${source})`;
      this.#report('false Unknown', at, by, what);
      return;
    }
  }

  /** Whether everything the client can have acted on said that the node is healthy. */
  #wasHealthy(nodeName: string, by: Call, at: number): boolean {
    const { history, terms, apiHistory } = this.evidence;
    const known = this.#knownUpTo(by, 'nodes', apiHistory.calls.begunAt(by));
    const states = history.during(history.node(nodeName), known - terms.lagMs, at);
    const alive = states.filter(({ object }) => object !== null);
    return (
      alive.length > 0 &&
      alive.every(({ object }) => !['False', 'Unknown'].includes(readinessOf(object)))
    );
  }

  /** As of when it knew the source, or had to know it. */
  #knownUpTo({ run }: Call, source: 'nodes' | 'leases', began: number): number {
    const { apiHistory, terms } = this.evidence;
    const known = apiHistory.known.inTurnUpTo(run, source, began);
    // It may not have received what happens at the very instant at which it is cut off.
    const received = known < began ? known - 1 : known;
    return Math.max(received, began - terms.cacheAgeMsMax);
  }

  #report(invariant: string, at: number, by: Call, what: string): void {
    const { report, apiHistory } = this.evidence;
    const began = clockTime(apiHistory.calls.begunAt(by));
    report({ invariant, at, evidence: `${what}; run ${by.run}, begun ${began}` });
  }
}
