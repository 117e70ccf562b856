// Counts evictions that are late for no reason: the service levels, late and lost evictions, are read from here.
import type { Instant, Millis } from '@taintmgr/core/time';
import type { Notice } from '@taintmgr/k8s-adapter';
import { dueAt } from './pending-evictions.ts';

/** An eviction is late when its first request is sent this long after the pod was due. */
const lateAfterMs: Millis = 30_000;
/** A pod is lost when no request was sent for it this long after it was due. */
const lostAfterMs: Millis = 60_000;

/**
 * Follows pods from their deadline to their first request. The time in which a limit, a pause, a budget or a
 * failed try holds a pod is not late. The time in which this replica did not act does not count: other checks
 * report that no replica acted.
 */
export class Lateness {
  /** By pod uid: the time it is due, for pods without a hold and without a request. */
  readonly #due = new Map<string, Instant>();
  /** Uids of pods that something has held, until they have gone or stay. */
  readonly #held = new Set<string>();
  readonly #isActing: () => boolean;
  readonly #wall: () => Instant;
  /** null: it does not act. */
  #actsSince: Instant | null = null;

  constructor(isActing: () => boolean, wall: () => Instant) {
    this.#isActing = isActing;
    this.#wall = wall;
  }

  /** Tells whether it tells of an eviction that is late. */
  observe(notice: Notice, now: Instant): boolean {
    this.#look(now);
    switch (notice.kind) {
      case 'report':
        this.#report(notice.report);
        return false;
      case 'commandSent': {
        const { pod, because } = notice.command;
        this.#due.delete(pod.uid);
        const due = dueAt(because);
        return due !== null && !this.#held.has(pod.uid) && this.#overdue(due, now) > lateAfterMs;
      }
      case 'commandFinished':
        if (notice.outcome.kind === 'done') this.#held.delete(notice.command.pod.uid);
        return false;
      default:
        return false;
    }
  }

  /** The number of pods that are lost now. */
  lost(): number {
    const now = this.#wall();
    this.#look(now);
    let lost = 0;
    for (const due of this.#due.values()) if (this.#overdue(due, now) > lostAfterMs) lost += 1;
    return lost;
  }

  #look(now: Instant): void {
    if (!this.#isActing()) this.#actsSince = null;
    else this.#actsSince ??= now;
  }

  /** For how long it has been due while this replica acted. */
  #overdue(due: Instant, now: Instant): Millis {
    return this.#actsSince === null ? 0 : now - Math.max(due, this.#actsSince);
  }

  #report(report: Extract<Notice, { kind: 'report' }>['report']): void {
    switch (report.kind) {
      case 'deadline':
        if (report.to !== null) this.#due.set(report.pod.uid, report.to);
        else {
          this.#due.delete(report.pod.uid);
          this.#held.delete(report.pod.uid);
        }
        break;
      case 'retry':
      case 'queued':
        this.#due.delete(report.pod.uid);
        this.#held.add(report.pod.uid);
        break;
      default: // of no pod
    }
  }
}
