// Counts verdicts: in all, by taint key, namespace and policy, and the reasons.
import type { ShadowConfig } from './config.ts';
import {
  noName,
  otherNames,
  type ShadowCounts,
  type ShadowEntry,
  type ShadowReason,
  type ShadowReport,
  type ShadowRow,
  type ShadowSpan,
  type ShadowVerdict,
} from './report.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** What the tally knows of a report. */
export type Tallied = Omit<ShadowReport, 'since' | 'following'>;

/** What ended without a verdict. */
export type Unjudged = 'notDeleted' | 'leftOtherwise' | 'givenUp';

/** Adds up verdicts. What it keeps is bounded, however many there are. */
export class ShadowTally {
  readonly #config: ShadowConfig;
  readonly #counts = zero();
  readonly #unjudged: Record<Unjudged, number> = { notDeleted: 0, leftOtherwise: 0, givenUp: 0 };
  readonly #earlier = new Span();
  readonly #later = new Span();
  readonly #taints: Breakdown;
  readonly #namespaces: Breakdown;
  readonly #policies: Breakdown;
  readonly #reasons = {
    later: new Map<ShadowReason, number>(),
    kept: new Map<ShadowReason, number>(),
  };
  readonly #recent: ShadowEntry[] = [];

  constructor(config: ShadowConfig) {
    this.#config = config;
    this.#taints = new Breakdown(config.namesMax);
    this.#namespaces = new Breakdown(config.namesMax);
    this.#policies = new Breakdown(config.namesMax);
  }

  add(entry: ShadowEntry): void {
    const { verdict, byMs, reason, pod, taint, policy } = entry;
    count(this.#counts, entry);
    this.#taints.add(taint, entry);
    this.#namespaces.add(pod.namespace, entry);
    this.#policies.add(policy, entry);
    if (verdict === 'earlier' && byMs !== null) this.#earlier.add(-byMs);
    if (verdict === 'later' && byMs !== null) this.#later.add(byMs);
    if ((verdict === 'later' || verdict === 'kept') && reason !== null) {
      const reasons = this.#reasons[verdict];
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    }
    this.#recent.unshift(entry);
    this.#recent.splice(this.#config.recentMax);
  }

  skip(why: Unjudged): void {
    this.#unjudged[why] += 1;
  }

  report(): Tallied {
    const reasons = (['later', 'kept'] as const).flatMap((verdict) =>
      Array.from(this.#reasons[verdict], ([reason, pods]) => ({ verdict, reason, pods })),
    );
    return {
      counts: { ...this.#counts },
      earlierBy: this.#earlier.value(),
      laterBy: this.#later.value(),
      ...this.#unjudged,
      taints: this.#taints.rows(),
      namespaces: this.#namespaces.rows(),
      policies: this.#policies.rows(),
      reasons: reasons.sort((a, b) => b.pods - a.pods || (a.reason < b.reason ? -1 : 1)),
      recent: [...this.#recent],
    };
  }
}

/** The counts by name, of which there are so many at most; the rest is one row. */
class Breakdown {
  readonly #namesMax: number;
  readonly #rows = new Map<string, Mutable<ShadowCounts>>();

  constructor(namesMax: number) {
    this.#namesMax = namesMax;
  }

  add(name: string, entry: ShadowEntry): void {
    const known = name || noName;
    const isRoom = this.#rows.has(known) || this.#rows.size < this.#namesMax;
    const key = isRoom ? known : otherNames;
    const counts = this.#rows.get(key) ?? zero();
    this.#rows.set(key, counts);
    count(counts, entry);
  }

  rows(): readonly ShadowRow[] {
    const rows = Array.from(this.#rows, ([name, counts]) => ({ name, ...counts }));
    const isLast = ({ name }: ShadowRow): number => (name === otherNames ? 1 : 0);
    return rows.sort(
      (a, b) => isLast(a) - isLast(b) || podsOf(b) - podsOf(a) || (a.name < b.name ? -1 : 1),
    );
  }
}

class Span {
  #count = 0;
  #sumMs = 0;
  #maxMs = 0;

  add(byMs: number): void {
    this.#count += 1;
    this.#sumMs += byMs;
    this.#maxMs = Math.max(this.#maxMs, byMs);
  }

  value(): ShadowSpan | null {
    if (this.#count === 0) return null;
    return { meanMs: Math.round(this.#sumMs / this.#count), maxMs: this.#maxMs };
  }
}

const verdicts: readonly ShadowVerdict[] = ['same', 'earlier', 'later', 'kept', 'onlyTaintmgr'];

/** All the pods of a row. */
function podsOf(counts: ShadowCounts): number {
  return verdicts.reduce((sum, verdict) => sum + counts[verdict], 0);
}

/** Those that kube-controller-manager deleted. */
export function deletedOf(counts: ShadowCounts): number {
  return podsOf(counts) - counts.onlyTaintmgr;
}

function count(counts: Mutable<ShadowCounts>, { verdict, asksBudgets }: ShadowEntry): void {
  counts[verdict] += 1;
  const isDeleted = verdict !== 'onlyTaintmgr' && verdict !== 'kept';
  if (asksBudgets && isDeleted) counts.budgetsAsked += 1;
}

function zero(): Mutable<ShadowCounts> {
  return { same: 0, earlier: 0, later: 0, kept: 0, onlyTaintmgr: 0, budgetsAsked: 0 };
}
