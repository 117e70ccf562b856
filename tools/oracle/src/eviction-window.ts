// The checker of limits within a window.

import type { KubeObject } from '@taintmgr/sim-cluster';
import { Checker } from './checker.ts';
import type { Evidence } from './evidence.ts';
import { mayBeLate } from './lateness.ts';
import type { ObservedChange } from './object-history.ts';
import { scopeOf } from './scope.ts';
import { clockTime, isRemoval, type WindowTerm } from './terms.ts';

/** A pod that was made to leave. */
interface Removed {
  readonly at: number;
  /** When the first request for it was sent. */
  readonly decidedAt: number;
  readonly run: number;
  readonly pod: KubeObject;
  /** By the scope of each term; null: it is in none. */
  readonly scopes: readonly (string | null)[];
}

const resumeAnnotation = 'taintmgr.dev/resume-limits';

/**
 * Within any window no more pods of a scope are made to leave than was promised, whoever of the replicas
 * does it and however often it starts anew; one always may. Counted in its favour: pods that came after a
 * taint of their node do not count, pods that it cannot have known in time count as there, and after
 * somebody's request to resume was answered the windows begin anew.
 */
export class EvictionWindowChecker extends Checker<Evidence> {
  #removed: Removed[] = [];
  #resumedAt = Number.NEGATIVE_INFINITY;

  observe(change: ObservedChange): void {
    const { windows } = this.evidence.terms;
    if (windows.length === 0) return;
    if (change.change.resource === 'leases') this.#observeLease(change);
    if (change.change.resource === 'pods') this.#observePod(change);
  }

  /** The leader takes a request to resume away once it has opened what tripped. */
  #observeLease({ at, change: { object, previous } }: ObservedChange): void {
    const asked = previous?.metadata.annotations?.[resumeAnnotation] !== undefined;
    const answered = object.metadata.annotations?.[resumeAnnotation] === undefined;
    if (!asked || !answered) return;
    this.#resumedAt = at;
    this.#removed = [];
  }

  #observePod({ at, change: { type, object, previous }, by }: ObservedChange): void {
    const { terms, apiHistory } = this.evidence;
    if (by === null || !isRemoval(by) || !previous?.spec.nodeName) return;
    const isLeaving = type === 'DELETED' || object.metadata.deletionTimestamp !== undefined;
    if (!isLeaving || previous.metadata.deletionTimestamp !== undefined) return;
    const decidedAt = apiHistory.calls.chainOf(by)[0]?.sentAt ?? by.sentAt;
    // What was under way when everything began anew was let go before.
    if (decidedAt <= this.#resumedAt || mayBeLate(this.evidence, previous, at)) return;
    const scopes = terms.windows.map((term) =>
      scopeOf(this.evidence.history, term.per, previous, at),
    );
    const removed: Removed = { at, decidedAt, run: by.run, pod: previous, scopes };
    this.#removed.push(removed);
    for (const [index, term] of terms.windows.entries()) this.#judge(index, term, removed);
  }

  #judge(index: number, term: WindowTerm, { at, pod, scopes }: Removed): void {
    const scope = scopes[index];
    if (scope === null || scope === undefined) return;
    const inWindow = this.#removed.filter(
      (one) => one.scopes[index] === scope && one.at > at - term.windowMs,
    );
    const [first] = inWindow;
    if (!first) return;
    const there = term.percent === undefined ? 0 : this.#countThere(term, scope, first);
    const share = Math.max(1, Math.floor((there * (term.percent ?? 0)) / 100 + 1e-9));
    const most = Math.min(
      term.percent === undefined ? Number.POSITIVE_INFINITY : share,
      term.pods ?? Number.POSITIVE_INFINITY,
    );
    if (inWindow.length <= most) return;
    const evidence = `pod ${pod.metadata.namespace}/${pod.metadata.name} leaves at ${clockTime(at)} as number ${inWindow.length} of ${scope || 'all'} since ${clockTime(first.at)}: ${most} are promised by ${JSON.stringify(term)} of ${there} pods then`;
    this.evidence.report({ invariant: 'window', at, evidence });
  }

  /** The pods there were when the first of a window went, or of which the run knew them to be. */
  #countThere(term: WindowTerm, scope: string, { at, decidedAt, run }: Removed): number {
    const { history, apiHistory } = this.evidence;
    const known = apiHistory.known.inTurnUpTo(run, 'pods', decidedAt);
    return history.pods.filter((states) =>
      history
        .during(states, known, at)
        .some(
          ({ object }) => object?.spec.nodeName && scopeOf(history, term.per, object, at) === scope,
        ),
    ).length;
  }
}
