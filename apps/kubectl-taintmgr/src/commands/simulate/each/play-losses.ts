// Plays losses in as many threads as there is room for, and keeps the finished ones when the user stops it.
import { availableParallelism } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { formatDuration, type Millis } from '@taintmgr/core/time';
import type { Loss } from '@taintmgr/page';
import type { LiveBlock } from '../../../cli/output.ts';
import { failedLoss } from './loss-player.ts';
import type { PlannedLoss } from './plan.ts';

/** Plays losses in a separate thread. */
interface Thread {
  /** Resolves when it can play. Throws why it never can. */
  ready(): Promise<void>;
  /** Throws why the thread has ended before. */
  play(planned: PlannedLoss): Promise<Loss>;
  stop(): void;
}

interface LossesOptions {
  readonly planned: readonly PlannedLoss[];
  /** The number of threads to start; 0: this thread plays all losses. */
  readonly threads: number;
  readonly startThread: () => Thread;
  /** Plays one in this thread. */
  readonly play: (planned: PlannedLoss) => Promise<Loss>;
  /** Null: no progress is shown. */
  readonly live: LiveBlock | null;
  readonly interrupt: AbortSignal;
}

export interface PlayedLosses {
  /** Each in its place; null: not played, as the user stopped it. */
  readonly losses: readonly (Loss | null)[];
  /** The reason why a thread could not be started; null: all could. */
  readonly withoutThreads: string | null;
}

/** The thread of a loss is chance, and its result is not. */
export async function playLosses(options: LossesOptions): Promise<PlayedLosses> {
  const { live, threads } = options;
  const losses = new Losses(options);
  try {
    const faults = await Promise.all(Array.from({ length: threads }, () => losses.inThread()));
    // Where all threads have failed, this one plays the rest.
    await losses.here();
    return { losses: losses.played, withoutThreads: faults.find((why) => why !== null) ?? null };
  } finally {
    live?.clear();
  }
}

class Losses {
  readonly played: (Loss | null)[];
  readonly #options: LossesOptions;
  readonly #left: ArrayIterator<[number, PlannedLoss]>;
  readonly #progress: Progress;

  constructor(options: LossesOptions) {
    const { planned, live } = options;
    this.#options = options;
    this.#left = planned.entries();
    this.played = planned.map(() => null);
    this.#progress = new Progress(planned.length, live);
  }

  /** Plays in a thread until none is left; a thread that dies has a successor. Null, or why there is none. */
  async inThread(): Promise<string | null> {
    const { interrupt, startThread } = this.#options;
    for (;;) {
      const thread = startThread();
      const stop = (): void => thread.stop();
      interrupt.addEventListener('abort', stop);
      try {
        await thread.ready();
        if (await this.#playIn(thread)) return null;
      } catch (error) {
        return interrupt.aborted ? null : reasonOf(error);
      } finally {
        interrupt.removeEventListener('abort', stop);
        stop();
      }
    }
  }

  /** Plays the remaining losses in a thread. Resolves to false if the thread has died. */
  async #playIn(thread: Thread): Promise<boolean> {
    for (let next = this.#next(); next; next = this.#next()) {
      const [index, planned] = next;
      try {
        this.#add(index, await thread.play(planned));
      } catch (error) {
        if (this.#options.interrupt.aborted) return true;
        this.#add(index, failedLoss(planned, `the thread that played it died: ${reasonOf(error)}`));
        return false;
      }
    }
    return true;
  }

  /** Plays the remaining losses in this thread. */
  async here(): Promise<void> {
    const { play, interrupt } = this.#options;
    try {
      for (let next = this.#next(); next; next = this.#next()) {
        const [index, planned] = next;
        this.#add(index, await play(planned));
      }
    } catch (error) {
      if (!interrupt.aborted || error !== interrupt.reason) throw error;
    }
  }

  #next(): readonly [number, PlannedLoss] | null {
    if (this.#options.interrupt.aborted) return null;
    const { done, value } = this.#left.next();
    return done ? null : value;
  }

  #add(index: number, loss: Loss): void {
    this.played[index] = loss;
    this.#progress.add(loss);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Less than this is played before threads have begun. */
const shortMs: Millis = 1_000;
/** The memory that a thread needs beside its heap. */
const besideHeapBytes = 64 * 2 ** 20;

/**
 * The number of threads for `losses`, each of which may take `eachMs`: at most one for each core, and as many
 * as fit into memory where each needs as much as this thread.
 * 0: this thread is enough.
 */
export function threadsFor(losses: number, eachMs: Millis): number {
  if (losses * eachMs < shortMs) return 0;
  const needed = getHeapStatistics().used_heap_size + besideHeapBytes;
  const fitting = Math.floor(process.availableMemory() / needed);
  const threads = Math.min(availableParallelism(), losses, fitting);
  return threads < 2 ? 0 : threads;
}

/** Says how far it is: `12 of 60 losses, 1 failed, about 40s left`. */
class Progress {
  readonly #all: number;
  readonly #live: LiveBlock | null;
  readonly #beganAt = performance.now();
  #done = 0;
  #failed = 0;

  constructor(all: number, live: LiveBlock | null) {
    [this.#all, this.#live] = [all, live];
    this.#show();
  }

  add({ failed }: Loss): void {
    this.#done++;
    if (failed !== null) this.#failed++;
    this.#show();
  }

  #show(): void {
    const failed = this.#failed > 0 ? `, ${this.#failed} failed` : '';
    const left = this.#done > 0 ? `, about ${formatDuration(this.#leftMs())} left` : '';
    this.#live?.show(`${this.#done} of ${this.#all} losses${failed}${left}`);
  }

  /** In whole seconds, as if the others took as long. */
  #leftMs(): Millis {
    const each = (performance.now() - this.#beganAt) / this.#done;
    return Math.ceil((each * (this.#all - this.#done)) / 1000) * 1000;
  }
}
