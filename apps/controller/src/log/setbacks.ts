// Leaves out setbacks of evictions that are no news: pods held by budgets are tried again for hours.
import type { Millis } from '@taintmgr/core/time';
import type { Notice } from '@taintmgr/k8s-adapter';

/** The same setback of a pod is said again after so long, then after twice as long, and so on. */
const pauseMsMin: Millis = 60_000;
const pauseMsMax: Millis = 3_600_000;

interface Said {
  readonly what: string;
  readonly at: number;
  readonly pauseMs: Millis;
}

/** What was said of the pods that are held up. */
export class Setbacks {
  /** By uid. */
  readonly #said = new Map<string, Said>();

  /** Takes a notice, and answers whether its line repeats what was said of the pod a while ago. */
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
