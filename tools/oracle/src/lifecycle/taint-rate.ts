// The checkers of taint rates: nodes are tainted neither faster nor later than their zone allows.
import type { Call, CallKind } from '../call.ts';
import { Checker } from '../evidence.ts';
import type { ObservedChange } from '../object-history.ts';
import { clockTime } from '../terms.ts';
import type { LifecycleEvidence } from './lifecycle-evidence.ts';
import { readinessOf, unhealthyTaints } from './node-rule.ts';
import { zoneOf } from './zones.ts';

/** A node that the client took for unhealthy. */
interface Tainting {
  readonly run: number;
  readonly zone: string;
  readonly nodeName: string;
  /** When it was begun. */
  readonly at: number;
}

/** The requests that lead to a write of a node's conditions. */
const writing: readonly CallKind[] = ['readNode', 'readLease', 'changeNodeStatus'];
/** The longest wait before a write that failed is tried again. */
const retryMsMax = 30_000;

/**
 * In any span of time no more nodes of a zone get a NoExecute taint of an unhealthy node than the rates of
 * the states that the zone was in let through, and none where the zone stands still. To change one
 * such taint for the other costs nothing. A restarted client begins with a full bucket, and looks at
 * the zones as if they were normal.
 */
export class TaintRateChecker extends Checker<LifecycleEvidence> {
  readonly #taintings: Tainting[] = [];

  observe({ change: { type, resource, object, previous }, by }: ObservedChange): void {
    if (!by || !previous || resource !== 'nodes' || type === 'DELETED') return;
    if (unhealthyTaints(previous).length > 0 || unhealthyTaints(object).length === 0) return;
    const at = this.evidence.apiHistory.calls.begunAt(by);
    const { name: nodeName } = object.metadata;
    this.#taintings.push({ run: by.run, zone: zoneOf(previous), nodeName, at });
  }

  /** Called once, when everything is over. */
  atEnd(): void {
    const { terms, zones } = this.evidence;
    const buckets = new Map<string, { tokens: number; at: number }>();
    const slack = this.#slackMs;
    for (const tainting of [...this.#taintings].sort((a, b) => a.at - b.at)) {
      const { run, zone, at } = tainting;
      if (!this.#isOpen(tainting)) {
        this.#report('tainted in a stopped zone', tainting, 'where the zone stands still');
        continue;
      }
      const key = `${run}/${zone}`;
      const before = buckets.get(key) ?? { tokens: terms.burst, at };
      const inflow =
        zones.inflowMax(zone, before.at, at, slack) + this.#inflowUnseen(tainting, before.at);
      const tokens = Math.min(terms.burst, before.tokens + inflow) - 1;
      if (tokens < -0.001) this.#report('taint rate', tainting, `with ${tokens + 1} tokens`);
      buckets.set(key, { tokens: Math.max(0, tokens), at });
    }
  }

  /**
   * A zone is as the client sees it: a node whose conditions it could not write yet is unhealthy to it,
   * which may have let through nodes that the state of the zone in the API would not.
   */
  #inflowUnseen({ run, zone, at: to }: Tainting, from: number): number {
    const { history, terms, apiHistory } = this.evidence;
    const { nodeEvictionRate, secondaryNodeEvictionRate, fullDisruptionRate } = terms;
    const rateMax = Math.max(nodeEvictionRate, secondaryNodeEvictionRate, fullDisruptionRate);
    const isOfZone = ({ target }: Call): boolean =>
      history.node(target).some(({ object }) => object !== null && zoneOf(object) === zone);
    const unwritten = apiHistory.calls.all.filter(
      (call) =>
        call.run === run &&
        writing.includes(call.kind) &&
        !isAnsweredAtOnce(call) &&
        isOfZone(call),
    );
    const spans = unwritten.map(({ sentAt, endedAt }) => {
      const end = (endedAt ?? Number.POSITIVE_INFINITY) + retryMsMax;
      return Math.max(0, Math.min(to, end) - Math.max(from, sentAt));
    });
    const ms = spans.reduce((sum, span) => sum + span, 0);
    return (rateMax * Math.min(to - from, ms)) / 1000;
  }

  get #slackMs(): number {
    const { lagMs, cacheAgeMsMax } = this.evidence.terms;
    return lagMs + cacheAgeMsMax;
  }

  #isOpen(tainting: Tainting): boolean {
    const { run, zone, at } = tainting;
    const { zones, apiHistory } = this.evidence;
    // A client that was suspended sees the zones as they were before, when it resumes.
    const from = Math.min(at - this.#slackMs, apiHistory.known.upTo(run, 'nodes', at));
    if (apiHistory.known.firstAt(run) >= from || zones.wasOpen(zone, from, at)) return true;
    return Number.isFinite(from) && this.#inflowUnseen(tainting, from) > 0;
  }

  #report(invariant: string, { run, zone, nodeName, at }: Tainting, what: string): void {
    const evidence = `node ${nodeName} of zone ${JSON.stringify(zone)} tainted at ${clockTime(at)} ${what}; run ${run}`;
    this.evidence.report({ invariant, at, evidence });
  }
}

function isAnsweredAtOnce({ succeeded, sentAt, endedAt }: Call): boolean {
  return succeeded && endedAt === sentAt;
}

/** A time in which an unhealthy node had no NoExecute taint. */
interface Wait {
  readonly nodeName: string;
  readonly zone: string;
  readonly from: number;
  readonly to: number;
}

/**
 * An unhealthy node gets its NoExecute taint when its zone has let through as many nodes as were
 * waiting with it: later only by the bound. A zone that stands still lets no node through.
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
