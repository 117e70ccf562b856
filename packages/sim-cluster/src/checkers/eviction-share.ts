import type { KubeObject } from '../objects.ts';
import type { State, Told } from './history.ts';
import { clockTime, type Evidence, isRemoval, type ShareTerm } from './terms.ts';

/** A pod on its way out, and the run that made it leave. */
interface Leaving {
  readonly run: number;
  readonly pod: KubeObject;
}

/**
 * Of the pods of a cluster, namespace or node no greater share is on its way out by the client at one
 * time than it promised, though always one may be. Counted in its favour: pods that it cannot have
 * heard of in time count as there, and those whose removal it got no answer for as not removed.
 */
export class EvictionShareChecker {
  readonly #evidence: Evidence;
  readonly #leaving = new Map<string, Leaving>();

  constructor(evidence: Evidence) {
    this.#evidence = evidence;
  }

  hear({ at, change: { resource, type, object, previous }, by }: Told): void {
    if (this.#evidence.terms.shares.length === 0 || resource !== 'pods') return;
    const { uid = '' } = object.metadata;
    const begins =
      by !== null &&
      isRemoval(by) &&
      previous?.metadata.deletionTimestamp === undefined &&
      previous?.spec.nodeName !== undefined;
    if (begins && by && previous) {
      const { witness, terms } = this.#evidence;
      const decidedAt = witness.chainOf(by)[0]?.sentAt ?? by.sentAt;
      for (const term of terms.shares)
        this.#judge(at, decidedAt, term, { run: by.run, pod: previous });
      this.#leaving.set(uid, { run: by.run, pod: previous });
    }
    if (type === 'DELETED') this.#leaving.delete(uid);
  }

  #judge(at: number, decidedAt: number, term: ShareTerm, { run, pod }: Leaving): void {
    const scope = scopeOf(term, pod);
    const others = [...this.#leaving.values()].filter(
      (one) =>
        one.run === run && scopeOf(term, one.pod) === scope && this.#isAnswered(one, decidedAt),
    ).length;
    if (others === 0) return;
    const known = this.#evidence.witness.knownInTurnUpTo(run, 'pods', decidedAt);
    const there = this.#evidence.history.pods.filter((states) =>
      this.#wasThere(states, term, scope, known, at),
    ).length;
    const most = Math.max(1, Math.floor((there * term.percent) / 100));
    if (others < most) return;
    const evidence = `pod ${pod.metadata.namespace}/${pod.metadata.name} leaves at ${clockTime(at)} where ${others} of ${there} leave: ${term.percent} percent per ${term.per} are promised; run ${run}`;
    this.#evidence.report({ invariant: 'share', at, evidence });
  }

  /** Whether the run has heard by then that the pod leaves by its own request. */
  #isAnswered({ run, pod }: Leaving, at: number): boolean {
    return this.#evidence.witness.calls.some(
      (call) =>
        call.run === run &&
        isRemoval(call) &&
        call.uid === pod.metadata.uid &&
        call.succeeded &&
        call.endedAt !== null &&
        call.endedAt <= at,
    );
  }

  #wasThere(
    states: readonly State[],
    term: ShareTerm,
    scope: string,
    from: number,
    to: number,
  ): boolean {
    return this.#evidence.history
      .during(states, from, to)
      .some(({ object }) => object?.spec.nodeName && scopeOf(term, object) === scope);
  }
}

function scopeOf({ per }: ShareTerm, { metadata, spec }: KubeObject): string {
  if (per === 'total') return '';
  return per === 'node' ? (spec.nodeName ?? '') : (metadata.namespace ?? '');
}
