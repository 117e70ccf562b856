import type { Event, Outcome } from '@taintmgr/core';
import type { RenewMark, TaintNode } from '@taintmgr/core/drain';
import { ApiError, ConnectionError, isMissing } from '@taintmgr/k8s-adapter/client';
import { AnotherDrainError } from '../../cluster/change-node.ts';

export interface TainterOptions {
  /** Puts the taint on a node. Throws ApiError, ConnectionError and AnotherDrainError. */
  readonly taint: (nodeName: string) => Promise<void>;
  /** Shows on a node that the drain is still at work. Throws as `taint` does. */
  readonly renew: (nodeName: string) => Promise<void>;
  /** Shows on a node that the drain has ended there. Throws as `taint` does. */
  readonly end: (nodeName: string, isDrained: boolean) => Promise<void>;
  /** Takes every taint back that was put on. */
  readonly untaint: () => Promise<void>;
  readonly interrupt: AbortSignal;
  /** Called when something else was thrown: a mistake of ours. */
  readonly onMistake: () => void;
}

/**
 * Puts the taint on nodes and renews their marks when the drain machine asks for it, and reports what
 * came of that; takes all taints back when the drain is stopped.
 */
export class Tainter {
  readonly #options: TainterOptions;
  readonly #writes = new Set<Promise<void>>();
  #takingBack: Promise<void> | null = null;
  #feed: (event: Event) => void = () => {};

  constructor(options: TainterOptions) {
    this.#options = options;
  }

  /** Where the machine hears of outcomes. */
  feedTo(feed: (event: Event) => void): void {
    this.#feed = feed;
  }

  perform({ kind, id, nodeName }: TaintNode | RenewMark): void {
    const { taint, renew } = this.#options;
    this.#follow(this.#write(id, () => (kind === 'taintNode' ? taint : renew)(nodeName)));
  }

  /** Nothing more is done on the node. */
  end(nodeName: string, isDrained: boolean): void {
    // Where that cannot be said, the mark shows it by not being renewed.
    this.#follow(this.#outcome(() => this.#options.end(nodeName, isDrained)).then(() => {}));
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
    await this.#options.untaint();
  }

  /** Mistakes of ours stay, to be found by `written`. */
  #follow(write: Promise<void>): void {
    this.#writes.add(write);
    write.then(
      () => this.#writes.delete(write),
      () => this.#options.onMistake(),
    );
  }

  async #write(id: string, write: () => Promise<void>): Promise<void> {
    const outcome = await this.#outcome(write);
    this.#feed({ kind: 'result', id, outcome });
  }

  async #outcome(write: () => Promise<void>): Promise<Outcome> {
    const { interrupt } = this.#options;
    try {
      await write();
      return { kind: 'done' };
    } catch (error) {
      if (error instanceof ApiError) return refused(error);
      if (error instanceof AnotherDrainError) {
        const { message, isTakenOver } = error;
        return { kind: 'changed', message, ...(isTakenOver && { takenOver: true }) };
      }
      const isOver = interrupt.aborted && error === interrupt.reason;
      if (!isOver && !(error instanceof ConnectionError)) throw error;
      const message = error instanceof Error ? error.message : 'interrupted';
      return { kind: 'failed', status: null, message, retryAfter: null };
    }
  }
}

function refused({ failure }: ApiError): Outcome {
  if (isMissing(failure)) return { kind: 'gone' };
  const { status, message, retryAfter } = failure;
  return { kind: 'failed', status, message, retryAfter };
}
