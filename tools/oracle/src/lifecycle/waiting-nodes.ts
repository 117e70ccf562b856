// The checker of waiting nodes: none waits longer for its taint than its zone allows.
import { Checker } from '../checker.ts';
import { clockTime } from '../terms.ts';
import type { LifecycleEvidence } from './evidence.ts';
import { readinessOf, unhealthyTaints } from './node-rule.ts';
import { zoneOf } from './zones.ts';

/** A time in which an unhealthy node had no NoExecute taint. */
interface Wait {
  readonly nodeName: string;
  readonly zone: string;
  readonly from: number;
  readonly to: number;
}

/**
 * An unhealthy node gets its NoExecute taint when its zone has let through as many nodes as were waiting
 * with it: later only by the bound. A zone that stands still lets nobody through.
 */
export class WaitingNodeChecker extends Checker<LifecycleEvidence> {
  /** Judges the undisturbed time from `calmSince` to `now`. */
  atRest(calmSince: number, now: number): void {
    const { terms, zones, report, history } = this.evidence;
    const waits = history.nodeNames.flatMap((name) => this.#waits(name, calmSince, now));
    for (const { nodeName, zone, from, to } of waits) {
      const company = waits.filter(
        (wait) => wait.zone === zone && wait.from <= to && wait.to >= from,
      ).length;
      const passed = zones.inflowMin(zone, from, to - terms.boundMs, terms.lagMs);
      if (passed < company * terms.tokensPerNode) continue;
      const evidence = `node ${nodeName}, unhealthy since ${clockTime(from)}, one of ${company} in zone ${JSON.stringify(zone)}, whose rates let through ${passed}`;
      report({ invariant: 'unhealthy node not tainted', at: to, evidence });
    }
  }

  #waits(nodeName: string, calmSince: number, now: number): readonly Wait[] {
    const states = this.evidence.history.node(nodeName);
    const waits: Wait[] = [];
    let current: { readonly zone: string; readonly from: number } | null = null;
    const end = (at: number): void => {
      if (current && at > calmSince) {
        waits.push({ nodeName, ...current, from: Math.max(current.from, calmSince), to: at });
      }
      current = null;
    };
    for (const { at, object } of states) {
      const isUnhealthy = ['False', 'Unknown'].includes(readinessOf(object));
      const zone = object ? zoneOf(object) : '';
      const waiting = isUnhealthy && unhealthyTaints(object).length === 0;
      if (!waiting || (current !== null && zone !== (current as { zone: string }).zone)) end(at);
      if (waiting) current ??= { zone, from: at };
    }
    end(now);
    return waits;
  }
}
