// A drain at work on a node, as its mark there shows it.
import type { Millis } from '../kernel/time.ts';

/** What a drain has set on a node goes by this. */
export interface DrainMarkName {
  /** The same on all its nodes. */
  readonly id: string;
  /** As `key=value:effect`. */
  readonly taint: string;
  /** Who runs it; '': nobody knows. */
  readonly by: string;
}

/** Who runs NodeDrains, as marks say it. */
export const nodeDrainer = 'taintmgr-controller';

/** `NodeDrain kernel`, `drain drain-20261122-041830-a4d8 by alice` */
export function drainText({ id, by }: Pick<DrainMarkName, 'id' | 'by'>): string {
  if (by === nodeDrainer) return `NodeDrain ${id}`;
  return `drain ${id}${by === '' ? '' : ` by ${by}`}`;
}

/** What is known of a drain that evicts the pods of one of its nodes. */
export interface WorkingDrain extends DrainMarkName {
  /** Another text with each sign of life; when it was is not read from it. */
  readonly heartbeat: string;
}

/** A drain gives a sign of life so often. */
export const drainHeartbeatMs: Millis = 10_000;

/** A drain that has given none for so long is over. */
export const drainStaleMs: Millis = 60_000;
