// The report of the shadow: kube-controller-manager's evictions held against ours.
import type { ReasonCode } from '../eviction/reason.ts';
import type { Instant, Millis } from '../kernel/time.ts';
import type { PodRef } from '../model/pod.ts';
import type { ShadowConfig } from './config.ts';

/** The verdict on a pod: taintmgr's decision held against kube-controller-manager's deed. */
export type ShadowVerdict =
  /** Both programs evict the pod in the same instant. */
  | 'same'
  /** Both programs evict the pod, taintmgr before kube-controller-manager. */
  | 'earlier'
  /** Both programs evict the pod, taintmgr after kube-controller-manager. */
  | 'later'
  /** kube-controller-manager deleted it; taintmgr would not have evicted it. */
  | 'kept'
  /** taintmgr would have evicted it; kube-controller-manager did not, for as long as it was followed. */
  | 'onlyTaintmgr';

/** The reason why it would have left later or never: the decisive one, or the hold. */
export type ShadowReason = ReasonCode | 'LimitReached' | 'BudgetRefused';

/** The end of one pod. */
export interface ShadowEntry {
  /** The pod. */
  readonly pod: PodRef;
  /** When the verdict was given, by the clock of the cluster. */
  readonly at: Instant;
  /** The verdict on it. */
  readonly verdict: ShadowVerdict;
  /** The time by which taintmgr would have been later, negative: earlier; null: unknown. */
  readonly byMs: Millis | null;
  /** True when taintmgr would have asked the disruption budgets. */
  readonly asksBudgets: boolean;
  /** The key of the taint that decided; '' where none did. */
  readonly taint: string;
  /** The policy that counted; '' where none did. */
  readonly policy: string;
  /** Why taintmgr would have done otherwise; null: it would have done the same. */
  readonly reason: ShadowReason | null;
  /** The same in words. */
  readonly message: string;
}

/** The number of pods of each verdict. */
export type ShadowCounts = Readonly<Record<ShadowVerdict, number>> & {
  /** Of those that kube-controller-manager deleted, these would have been asked budgets about. */
  readonly budgetsAsked: number;
};

/**
 * The counts of one taint key, namespace or policy; those beyond `namesMax` are in the row
 * `otherNames`.
 */
export interface ShadowRow extends ShadowCounts {
  /** The taint key, namespace or policy. */
  readonly name: string;
}

/** The names of rows for what has no name, and for all that there was no room for. */
const noName = '(none)';
/** The name of the row for taint keys, namespaces and policies beyond `namesMax`. */
export const otherNames = '(others)';

/** The number of verdicts, and the distance of the two. */
export interface ShadowSpan {
  /** The mean. */
  readonly meanMs: Millis;
  /** The largest. */
  readonly maxMs: Millis;
}

/** The report of a comparison so far. */
export interface ShadowReport {
  /** Since when it counts, by the clock of the cluster; null: not everything was read yet. */
  readonly since: Instant | null;
  /** Verdicts on all pods. */
  readonly counts: ShadowCounts;
  /** Null: there was none of which that is known. */
  readonly earlierBy: ShadowSpan | null;
  /** The time by which taintmgr would have been later; null: it never was. */
  readonly laterBy: ShadowSpan | null;
  /** Pods without a verdict so far. */
  readonly following: number;
  /** kube-controller-manager marked them for deletion, and they were not deleted. */
  readonly notDeleted: number;
  /** taintmgr would have evicted them; a program other than a taint manager removed them before. */
  readonly leftOtherwise: number;
  /** Given up, because too many pods were followed at once. */
  readonly givenUp: number;
  /** The counts by taint key, the most pods first. */
  readonly taints: readonly ShadowRow[];
  /** The same by namespace. */
  readonly namespaces: readonly ShadowRow[];
  /** The same by policy. */
  readonly policies: readonly ShadowRow[];
  /** The reasons why pods would have left later or never, the most pods first. */
  readonly reasons: readonly {
    readonly verdict: 'later' | 'kept';
    readonly reason: ShadowReason;
    readonly pods: number;
  }[];
  /** The latest first. */
  readonly recent: readonly ShadowEntry[];
}

const texts: Readonly<Record<ShadowReason, string>> = {
  NotBound: 'the pod was not bound to a node',
  NodeUnknown: 'its node was deleted before its time came',
  NoTaint: 'the taint was gone before its time came',
  StaticPod: 'a static pod: deleting it through the API does not stop it',
  Terminating: 'it was already terminating',
  Finished: 'it had already finished',
  LastReplica: 'it was the last ready replica of taintmgr itself',
  OptedOut: 'its owner opted out by annotation',
  RulesUnheeded: 'no controller follows the rules of its devices',
  DevicesUnknown: 'the taints of its devices may not be read',
  ReturningDaemonSetPod: 'its DaemonSet would have recreated it at once',
  Paused: 'an EvictionPause or the hold of a zone held its deadline',
  NoToleration:
    'the taint had to last for a while first (minTaintAge), or a limit or a pause held it',
  TolerationExpires: 'the pod, or its policy, gives it more time',
  ToleratedForever: 'it tolerates the taint without limit',
  KeptByPolicy: 'an EvictionPolicy keeps it',
  PolicyUndecided: 'an EvictionPolicy may be for it: the labels of its namespace were not known',
  LeftToDrain: 'a drain of its node evicts it',
  NotTakenOver: 'its namespace is not taken over',
  NodeNotReady: 'its node was given more time',
  TimerKept: 'a timer for earlier taints still ran',
  GivenUp: 'it was given up until its taints or tolerations change',
  LimitReached: 'a limit held it until it was no longer followed',
  BudgetRefused: 'a PodDisruptionBudget or a webhook refused until it was no longer followed',
};

const known = new Map<string, string>(Object.entries(texts));

/** Describes a reason of a verdict; null: it is not one that we know. */
export function reasonText(reason: string): string | null {
  return known.get(reason) ?? null;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** The part of a report that the tally knows. */
type Tallied = Omit<ShadowReport, 'since' | 'following'>;

/** An end without a verdict. */
export type Unjudged = 'notDeleted' | 'leftOtherwise' | 'givenUp';

/** Adds up verdicts. The tally keeps a bounded amount, regardless of the number of verdicts. */
export class ShadowTally {
  readonly #config: ShadowConfig;
  readonly #counts = zero();
  readonly #unjudged: Record<Unjudged, number> = { notDeleted: 0, leftOtherwise: 0, givenUp: 0 };
  readonly #earlier = new SpanSum();
  readonly #later = new SpanSum();
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

/** The counts by name, with a bounded number of names; the rest is one row. */
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
      (a, b) => isLast(a) - isLast(b) || podsIn(b) - podsIn(a) || (a.name < b.name ? -1 : 1),
    );
  }
}

class SpanSum {
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
function podsIn(counts: ShadowCounts): number {
  return verdicts.reduce((sum, verdict) => sum + counts[verdict], 0);
}

/** The number of pods that kube-controller-manager deleted. */
export function deletedOf(counts: ShadowCounts): number {
  return podsIn(counts) - counts.onlyTaintmgr;
}

function count(counts: Mutable<ShadowCounts>, { verdict, asksBudgets }: ShadowEntry): void {
  counts[verdict] += 1;
  const isDeleted = verdict !== 'onlyTaintmgr' && verdict !== 'kept';
  if (asksBudgets && isDeleted) counts.budgetsAsked += 1;
}

function zero(): Mutable<ShadowCounts> {
  return { same: 0, earlier: 0, later: 0, kept: 0, onlyTaintmgr: 0, budgetsAsked: 0 };
}
