import type { ControllerContext } from '../controllers/controller.ts';
import { conditionOf, isReady, isTerminal, isTerminating, keyOf } from '../controllers/pods.ts';
import { attachedTo, volumeOnNode, volumesOf } from '../controllers/volumes.ts';
import { WorkQueue } from '../controllers/work-queue.ts';
import type { Timer } from '../kernel/clock.ts';
import { type PodDraw, podRandom } from '../kernel/pod-dice.ts';
import { type Random, randomDigits } from '../kernel/prng.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { formatTime } from '../objects/time.ts';
import {
  creatingStatus,
  endedStatus,
  hasUnreadyContainers,
  type PodEnd,
  runningStatus,
  type StartedPod,
} from './pod-status.ts';
import { drawMs, type KubeletTiming, type PodRun, type PodTiming } from './timing.ts';

/** The node on which the pods run. */
export interface PodHost {
  readonly nodeName: string;
  readonly hostIp: string;
  readonly timing: KubeletTiming;
  /** The seed of the cluster: the draws for a pod come from it and from the pod. */
  readonly seed: number;
  /** True if no part reads pods whose containers are being made: that step is not written. */
  readonly isBrief: boolean;
  /** By the machine's own clock. */
  now(): number;
  nextPodIp(): string;
}

/** The stage of a pod's containers on this node. */
type Stage =
  | { readonly kind: 'creating'; readonly timer: Timer }
  | {
      readonly kind: 'running';
      readonly started: StartedPod;
      readonly timer: Timer | null;
      /** True if its containers are not ready for reasons in the pod itself. */
      readonly ails: boolean;
    }
  | {
      readonly kind: 'stopping';
      readonly ran: boolean;
      readonly untilMs: number;
      readonly timer: Timer;
    }
  /** `end` is null where they never ran; `goneAt`: its last status was written, and it stays until then. */
  | { readonly kind: 'ended'; readonly end: PodEnd | null; readonly goneAt: number };

interface Worker {
  readonly uid: string;
  readonly stage: Stage;
}

/** Exit codes of a container that was asked to stop and was interrupted, or had to be killed. */
const exitTerminated = 143;
const exitKilled = 137;
/** The interval at which volumes that are not attached are looked for again. */
const volumesAgainMs = 500;

/**
 * The kubelet's work on pods: starting and ending them. Every change of a pod leads to one look at
 * what is stored and at how far its containers are; the difference decides the next step: create
 * containers, report them running, stop them, or delete the pod for good once they have stopped. A
 * pod that is taken over and whose containers are not ready stays so until it is replaced.
 */
export class PodWorkers {
  readonly #context: ControllerContext;
  readonly #host: PodHost;
  readonly #queue: WorkQueue;
  readonly #workers = new Map<string, Worker>();
  /** The start times of pods that were found starting or stopping. */
  readonly #begun = new Map<string, number>();

  constructor(context: ControllerContext, host: PodHost) {
    this.#context = context;
    this.#host = host;
    this.#queue = new WorkQueue(context.api.clock, (key) => this.#sync(key));
  }

  /** Takes over whatever is bound to the node. */
  start(): void {
    for (const pod of this.#context.lookup.podsOnNode(this.#host.nodeName)) this.notice(keyOf(pod));
  }

  /**
   * Resumes in the middle of the work: healthy pods need no look, and steps already begun are not
   * repeated.
   */
  goOn(): void {
    for (const pod of this.#context.lookup.podsOnNode(this.#host.nodeName)) {
      const begunAt = begunBefore(pod);
      if (begunAt !== null) this.#begun.set(keyOf(pod), begunAt);
      const isWell = pod.status?.phase === 'Running' && isReady(pod) && !isTerminating(pod);
      if (!isWell || this.#runOf(pod)) this.notice(keyOf(pod));
    }
  }

  /** Stops and forgets; running containers are found again by `start`. */
  stop(): void {
    this.#queue.clear();
    for (const key of [...this.#workers.keys()]) this.#forget(key);
  }

  /** Looks at the pod again soon. */
  notice(key: string): void {
    this.#queue.add(key);
  }

  /** True if containers of the pod are being stopped, whatever the stored status says. */
  isStopping(pod: KubeObject): boolean {
    const worker = this.#workers.get(keyOf(pod));
    return worker?.uid === pod.metadata.uid && worker?.stage.kind === 'stopping';
  }

  #sync(key: string): void {
    const pod = this.#context.api.find('pods', key);
    if (this.#workers.get(key)?.uid !== pod?.metadata.uid) this.#forget(key);
    if (pod?.spec.nodeName !== this.#host.nodeName) {
      this.#begun.delete(key);
      return;
    }
    const stage = this.#workers.get(key)?.stage ?? null;
    if (isTerminating(pod)) this.#terminate(key, pod, stage);
    else if (isTerminal(pod)) this.#forget(key);
    else this.#run(key, pod, stage);
  }

  #run(key: string, pod: KubeObject, stage: Stage | null): void {
    const now = formatTime(this.#now());
    switch (stage?.kind) {
      case undefined:
        if (pod.status?.phase === 'Running') {
          this.#watchOver(key, pod, startedBefore(pod, now), hasUnreadyContainers(pod));
        } else this.#create(key, pod, now);
        break;
      case 'running':
        if (pod.status?.phase !== 'Running' || isReady(pod) === stage.ails) {
          this.#report(pod, runningStatus(pod, stage.started, now, !stage.ails));
        }
        break;
      case 'ended':
        if (stage.end) this.#report(pod, endedStatus(pod, stage.end, now));
        break;
      case 'creating':
      case 'stopping':
        break;
    }
  }

  #create(key: string, pod: KubeObject, now: string): void {
    const { hostIp, isBrief } = this.#host;
    if (!isBrief) this.#report(pod, creatingStatus(pod, hostIp, now));
    const startMs = drawMs(this.#random(pod, 'start'), this.#timingOf(pod).podStartMs);
    this.#start(key, pod, now, this.#leftOf(key, startMs));
  }

  /** The rest of a pod's time, for a pod that was found in the middle of a step. */
  #leftOf(key: string, ms: number): number {
    const begunAt = this.#begun.get(key);
    this.#begun.delete(key);
    return begunAt === undefined ? ms : Math.max(0, begunAt + ms - this.#now());
  }

  /** Its containers start when its volumes are attached. */
  #start(key: string, pod: KubeObject, acceptedAt: string, delayMs: number): void {
    const { hostIp, isBrief } = this.#host;
    const timer = this.#after(delayMs, () => {
      if (!this.#hasVolumes(pod)) {
        this.#start(key, pod, acceptedAt, volumesAgainMs);
        return;
      }
      const containers: readonly unknown[] = pod.spec.containers ?? [];
      const random = this.#random(pod, 'containers');
      const started: StartedPod = {
        podIp: pod.spec.hostNetwork ? hostIp : this.#host.nextPodIp(),
        containerIds: containers.map(() => randomDigits(random, 64)),
        startedAt: formatTime(this.#now()),
        accepted: isBrief ? { hostIp, at: acceptedAt } : null,
      };
      const ails = this.#timingOf(pod).neverReady ?? false;
      this.#watchOver(key, pod, started, ails, this.#now());
    });
    this.#enter(key, pod, { kind: 'creating', timer });
  }

  #hasVolumes(pod: KubeObject): boolean {
    const { api } = this.#context;
    const volumes = volumesOf(api, pod);
    if (volumes.length === 0) return true;
    const attached = attachedTo(api.get('nodes', '', this.#host.nodeName));
    return volumes.every((volume) => attached.includes(volumeOnNode(volume)));
  }

  /** The containers run; those that end by themselves get a timer for it. */
  #watchOver(
    key: string,
    pod: KubeObject,
    started: StartedPod,
    ails: boolean,
    sinceMs = Date.parse(started.startedAt),
  ): void {
    const run = this.#runOf(pod);
    const timer =
      run === null
        ? null
        : this.#after(sinceMs + run.ms - this.#now(), () => this.#end(key, pod, run.exitCode));
    this.#enter(key, pod, { kind: 'running', started, timer, ails });
    this.#queue.add(key);
  }

  #terminate(key: string, pod: KubeObject, stage: Stage | null): void {
    const isUnstarted = stage ? stage.kind === 'creating' : pod.status?.phase !== 'Running';
    if (stage?.kind === 'ended') this.#leave(key, pod, stage);
    else if (!isUnstarted) this.#stopContainers(key, pod, stage);
    else if (this.#timingOf(pod).stopsUnstarted) this.#stopContainers(key, pod, stage, false);
    else this.#removeUnstarted(pod);
  }

  #removeUnstarted(pod: KubeObject): void {
    // A client that keeps the pod by a finalizer learns that the pod will not run.
    const isKept = (pod.metadata.finalizers ?? []).length > 0;
    if (isKept && !isTerminal(pod)) this.#report(pod, { ...pod.status, phase: 'Failed' });
    this.#remove(pod);
  }

  /** Handles a pod whose containers have ended. A final phase stays as it was written. */
  #leave(key: string, pod: KubeObject, stage: Stage & { readonly kind: 'ended' }): void {
    if (stage.goneAt > this.#now()) return;
    const { podRemovalMs = 0 } = this.#timingOf(pod);
    if (isTerminal(pod)) this.#remove(pod);
    else if (!stage.end) this.#removeUnstarted(pod);
    else {
      if (podRemovalMs > 0) {
        this.#enter(key, pod, { ...stage, goneAt: this.#now() + podRemovalMs });
        this.#after(podRemovalMs, () => this.#queue.add(key));
      }
      this.#report(pod, endedStatus(pod, stage.end, formatTime(this.#now())));
      if (podRemovalMs === 0) this.#remove(pod);
    }
  }

  /** Lets the containers stop by themselves within the grace period, a shortened one included. */
  #stopContainers(key: string, pod: KubeObject, stage: Stage | null, ran = true): void {
    const graceMs = 1000 * (pod.metadata.deletionGracePeriodSeconds ?? 0);
    const killMs = this.#now() + graceMs;
    if (stage?.kind === 'stopping' && stage.untilMs <= killMs) return;
    const exitMs =
      stage?.kind === 'stopping'
        ? killMs
        : this.#now() +
          this.#leftOf(key, drawMs(this.#random(pod, 'stop'), this.#timingOf(pod).podStopMs));
    const untilMs = Math.min(exitMs, killMs);
    const service = pod.spec.restartPolicy === 'Always';
    const exitCode = untilMs === killMs ? exitKilled : service ? 0 : exitTerminated;
    const timer = this.#after(untilMs - this.#now(), () =>
      this.#end(key, pod, ran ? exitCode : null),
    );
    this.#enter(key, pod, { kind: 'stopping', ran, untilMs, timer });
  }

  #end(key: string, pod: KubeObject, exitCode: number | null): void {
    const finishedAt = formatTime(this.#now());
    const end = exitCode === null ? null : { exitCode, finishedAt };
    this.#enter(key, pod, { kind: 'ended', end, goneAt: 0 });
    this.#queue.add(key);
  }

  #report(pod: KubeObject, status: unknown): void {
    this.#context.api.update('pods', { ...pod, status }, 'status');
  }

  /** The last step, which only the kubelet takes: deletion without grace, of exactly this pod. */
  #remove(pod: KubeObject): void {
    const { namespace = '', name, uid = '' } = pod.metadata;
    this.#context.api.delete('pods', namespace, name, { gracePeriodSeconds: 0, uid });
  }

  #enter(key: string, pod: KubeObject, stage: Stage): void {
    this.#forget(key);
    this.#workers.set(key, { uid: pod.metadata.uid ?? '', stage });
  }

  #forget(key: string): void {
    const stage = this.#workers.get(key)?.stage;
    if (stage && 'timer' in stage) stage.timer?.cancel();
    this.#workers.delete(key);
  }

  /** Sets the readiness of the containers of a running pod. */
  setReady(key: string, isReady: boolean): void {
    const worker = this.#workers.get(key);
    if (worker?.stage.kind !== 'running') return;
    this.#workers.set(key, { ...worker, stage: { ...worker.stage, ails: !isReady } });
    this.#queue.add(key);
  }

  #runOf(pod: KubeObject): PodRun | null {
    return this.#timingOf(pod).podRun ?? runBySleep(pod);
  }

  #timingOf(pod: KubeObject): PodTiming {
    const { timing } = this.#host;
    return timing.ofPod?.(pod) ?? timing;
  }

  #random(pod: KubeObject, draw: PodDraw): Random {
    return podRandom(this.#host.seed, pod.metadata.uid ?? '', draw);
  }

  #now(): number {
    return this.#host.now();
  }

  #after(delayMs: number, callback: () => void): Timer {
    return this.#context.api.clock.after(delayMs, callback);
  }
}

interface Container {
  readonly command?: readonly string[];
}

/**
 * The run of containers that end by themselves, or null when they run until they are stopped. The one
 * program known here is `sleep SECONDS` in a pod that is not restarted.
 */
function runBySleep(pod: KubeObject): PodRun | null {
  if (pod.spec.restartPolicy === 'Always') return null;
  const containers: readonly Container[] = pod.spec.containers ?? [];
  const seconds = containers.map(({ command }) =>
    command?.[0] === 'sleep' ? Number(command[1]) : Number.POSITIVE_INFINITY,
  );
  const longest = Math.max(0, ...seconds);
  return Number.isFinite(longest) ? { ms: longest * 1000, exitCode: 0 } : null;
}

/**
 * The time at which a pod came to its node, or was asked to stop; null: it is neither starting nor
 * stopping.
 */
function begunBefore(pod: KubeObject): number | null {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata;
  const isStarting = (pod.status?.phase ?? 'Pending') === 'Pending';
  const at = deletionTimestamp
    ? Date.parse(deletionTimestamp) - 1000 * deletionGracePeriodSeconds
    : Date.parse(conditionOf(pod, 'PodScheduled')?.lastTransitionTime ?? '');
  return (deletionTimestamp || isStarting) && Number.isFinite(at) ? at : null;
}

/** Reads back what an earlier kubelet of this node reported. */
function startedBefore(pod: KubeObject, now: string): StartedPod {
  interface Reported {
    readonly containerID?: string;
    readonly state?: { readonly running?: { readonly startedAt?: string } };
  }
  const statuses: readonly Reported[] = pod.status?.containerStatuses ?? [];
  return {
    podIp: pod.status?.podIP ?? '',
    containerIds: statuses.map(({ containerID }) => (containerID ?? '').replace(/^.*:\/\//, '')),
    startedAt: statuses[0]?.state?.running?.startedAt ?? pod.status?.startTime ?? now,
    accepted: null,
  };
}
