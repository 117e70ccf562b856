// Follows the pauses that have held, or hold, the deadlines of each node, and since when.
import { finite, type Instant } from '../kernel/time.ts';
import type { Node, PastPause } from '../model/node.ts';
import { coversNamespace, coversNode, coversTaint } from '../policy/scope.ts';
import type { EvictionPause } from '../policy/values.ts';
import type { Change, StoreView } from '../store.ts';

/** `goneAt` null: a new leader finds the span in the pause that is there. */
interface Span extends PauseSpan {
  readonly goneAt: Instant | null;
}

/** Spans beyond this number are put together, so that no pod gets less time back than is due. */
const spansMax = 50;

/** The number of gone pauses that are remembered for nodes whose taints are seen only later. */
const goneMax = 50;

/** A time for which a pause held the nodes of its scope. */
interface Gone extends PauseSpan {
  readonly to: Instant;
}

/**
 * The pauses of every node with NoExecute taints. A pause counts from the instant that it names
 * itself, so that a run that begins within it gives the same time back as one that saw it begin:
 * for a node that comes into its scope later, too, as nothing says when that was. A pause ends at
 * `until`, when it is deleted, or when the node leaves its scope, at the earliest of these. A pause
 * that is over is remembered for as long as the node is tainted: pods count from their binding, and
 * may have been bound before. Times are of the cluster's clock.
 */
export class Pauses {
  readonly #store: StoreView;
  readonly #byNode = new Map<string, readonly Span[]>();
  /** The spans of pauses that are gone, or say something else; the latest. */
  #gone: readonly Gone[] = [];

  constructor(store: StoreView) {
    this.#store = store;
  }

  /**
   * When the deadlines of a taint stood still for pods of a namespace. Without one: as far as they did
   * for pods of all. `from`: without those of pauses that were gone by then.
   */
  of(nodeName: string, taintKey: string, namespace: string | null, from?: Instant): PausedTime {
    // Asked for each pod, and nearly always there is nothing to look through.
    if (!this.#byNode.get(nodeName)?.length) return neverPaused;
    const isOld = ({ goneAt }: Span): boolean =>
      from !== undefined && goneAt !== null && goneAt < from;
    return this.#timeOf(nodeName, taintKey, namespace, (span) => !isOld(span));
  }

  /** The pauses that are gone, in their order, for a new leader. */
  pastOf(nodeName: string): readonly PastPause[] {
    const gone = (this.#byNode.get(nodeName) ?? []).flatMap((span): readonly PastPause[] => {
      const { from, to, goneAt } = span;
      const { taintKeys, namespaces } = span.pause.scope;
      return goneAt === null || to === null || to <= from
        ? []
        : [{ from, to, taintKeys, namespaces, pause: identityOf(span.pause) }];
    });
    return fewer(gone.sort((a, b) => a.from - b.from));
  }

  /** The same as it would be known after a start, from the pauses that are there alone. */
  keptOf(nodeName: string, taintKey: string, namespace: string | null): PausedTime {
    return this.#timeOf(nodeName, taintKey, namespace, ({ goneAt }) => goneAt === null);
  }

  /** Takes in a node as the store has it; whether that moves deadlines. */
  followNode(wall: Instant, name: string, isTainted: boolean): boolean {
    const node = this.#store.node(name);
    const known = this.#byNode.get(name);
    if (!node || !isTainted) {
      this.#byNode.delete(name);
      return false;
    }
    let spans = known ?? this.#pastOn(wall, node);
    for (const { pause, isOver } of this.#store.pauses()) {
      const isWanted = pause.deadlines && coversNode(pause.scope, node);
      const open = openSpan(spans, pause.name);
      if (open && !isWanted) spans = replaced(spans, open, closed(open, wall));
      if (open || !isWanted || (known && isOver)) continue;
      const from = beginOf(pause, wall);
      spans = [...spans, { pause, from, to: isOver ? pause.until : null, goneAt: null }];
    }
    this.#byNode.set(name, compacted(spans));
    return known !== undefined && spans !== known;
  }

  /** Takes in a pause that began, says something else, or is over; the nodes whose deadlines move. */
  follow(
    wall: Instant,
    change: Extract<Change, { kind: 'pause' | 'pauseEnd' }>,
  ): readonly string[] {
    const moved: string[] = [];
    if (change.kind === 'pause') this.#remember(wall, change);
    for (const [name, spans] of this.#byNode) {
      const node = this.#store.node(name);
      const isCovered = (pause: EvictionPause): boolean =>
        pause.deadlines && node !== null && coversNode(pause.scope, node);
      const next =
        change.kind === 'pauseEnd'
          ? ended(spans, change.pause)
          : changed(wall, spans, change, change.pause !== null && isCovered(change.pause));
      if (next === spans) continue;
      this.#byNode.set(name, compacted(next));
      moved.push(name);
    }
    return moved;
  }

  #remember(wall: Instant, { pause, previous }: Extract<Change, { kind: 'pause' }>): void {
    if (!previous?.deadlines) return;
    const { scope, until } = previous;
    const isSame =
      pause?.deadlines &&
      !isAnother(pause, previous) &&
      JSON.stringify(pause.scope) === JSON.stringify(scope);
    const [from, to] = [beginOf(previous, wall), Math.min(until ?? wall, wall)];
    if (isSame || to <= from) return;
    this.#gone = [...this.#gone, { pause: previous, from, to }].slice(-goneMax);
  }

  /** The known past when a node is first seen with taints. */
  #pastOn(wall: Instant, node: Node): readonly Span[] {
    const written = (node.pastPauses ?? []).flatMap((past) => remembered(past, wall));
    const gone = this.#gone.flatMap((one): readonly Span[] => {
      if (!coversNode(one.pause.scope, node)) return [];
      const from = countedUpTo(one, node.pastPauses ?? []);
      return from < one.to ? [{ ...one, from, goneAt: wall }] : [];
    });
    return [...written, ...gone];
  }

  #timeOf(
    nodeName: string,
    taintKey: string,
    namespace: string | null,
    counts: (span: Span) => boolean,
  ): PausedTime {
    const spans = this.#byNode.get(nodeName) ?? [];
    if (spans.length === 0) return neverPaused;
    return pausedTime(
      spans.filter((span) => {
        const { scope } = span.pause;
        const isForPod =
          namespace === null ? scope.namespaces.length === 0 : coversNamespace(scope, namespace);
        return isForPod && coversTaint(scope, taintKey) && counts(span);
      }),
    );
  }
}

/** More than this number are not written down one by one. */
const writtenMax = 10;

/**
 * The oldest are put together, with the time between them: no pod gets less time back than is due.
 */
function fewer(pauses: readonly PastPause[]): readonly PastPause[] {
  if (pauses.length <= writtenMax) return pauses;
  const oldest = pauses.slice(0, pauses.length - writtenMax + 1);
  const [from, to] = [
    Math.min(...oldest.map((one) => one.from)),
    Math.max(...oldest.map((one) => one.to)),
  ];
  return [{ from, to, taintKeys: [], namespaces: [], pause: '' }, ...pauses.slice(oldest.length)];
}

/** Reads a pause that an earlier run has written down; a clock that was wrong must not hold a pod for ever. */
function remembered(
  { from, to, taintKeys, namespaces, pause: uid }: PastPause,
  wall: Instant,
): readonly Span[] {
  const end = Math.min(to, wall);
  if (from >= end) return [];
  const scope = { taintKeys, namespaces, zones: [], nodes: null };
  const none = { name: '', uid, readiness: false, deadlines: true, reason: '' };
  const pause = { ...none, scope, until: end, since: from };
  // The starts that were written down count it already.
  return [{ pause, from, to: end, goneAt: Number.NEGATIVE_INFINITY }];
}

/** Names the pause: a pause that is gone has a separate name where the leader remembered it. */
function identityOf({ uid, name }: EvictionPause): string {
  return uid === '' ? name.replace(/^gone\//, '') : uid;
}

/**
 * Up to when a pause that is gone is among those that were written down with the starts. The time
 * that another pause held meanwhile does not count: where this pause was still there, the starts
 * were written down without the time that it took.
 */
function countedUpTo({ pause, from, to }: Gone, written: readonly PastPause[]): Instant {
  const { taintKeys, namespaces } = pause.scope;
  const isPart = (few: readonly string[], all: readonly string[]): boolean =>
    all.length === 0 || JSON.stringify(few) === JSON.stringify(all);
  return written
    .filter((one) => one.pause !== '' && one.pause === identityOf(pause))
    .filter((one) => isPart(taintKeys, one.taintKeys) && isPart(namespaces, one.namespaces))
    .filter((one) => one.from <= from && from < one.to)
    .reduce((at, one) => Math.max(at, Math.min(one.to, to)), from);
}

/** Nothing begins in the future. */
function beginOf({ since }: EvictionPause, wall: Instant): Instant {
  return Math.min(finite(since) ?? wall, wall);
}

/** The span that the pause of this name still makes. */
function openSpan(spans: readonly Span[], name: string): Span | undefined {
  return spans.find(({ pause, goneAt }) => goneAt === null && pause.name === name);
}

function ended(spans: readonly Span[], pause: EvictionPause): readonly Span[] {
  const open = openSpan(spans, pause.name);
  return open ? replaced(spans, open, { ...open, to: pause.until }) : spans;
}

function changed(
  wall: Instant,
  spans: readonly Span[],
  { name, pause }: Extract<Change, { kind: 'pause' }>,
  isWanted: boolean,
): readonly Span[] {
  const open = openSpan(spans, name);
  if (!pause || !isWanted) return open ? replaced(spans, open, closed(open, wall)) : spans;
  if (!open || isAnother(open.pause, pause)) {
    const before = open ? replaced(spans, open, closed(open, wall)) : spans;
    return [...before, { pause, from: beginOf(pause, wall), to: null, goneAt: null }];
  }
  if (isForTheSame(open.pause, pause)) {
    // The leader has written since when, or a person has moved the end.
    const isFromSince = open.from === open.pause.since;
    const from = isFromSince ? beginOf(pause, wall) : open.from;
    return replaced(spans, open, { ...open, pause, from, to: null });
  }
  const anew = { pause, from: beginOf(pause, wall), to: null, goneAt: null };
  return [...replaced(spans, open, closed(open, wall)), anew];
}

/** From now on a new leader would not find it in a pause that is there. */
function closed(span: Span, wall: Instant): Span {
  return { ...span, to: Math.min(span.to ?? wall, wall), goneAt: wall };
}

function replaced(spans: readonly Span[], span: Span, by: Span): readonly Span[] {
  return spans.map((one) => (one === span ? by : one));
}

/** True when a pause was deleted and recreated under its name, and the deletion was not seen. */
function isAnother({ uid: a }: EvictionPause, { uid: b }: EvictionPause): boolean {
  return a !== '' && b !== '' && a !== b;
}

/** True when two pauses hold the same pods and taints of a node that both are for. */
function isForTheSame({ scope: a }: EvictionPause, { scope: b }: EvictionPause): boolean {
  const [one, other] = [a, b].map(({ taintKeys, namespaces }) => [taintKeys, namespaces]);
  return JSON.stringify(one) === JSON.stringify(other);
}

/**
 * The largest number: beyond it two of the past that hold the same become one, with the time
 * between them.
 */
function compacted(spans: readonly Span[]): readonly Span[] {
  if (spans.length <= spansMax) return spans;
  const past = spans.filter(({ goneAt }) => goneAt !== null);
  for (const [index, first] of past.entries()) {
    const second = past.slice(index + 1).find(({ pause }) => isForTheSame(pause, first.pause));
    if (!second || first.to === null || second.to === null) continue;
    const from = Math.min(first.from, second.from);
    const both = { ...second, from, to: Math.max(first.to, second.to) };
    return replaced(spans, second, both).filter((one) => one !== first);
  }
  return spans;
}

/** A time for which deadlines stood still. */
export interface Pause {
  readonly from: Instant;
  readonly to: Instant;
}

/** Deadlines stand still now. */
export interface Hold {
  readonly since: Instant;
  /** The pause that lasts longest of those that hold them. */
  readonly pause: EvictionPause;
}

/** When the deadlines of a taint stood still for a pod, in order and without overlap. */
export interface PausedTime {
  readonly past: readonly Pause[];
  /** Null: they run. */
  readonly hold: Hold | null;
}

/** A time for which one pause held deadlines; `to` null: it still does. */
interface PauseSpan {
  readonly pause: EvictionPause;
  readonly from: Instant;
  readonly to: Instant | null;
}

const neverPaused: PausedTime = { past: [], hold: null };

/** Puts together the time of several pauses: where they overlap, time passes once. */
export function pausedTime(spans: readonly PauseSpan[]): PausedTime {
  if (spans.length === 0) return neverPaused;
  const past: { from: Instant; to: Instant }[] = [];
  let hold: Hold | null = null as Hold | null;
  for (const { pause, from, to } of [...spans].sort((a, b) => a.from - b.from)) {
    const last = past.at(-1);
    if (hold) hold = to === null ? { ...hold, pause: longer(hold.pause, pause) } : hold;
    else if (last && from <= last.to) {
      if (to === null) {
        past.pop();
        hold = { since: last.from, pause };
      } else last.to = Math.max(last.to, to);
    } else if (to === null) hold = { since: from, pause };
    else if (from < to) past.push({ from, to });
  }
  return { past, hold };
}

/**
 * The same time where only what `hold` holds counts as going on: what lies before is past. So a start
 * that counts some pauses already, and one that counts none, are measured alike.
 */
export function heldSince({ past, hold }: PausedTime, by: Hold | null): PausedTime {
  if (!hold || !by || hold.since >= by.since) return { past, hold };
  return { past: [...past, { from: hold.since, to: by.since }], hold: by };
}

/** The same with what holds deadlines now cut off at `now`. */
export function cutAt(now: Instant, { past, hold }: PausedTime): readonly Pause[] {
  return hold && hold.since < now ? [...past, { from: hold.since, to: now }] : past;
}

/** Moves the start of a time from `since` to later, by the time for which deadlines stood still. */
export function givenBack(since: Instant, pauses: readonly Pause[]): Instant {
  return pauses.reduce((sum, { from, to }) => sum + Math.max(0, to - Math.max(from, since)), since);
}

/**
 * Where a time has to count from to count, with these pauses, from `start`: what givenBack undoes.
 * Within a pause many instants give the same result; then it is the one closest to `original`.
 */
export function takenBack(start: Instant, pauses: readonly Pause[], original: Instant): Instant {
  return pauses.reduceRight((at, { from, to }) => {
    if (at > to) return at;
    return at === to ? Math.min(to, Math.max(from, original)) : at - (to - from);
  }, start);
}

function longer(one: EvictionPause, other: EvictionPause): EvictionPause {
  const [a, b] = [one, other].map(({ until }) => until ?? Number.POSITIVE_INFINITY);
  // A pause that a person has to end is named before one that ends without intervention.
  if (a === b && (one.zone === undefined) !== (other.zone === undefined))
    return one.zone === undefined ? one : other;
  if (a === b) return one.name < other.name ? one : other;
  return (a ?? 0) > (b ?? 0) ? one : other;
}
