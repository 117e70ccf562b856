import type { Event, Outcome } from '@taintmgr/core';
import type { TaintNode } from '@taintmgr/core/drain';
import { ApiError, ConnectionError } from '@taintmgr/k8s-adapter';

export interface TainterOptions {
  /** Puts the taint on a node. Throws ApiError and ConnectionError. */
  readonly taint: (nodeName: string) => Promise<void>;
  /** Takes every taint back that was put on. */
  readonly untaint: () => Promise<void>;
  readonly interrupt: AbortSignal;
  /** Called when something else was thrown: a mistake of ours. */
  readonly onMistake: () => void;
}

/**
 * Puts the taint on nodes when the drain machine asks for it, and reports what came of that; takes
 * all of them back when the drain is stopped.
 */
export class Tainter {
  readonly #options: TainterOptions;
  readonly #writes: Promise<void>[] = [];
  #takingBack: Promise<void> | null = null;
  #feed: (event: Event) => void = () => {};

  constructor(options: TainterOptions) {
    this.#options = options;
  }

  /** Where the machine hears of outcomes. */
  feedTo(feed: (event: Event) => void): void {
    this.#feed = feed;
  }

  perform({ id, nodeName }: TaintNode): void {
    this.#writes.push(this.#write(id, nodeName));
  }

  /** At once, before requests under way are answered: until then others go on to evict. */
  takeBack(): void {
    this.#takingBack ??= this.#options.untaint();
  }

  /** Resolves when no write is under way any more; rejects for a mistake of ours. */
  async written(): Promise<void> {
    await Promise.all(this.#writes);
    if (!this.#takingBack) return;
    await this.#takingBack;
    // What was being put on meanwhile.
    if (this.#writes.length > 0) await this.#options.untaint();
  }

  async #write(id: string, nodeName: string): Promise<void> {
    try {
      const outcome = await this.#outcome(nodeName);
      this.#feed({ kind: 'result', id, outcome });
    } catch (error) {
      this.#options.onMistake();
      throw error;
    }
  }

  async #outcome(nodeName: string): Promise<Outcome> {
    const { taint, interrupt } = this.#options;
    try {
      await taint(nodeName);
      return { kind: 'done' };
    } catch (error) {
      if (error instanceof ApiError) return refused(error);
      const isOver = interrupt.aborted && error === interrupt.reason;
      if (!isOver && !(error instanceof ConnectionError)) throw error;
      const message = error instanceof Error ? error.message : 'interrupted';
      return { kind: 'failed', status: null, message, retryAfter: null };
    }
  }
}

function refused({ failure: { status, message, retryAfter } }: ApiError): Outcome {
  if (status === 404) return { kind: 'gone' };
  return { kind: 'failed', status, message, retryAfter };
}
