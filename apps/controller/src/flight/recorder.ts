// Records each event and command of the engine, without holding anybody up.

import { closeSync, lstatSync, renameSync, write, writeSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { type Config, type Event, resolveConfig } from '@taintmgr/core';
import { resolveLifecycleConfig } from '@taintmgr/core/lifecycle';
import { formatTimeMillis, type Instant } from '@taintmgr/core/time';
import {
  type FlightHead,
  type FlightStep,
  flightApiVersion,
  flightLine,
  type Machine,
  redactCommand,
  redactEvent,
} from '@taintmgr/k8s-adapter';
import { closeToOthers, openPrivate } from '@taintmgr/k8s-adapter/client';
import type { Settings } from '../flags/settings.ts';
import type { Logger } from '../log/logger.ts';
import type { Meter } from '../metrics/meter.ts';
import { flightMetrics } from '../metrics/metrics.ts';
import { version } from '../version.ts';

export interface FlightRecorderOptions extends Omit<BackgroundFileOptions, 'onFailure'> {
  readonly head: Omit<FlightHead, 'startedAt'>;
  /** Bytes of the file, at most. */
  readonly sizeMax: number;
  /** Called once, when from now on nothing is recorded: the file is full, or cannot be written. */
  readonly onEnd: (why: string) => void;
}

/** The answer of the engine, or its failure. */
type Answer = Pick<FlightStep, 'commands' | 'threw'>;

/** Room for the last line, which says that the file is full; compressed it is longer. */
const endSize = 64;

/**
 * Records the events and answers of an engine, for `kubectl taintmgr simulate --replay`. A failure never
 * stops the engine: unwritten data is counted.
 */
export class FlightRecorder {
  #file: BackgroundFile | null = null;
  #state: 'waiting' | 'recording' | 'ended' = 'waiting';
  #steps = 0;
  #lost = 0;
  readonly #options: FlightRecorderOptions;

  constructor(options: FlightRecorderOptions) {
    this.#options = options;
  }

  /** True if what happens is recorded. */
  get active(): boolean {
    return this.#state === 'recording';
  }

  /** Bytes of the recording. */
  get size(): number {
    return this.#file?.size ?? 0;
  }

  /** Steps that came after the recording had ended. */
  get lost(): number {
    return this.#lost;
  }

  /** The machine, listened to. */
  readonly around = (machine: Machine): Machine => ({
    nextWake: () => machine.nextWake(),
    handle: (now, event) => {
      let answer: Answer = {};
      try {
        const commands = machine.handle(now, event);
        answer = commands.length > 0 ? { commands } : {};
        return commands;
      } catch (error) {
        answer = { threw: String(error) };
        throw error;
      } finally {
        this.#record(now, event, answer);
      }
    },
  });

  /** Says that the run ended in order; resolves when all is written. */
  async close(): Promise<void> {
    if (this.active) this.#file?.append(flightLine({ end: 'stopped' }));
    await this.#file?.close();
    this.#state = 'ended';
  }

  #record(at: Instant, event: Event, { commands, ...rest }: Answer): void {
    this.#steps++;
    try {
      if (this.#state === 'waiting') this.#begin(at);
      this.#append({
        step: this.#steps,
        at,
        event: redactEvent(event),
        ...(commands && { commands: commands.map(redactCommand) }),
        ...rest,
      });
    } catch (error) {
      // Whatever it is: evictions are worth more than their record.
      this.#end((error as Error).message);
    }
    if (!this.active) this.#lost++;
  }

  /** Begins with the first step, so that failed starts do not rotate away useful recordings. */
  #begin(at: Instant): void {
    const { path, backups, head } = this.#options;
    this.#file = new BackgroundFile({
      path,
      backups,
      onFailure: (error) => this.#end(error.message),
    });
    this.#state = 'recording';
    this.#append({ ...head, startedAt: formatTimeMillis(at) });
  }

  #append(value: FlightHead | FlightStep): void {
    if (!this.active) return;
    const line = flightLine(value);
    const { sizeMax } = this.#options;
    if (this.size + Buffer.byteLength(line) <= sizeMax - endSize) {
      this.#file?.append(line);
    } else {
      // A file without its first line is of no use.
      if (this.size > 0) this.#file?.append(flightLine({ end: 'full' }));
      this.#end(`it has reached ${sizeMax} bytes`);
    }
  }

  #end(why: string): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#options.onEnd(why);
  }
}

interface FlightOptions {
  readonly settings: Settings;
  readonly engine: Partial<Config>;
  readonly meter: Meter;
  readonly log: Logger;
}

/** Starts the chosen flight recorder; null: recording is off. */
export function startFlightRecorder(options: FlightOptions): FlightRecorder | null {
  const { settings, engine, meter, log } = options;
  const { flightRecord: path, flightRecordMaxsize, flightRecordMaxbackup, simulate } = settings;
  if (path === '') return null;
  const recorder = new FlightRecorder({
    path,
    sizeMax: flightRecordMaxsize * 2 ** 20,
    backups: flightRecordMaxbackup,
    head: {
      apiVersion: flightApiVersion,
      kind: 'FlightRecord',
      version,
      engine: resolved(engine),
      ...(simulate && { seed: settings.seed }),
    },
    onEnd: (why) =>
      log.warn({ file: path, why }, 'flight record stopped, evictions continue without it'),
  });
  flightMetrics(meter, recorder);
  return recorder;
}

/** With all defaults: those of the build that plays it may be others. */
function resolved(engine: Partial<Config>): Config {
  const config = resolveConfig(engine);
  return { ...config, lifecycle: config.lifecycle && resolveLifecycleConfig(config.lifecycle) };
}

export interface BackgroundFileOptions {
  readonly path: string;
  /** Earlier files of the name to keep, as `path.1` (the latest) and so on. */
  readonly backups: number;
  /** Called once, when writing has failed; nothing is written any more. */
  readonly onFailure: (error: Error) => void;
}

/** The number of waiting bytes after which a full or slow disk counts as failed. */
const waitingMax = 64 * 1024 * 1024;
/** A compressed file takes this number of bytes at once, or the bytes of this time. */
const compressedAtOnce = 64 * 1024;
const compressedAfterMs = 1000;

/**
 * A file that is appended to in the background: a slow, full or broken disk delays no other work. Pending
 * data is written when the process ends, unless the process is killed. With a path that ends in `.gz` it is
 * compressed, part by part, so that the written part can be read even without an end.
 */
export class BackgroundFile {
  #waiting: string[] = [];
  #waitingSize = 0;
  #timer: NodeJS.Timeout | null = null;
  /** The bytes that the system writes at `#offset` at this time. */
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

  /** Bytes that are in the file or on the way there; bytes before compression count whole. */
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

  /** Runs one write at a time; later data joins the next write. */
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
    // Bytes under way may be written twice, in the same place.
    const rest = Buffer.concat([this.#underWay ?? Buffer.alloc(0), this.#takeWaiting()]);
    try {
      writeSync(this.#descriptor, rest, 0, rest.length, this.#offset);
    } catch {
      // No reader is left.
    }
  };
}

/**
 * Renames `path.1` to `path.2`, and `path` to `path.1`, readable by the owner only; skips anything but
 * regular files.
 */
function rotate(path: string, backups: number): void {
  if (backups === 0 || !lstatSync(path, { throwIfNoEntry: false })?.isFile()) return;
  for (let number = backups; number > 0; number--) {
    const older = number === 1 ? path : `${path}.${number - 1}`;
    if (!lstatSync(older, { throwIfNoEntry: false })?.isFile()) continue;
    closeToOthers(older);
    renameSync(older, `${path}.${number}`);
  }
}
