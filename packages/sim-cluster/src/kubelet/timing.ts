// The durations of a node's work, each between a least and a most.
import { seedFor } from '../kernel/hash.ts';
import { type Random, randomInteger, seededRandom } from '../kernel/prng.ts';
import type { KubeObject } from '../objects/kube-object.ts';

/** The least and the most of a duration that differs from time to time, in milliseconds. */
export type RangeMs = readonly [least: number, most: number];

/** How long a pod takes to start and to stop. */
export interface PodTiming {
  /** From binding to all containers ready. */
  readonly podStartMs: RangeMs;
  /** From the request to stop to the exit of the containers; the grace period cuts it short. */
  readonly podStopMs: RangeMs;
  /** How long its containers run and how they end; left out: as their command says. */
  readonly podRun?: PodRun;
  /** Whether its containers run and never get ready. */
  readonly neverReady?: boolean;
  /** Whether one that has not started yet takes as long to stop; left out: it is gone at once. */
  readonly stopsUnstarted?: boolean;
  /** From its last status to its removal; left out: no time. */
  readonly podRemovalMs?: number;
}

/** The life of containers that end by themselves. */
export interface PodRun {
  readonly ms: number;
  readonly exitCode: number;
}

/** How long things take on a node. */
export interface KubeletTiming extends PodTiming {
  /** Between two renewals of the lease, and between two looks at the node's status. */
  readonly heartbeatMs: number;
  /**
   * Whether kubelets renew at moments of their own within that time, as those of machines that were started
   * at different times; left out: each that time after it has begun.
   */
  readonly spreadsHeartbeats?: boolean;
  /** From registration to Ready. */
  readonly startupMs: RangeMs;
  /** How long it takes a certain pod; left out: as long as all. */
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
 * How long after its first heartbeat the kubelet with this seed renews, where all do so at moments of their
 * own; drawn apart from all that its seed draws otherwise. Null: after a heartbeat's time.
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
