// `explain -w`: the answer again whenever it changes.
import { createEngine } from '@taintmgr/core';
import { ConnectionError, drive, EvictorSearch, Loop } from '@taintmgr/k8s-adapter';
import {
  Explainer,
  type Notes,
  notesOn,
  type Question,
  reportOn,
} from '@taintmgr/k8s-adapter/explain';
import { ClusterReader, type ForecastSurvey } from '@taintmgr/k8s-adapter/survey';
import type { Connection } from '../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import { type LiveBlock, warn, writeNotes } from '../../cli/output.ts';
import type { Invocation } from '../../cli/registry.ts';
import { type Answer, type Format, printAnswer } from '../../render/printer.ts';
import type { ExplainFlags } from './flags.ts';
import { focused, readSubject, type Subject, type Watched } from './subject.ts';

export interface LiveOptions {
  readonly connection: Connection;
  readonly subject: Subject;
  readonly question: Question;
  readonly format: Format;
  readonly invocation: Invocation<ExplainFlags>;
}

/** Everything is read again after so long, for what no watch reports: budgets, leases. */
const readEveryMs = 5000;
/** Changes that come together are shown together. */
const togetherMs = 200;
const tickMs = 1000;

/**
 * Shows an answer and goes on until Ctrl-C. On a terminal it is rewritten in place each second; else
 * changes are written as they come. A watch reports that something changed; what is shown is
 * read again.
 */
export async function run(options: LiveOptions): Promise<ExitCode> {
  const { connection, subject, invocation } = options;
  const { interrupt, output } = invocation;
  const view = new LiveView(options, await output.screen());
  const changes = new Changes(interrupt);
  const search = new EvictorSearch(connection.client);
  const stop = new AbortController();
  let watching: Promise<void> | null = null;
  try {
    for (let readAt = Number.NEGATIVE_INFINITY; !interrupt.aborted; ) {
      const now = Date.now();
      if (changes.isPending || now - readAt >= readEveryMs) {
        changes.isPending = false;
        readAt = now;
        await refresh(view, options, search);
      }
      const watched = view.survey && subject.watched?.(view.survey);
      if (watched) watching ??= listen(connection, watched, changes, stop.signal);
      if (!interrupt.aborted) await view.show(Date.now());
      await changes.wait(tickMs);
    }
    return exitCode.interrupted;
  } finally {
    stop.abort();
    await watching;
  }
}

/** Reads anew; when there is no answer the last one stands. */
async function refresh(
  view: LiveView,
  { connection, subject, question, invocation }: LiveOptions,
  search: EvictorSearch,
): Promise<void> {
  try {
    const reader = new ClusterReader(connection.client, undefined, search);
    view.take(await readSubject(subject, reader, question));
  } catch (error) {
    if (invocation.interrupt.aborted) return;
    if (!(error instanceof ConnectionError) || !view.survey) throw error;
    view.stale(error.message);
  }
}

/** Notes what the watches report. */
async function listen(
  { transport }: Connection,
  watched: Watched,
  changes: Changes,
  signal: AbortSignal,
): Promise<void> {
  const engine = createEngine({ leader: false });
  const machine = {
    handle: (now: number, event: Parameters<typeof engine.handle>[1]) => {
      changes.note();
      return engine.handle(now, event).slice(0, 0);
    },
    nextWake: () => null,
  };
  const loop = new Loop({ machine, random: Math.random, ...watched });
  // What cannot be watched is read every few seconds, which says why it fails.
  const patienceMs = Number.POSITIVE_INFINITY;
  await drive({ loop, transport, signal, patienceMs, onNotice: () => {} });
}

/** Wakes who waits a moment after something changed: changes that come together are one. */
class Changes {
  isPending = true;
  #wake: () => void = () => {};
  #timer: NodeJS.Timeout | null = null;

  constructor(interrupt: AbortSignal) {
    interrupt.addEventListener('abort', () => this.#wake(), { once: true });
  }

  note(): void {
    if (this.isPending) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.isPending = true;
      this.#wake();
    }, togetherMs);
  }

  /** Resolves after so long, or when something has changed or Ctrl-C comes. */
  async wait(millis: number): Promise<void> {
    if (this.isPending) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, millis);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** What was read last, and what was shown of it. */
class LiveView {
  readonly #options: LiveOptions;
  readonly #explainer: Explainer;
  /** Null: nobody watches, or a script reads. */
  readonly #screen: LiveBlock | null;
  readonly #warned = new Set<string>();
  #survey: ForecastSurvey | null = null;
  #shown: readonly string[] | null = null;
  #isFresh = false;
  #hasShown = false;

  constructor(options: LiveOptions, screen: LiveBlock | null) {
    this.#options = options;
    this.#explainer = new Explainer(options.question);
    this.#screen = options.format.kind === 'table' ? screen : null;
  }

  /** What was read last; null: nothing yet. */
  get survey(): ForecastSurvey | null {
    return this.#survey;
  }

  take(survey: ForecastSurvey): void {
    this.#survey = survey;
    this.#isFresh = true;
    this.#explainer.take(survey);
  }

  /** The API server did not answer. */
  stale(message: string): void {
    warn(this.#options.invocation.output, `${message}; what is shown is old`);
  }

  async show(now: number): Promise<void> {
    if (!this.#survey || (!this.#screen && !this.#isFresh)) return;
    const { subject, question, format, invocation } = this.#options;
    const { output } = invocation;
    const isFirst = !this.#hasShown;
    this.#hasShown = true;
    const survey = { ...this.#survey, at: isFirst ? this.#survey.at : now };
    const report = focused(subject, reportOn(survey, this.#explainer));
    const answer = await subject.answer(report, { survey, question, paint: output.paintOut });
    if (this.#screen) {
      const wide = format.kind === 'table' && format.wide;
      this.#screen.show(answer.table({ wide, headers: true }));
    } else {
      await this.#write(answer);
    }
    if (this.#isFresh) this.#writeNotes(notesOn(survey, report, question), isFirst);
    this.#isFresh = false;
  }

  /** The whole answer at first, and then the lines of it that have changed. */
  async #write(answer: Answer): Promise<void> {
    const { format, invocation } = this.#options;
    const { output, flags } = invocation;
    const before = this.#shown;
    const states = answer.rows.map(stateOf);
    this.#shown = states;
    if (before?.join('\n') === states.join('\n')) return;
    const isTable = format.kind === 'table';
    const lines = isTable ? answer.table({ wide: format.wide, headers: false }).split('\n') : [];
    if (before === null || lines.length !== states.length) {
      output.write(await printAnswer(answer, format, flags.headers !== false));
      return;
    }
    for (const [index, state] of states.entries()) {
      if (!before.includes(state)) output.out(lines[index] ?? '');
    }
  }

  /** A warning is written once; notes are about the first reading: the rest we saw come. */
  #writeNotes({ warnings, notes }: Notes, isFirst: boolean): void {
    const fresh = warnings.filter((text) => !this.#warned.has(text));
    for (const text of fresh) this.#warned.add(text);
    writeNotes(this.#options.invocation.output, { warnings: fresh, notes: isFirst ? notes : [] });
  }
}

/** A row without the time that is left, which changes all the time. */
function stateOf(row: object): string {
  return JSON.stringify(row, (key, value: unknown) =>
    key === 'remainingSeconds' || key === 'nextSeconds' || key === 'lastSeconds'
      ? undefined
      : value,
  );
}
