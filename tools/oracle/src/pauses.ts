// The pauses given to a client, and those of the cluster: the pods they hold, and the time they
// give back.
import type { ClusterApi, KubeObject } from '@taintmgr/sim-cluster';
import type { ApiHistory } from './api-history.ts';
import { zoneOf } from './lifecycle/zones.ts';
import { hasLabels } from './policies.ts';
import { StoredSets, type Version } from './stored-sets.ts';

/** The scope of a pause. */
export type PauseScope =
  | { readonly kind: 'all' }
  | { readonly kind: 'node'; readonly name: string };

interface Pause {
  readonly scope: PauseScope;
  readonly from: number;
  to: number | null;
}

/** When a client had to let deadlines stand still. */
export class Pauses {
  readonly #pauses: Pause[] = [];

  begin(scope: PauseScope, at: number): void {
    this.#pauses.push({ scope, from: at, to: null });
  }

  end(scope: PauseScope, at: number): void {
    const open = this.#pauses.filter((pause) => pause.to === null && isSame(pause.scope, scope));
    for (const pause of open) pause.to = at;
  }

  /** True if the deadlines on that node stood still before that instant and at it. */
  covers(nodeName: string, at: number): boolean {
    return this.#pauses.some(
      ({ scope, from, to }) =>
        from < at &&
        at < (to ?? Number.POSITIVE_INFINITY) &&
        (scope.kind === 'all' || scope.name === nodeName),
    );
  }

  /** All of them together up to `now`, in milliseconds: no deadline has moved by more. */
  total(now: number): number {
    return this.#pauses.reduce((sum, { from, to }) => sum + ((to ?? now) - from), 0);
  }
}

function isSame(a: PauseScope, b: PauseScope): boolean {
  return a.kind === 'node' ? b.kind === 'node' && a.name === b.name : b.kind === 'all';
}

/** A pause as it stands in the API; selectors name labels and their values, names no patterns. */
interface StoredPause {
  readonly name: string;
  readonly spec: PauseSpec;
  /** False: it says something that the client cannot know, and everything has to stay. */
  readonly isReadable: boolean;
}

interface PauseSpec {
  readonly scope?: {
    readonly zones?: readonly string[];
    readonly nodeSelector?: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly taintKeys?: readonly string[];
    readonly namespaces?: readonly string[];
  };
  readonly deadlines?: boolean;
  readonly readiness?: boolean;
  readonly until?: string;
}

/** The subject of a pause: a taint of a node, and a pod in this namespace; null: all pods. */
interface PauseSubject {
  readonly node: KubeObject | null;
  readonly taintKey: string;
  readonly namespace: string | null;
}

/** A time in which deadlines stood still. */
interface Span {
  readonly from: number;
  readonly to: number;
}

const resource = 'evictionpauses.taintmgr.dev';
const fields = ['scope', 'deadlines', 'readiness', 'reason', 'until'];
/** Within this time of a gap a client has heard of every pause that is there. */
const heardMs = 1000;

/** Every set of pauses since the beginning, as the API reported them. */
export class PauseHistory {
  readonly #pauses: StoredSets<StoredPause>;

  constructor(api: ClusterApi, apiHistory: ApiHistory) {
    const read = ({ metadata, spec = {} }: KubeObject): StoredPause => {
      const isReadable = Object.keys(spec).every((name) => fields.includes(name));
      return { name: metadata.name, spec, isReadable };
    };
    this.#pauses = new StoredSets(api, apiHistory, { resource, followed: 'pauses', read });
  }

  /** True if a run had read the pauses by then. */
  isRead(run: number, at: number): boolean {
    return this.#pauses.isRead(run, at);
  }

  /** When the first pause came; null: there was none. */
  get firstAt(): number | null {
    return this.#pauses.all.find(({ items }) => items.length > 0)?.at ?? null;
  }

  /**
   * True if every set of pauses that the run may have known at its decision holds such pods back.
   */
  holds(run: number, decidedAt: number, subject: PauseSubject): boolean {
    return this.#pauses
      .known(run, decidedAt)
      .every((pauses) => pauses.some((pause) => holdsAt(pause, decidedAt, subject)));
  }

  /** The same for the pods that a pause of readiness holds. */
  holdsReadiness(run: number, decidedAt: number, subject: PauseSubject): boolean {
    return this.#pauses.known(run, decidedAt).every((pauses) =>
      pauses.some(({ spec, isReadable }) => {
        const isOn = isReadable && spec.readiness === true && decidedAt < endOf(spec);
        return isOn && covers(spec, subject);
      }),
    );
  }

  /** When deadlines stood still at least, by the pauses that this run heard of; none overlap. */
  heardSpans(run: number, decidedAt: number, subject: PauseSubject): readonly Span[] {
    return joined(
      this.#versionsFor(subject)
        .filter((version) => this.#pauses.heard(run, version, decidedAt - heardMs))
        .map((version) => spanOf(version, decidedAt)),
    );
  }

  /**
   * The same for the pauses that were gone by then, as that run must have known, without the time
   * of the others and of unreadable `policies`: a client that restarts finds those.
   */
  goneSpans(
    run: number,
    at: number,
    subject: PauseSubject,
    policies: readonly Span[],
  ): readonly Span[] {
    const versions = this.#versionsFor(subject);
    const names = this.#pauses.versions.filter(({ to }) => to > at - heardMs);
    const mayBeThere = this.#pauses.known(run, at).flat();
    const present = new Set(
      [...names.map(({ item }) => item), ...mayBeThere].map(({ name }) => name),
    );
    const gone = versions.filter((version) => {
      return !present.has(version.item.name) && this.#pauses.heard(run, version, at - heardMs);
    });
    const isHold = (item: StoredPause): boolean =>
      !item.isReadable || versions.some((one) => one.item === item);
    const others = this.#pauses.versions.filter(({ item }) => {
      return present.has(item.name) && isHold(item);
    });
    const spans = [...others.map((version) => spanOf(version, at)), ...policies];
    const held = joined(spans.map(asDated));
    return without(joined(gone.map((version) => spanOf(version, at))), held);
  }

  #versionsFor(subject: PauseSubject): readonly Version<StoredPause>[] {
    return this.#pauses.versions.filter(
      ({ item: { spec, isReadable } }) =>
        isReadable && spec.deadlines !== false && covers(spec, subject),
    );
  }
}

/** From when a time counts that counted from `since`: so much later as deadlines stood still. */
export function givenBack(since: number, spans: readonly Span[]): number {
  return spans.reduce((sum, { from, to }) => sum + Math.max(0, to - Math.max(from, since)), since);
}

function holdsAt(pause: StoredPause, at: number, subject: PauseSubject): boolean {
  const { spec, isReadable } = pause;
  if (!isReadable) return true;
  return spec.deadlines !== false && at < endOf(spec) && covers(spec, subject);
}

function covers({ scope = {} }: PauseSpec, { node, taintKey, namespace }: PauseSubject): boolean {
  const { zones, nodeSelector, taintKeys, namespaces } = scope;
  return (
    (!zones || (node !== null && zones.includes(zoneOf(node).replace(':', '/')))) &&
    hasLabels(nodeSelector, node?.metadata.labels) &&
    (!taintKeys || taintKeys.includes(taintKey)) &&
    (!namespaces || (namespace !== null && namespaces.includes(namespace)))
  );
}

function endOf({ until }: PauseSpec): number {
  return until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until);
}

function spanOf({ item, from, to }: Version<StoredPause>, at: number): Span {
  return { from, to: Math.max(from, Math.min(to, at, endOf(item.spec))) };
}

/** The span as a client reads it: the API gives the start of a pause in whole seconds. */
function asDated({ from, to }: Span): Span {
  return { from: Math.floor(from / 1000) * 1000, to };
}

/** In order, and each instant once. */
function joined(spans: readonly Span[]): readonly Span[] {
  const result: Span[] = [];
  for (const span of [...spans].sort((a, b) => a.from - b.from)) {
    const last = result.at(-1);
    if (!last || span.from > last.to) result.push(span);
    else result[result.length - 1] = { from: last.from, to: Math.max(last.to, span.to) };
  }
  return result;
}

/** The parts of the first spans that are not in the others. */
function without(spans: readonly Span[], others: readonly Span[]): readonly Span[] {
  return others.reduce<readonly Span[]>(
    (left, { from, to }) =>
      left.flatMap((span) =>
        [
          { from: span.from, to: Math.min(span.to, from) },
          { from: Math.max(span.from, to), to: span.to },
        ].filter((part) => part.from < part.to),
      ),
    spans,
  );
}
