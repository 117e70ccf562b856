import assert from 'node:assert/strict';
import type { LiveBlock, Output } from '../../src/cli/output.ts';
import { broken } from '../../src/render/lines.ts';
import { plain } from '../../src/render/style.ts';

/** An output that a test reads, and on whose lines it can wait. */
export class CapturedOutput implements Output {
  readonly live: Output['live'];
  readonly screen: Output['screen'];
  readonly paintOut: Output['paintOut'] = plain;
  readonly paintErr: Output['paintErr'] = plain;
  readonly widthOut: number | null;
  readonly widthErr: number | null;
  /** Every line ever shown live, one after the other. */
  readonly shown: string[] = [];
  #out = '';
  #err = '';
  #ended = false;
  #watchers: (() => void)[] = [];

  /** `isWatched`: live lines are shown; `width`: the columns of its terminal, null: it is none. */
  constructor(isWatched: boolean = false, width: number | null = null) {
    this.widthOut = width;
    this.widthErr = width;
    const show = (text: string): void => this.#take(() => this.shown.push(text));
    const block: LiveBlock | null = isWatched ? { show, clear: () => {} } : null;
    this.live = async () => block;
    this.screen = this.live;
  }

  readonly out = (text: string): void =>
    this.#take(() => (this.#out += `${broken(text, this.widthOut)}\n`));
  readonly write = (text: string): void => this.#take(() => (this.#out += text));
  readonly flushed = async (): Promise<void> => {};
  readonly err = (text: string): void =>
    this.#take(() => (this.#err += `${broken(text, this.widthErr)}\n`));

  /** All data so far. */
  get outText(): string {
    return this.#out;
  }

  /** All that was said to a person so far, without live lines. */
  get errText(): string {
    return this.#err;
  }

  /** Nothing will be written any more. */
  end(): void {
    this.#take(() => (this.#ended = true));
  }

  /** Resolves when data, messages or live lines match; rejects when they will not. */
  async saw(pattern: RegExp): Promise<void> {
    const hasSeen = (): boolean =>
      [this.#out, this.#err, ...this.shown].some((text) => pattern.test(text));
    while (!hasSeen()) {
      assert.ok(!this.#ended, `ended without ${pattern}:\n${this.#out}${this.#err}`);
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
    }
  }

  #take(write: () => void): void {
    write();
    for (const wake of this.#watchers.splice(0)) wake();
  }
}
