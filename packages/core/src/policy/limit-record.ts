import type { Instant, Millis } from '../kernel/time.ts';
import {
  defaultWindowMs,
  isWindowed,
  type LimitCount,
  type LimitHit,
  type LimitRule,
  selectorText,
} from './limit.ts';

/**
 * The record of limits, which survives a restart and a failover: the evictions within each window,
 * and the limits that have tripped. By limit, as `id@window`.
 */
export type LimitRecord = Readonly<Record<string, RecordedLimit>>;

/** The evictions of one limit within its window. */
export interface RecordedLimit {
  /** The number of pods that count as gone at these instants. */
  readonly evicted: readonly (readonly [at: Instant, count: number])[];
  /** The number of pods when the window began; null: not known. */
  readonly of: number | null;
  /**
   * Their numbers at instants at which evictions began, where pods are counted in percent. Left
   * out: as many as `of` at the first eviction, and one less after each.
   */
  readonly sizes?: readonly (readonly [at: Instant, of: number])[];
  /** When and why it tripped; null: it has not. */
  readonly tripped: RecordedTrip | null;
  /** The uids of some pods whose eviction was written before it began; left out: of none. */
  readonly begun?: readonly string[];
  /** With a rate: when it lets one pod go, or could have; left out: it lets as many go as it may. */
  readonly oneAt?: Instant;
}

interface RecordedTrip {
  readonly since: Instant;
  readonly limit: LimitHit['limit'];
  readonly count: LimitCount | null;
}

/** A limit, and who sets it; null: the configuration of the process. */
interface NamedLimit {
  readonly rule: LimitRule;
  readonly policy: { readonly name: string } | null;
}

/** A request of a person to open limits. */
export interface ResumeRequest {
  /** The limits; empty: all that have tripped. */
  readonly limits: readonly string[];
  /** Who asks, by his own word. */
  readonly by: string;
}

/** The largest number of different times for a window; evictions are moved to later ones. */
const timesMax = 12;
/**
 * And this number of sizes, which are known for longer than a window: an eviction may come about
 * later.
 */
const sizesMax = 24;
export const sizeSlackMs: Millis = 60_000;

/** The same evictions at fewer instants, none earlier than it was; to the second where they are few. */
export function coarsened(
  evicted: readonly (readonly [at: Instant, count: number])[],
  windowMs: Millis,
): readonly (readonly [at: Instant, count: number])[] {
  const exact = inSteps(evicted, 1_000);
  return exact.length <= timesMax ? exact : inSteps(evicted, stepOf(windowMs, timesMax));
}

/** The same sizes at fewer instants: none greater than it was, and none that counts for less long. */
export function coarsenedSizes(
  sizes: readonly (readonly [at: Instant, of: number])[],
  windowMs: Millis,
): readonly (readonly [at: Instant, of: number])[] {
  const exact = leastInSteps(sizes, 1_000);
  if (exact.length <= sizesMax) return exact;
  // Who reads as of the middle of a step finds its end, and with it what came next.
  const least = exact.map(
    ([at, of], index) => [at, Math.min(of, exact[index + 1]?.[1] ?? of)] as const,
  );
  return leastInSteps(least, stepOf(windowMs + sizeSlackMs, sizesMax));
}

/** So that at most `max` of them make up a time; in whole seconds. */
function stepOf(timeMs: Millis, max: number): Millis {
  return Math.max(1_000, Math.ceil(timeMs / max / 1_000) * 1_000);
}

/** Of sizes that follow on one another and are the same, only the last is needed. */
function leastInSteps(
  sizes: readonly (readonly [at: Instant, of: number])[],
  step: Millis,
): readonly (readonly [at: Instant, of: number])[] {
  const least = new Map<Instant, number>();
  for (const [at, of] of sizes) {
    const rounded = Math.ceil(at / step) * step;
    least.set(rounded, Math.min(least.get(rounded) ?? of, of));
  }
  const sorted = [...least].sort(([a], [b]) => a - b);
  return sorted.filter(([, of], index) => sorted[index + 1]?.[1] !== of);
}

function inSteps(
  evicted: readonly (readonly [at: Instant, count: number])[],
  step: Millis,
): readonly (readonly [at: Instant, count: number])[] {
  const counts = new Map<Instant, number>();
  for (const [at, count] of evicted) {
    const rounded = Math.ceil(at / step) * step;
    counts.set(rounded, (counts.get(rounded) ?? 0) + count);
  }
  return [...counts].sort(([a], [b]) => a - b);
}

/** True when anything of these limits has to survive a restart. */
export function needsRecord(rules: readonly LimitRule[]): boolean {
  return rules.some((rule) => isWindowed(rule) || rule.onLimit === 'trip');
}

/** Where a limit stands in the record: the same for every order and every number of limits. */
export function recordKey({ rule, policy }: NamedLimit, name: string): string {
  const [prefix, suffix] = aroundName(rule, policy);
  return `${prefix}${name}${suffix}`;
}

/** The scope of this limit that the key is of; null: it is not of this limit. */
export function nameInKey({ rule, policy }: NamedLimit, key: string): string | null {
  const [prefix, suffix] = aroundName(rule, policy);
  if (rule.per === 'total') return key === `${prefix}${suffix}` ? '' : null;
  const length = key.length - prefix.length - suffix.length;
  const isOfRule = key.startsWith(prefix) && key.endsWith(suffix);
  const name = isOfRule ? key.slice(prefix.length, prefix.length + length) : null;
  // No name has a space: this is of a limit that says more.
  if (name?.includes(' ')) return null;
  return rule.name === undefined || rule.name === name ? name : null;
}

function aroundName(
  rule: LimitRule,
  policy: NamedLimit['policy'],
): readonly [prefix: string, suffix: string] {
  const nodes = rule.nodes === undefined ? '' : ` nodes=${selectorText(rule.nodes)}`;
  const { windowMs = defaultWindowMs } = rule;
  const kind = isWindowed(rule) ? `${windowMs / 1000}s` : 'rate';
  const by = policy ? ` policy=${policy.name}` : '';
  return [rule.per === 'total' ? 'total' : `${rule.per}=`, `${nodes}${by}@${kind}`];
}

/** The same by another clock: the record uses the cluster's clock, the counts use our own time. */
export function retimed(record: LimitRecord, by: (at: Instant) => Instant): LimitRecord {
  const entries = Object.entries(record).map(([key, { evicted, tripped, sizes, ...limit }]) => {
    const moved = evicted.map(([at, count]) => [by(at), count] as const);
    const movedSizes = sizes?.map(([at, of]) => [by(at), of] as const);
    return [
      key,
      {
        ...limit,
        ...(limit.oneAt !== undefined && { oneAt: by(limit.oneAt) }),
        ...(movedSizes && { sizes: movedSizes }),
        evicted: moved,
        tripped: tripped && { ...tripped, since: by(tripped.since) },
      },
    ];
  });
  return Object.fromEntries(entries);
}
