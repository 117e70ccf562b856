// A drain at work on a node, as its mark there shows it.
import type { Millis } from '../kernel/time.ts';

/** What is known of a drain that evicts the pods of one of its nodes. */
export interface WorkingDrain {
  /** Names it; the same on all its nodes. */
  readonly id: string;
  /** The taint for which it evicts, as `key=value:effect`. */
  readonly taint: string;
  /** Who runs it. */
  readonly by: string;
  /** Another text with each sign of life; when it was is not read from it. */
  readonly heartbeat: string;
}

/** A drain gives a sign of life so often. */
export const drainHeartbeatMs: Millis = 10_000;

/** A drain that has given none for so long is over. */
export const drainStaleMs: Millis = 60_000;
