// The checker of eviction rates.

import type { Call, CallKind } from './call.ts';
import { Checker } from './checker.ts';
import type { Evidence } from './evidence.ts';
import { mayBeLate } from './lateness.ts';
import { scopeOf } from './scope.ts';
import { clockTime, type RateTerm, type Violation } from './terms.ts';

const removing: readonly CallKind[] = ['markPod', 'deletePod', 'evictPod'];

/** One eviction that began: the first time a run sent for this pod. */
interface Beginning {
  readonly run: number;
  readonly at: number;
  readonly uid: string;
}

/**
 * In any span of time no more pods begin to be evicted than the burst and the rate allow: what a
 * full bucket and its inflow would have let through. A restarted client begins with a full one.
 */
export class EvictionRateChecker extends Checker<Evidence> {
  /** Called once, when everything is over. */
  atEnd(): void {
    const { rates } = this.evidence.terms;
    if (rates.length === 0) return;
    // A look names no uid: right after a gap it may have been meant for an earlier pod of the name.
    const { apiHistory } = this.evidence;
    const readings = [
      this.#beginnings((run, at) => apiHistory.known.upTo(run, 'pods', at)),
      this.#beginnings((run, at) => apiHistory.known.inTurnUpTo(run, 'pods', at)),
    ];
    for (const rate of rates) {
      const findings = readings.map((beginnings) => this.#excess(rate, beginnings));
      const [finding] = findings;
      if (finding && findings.every((one) => one !== null)) this.evidence.report(finding);
    }
  }

  /** The first requests, reads of a pod that was known among them. */
  #beginnings(known: (run: number, at: number) => number): readonly Beginning[] {
    const first = new Map<string, Beginning>();
    for (const call of this.evidence.apiHistory.calls.all) {
      const { kind, run, uid } = call;
      if (!removing.includes(kind) || uid === null || first.has(`${run}/${uid}`)) continue;
      first.set(`${run}/${uid}`, { run, at: this.#begunAt(call, uid, known), uid });
    }
    return [...first.values()].sort((a, b) => a.run - b.run || a.at - b.at);
  }

  /** When the first look was sent that this removal rests on, or the removal itself. */
  #begunAt(removal: Call, uid: string, known: (run: number, at: number) => number): number {
    const calls = this.evidence.apiHistory.calls.all;
    const createdAt = this.evidence.history.pod(uid)[0]?.at ?? Number.POSITIVE_INFINITY;
    const before = calls
      .slice(0, calls.indexOf(removal))
      .filter(({ run, target }) => run === removal.run && target === removal.target);
    // Looks before it were at an earlier pod of this name, or to mark the pod as not ready.
    const removedOther = before.findLastIndex(
      (call) => call.kind === 'changePodStatus' || (call.uid !== null && call.uid !== uid),
    );
    const looks = before.slice(removedOther + 1);
    const look = looks.find(
      ({ kind, run, sentAt }) => kind === 'readPod' && known(run, sentAt) >= createdAt,
    );
    return (look ?? removal).sentAt;
  }

  /** The first eviction too many; null: none. */
  #excess(rate: RateTerm, beginnings: readonly Beginning[]): Violation | null {
    const buckets = new Map<string, { tokens: number; at: number }>();
    for (const { run, at, uid } of beginnings) {
      if (rate.trips && this.#mayBeLate(uid, at)) continue;
      const key = `${run}/${this.#scopeOf(rate.per, uid, at)}`;
      const before = buckets.get(key) ?? { tokens: rate.burst, at };
      const inflow = ((at - before.at) * rate.podsPerSecond) / 1000;
      const tokens = Math.min(rate.burst, before.tokens + inflow) - 1;
      buckets.set(key, { tokens, at });
      if (tokens >= -0.001) continue;
      const evidence = `${rate.podsPerSecond} pods per second and a burst of ${rate.burst} per ${rate.per}, run/scope ${key}: one too many at ${clockTime(at)}, pod ${uid.slice(0, 8)}`;
      return { invariant: 'rate', at, evidence };
    }
    return null;
  }

  #mayBeLate(uid: string, at: number): boolean {
    const { history } = this.evidence;
    // A pod without a grace period is gone in the instant in which its eviction begins.
    const pod = history.during(history.pod(uid), at, at).findLast(({ object }) => object)?.object;
    return !!pod && mayBeLate(this.evidence, pod, at);
  }

  #scopeOf(per: RateTerm['per'], uid: string, at: number): string | null {
    const { history } = this.evidence;
    const pod = history.pod(uid).findLast(({ object }) => object)?.object;
    return pod ? scopeOf(history, per, pod, at) : null;
  }
}
