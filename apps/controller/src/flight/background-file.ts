import { closeSync, lstatSync, renameSync, write, writeSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { closeToOthers, openPrivate } from '@taintmgr/k8s-adapter/client';

export interface BackgroundFileOptions {
  readonly path: string;
  /** Earlier files of the name to keep, as `path.1` (the latest) and so on. */
  readonly backups: number;
  /** Called once, when writing has failed; nothing is written any more. */
  readonly onFailure: (error: Error) => void;
}

/** A disk that takes no more keeps so many bytes waiting before it counts as failed. */
const waitingMax = 64 * 1024 * 1024;
/** A file that is compressed takes so many bytes at once, or what has come in this time. */
const compressedAtOnce = 64 * 1024;
const compressedAfterMs = 1000;

/**
 * A file that is only appended to, in the background: a slow, full or broken disk holds nobody up.
 * What waits is written when the process ends, unless it is killed. With a path that ends in `.gz` it
 * is compressed, part by part, so that what was written can be read even if there is no end.
 */
export class BackgroundFile {
  #waiting: string[] = [];
  #waitingSize = 0;
  #timer: NodeJS.Timeout | null = null;
  /** What the system writes at `#offset` at this time. */
  #underWay: Buffer | null = null;
  #offset = 0;
  #failed = false;
  #whenIdle: (() => void) | null = null;
  readonly #isCompressed: boolean;
  readonly #descriptor: number;
  readonly #options: BackgroundFileOptions;

  /** Moves an earlier file of the name out of the way. Throws where the file cannot be made. */
  constructor(options: BackgroundFileOptions) {
    this.#options = options;
    this.#isCompressed = options.path.endsWith('.gz');
    rotate(options.path, options.backups);
    this.#descriptor = openPrivate(options.path);
    process.once('exit', this.#finish);
  }

  /** Bytes that are in the file or on the way there; what is still to be compressed counts whole. */
  get size(): number {
    return this.#offset + (this.#underWay?.length ?? 0) + this.#waitingSize;
  }

  /** Takes a text that is to follow. */
  append(text: string): void {
    if (this.#failed) return;
    this.#waiting.push(text);
    this.#waitingSize += Buffer.byteLength(text);
    if (this.#waitingSize > waitingMax) this.#fail(new Error('the disk is too slow'));
    else if (!this.#isCompressed || this.#waitingSize >= compressedAtOnce) this.#write();
    else this.#timer ??= setTimeout(() => this.#write(), compressedAfterMs).unref();
  }

  /** Resolves when all is written, or cannot be. */
  async close(): Promise<void> {
    this.#write();
    if (this.#underWay !== null) {
      await new Promise<void>((resolve) => {
        this.#whenIdle = resolve;
      });
    }
    process.removeListener('exit', this.#finish);
    closeSync(this.#descriptor);
  }

  /** One write at a time; what comes meanwhile goes with the next. */
  #write(): void {
    if (this.#underWay !== null) return;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#waiting.length === 0) {
      this.#whenIdle?.();
      return;
    }
    this.#underWay = this.#takeWaiting();
    this.#writeOn(this.#underWay);
  }

  #writeOn(buffer: Buffer): void {
    write(this.#descriptor, buffer, 0, buffer.length, this.#offset, (error, written) => {
      this.#offset += written;
      // A disk that fills up takes a part first, and fails with the rest.
      this.#underWay = written < buffer.length && !error ? buffer.subarray(written) : null;
      if (error) this.#fail(error);
      if (this.#underWay) this.#writeOn(this.#underWay);
      else this.#write();
    });
  }

  #takeWaiting(): Buffer {
    const text = this.#waiting.join('');
    this.#waiting = [];
    this.#waitingSize = 0;
    return this.#isCompressed && text !== '' ? gzipSync(text) : Buffer.from(text);
  }

  #fail(error: Error): void {
    this.#waiting = [];
    if (!this.#failed) this.#options.onFailure(error);
    this.#failed = true;
  }

  /** At the end of the process nothing is done in the background any more. */
  readonly #finish = (): void => {
    if (this.#failed) return;
    // What is under way may be written twice, in the same place.
    const rest = Buffer.concat([this.#underWay ?? Buffer.alloc(0), this.#takeWaiting()]);
    try {
      writeSync(this.#descriptor, rest, 0, rest.length, this.#offset);
    } catch {
      // Nobody is left to be told.
    }
  };
}

/** `path.1` becomes `path.2`, and `path` becomes `path.1`, for nobody else to read; what is no regular file stays. */
function rotate(path: string, backups: number): void {
  if (backups === 0 || !lstatSync(path, { throwIfNoEntry: false })?.isFile()) return;
  for (let number = backups; number > 0; number--) {
    const older = number === 1 ? path : `${path}.${number - 1}`;
    if (!lstatSync(older, { throwIfNoEntry: false })?.isFile()) continue;
    closeToOthers(older);
    renameSync(older, `${path}.${number}`);
  }
}
