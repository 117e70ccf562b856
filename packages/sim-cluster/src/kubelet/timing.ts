// The durations of a node's work, each between a least and a most.
import { seedFor } from '../kernel/hash.ts';
import { type Random, randomInteger, seededRandom } from '../kernel/prng.ts';
import type { KubeObject } from '../objects/kube-object.ts';

/** The least and the most of a duration that differs from time to time, in milliseconds. */
export type RangeMs = readonly [least: number, most: number];

/** The time that a pod takes to start and to stop. */
export interface PodTiming {
  /** From binding to all containers ready. */
  readonly podStartMs: RangeMs;
  /** From the request to stop to the exit of the containers; the grace period cuts it short. */
  readonly podStopMs: RangeMs;
  /** The run time and the end of its containers; left out: as their command says. */
  readonly podRun?: PodRun;
  /** True if its containers run and never get ready. */
  readonly neverReady?: boolean;
  /** True if a pod that has not started yet takes as long to stop; left out: it is gone at once. */
  readonly stopsUnstarted?: boolean;
  /** From its last status to its removal; left out: no time. */
  readonly podRemovalMs?: number;
}

/** The life of containers that end by themselves. */
export interface PodRun {
  /** Milliseconds from the start of the containers to their end. */
  readonly ms: number;
  /** The exit code of the containers. */
  readonly exitCode: number;
}

/** The time that each action takes on a node. */
export interface KubeletTiming extends PodTiming {
  /** Between two renewals of the lease, and between two looks at the node's status. */
  readonly heartbeatMs: number;
  /**
   * Makes kubelets renew at their own moments within that time, as on machines that were started at
   * different times; left out: each renews that time after its start.
   */
  readonly spreadsHeartbeats?: boolean;
  /** From registration to Ready. */
  readonly startupMs: RangeMs;
  /** The timing of a certain pod; left out: the same for all. */
  readonly ofPod?: (pod: KubeObject) => PodTiming;
}

/** A small cluster with images at hand. */
export const defaultTiming: KubeletTiming = {
  heartbeatMs: 10_000,
  startupMs: [500, 2000],
  podStartMs: [500, 2000],
  podStopMs: [500, 3000],
};

/** The seed of a node's kubelet in a cluster of that seed. */
export function kubeletSeed(seed: number, nodeName: string): number {
  return seedFor(seed, `kubelet/${nodeName}`);
}

/**
 * The delay of the first renewal after the first heartbeat of the kubelet with this seed, if
 * kubelets renew at their own moments; drawn apart from all other numbers of the seed. Null: one
 * heartbeat period.
 */
export function firstBeatMs(
  seed: number,
  { heartbeatMs, spreadsHeartbeats }: KubeletTiming,
): number | null {
  if (!spreadsHeartbeats) return null;
  return randomInteger(seededRandom(seedFor(seed, 'heartbeat')), 1, heartbeatMs + 1);
}

/** A whole number of milliseconds in the range, both ends included. */
export function drawMs(random: Random, [least, most]: RangeMs): number {
  return randomInteger(random, least, most + 1);
}
