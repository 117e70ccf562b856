import { formatTime, type Instant } from '@taintmgr/core/time';
import { type ClockNotice, describeClock, type Notice } from '@taintmgr/k8s-adapter';

/** The last thing that was done to clocks, for health checks and pages. */
export class ClockChange {
  #last: { readonly at: Instant; readonly notice: ClockNotice } | null = null;

  observe(notice: Notice, at: Instant): void {
    if (notice.kind === 'clockStepped' || notice.kind === 'serverClockMoved') {
      this.#last = { at, notice };
    }
  }

  /** What it was; null: nothing. */
  get last(): string | null {
    return this.#last && `${describeClock(this.#last.notice)} (${formatTime(this.#last.at)})`;
  }

  text(): string {
    return this.last ?? 'steady';
  }
}
