// Judges if the known state of the cluster is current enough to act on.
import type { Instant, Millis } from '@taintmgr/core/time';
import type { Source } from '../pod-watch/source.ts';

type Watched = Pick<Source<never>, 'isCutOff' | 'heardAt'>;

/** A watch may be cut off this long, as it is when the server ends it, before we report it. */
const gapMsMax: Millis = 5_000;
const ageMsMaxDefault: Millis = 10_000;
/**
 * Missed changes come within this time: half of it may be a taint whose end is in the other half.
 */
const catchUpMs: Millis = 1_000;
/** A tick that comes so late shows that this process stood still. */
export const lateMsMin: Millis = 1_000;
/** A process that is always late, or whose watches always break, must still act. */
const restEveryMs: Millis = 10_000;

/**
 * Notices when changes do not arrive for a while, and judges the age of the known state. After a
 * gap, and after a standstill of this process, the missed changes are read first: nothing is
 * decided until that is over.
 */
export class StaleView {
  readonly #sources: readonly Watched[];
  readonly #ageMsMax: Millis;
  /** Since when some collection is not being watched; null: all are. */
  #gapSince: Instant | null = null;
  /** The number of those that are not. */
  #cutOff = 0;
  #isCurrent = true;
  /** Until then whatever we know may be older than it seems. */
  #doubtfulUntil: Instant = Number.NEGATIVE_INFINITY;
  /** Until then the missed changes are read, and nothing is decided. */
  #restsUntil: Instant = Number.NEGATIVE_INFINITY;
  /** Since when it rests, or has done so again and again. */
  #restsSince: Instant = Number.NEGATIVE_INFINITY;

  /** Older than `ageMsMax` it is not relied on; 10 s when left out. */
  constructor(sources: readonly Watched[], ageMsMax: Millis = ageMsMaxDefault) {
    this.#sources = sources;
    this.#ageMsMax = ageMsMax;
  }

  /** Since when changes of some collection are not heard of; null: all are, or not read yet. */
  get gapSince(): Instant | null {
    return this.#gapSince;
  }

  /** True if changes of all collections arrive, as far as was looked. */
  get isCurrent(): boolean {
    return this.#isCurrent;
  }

  /** Looks at all collections; whether they are current, if that has changed. */
  look(now: Instant): boolean | null {
    let cutOff = 0;
    for (const source of this.#sources) if (source.isCutOff()) cutOff += 1;
    // The watches return one after the other, each with its missed changes.
    if (cutOff < this.#cutOff) this.#rest(now);
    this.#cutOff = cutOff;
    this.#gapSince = cutOff > 0 ? (this.#gapSince ?? now) : null;
    const isCurrent = this.#gapSince === null || now < this.#gapSince + gapMsMax;
    if (isCurrent === this.#isCurrent) return null;
    this.#isCurrent = isCurrent;
    return isCurrent;
  }

  /** The time at which a gap becomes too long; null: there is none, or it has. */
  nextWake(): Instant | null {
    return this.#gapSince === null || !this.#isCurrent ? null : this.#gapSince + gapMsMax;
  }

  /** This machine may have been suspended. */
  doubt(now: Instant): void {
    this.#doubtfulUntil = now + this.#ageMsMax;
  }

  /** A tick is `by` late: if this process stood still, its next inputs may have waited. */
  late(now: Instant, by: Millis): void {
    if (by < lateMsMin) return;
    this.#doubtfulUntil = Math.max(this.#doubtfulUntil, now + catchUpMs);
    if (now >= this.#restsUntil + restEveryMs) this.#rest(now);
  }

  /** Tells whether the missed changes are still being read. */
  isCatchingUp(now: Instant): boolean {
    return now < this.#restsUntil;
  }

  /** The time at which an item that is due at an instant may be decided; null stays null. */
  notBefore(due: Instant | null): Instant | null {
    return due === null ? null : Math.max(due, this.#restsUntil);
  }

  /** Tells whether what we know is too old to remove a pod of the node without looking again. */
  isStale(now: Instant, nodeName: string): boolean {
    if (now < this.#doubtfulUntil) return true;
    const oldest = now - this.#ageMsMax;
    return this.#sources.some((source) => {
      const heardAt = source.heardAt(nodeName) ?? Number.NEGATIVE_INFINITY;
      // A source that says nothing of single pods is always current: see apartFromPods.
      const isBlind = this.#cutOff > 0 && heardAt <= now && source.isCutOff();
      return heardAt < oldest || isBlind;
    });
  }

  #rest(now: Instant): void {
    if (now >= this.#restsUntil + restEveryMs) this.#restsSince = now;
    if (now < this.#restsSince + restEveryMs) this.#restsUntil = now + catchUpMs;
  }
}
