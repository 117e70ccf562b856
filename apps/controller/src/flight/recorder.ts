// Records each event and command of the engine, without holding anybody up.
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
import type { Settings } from '../flags/settings.ts';
import type { Logger } from '../log/logger.ts';
import { flightMetrics } from '../metrics/flight.ts';
import type { Meter } from '../metrics/meter.ts';
import { version } from '../version.ts';
import { BackgroundFile, type BackgroundFileOptions } from './background-file.ts';

export interface FlightRecorderOptions extends Omit<BackgroundFileOptions, 'onFailure'> {
  readonly head: Omit<FlightHead, 'startedAt'>;
  /** Bytes of the file, at most. */
  readonly sizeMax: number;
  /** Called once, when from now on nothing is recorded: the file is full, or cannot be written. */
  readonly onEnd: (why: string) => void;
}

/** What the engine answered, or how it failed. */
type Answer = Pick<FlightStep, 'commands' | 'threw'>;

/** Room for the last line, which says that the file is full; compressed it is longer. */
const endSize = 64;

/**
 * Writes down what an engine is told and what it answers, for `kubectl taintmgr simulate --replay`.
 * It never stops the engine: what cannot be written is counted.
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

  /** With the first step, so that starts that come to nothing drive out no recording of use. */
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

/** The flight recorder as it was chosen; null: nothing is to be recorded. */
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
