// Leaves out setbacks that are no news: pods held by budgets are tried again for hours, and all collections are read
// from one server.
import type { Millis } from '@taintmgr/core/time';
import type { Notice } from '@taintmgr/k8s-adapter';

/** The same setback of a pod is logged again after this time, then after twice as long, and so on. */
const pauseMsMin: Millis = 60_000;
const pauseMsMax: Millis = 3_600_000;

interface Said {
  readonly what: string;
  readonly at: number;
  readonly pauseMs: Millis;
}

/** Remembers the log lines about held pods. */
export class Setbacks {
  /** By uid. */
  readonly #said = new Map<string, Said>();

  /** Takes a notice, and tells if its line repeats a recent line about the pod. */
  isKnown(notice: Notice, now: number): boolean {
    switch (notice.kind) {
      case 'commandSent':
        return this.#said.has(notice.command.pod.uid);
      case 'commandFinished': {
        const { kind } = notice.outcome;
        if (kind === 'done' || kind === 'gone') this.#said.delete(notice.command.pod.uid);
        return false;
      }
      case 'report': {
        const { report } = notice;
        if (report.kind === 'deadline' && report.to === null) this.#said.delete(report.pod.uid);
        return report.kind === 'retry' && this.#repeats(report, now);
      }
      default:
        return false;
    }
  }

  #repeats({ pod, setback, blocker }: RetryReport, now: number): boolean {
    const what = `${blocker.code} ${blocker.verdict} ${setback.message}`;
    const before = this.#said.get(pod.uid);
    if (before?.what === what && now - before.at < before.pauseMs) return true;
    const pauseMs = before?.what === what ? Math.min(2 * before.pauseMs, pauseMsMax) : pauseMsMin;
    this.#said.set(pod.uid, { what, at: now, pauseMs });
    return false;
  }
}

type ReportNotice = Extract<Notice, { kind: 'report' }>['report'];
type RetryReport = Extract<ReportNotice, { kind: 'retry' }>;

/** Remembers which reads fail, to log when one works again and never twice the same. */
export class ApiConnectivity {
  readonly #lost = new Set<string>();
  readonly #known = new Set<string>();

  /** Tells whether a collection can be read again after a failure. */
  isRestored(notice: Notice): boolean {
    if (notice.kind === 'reconnecting') this.#lost.add(notice.resource);
    return notice.kind === 'watching' && this.#lost.delete(notice.resource);
  }

  /** Tells whether the log has it already: a server lists all collections as it lists one. */
  isKnown(notice: Notice): boolean {
    if (notice.kind !== 'pagedLists' && notice.kind !== 'jsonOnly') return false;
    // Formats are a matter of each collection: other servers may stand behind some.
    const what = notice.kind === 'jsonOnly' ? `jsonOnly ${notice.resource}` : notice.kind;
    const isKnown = this.#known.has(what);
    this.#known.add(what);
    return isKnown;
  }
}
