// Since when taints count, and whether a pod came to its node after them.
import type { KubeObject } from '@taintmgr/sim-cluster';
import type { ApiHistory } from './api-history.ts';
import type { ObjectHistory, State } from './object-history.ts';
import { endOfSecond, type NoExecuteTaint, noExecuteTaints, toleratedMs } from './taint-rule.ts';

/** On a node: since when its taints count, as JSON of `key=value:effect` to a time. */
const startsAnnotation = 'taintmgr.dev/taint-starts';

/** Beside them in the annotation: when the taints were written of which it speaks. */
const writtenKey = 'taintsWrittenAt';

/** And the pauses that are gone, from which pods that came later have time back. */
const pausesKey = 'pauses';

/** The starts of taints that the client has written on the node. */
export function keptStarts(state: State): Readonly<Record<string, number>> {
  const { [writtenKey]: _, [pausesKey]: _gone, ...starts } = annotationOf(state);
  return Object.fromEntries(
    Object.entries(starts).map(([id, time]) => [id, Date.parse(String(time))]),
  );
}

/** True if the record is about the present taints, by the time at which the server wrote it. */
export function speaksOfPresentTaints(state: State): boolean {
  const written = Date.parse(String(annotationOf(state)[writtenKey] ?? ''));
  const owners = state.object?.metadata.managedFields ?? [];
  const times = owners
    .filter(({ fieldsV1 }) => fieldsV1?.['f:spec']?.['f:taints'])
    .map(({ time = '' }) => Date.parse(time));
  return times.length === 0 || written === Math.min(...times);
}

function annotationOf({ object }: State): Readonly<Record<string, unknown>> {
  const text = object?.metadata.annotations?.[startsAnnotation];
  return text === undefined ? {} : JSON.parse(text);
}

/** When the taints of a node were last written, as of one of its states. */
export function taintsWrittenAt(states: readonly State[], index: number): number {
  const text = JSON.stringify(states[index]?.object?.spec?.taints);
  let first = index;
  while (first > 0 && JSON.stringify(states[first - 1]?.object?.spec?.taints) === text) first--;
  return states[first]?.at ?? Number.NaN;
}

/** The presence of a taint on a node, and the one before. */
interface Presence {
  /** Index of the first state with it. */
  readonly first: number;
  readonly appearedAt: number;
  /**
   * The time since when the taint is unchanged: one that is written with another time counts as a
   * new one.
   */
  readonly unchangedSince: number;
  /** Times the taint itself has named since. */
  readonly named: readonly number[];
}

/** A time that is further ahead when it is written is not believed; clocks of theirs may differ by a second. */
const aheadMs = 4000;

/**
 * The starts of taints: the end of the second in taint.timeAdded, otherwise the arrival. A time in
 * the future when it is written counts as the arrival too, but a client that sees it later may
 * believe it.
 */
export class TaintStarts {
  readonly #history: ObjectHistory;
  readonly #apiHistory: ApiHistory;

  constructor(history: ObjectHistory, apiHistory: ApiHistory) {
    this.#history = history;
    this.#apiHistory = apiHistory;
  }

  /** When the taint came onto the node, as of that state of it. */
  appearedAt(nodeName: string, state: State, { id }: NoExecuteTaint): number {
    const states = this.#history.node(nodeName);
    return presence(states, states.indexOf(state), id).appearedAt;
  }

  /** The time since when the taint is unchanged on the node, as of that state of the node. */
  unchangedSince(nodeName: string, state: State, { id }: NoExecuteTaint): number {
    const states = this.#history.node(nodeName);
    return presence(states, states.indexOf(state), id).unchangedSince;
  }

  /**
   * The earliest instant from which run `run` may count the time that a pod tolerates the taint. A
   * taint without a time begins when it appears; only if it was there before, and went and came
   * back unseen within the very second in which the taints had been written, the run cannot know.
   */
  earliest(run: number, nodeName: string, state: State, taint: NoExecuteTaint): number {
    if (taint.timeAdded !== null) {
      const writtenAt = this.unchangedSince(nodeName, state, taint);
      const addedAt = endOfSecond(taint.timeAdded);
      return taint.timeAdded > writtenAt + aheadMs ? Math.min(writtenAt, addedAt) : addedAt;
    }
    const states = this.#history.node(nodeName);
    return this.#earliestIn(run, states, states.indexOf(state), taint.id);
  }

  /** The same of when the taint came, whatever it says itself. */
  earliestComing(run: number, nodeName: string, state: State, { id }: NoExecuteTaint): number {
    const states = this.#history.node(nodeName);
    return this.#earliestIn(run, states, states.indexOf(state), id, false);
  }

  /**
   * The start of the taint that a run found recorded when it began, for pods of a namespace: it
   * counts from there at the earliest. -Infinity: no record holds for the taint in that state.
   */
  inherited(
    run: number,
    nodeName: string,
    state: State,
    { id, timeAdded }: NoExecuteTaint,
    namespace: string,
  ): number {
    const states = this.#history.node(nodeName);
    const index = states.indexOf(state);
    const began = this.#apiHistory.known.firstOf(run, 'nodes');
    const found = began === null ? -1 : states.findLastIndex(({ at }) => at <= began);
    const first = states[found];
    // Changes in that very instant may have come before or after its list.
    if (!first || found > index || first.at === began || !speaksOfPresentTaints(first))
      return Number.NEGATIVE_INFINITY;
    const isSame = (one: State): boolean =>
      noExecuteTaints(one.object).some(
        (taint) => taint.id === id && taint.timeAdded === timeAdded,
      ) && one.object?.metadata.uid === first.object?.metadata.uid;
    if (!states.slice(found, index + 1).every(isSame)) return Number.NEGATIVE_INFINITY;
    const kept = keptStarts(first);
    return kept[`${id} ${namespace}`] ?? kept[id] ?? Number.NEGATIVE_INFINITY;
  }

  #earliestIn(
    run: number,
    states: readonly State[],
    index: number,
    id: string,
    mindsNamed: boolean = true,
  ): number {
    const { first, appearedAt, named } = presence(states, index, id);
    const own = Math.min(appearedAt, ...(mindsNamed ? named.map(endOfSecond) : []));
    const uid = states[first]?.object?.metadata.uid;
    const before = states.findLastIndex((state, at) => at < first && has(state, id));
    const sameNode = (state: State): boolean => state.object?.metadata.uid === uid;
    if (before < 0 || !states.slice(before, first).every(sameNode)) return own;
    const goneAt = states[before + 1]?.at ?? appearedAt;
    if (this.#apiHistory.known.within(run, 'nodes', goneAt, appearedAt)) return own;
    if (endOfSecond(taintsWrittenAt(states, before)) !== endOfSecond(appearedAt)) return own;
    const written = states
      .slice(first, index + 1)
      .map((state) => keptStarts(state)[id] ?? Number.POSITIVE_INFINITY);
    const remembers = this.#apiHistory.known.within(run, 'nodes', Number.NEGATIVE_INFINITY, goneAt);
    const earlier = remembers ? this.#earliestIn(run, states, before, id, mindsNamed) : own;
    return Math.min(own, ...written, earlier);
  }
}

function presence(states: readonly State[], index: number, id: string): Presence {
  const uid = states[index]?.object?.metadata.uid;
  const latest = noExecuteTaints(states[index]?.object ?? null).find((one) => one.id === id);
  let first = index;
  let unchanged = index;
  const named: number[] = [];
  for (let at = index; at >= 0; at--) {
    const state = states[at];
    if (!state || state.object?.metadata.uid !== uid) break;
    const taint = noExecuteTaints(state.object).find((one) => one.id === id);
    if (!taint) break;
    if (taint.timeAdded !== null) named.push(taint.timeAdded);
    if (unchanged === first && taint.timeAdded === latest?.timeAdded) unchanged = at;
    first = at;
  }
  const [appearedAt = Number.NaN, unchangedSince = Number.NaN] = [first, unchanged].map(
    (at) => states[at]?.at,
  );
  return { first, appearedAt, unchangedSince, named };
}

function has({ object }: State, id: string): boolean {
  return noExecuteTaints(object).some((taint) => taint.id === id);
}

// The checker of lateness: evictions come within a bound of their deadlines.
interface Condition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
}

/** True if the pod may have come to its node after a taint of it: such a pod does not count. */
export function mayBeLate(
  { history, starts }: { readonly history: ObjectHistory; readonly starts: TaintStarts },
  pod: KubeObject,
  at: number,
): boolean {
  const nodeName: string = pod.spec.nodeName ?? '';
  const bound = latestBinding(pod, history.pod(pod.metadata.uid ?? ''));
  return history
    .during(history.node(nodeName), bound, at)
    .some((state) =>
      noExecuteTaints(state.object).some(
        (taint) => bound > starts.appearedAt(nodeName, state, taint),
      ),
    );
}

/**
 * True if it surely came later than every taint that makes it go, and that run knew of them by
 * then.
 */
export function isSurelyLate(
  { starts, apiHistory }: { readonly starts: TaintStarts; readonly apiHistory: ApiHistory },
  pod: KubeObject,
  node: State,
  runs: readonly number[],
): boolean {
  const nodeName: string = pod.spec.nodeName ?? '';
  const created = Date.parse(pod.metadata.creationTimestamp ?? '');
  const moving = noExecuteTaints(node.object).filter((taint) => {
    return Number.isFinite(toleratedMs(pod, taint));
  });
  return (
    moving.length > 0 &&
    moving.every((taint) => {
      const since = starts.unchangedSince(nodeName, node, taint);
      return runs.every((run) => apiHistory.known.inTurnUpTo(run, 'nodes', created - 1000) > since);
    })
  );
}

/** When the pod came to its node, or the latest time that its status gives for that. */
export function latestBinding(pod: KubeObject, states: readonly State[]): number {
  const bound = states.find(({ object }) => object?.spec.nodeName === pod.spec.nodeName)?.at ?? 0;
  const conditions: readonly Condition[] = pod.status?.conditions ?? [];
  const scheduled = conditions.find(
    ({ type, status }) => type === 'PodScheduled' && status === 'True',
  );
  const written = [scheduled?.lastTransitionTime, pod.status?.startTime].flatMap((time) =>
    time === undefined ? [] : [Date.parse(time)],
  );
  return Math.max(bound, ...written);
}
