import type { History, State } from './history.ts';
import { type NoExecuteTaint, noExecuteTaints } from './taint-rule.ts';
import type { Witness } from './witness.ts';

/** On a node: since when its taints count, as JSON of `key=value:effect` to a time. */
const startsAnnotation = 'taintmgr.dev/taint-starts';

/** What the client has written on the node about since when taints count. */
export function keptStarts({ object }: State): Readonly<Record<string, number>> {
  const text = object?.metadata.annotations?.[startsAnnotation];
  const entries = Object.entries<string>(text === undefined ? {} : JSON.parse(text));
  return Object.fromEntries(entries.map(([id, time]) => [id, Date.parse(time)]));
}

/** When a taint came onto a node, and what came before. */
interface Presence {
  /** Index of the first state with it. */
  readonly first: number;
  readonly appearedAt: number;
  /** Times the taint itself has named since. */
  readonly named: readonly number[];
}

/** Since when taints count: from taint.timeAdded, else from when they came to be there. */
export class TaintStarts {
  readonly #history: History;
  readonly #witness: Witness;

  constructor(history: History, witness: Witness) {
    this.#history = history;
    this.#witness = witness;
  }

  /** When the taint came onto the node, as of that state of it. */
  appearedAt(nodeName: string, state: State, { id }: NoExecuteTaint): number {
    const states = this.#history.node(nodeName);
    return presence(states, states.indexOf(state), id).appearedAt;
  }

  /**
   * The earliest instant at which run `run` may take the taint to have begun. A taint that names no
   * time begins when it appears; if it was there before, and the run could not know that it went and
   * came back, it may take it for the old one.
   */
  earliest(run: number, nodeName: string, state: State, taint: NoExecuteTaint): number {
    if (taint.timeAdded !== null) return taint.timeAdded;
    const states = this.#history.node(nodeName);
    return this.#earliestIn(run, states, states.indexOf(state), taint.id);
  }

  #earliestIn(run: number, states: readonly State[], index: number, id: string): number {
    const { first, appearedAt, named } = presence(states, index, id);
    const own = Math.min(appearedAt, ...named);
    const uid = states[first]?.object?.metadata.uid;
    const before = states.findLastIndex((state, at) => at < first && has(state, id));
    const sameNode = (state: State): boolean => state.object?.metadata.uid === uid;
    if (before < 0 || !states.slice(before, first).every(sameNode)) return own;
    const goneAt = states[before + 1]?.at ?? appearedAt;
    if (this.#witness.saw(run, 'nodes', goneAt, appearedAt)) return own;
    const written = states
      .slice(first, index + 1)
      .map((state) => keptStarts(state)[id] ?? Number.POSITIVE_INFINITY);
    const remembers = this.#witness.saw(run, 'nodes', Number.NEGATIVE_INFINITY, goneAt);
    const earlier = remembers ? this.#earliestIn(run, states, before, id) : own;
    return Math.min(own, ...written, earlier);
  }
}

function presence(states: readonly State[], index: number, id: string): Presence {
  const uid = states[index]?.object?.metadata.uid;
  let first = index;
  const named: number[] = [];
  for (let at = index; at >= 0; at--) {
    const state = states[at];
    if (!state || state.object?.metadata.uid !== uid) break;
    const taint = noExecuteTaints(state.object).find((one) => one.id === id);
    if (!taint) break;
    if (taint.timeAdded !== null) named.push(taint.timeAdded);
    first = at;
  }
  return { first, appearedAt: states[first]?.at ?? Number.NaN, named };
}

function has({ object }: State, id: string): boolean {
  return noExecuteTaints(object).some((taint) => taint.id === id);
}
