// The states of things over the time of a run.
import { isDeepStrictEqual } from 'node:util';

/** One state of something, from that second after the beginning until the next. */
export type Step<State> = State & { readonly at: number };

/** Something, identified by its `Id`, and the states that it went through. */
export type Timeline<Id, State> = Id & { readonly states: readonly Step<State>[] };

/** The timelines of several things, each under a key. */
export class Timelines<Id extends object, State extends object> {
  readonly #byKey = new Map<string, Id & { readonly states: Step<State>[] }>();

  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  /** Begins a timeline; whether there was none. */
  add(key: string, id: Id): boolean {
    if (this.#byKey.has(key)) return false;
    this.#byKey.set(key, { ...id, states: [] });
    return true;
  }

  /**
   * The state from `at` on, in seconds, never before the last one: only the last of those of one
   * instant counts. What was not added is ignored.
   */
  push(at: number, key: string, state: State): void {
    const states = this.#byKey.get(key)?.states;
    if (!states) return;
    if (states.at(-1)?.at === at) states.pop();
    const last = states.at(-1);
    if (!last || !isSame(last, state)) states.push({ at, ...state });
  }

  all(): readonly Timeline<Id, State>[] {
    return [...this.#byKey.values()];
  }

  /** In the order of their keys, in which node-2 comes before node-10. */
  inOrder(): readonly Timeline<Id, State>[] {
    const keyed = [...this.#byKey].sort(([one], [other]) => natural(one, other));
    return keyed.map(([, timeline]) => timeline);
  }
}

/** Whether two states, of one kind, say the same: their members are plain values, or lists and maps of them. */
function isSame<State extends object>(one: State, other: State): boolean {
  for (const key in other) {
    const [mine, theirs] = [one[key], other[key]];
    if (mine === theirs) continue;
    if (typeof theirs !== 'object' || !isDeepStrictEqual(mine, theirs)) return false;
  }
  return true;
}

const digits = /(\d+)/;

function natural(one: string, other: string): number {
  const [a, b] = [one.split(digits), other.split(digits)];
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const [left = '', right = ''] = [a[index], b[index]];
    if (left === right) continue;
    const difference = index % 2 === 1 ? Number(left) - Number(right) : 0;
    if (difference !== 0) return difference;
    return left < right ? -1 : 1;
  }
  return a.length - b.length;
}
