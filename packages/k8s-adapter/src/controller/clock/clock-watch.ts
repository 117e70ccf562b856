import { formatDuration, type Millis } from '@taintmgr/core/time';
import type { ClusterEvent, EventSubject } from '../../proto/event-requests.ts';

/** A change of a clock: of this machine, or of the API server. */
export type ClockNotice =
  /** The clock of this machine was set, or the machine was suspended while it went on. */
  | { readonly kind: 'clockStepped'; readonly who: string; readonly by: Millis }
  /** The API server's clock is `ahead` of our time, `by` more than at the last report. */
  | {
      readonly kind: 'serverClockMoved';
      readonly who: string;
      readonly ahead: Millis;
      readonly by: Millis;
    };

/** Less is not reported: answers are dated in whole seconds. */
const reportedMsMin: Millis = 1000;
/** Of a clock that is years ahead, or stands still, seconds more or less are no news. */
const reportedShareMin = 0.1;

/** Notices when a clock is set or a machine is suspended, and reports it once. */
export class ClockWatch {
  /** The name of the reporter; '' where no name is needed. */
  readonly #who: string;
  #reported: Millis = 0;

  constructor(who: string) {
    this.#who = who;
  }

  /** The machine's wall clock advanced `by` more than time; less, if negative. */
  step(by: Millis): ClockNotice {
    return { kind: 'clockStepped', who: this.#who, by };
  }

  /** Takes the believed lead of the API server's clock; null: the change is not worth a report. */
  server(ahead: Millis): ClockNotice | null {
    const by = ahead - this.#reported;
    const least = Math.max(reportedMsMin, reportedShareMin * Math.abs(this.#reported));
    if (Math.abs(by) < least) return null;
    this.#reported = ahead;
    return { kind: 'serverClockMoved', who: this.#who, ahead, by };
  }
}

/** Returns a sentence about the change and its meaning, for a log. */
export function describeClock(notice: ClockNotice): string {
  const long = formatDuration(Math.abs(notice.kind === 'clockStepped' ? notice.by : notice.ahead));
  if (notice.kind === 'clockStepped') {
    const what =
      notice.by > 0
        ? `went ${long} ahead: it was set, or the machine was suspended`
        : `was set back by ${long}`;
    const means = 'a leader renews its lease before it acts again; deadlines follow the API server';
    return `the clock of this machine ${what}; ${means}`;
  }
  if (Math.abs(notice.ahead) < reportedMsMin) {
    return "the API server's clock agrees with the time of this process again";
  }
  const side = notice.ahead > 0 ? 'ahead of' : 'behind';
  return `the API server's clock is ${long} ${side} the time of this process; deadlines follow the API server`;
}

const reasons = { clockStepped: 'ClockStepped', serverClockMoved: 'ClockSkew' } as const;

/** The reasons of Events about clocks. */
export const clockReasons: readonly string[] = Object.values(reasons);

/** The Event about it. */
export function clockEvent(notice: ClockNotice, subject: EventSubject): ClusterEvent {
  const message = `${notice.who}: ${describeClock(notice)}`;
  return { subject, type: 'Warning', reason: reasons[notice.kind], message };
}
