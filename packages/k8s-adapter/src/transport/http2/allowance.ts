// How much a server may send that brings nothing to anybody.
import { ProtocolError } from './frames.ts';

/**
 * So many frames may come that bring nothing, since our last request and the last answer to a ping of ours: a server
 * sends few of them, and each is work.
 */
const emptyFramesMax = 10_000;

/** Counts what a server sends beside answers, and throws ProtocolError where that has no end. */
export class Allowance {
  #emptyFrames = 0;
  /** Pings of ours without an answer. */
  #pings = 0;
  /** So many bytes may come for those that do not wait for them any more. */
  #unwantedBytesMax: number;
  readonly #windowBytes: number;

  /** `windowBytes`: so much of one answer may be on its way. */
  constructor(windowBytes: number) {
    this.#windowBytes = windowBytes;
    this.#unwantedBytesMax = windowBytes;
  }

  /** A request of ours goes out. */
  asked(): void {
    this.#emptyFrames = 0;
  }

  pinged(): void {
    this.#pings += 1;
  }

  ponged(): void {
    if (this.#pings === 0) return;
    this.#pings -= 1;
    this.#emptyFrames = 0;
  }

  /** An answer is not waited for any more: what is on its way the server cannot take back. */
  cancelled(): void {
    this.#unwantedBytesMax += this.#windowBytes;
  }

  /** Frames have come that bring nothing, or one that is as much work as so many. */
  empty(frames = 1): void {
    this.#emptyFrames += frames;
    if (this.#emptyFrames <= emptyFramesMax) return;
    throw new ProtocolError('frames without end that bring nothing');
  }

  /** Data has come that nobody waits for. */
  unwanted(bytes: number): void {
    this.#unwantedBytesMax -= bytes;
    if (this.#unwantedBytesMax < 0) throw new ProtocolError('data that nobody asked for');
  }
}
