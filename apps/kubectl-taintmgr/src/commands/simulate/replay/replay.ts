import {
  type Command,
  type Config,
  createEngine,
  defaultConfig,
  type Engine,
  type Event,
} from '@taintmgr/core';
import { defaultLifecycleConfig } from '@taintmgr/core/lifecycle';
import type { Instant } from '@taintmgr/core/time';
import type { FlightEnd, FlightHead } from '@taintmgr/k8s-adapter';
import { FaultyFile } from '@taintmgr/k8s-adapter/manifests';
import { type Difference, differenceOf, type EngineAnswer } from './difference.ts';
import { explanationsOf } from './explanation.ts';
import { type FlightLine, readFlight } from './flight.ts';

/** A flight record, played again with the engine of this build. */
export interface Replay {
  readonly file: string;
  readonly head: FlightHead;
  /** Settings in the head that this build does not have. */
  readonly unknown: readonly string[];
  readonly events: number;
  /** By kind, in the order of their first; those up to the difference. */
  readonly commands: ReadonlyMap<Command['kind'], number>;
  readonly lastAt: Instant | null;
  /** How the recording ends: `cut` within a line, `open` after a whole one. */
  readonly end: FlightEnd['end'] | 'cut' | 'open';
  /** The line that was cut off; null: none. */
  readonly cutLine: number | null;
  /** The error that stopped the engine then, and now; null: it did not stop. */
  readonly threw: string | null;
  /** Null: every command is the same. */
  readonly difference: Difference | null;
  /** How this build explains what the difference is about. */
  readonly explanations: readonly string[];
}

/**
 * Gives the engine the recorded events, and compares its commands, up to the first difference.
 * Throws FaultyFile and UsageError, and the reason of `interrupt` once it is aborted.
 */
export async function replay(file: string, interrupt: AbortSignal): Promise<Replay> {
  const lines = readFlight(file);
  const first = await lines.next();
  const head = headOf(file, first.value);
  const known = knownSettings(head);
  const playback = new Playback(engineOf(file, known.config));
  for await (const line of lines) {
    interrupt.throwIfAborted();
    playback.take(line);
    if (playback.difference) break;
  }
  const { events, commands, lastAt, end, cutLine, threw, difference } = playback;
  const explanations = difference ? explanationsOf(playback.engine, difference) : [];
  const { unknown } = known;
  return {
    file,
    head,
    unknown,
    events,
    commands,
    lastAt,
    end,
    cutLine,
    threw,
    difference,
    explanations,
  };
}

function headOf(file: string, line: FlightLine | undefined): FlightHead {
  if (line?.kind === 'head') return line.head;
  throw new FaultyFile([
    `${file}:1: the file is empty, want a recording of taintmgr-controller --flight-record`,
  ]);
}

/** The settings that this build has; another build may have recorded others. */
function knownSettings({ engine }: FlightHead): {
  readonly config: Partial<Config>;
  readonly unknown: readonly string[];
} {
  const unknown: string[] = [];
  const only = <T extends object>(path: string, given: T, known: object): T => {
    const kept = Object.entries(given).filter(([name]) => {
      if (Object.hasOwn(known, name)) return true;
      unknown.push(`${path}${name}`);
      return false;
    });
    return Object.fromEntries(kept) as T;
  };
  const config = only('', engine, defaultConfig);
  const { lifecycle } = config;
  // Values of another kind are for the engine to refuse.
  if (typeof lifecycle !== 'object' || lifecycle === null) return { config, unknown };
  const ofLifecycle = only('lifecycle.', lifecycle, defaultLifecycleConfig);
  return { config: { ...config, lifecycle: ofLifecycle }, unknown };
}

function engineOf(file: string, config: Partial<Config>): Engine {
  try {
    return createEngine(config);
  } catch (error) {
    // The values may be of any kind, and the engine looks for those that its types allow.
    const fault =
      error instanceof RangeError
        ? error.message.replace(/^config\./, 'engine.')
        : `engine: no engine can be made of it: ${error}`;
    throw new FaultyFile([`${file}:1: ${fault}`]);
  }
}

/** What has been played so far. */
class Playback {
  events = 0;
  lastAt: Instant | null = null;
  end: Replay['end'] = 'open';
  cutLine: number | null = null;
  threw: string | null = null;
  difference: Difference | null = null;
  readonly commands = new Map<Command['kind'], number>();
  readonly engine: Engine;

  constructor(engine: Engine) {
    this.engine = engine;
  }

  take(line: FlightLine): void {
    if (line.kind === 'end') this.end = line.end;
    else if (line.kind === 'cut') {
      this.end = 'cut';
      this.cutLine = line.line;
    } else if (line.kind === 'step') {
      const { step } = line;
      const answer = answerOf(this.engine, step.at, step.event);
      this.difference = differenceOf(line.line, step, answer);
      this.lastAt = step.at;
      if (this.difference) return;
      this.events++;
      this.threw = answer.threw;
      for (const { kind } of answer.commands) {
        this.commands.set(kind, (this.commands.get(kind) ?? 0) + 1);
      }
    }
  }
}

/** An engine that stops is an answer too: a recording of a crash is to be played to its end. */
function answerOf(engine: Engine, at: Instant, event: Event): EngineAnswer {
  try {
    return { commands: engine.handle(at, event), threw: null };
  } catch (error) {
    return { commands: [], threw: String(error) };
  }
}
