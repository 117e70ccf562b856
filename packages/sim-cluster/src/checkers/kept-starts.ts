import type { State, Told } from './history.ts';
import { type NoExecuteTaint, noExecuteTaints } from './taint-rule.ts';
import { keptStarts } from './taint-starts.ts';
import { clockTime, type Evidence } from './terms.ts';

/** What the client writes down as the start of a taint is never before it began. */
export class KeptStartsChecker {
  readonly #evidence: Evidence;

  constructor(evidence: Evidence) {
    this.#evidence = evidence;
  }

  hear({ at, change, by }: Told): void {
    if (change.resource !== 'nodes' || by?.kind !== 'changeNode' || !change.previous) return;
    const { history, starts, report } = this.#evidence;
    const before = keptStarts({ at, object: change.previous });
    const after = keptStarts({ at, object: change.object });
    const { name } = change.object.metadata;
    const states = history.node(name).filter((state) => state.at <= by.sentAt);
    for (const [id, start] of Object.entries(after)) {
      if (before[id] === start) continue;
      // On an old view it may be written for a taint that has gone; the next look takes it away.
      const last = states.findLast((state) => taintOf(state, id));
      const taint = last && taintOf(last, id);
      const earliest = taint
        ? starts.earliest(by.run, name, last, taint)
        : Number.POSITIVE_INFINITY;
      if (earliest <= start) continue;
      const evidence = `node ${name}: ${id} is written down as of ${clockTime(start)}, yet began ${clockTime(earliest)}; run ${by.run}, sent ${clockTime(by.sentAt)}`;
      report({ invariant: 'kept start too early', at, evidence });
    }
  }
}

function taintOf({ object }: State, id: string): NoExecuteTaint | undefined {
  return noExecuteTaints(object).find((taint) => taint.id === id);
}
