import type { Instant, Millis } from '@taintmgr/core/time';
import type { Failure } from './answer.ts';
import type { ReflectorNotice } from './reflector-notice.ts';

/** Whether a collection may be refused so, and nothing waits for it. */
export function mayMiss(
  { mayBeAbsent = false, mayBeForbidden = false }: MissingRules,
  status: number,
): boolean {
  return (status === 404 && mayBeAbsent) || (status === 403 && mayBeForbidden);
}

/** Which collections nothing waits for. */
export interface MissingRules {
  /** One that is not served (404) has no objects; default false: it is a failure. */
  readonly mayBeAbsent?: boolean;
  /** The same of one that we may not read (403). */
  readonly mayBeForbidden?: boolean;
}

/** Whether a collection counts as one without objects because the server does not serve it (404). */
export class Absence {
  /** Such a collection is asked for again after this time. */
  static readonly waitMs: Millis = 30_000;
  #isCertain = false;
  /** Since when it was not served, though objects of it are known; null: it is, or none are. */
  #since: Instant | null = null;

  get isCertain(): boolean {
    return this.#isCertain;
  }

  /**
   * It was not served. Whether it is absent then: where objects of it are known it has to be away for
   * a while, since a server that starts may answer 404 too.
   */
  missed(now: Instant, objects: number): boolean {
    this.#since ??= now;
    return objects === 0 || now - this.#since >= Absence.waitMs;
  }

  /** It is served again, or nobody knows. */
  end(): void {
    this.#isCertain = false;
  }

  /** It was read, or counts as absent. */
  read(isAbsent: boolean): void {
    this.#isCertain = isAbsent;
    if (!isAbsent) this.#since = null;
  }
}

/** That a collection counts as one without objects, and why. */
export function absence(resource: string, failure: Failure): ReflectorNotice {
  return { kind: 'absent', resource, failure };
}
