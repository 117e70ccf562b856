import type { Command, Config, Event } from '@taintmgr/core';
import type { Instant } from '@taintmgr/core/time';

// Writes the lines of a flight record, a text file of JSON, one value a line: a head, the steps in
// order, an ending. The engine reads no clock and draws no random numbers, so that head and events
// say all there is to know of a run; the commands beside them are what it did then.

/** The first line: what the engine was made with. */
export interface FlightHead {
  readonly apiVersion: typeof flightApiVersion;
  readonly kind: 'FlightRecord';
  /** Of the program that wrote it. */
  readonly version: string;
  /** RFC 3339 with milliseconds. */
  readonly startedAt: string;
  /** With the defaults of that time filled in. */
  readonly engine: Partial<Config>;
  /** Of the embedded cluster; left out where the cluster was a real one. */
  readonly seed?: number;
}

/** One event and what the engine answered. */
export interface FlightStep {
  /** From 1, without gaps. */
  readonly step: number;
  readonly at: Instant;
  readonly event: Event;
  /** In their order; left out: none. */
  readonly commands?: readonly Command[];
  /** The engine stopped with this error: a mistake of ours. */
  readonly threw?: string;
}

/** Why there are no further steps: the program ended in order, or the file became too large. */
export type FlightEnding = 'stopped' | 'full';

/** The last line. A file without one is of a run that goes on, or was cut off. */
export interface FlightEnd {
  readonly end: FlightEnding;
}

export const flightApiVersion = 'taintmgr.dev/v1alpha1';

/** One line of a flight record, with its line break. */
export function flightLine(value: FlightHead | FlightStep | FlightEnd): string {
  return `${JSON.stringify(value)}\n`;
}
