// Whether what is known of the cluster is current enough to act on.
import type { Instant, Millis } from '@taintmgr/core/time';
import type { Source } from '../pod-watch/source.ts';

type Watched = Pick<Source<never>, 'isCutOff' | 'heardAt'>;

/** A watch may be cut off for so long, as it is when the server ends it, before we call it so. */
const gapMsMax: Millis = 5_000;
const ageMsMaxDefault: Millis = 10_000;

/** Notices when changes are not heard of for a while, and judges how old what is known is. */
export class StaleView {
  readonly #sources: readonly Watched[];
  readonly #ageMsMax: Millis;
  /** Since when some collection is not being watched; null: all are. */
  #gapSince: Instant | null = null;
  #isCurrent = true;
  /** Until then whatever we know may be older than it seems. */
  #doubtfulUntil: Instant = Number.NEGATIVE_INFINITY;

  /** Older than `ageMsMax` it is not relied on; 10 s when left out. */
  constructor(sources: readonly Watched[], ageMsMax: Millis = ageMsMaxDefault) {
    this.#sources = sources;
    this.#ageMsMax = ageMsMax;
  }

  /** Since when changes of some collection are not heard of; null: all are, or not read yet. */
  get gapSince(): Instant | null {
    return this.#gapSince;
  }

  /** Whether changes of all collections are heard of, as far as was looked. */
  get isCurrent(): boolean {
    return this.#isCurrent;
  }

  /** Looks at all collections; whether they are current, if that has changed. */
  look(now: Instant): boolean | null {
    const isGap = this.#sources.some((source) => source.isCutOff());
    this.#gapSince = isGap ? (this.#gapSince ?? now) : null;
    const isCurrent = this.#gapSince === null || now < this.#gapSince + gapMsMax;
    if (isCurrent === this.#isCurrent) return null;
    this.#isCurrent = isCurrent;
    return isCurrent;
  }

  /** When a gap in what we hear becomes too long; null: there is none, or it has. */
  nextWake(): Instant | null {
    return this.#gapSince === null || !this.#isCurrent ? null : this.#gapSince + gapMsMax;
  }

  /** This machine may have been suspended. */
  doubt(now: Instant): void {
    this.#doubtfulUntil = now + this.#ageMsMax;
  }

  /** Whether what we know is too old to remove a pod of the node without looking again. */
  isStale(now: Instant, nodeName: string): boolean {
    if (now < this.#doubtfulUntil) return true;
    const oldest = now - this.#ageMsMax;
    return this.#sources.some((source) => (source.heardAt(nodeName) ?? oldest - 1) < oldest);
  }
}
