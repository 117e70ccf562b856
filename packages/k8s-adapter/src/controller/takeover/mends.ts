// How often each admission policy may be mended: whoever changes it back again and again is not fought.
import type { Instant, Millis } from '@taintmgr/core/time';

const mendsMax = 5;
const windowMs: Millis = 600_000;

/** Counts mends of each object within ten minutes. */
export class Mends {
  readonly #at = new Map<string, readonly Instant[]>();

  /** Whether the object may be mended once more. */
  hasRoom(now: Instant, object: string): boolean {
    const recent = (this.#at.get(object) ?? []).filter((at) => now - at < windowMs);
    this.#at.set(object, recent);
    return recent.length < mendsMax;
  }

  /** Whether it was mended within ten minutes. */
  isRecent(now: Instant, object: string): boolean {
    return (this.#at.get(object) ?? []).some((at) => now - at < windowMs);
  }

  note(now: Instant, object: string): void {
    this.#at.set(object, [...(this.#at.get(object) ?? []), now]);
  }
}
