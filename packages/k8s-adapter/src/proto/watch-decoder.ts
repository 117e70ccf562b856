import { LineSplitter } from './lines.ts';
import { readWatchEvent, type WatchEvent } from './watch-event.ts';

/** Turns the bytes of a watch into its events, wherever the chunks are cut. */
export interface WatchDecoder {
  /** The events that are complete with this chunk; after a `junk` the stream is of no more use. */
  push(chunk: Uint8Array | string): readonly WatchEvent[];
  /** Whether the stream stands in the middle of an event. */
  readonly unfinished: boolean;
}

/** Watches in JSON: one event on each line. */
export class JsonWatchDecoder implements WatchDecoder {
  readonly #lines = new LineSplitter();

  push(chunk: Uint8Array | string): readonly WatchEvent[] {
    const { lines, tooLong } = this.#lines.push(chunk);
    const events = lines.map(readWatchEvent);
    return tooLong ? [...events, { kind: 'junk', what: 'an endless line' }] : events;
  }

  get unfinished(): boolean {
    return this.#lines.rest !== '';
  }
}
