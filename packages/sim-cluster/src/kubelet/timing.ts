// How long things take on a node, between a least and a most.
import { type Random, randomInteger } from '../kernel/prng.ts';

/** The least and the most of a duration that differs from time to time, in milliseconds. */
export type RangeMs = readonly [least: number, most: number];

/** How long things take on a node. */
export interface KubeletTiming {
  /** Between two renewals of the lease, and between two looks at the node's status. */
  readonly heartbeatMs: number;
  /** From registration to Ready. */
  readonly startupMs: RangeMs;
  /** From binding to all containers running. */
  readonly podStartMs: RangeMs;
  /** From the request to stop to the exit of the containers; the grace period cuts it short. */
  readonly podStopMs: RangeMs;
}

/** A small cluster with images at hand. */
export const defaultTiming: KubeletTiming = {
  heartbeatMs: 10_000,
  startupMs: [500, 2000],
  podStartMs: [500, 2000],
  podStopMs: [500, 3000],
};

/** A whole number of milliseconds in the range, both ends included. */
export function drawMs(random: Random, [least, most]: RangeMs): number {
  return randomInteger(random, least, most + 1);
}
