// `explain -w`: the answer again whenever it changes.
import { createEngine } from '@taintmgr/core';
import { ConnectionError, drive, Loop } from '@taintmgr/k8s-adapter';
import {
  type Explained,
  explainSubject,
  type Notes,
  type Question,
} from '@taintmgr/k8s-adapter/explain';
import type { Connection } from '../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import { type LiveBlock, warn, writeNotes } from '../../cli/output.ts';
import type { Invocation } from '../../cli/registry.ts';
import { type Answer, type Format, printAnswer } from '../../render/printer.ts';
import type { ExplainFlags } from './flags.ts';
import { answerOf, type View, type Watched } from './view.ts';

export interface LiveOptions {
  readonly connection: Connection;
  readonly view: View;
  readonly question: Question;
  readonly format: Format;
  readonly invocation: Invocation<ExplainFlags>;
}

/** Everything is read again after this time, for facts that no watch reports: budgets, leases. */
const readEveryMs = 5000;
/** Changes that come together are shown together. */
const togetherMs = 200;
const tickMs = 1000;

/**
 * Shows an answer and updates it until Ctrl-C. On a terminal it is rewritten in place each second; else
 * changes are written as they come. A watch reports that something changed; then the shown part is read
 * again.
 */
export async function run(options: LiveOptions): Promise<ExitCode> {
  const { connection, view, invocation } = options;
  const { interrupt, output } = invocation;
  const shown = new LiveAnswer(options, await output.screen());
  const changes = new Changes(interrupt);
  const stop = new AbortController();
  let watching: Promise<void> | null = null;
  try {
    for (let readAt = Number.NEGATIVE_INFINITY; !interrupt.aborted; ) {
      const now = Date.now();
      if (changes.isPending || now - readAt >= readEveryMs) {
        changes.isPending = false;
        readAt = now;
        await refresh(shown, options);
      }
      const watched = shown.latest && view.watched?.(shown.latest.survey);
      if (watched) watching ??= listen(connection, watched, changes, stop.signal);
      if (!interrupt.aborted) await shown.show(Date.now());
      await changes.wait(tickMs);
    }
    return exitCode.interrupted;
  } finally {
    stop.abort();
    await watching;
  }
}

/** Reads the cluster again; without an answer the last one stands. */
async function refresh(shown: LiveAnswer, options: LiveOptions): Promise<void> {
  const { connection, view, question, invocation } = options;
  const { latest } = shown;
  try {
    const { client } = connection;
    shown.take(
      await (latest ? latest.again(client) : explainSubject(client, view.subject, question)),
    );
  } catch (error) {
    if (invocation.interrupt.aborted) return;
    if (!(error instanceof ConnectionError) || !latest) throw error;
    shown.stale(error.message);
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
  // A collection that cannot be watched is read every few seconds, which says why it fails.
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

  /** Resolves after this time, at a change or at Ctrl-C. */
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

/** The last answer, and its shown part. */
class LiveAnswer {
  readonly #options: LiveOptions;
  /** Null: the output is no terminal, or a script reads it. */
  readonly #screen: LiveBlock | null;
  readonly #warned = new Set<string>();
  #latest: Explained | null = null;
  #shown: readonly string[] | null = null;
  #isFresh = false;
  #hasShown = false;

  constructor(options: LiveOptions, screen: LiveBlock | null) {
    this.#options = options;
    this.#screen = options.format.kind === 'table' ? screen : null;
  }

  /** The answer that was read last; null: nothing yet. */
  get latest(): Explained | null {
    return this.#latest;
  }

  take(explained: Explained): void {
    this.#latest = explained;
    this.#isFresh = true;
  }

  /** The API server did not answer. */
  stale(message: string): void {
    warn(this.#options.invocation.output, `${message}; what is shown is old`);
  }

  async show(now: number): Promise<void> {
    if (!this.#latest || (!this.#screen && !this.#isFresh)) return;
    const { view, format, invocation } = this.#options;
    const { widthOut: width, paintOut: paint } = invocation.output;
    const isFirst = !this.#hasShown;
    this.#hasShown = true;
    const explained = isFirst ? this.#latest : this.#latest.asOf(now);
    const answer = answerOf(view, explained);
    if (this.#screen) {
      const wide = format.kind === 'table' && format.wide;
      this.#screen.show(answer.table({ wide, headers: true, width, paint }));
    } else {
      await this.#write(answer);
    }
    if (this.#isFresh) this.#writeNotes(explained.notes, isFirst);
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
    const lines = isTable
      ? answer
          .table({ wide: format.wide, headers: false, width: null, paint: output.paintOut })
          .split('\n')
      : [];
    if (before === null || lines.length !== states.length) {
      output.write(await printAnswer(answer, format, flags.headers !== false, output));
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

/** The fields that change all the time: times that are left, and ends of pods that are due. */
const restless: ReadonlySet<string> = new Set([
  ...['remainingSeconds', 'nextSeconds', 'lastSeconds'],
  ...['by', 'lastEvictionAt', 'obstacles'],
]);

/** A row without what changes all the time. */
function stateOf(row: object): string {
  return JSON.stringify(row, (key, value: unknown) => (restless.has(key) ? undefined : value));
}
