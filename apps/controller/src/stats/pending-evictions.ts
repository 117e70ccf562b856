import type { Reason, Report } from '@taintmgr/core';
import type { Instant, Millis } from '@taintmgr/core/time';
import type { Notice } from '@taintmgr/k8s-adapter';

/** The evictions waiting at one moment. */
export interface Waiting {
  readonly pending: number;
  /** Of those, whose deadline is past. */
  readonly overdue: number;
  /** The earliest deadline still to come; null: none. */
  readonly next: Instant | null;
}

/** Follows which evictions wait and which are under way, as far as the loop has reported. */
export class PendingEvictions {
  /** By pod uid: when it is, or was, due. */
  readonly #deadlines = new Map<string, Instant>();
  /** By command id: the time it was sent, by the monotonic clock. */
  readonly #underWay = new Map<string, Millis>();
  readonly #wall: () => Instant;
  readonly #passed: () => Millis;

  /** `wall`: what the cluster's clock shows, by which deadlines go; `passed`: only measures. */
  constructor(wall: () => Instant = Date.now, passed = (): Millis => performance.now()) {
    this.#wall = wall;
    this.#passed = passed;
  }

  observe(notice: Notice, now: Instant): void {
    switch (notice.kind) {
      case 'report':
        this.#report(notice.report, now);
        break;
      case 'commandSent':
        this.#deadlines.delete(notice.command.pod.uid);
        this.#underWay.set(notice.command.id, this.#passed());
        break;
      case 'commandFinished':
        this.#underWay.delete(notice.command.id);
        break;
      default: // of no eviction
    }
  }

  waiting(): Waiting {
    const now = this.#wall();
    let overdue = 0;
    let next: Instant | null = null;
    for (const deadline of this.#deadlines.values()) {
      if (deadline <= now) overdue += 1;
      else if (next === null || deadline < next) next = deadline;
    }
    return { pending: this.#deadlines.size, overdue, next };
  }

  /** For how long each eviction under way has been. */
  underWay(): readonly Millis[] {
    const now = this.#passed();
    return Array.from(this.#underWay.values(), (since) => now - since);
  }

  #report(report: Report, now: Instant): void {
    switch (report.kind) {
      case 'deadline':
        if (report.to === null) this.#deadlines.delete(report.pod.uid);
        else this.#deadlines.set(report.pod.uid, report.to);
        break;
      case 'retry':
      case 'queued':
        // Due, and no closer to it; since when exactly, the report does not say.
        if (!this.#deadlines.has(report.pod.uid)) this.#deadlines.set(report.pod.uid, now);
        break;
      default: // of no pod
    }
  }
}

/** Tells whether it says that an eviction was called off: on a standby the leader may have done it. */
export function callsOff(notice: Notice): boolean {
  return notice.kind === 'report' && notice.report.kind === 'deadline' && notice.report.to === null;
}

/** The time when the first reason made a pod due; null where none names a time. */
export function dueAt(because: readonly Reason[]): Instant | null {
  let due: Instant | null = null;
  for (const reason of because) {
    const at = 'deadline' in reason ? reason.deadline : null;
    if (at !== null && (due === null || at < due)) due = at;
  }
  return due;
}
