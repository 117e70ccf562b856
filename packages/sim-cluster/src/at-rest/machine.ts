// A machine while its cluster settles: its node, its lease, and the pods that start on it.
import { podRandom } from '../kernel/pod-dice.ts';
import { type Random, randomDigits, seededRandom } from '../kernel/prng.ts';
import { type KubeletProgress, statusReportMs } from '../kubelet/kubelet.ts';
import { leaseOf } from '../kubelet/lease.ts';
import {
  hostIpOf,
  type NodeDescription,
  type NodeReport,
  nodeObject,
  podIpOf,
  reportedConditions,
} from '../kubelet/node-status.ts';
import { runningStatus } from '../kubelet/pod-status.ts';
import { drawMs, firstBeatMs, type KubeletTiming, kubeletSeed } from '../kubelet/timing.ts';
import type { Json, KubeObject } from '../objects/kube-object.ts';
import { formatMicroTime, formatTime } from '../objects/time.ts';

const isWell: NodeReport = {
  MemoryPressure: false,
  DiskPressure: false,
  PIDPressure: false,
  Ready: true,
};
const comesUp: NodeReport = { ...isWell, Ready: false };

/** Draws the random numbers that the kubelet would draw, in the same order. */
export class Machine {
  readonly description: NodeDescription;
  readonly #index: number;
  readonly #timing: KubeletTiming;
  readonly #seed: number;
  readonly #clusterSeed: number;
  readonly #random: Random;
  readonly #startsAt: number;
  readonly #readyAt: number;
  readonly #hostIp: string;
  #pods = 0;

  /** `index` counts from 1. */
  constructor(
    description: NodeDescription,
    index: number,
    { seed, timing, now }: { readonly seed: number; readonly timing: KubeletTiming; now: number },
  ) {
    this.description = description;
    this.#index = index;
    this.#timing = timing;
    this.#seed = kubeletSeed(seed, description.name);
    this.#clusterSeed = seed;
    this.#random = seededRandom(this.#seed);
    this.#startsAt = now;
    this.#readyAt = now + drawMs(this.#random, timing.startupMs);
    this.#hostIp = description.internalIp ?? hostIpOf(index);
  }

  /** When its node is ready. */
  get readyAt(): number {
    return this.#readyAt;
  }

  /** Its node as it registers it. */
  register(): KubeObject {
    const node = nodeObject(this.description, this.#hostIp, this.#random);
    const conditions = reportedConditions([], comesUp, formatTime(this.#startsAt));
    return { ...node, status: { ...node.status, conditions } };
  }

  /** Its node as it has reported it at last, at `now`. */
  reported(node: KubeObject, now: number): KubeObject {
    const ready = reportedConditions(node.status.conditions, isWell, formatTime(this.#readyAt));
    const conditions = reportedConditions(ready, isWell, formatTime(this.#reportedBy(now)));
    return { ...node, status: { ...node.status, conditions } };
  }

  /** Its lease as it has renewed it at last, at `now`. */
  lease(node: KubeObject, now: number): KubeObject {
    const { heartbeatMs } = this.#timing;
    const last = this.#beatAfter(now) - heartbeatMs;
    return leaseOf(node, formatMicroTime(Math.max(this.#readyAt, last)));
  }

  /** The time that a pod bound to the node takes to start. */
  startMs(pod: KubeObject): number {
    const { podStartMs } = this.#timing.ofPod?.(pod) ?? this.#timing;
    return drawMs(podRandom(this.#clusterSeed, pod.metadata.uid ?? '', 'start'), podStartMs);
  }

  /** The status of a pod that has started now and came to it before. */
  started(pod: KubeObject, acceptedAt: string, now: string): Json {
    const containers: readonly unknown[] = pod.spec.containers ?? [];
    const random = podRandom(this.#clusterSeed, pod.metadata.uid ?? '', 'containers');
    const podIp = podIpOf(this.#index, this.#pods++);
    const started = {
      podIp: pod.spec.hostNetwork ? this.#hostIp : podIp,
      containerIds: containers.map(() => randomDigits(random, 64)),
      startedAt: now,
      accepted: { hostIp: this.#hostIp, at: acceptedAt },
    };
    return runningStatus(pod, started, now) as Json;
  }

  /** The progress of its kubelet. */
  progress(now: number): KubeletProgress {
    return {
      pods: this.#pods,
      reportedAt: this.#reportedBy(now),
      nextBeatAt: this.#beatAfter(now),
    };
  }

  /** Its first heartbeat after `now`, the one of its start not counted. */
  #beatAfter(now: number): number {
    const { heartbeatMs } = this.#timing;
    const first = this.#readyAt + (firstBeatMs(this.#seed, this.#timing) ?? heartbeatMs);
    return first + Math.max(0, Math.floor((now - first) / heartbeatMs) + 1) * heartbeatMs;
  }

  /** When it has reported last: the same again at the first heartbeat after a while. */
  #reportedBy(now: number): number {
    let at = this.#readyAt;
    for (let next = at; next <= now; next = this.#beatAfter(at + statusReportMs - 1)) at = next;
    return at;
  }
}
