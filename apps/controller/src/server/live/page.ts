// /ui: the live page of what this process decides. The page changes nothing.
import type { Millis } from '@taintmgr/core/time';
import type { LiveHistory, LiveInput } from '@taintmgr/page';
import { disarmed } from '../../log/logger.ts';
import type { ProcessStats, RunningController } from '../../stats/process-stats.ts';
import { type Answer, errorAnswer, type Handler } from '../answer.ts';

export interface PageOptions {
  /** The cluster, as the page calls it. */
  readonly source: string;
  readonly isDryRun: boolean;
}

const path = '/ui';
/** The state is computed no more often than this, for any number of viewers. */
const lookEveryMs: Millis = 2000;
/** Departures are read out of the memory at this interval. */
const pastEveryMs: Millis = 30_000;
/** The seen states are forgotten after this time without a viewer. */
const keptMs: Millis = 60_000;

const headers = {
  'cache-control': 'no-store',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const;

/** The page, and the state that its browser asks for again and again. `passed`: only measures. */
export function pageHandlers(
  stats: ProcessStats,
  options: PageOptions,
  passed: () => Millis = () => performance.now(),
): ReadonlyMap<string, Handler> {
  const states = new States(stats, options, passed);
  return new Map<string, Handler>([
    [path, livePageAnswer],
    [`${path}/events`, ({ lastEventId }) => states.answer(lastEventId)],
  ]);
}

/** The page is loaded when it is first opened. */
async function livePageAnswer(): Promise<Answer> {
  const { livePage } = await import('@taintmgr/page');
  const { html, policy } = await livePage('ui/events');
  const type = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy };
  return { status: 200, headers: { ...headers, ...type }, body: html };
}

/** The states seen since the page was first opened. */
class States {
  readonly #stats: ProcessStats;
  readonly #options: PageOptions;
  readonly #passed: () => Millis;
  #history: LiveHistory | null = null;
  #madeAt: Millis = Number.NEGATIVE_INFINITY;
  #askedAt: Millis = Number.NEGATIVE_INFINITY;
  #pastAt: Millis = Number.NEGATIVE_INFINITY;
  /** Requests that arrive meanwhile wait for this look. */
  #look: Promise<void> | null = null;
  #revision = 0;
  /** Without its time. */
  #json = '';
  #state: LiveInput | null = null;

  constructor(stats: ProcessStats, options: PageOptions, passed: () => Millis) {
    this.#stats = stats;
    this.#options = options;
    this.#passed = passed;
  }

  /**
   * A stream that ends after one event: the browser asks again after a while, with the id of its last event.
   */
  async answer(lastEventId: string | undefined): Promise<Answer> {
    const { running, startedAt } = this.#stats;
    if (!running) return errorAnswer('not started yet', 503);
    const asked = this.#passed();
    if (asked - this.#askedAt > keptMs) this.#history = null;
    this.#askedAt = asked;
    if (!this.#history || asked - this.#madeAt >= lookEveryMs) {
      this.#look ??= this.#lookAt(running, asked).finally(() => {
        this.#look = null;
      });
    }
    await this.#look;
    const id = `${startedAt.getTime()}-${this.#revision}`;
    const event =
      lastEventId === id
        ? `event: now\ndata: ${this.#state?.now}\n\n`
        : `id: ${id}\nevent: state\ndata: ${JSON.stringify(this.#state, shown)}\n\n`;
    const type = { 'content-type': 'text/event-stream' };
    const body = `retry: ${lookEveryMs}\n\n${event}`;
    return { status: 200, headers: { ...headers, ...type }, body };
  }

  async #lookAt(running: RunningController, asked: Millis): Promise<void> {
    this.#madeAt = asked;
    const [{ LiveHistory }, { leftOutOf, momentOf }, { pastIn }] = await Promise.all([
      import('@taintmgr/page'),
      import('./moment.ts'),
      import('./past.ts'),
    ]);
    const history = this.#history ?? new LiveHistory(this.#options.source, running.wall());
    if (!this.#history || asked - this.#pastAt >= pastEveryMs) {
      this.#pastAt = asked;
      const past = await pastIn(running);
      if (past) history.remember(past);
    }
    history.take(momentOf(this.#stats, running, this.#options.isDryRun), leftOutOf(running));
    this.#history = history;
    this.#keep(history);
  }

  #keep(history: LiveHistory): void {
    this.#state = history.input();
    const json = JSON.stringify({ ...this.#state, now: 0 });
    if (json !== this.#json) this.#revision += 1;
    this.#json = json;
  }
}

/** A character that is not seen, or reorders others, is shown as an escape: messages quote others. */
function shown(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? disarmed(value) : value;
}
