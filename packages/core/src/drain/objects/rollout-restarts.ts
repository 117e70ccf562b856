// Lets Deployments of a single pod start another one before the drain makes that pod go.
import { blockerOf } from '../../attempt/blocker.ts';
import { KeyedWrites } from '../../attempt/keyed-writes.ts';
import { isSetback, type Outcome } from '../../attempt/outcome.ts';
import { Schedule } from '../../kernel/schedule.ts';
import { earliest, formatDeadline, type Instant, type Millis } from '../../kernel/time.ts';
import { plainPod } from '../../model/kept-pod.ts';
import { type Pod, podRef } from '../../model/pod.ts';
import { isReplica } from '../../own-replicas.ts';
import type { StoreView } from '../../store.ts';
import type { PodGate } from '../pod-gate.ts';
import type { RestartRollout } from './command.ts';
import type { Workloads } from './workloads.ts';

/** Requests under way at one time, at most. */
const restartsMax = 10;
const retry = { retryWaitMsMin: 1_000, retryWaitMsMax: 30_000, confirmationWaitMs: 30_000 };

/** What has become of the restart that a pod waits for, or waited. */
interface Restart {
  readonly until: Instant;
  /** `unfit`: its Deployment cannot do it, or there is none. */
  readonly state: 'asked' | 'restarted' | 'unfit';
  /** Why it did not work so far; '': it is not known to have failed. */
  readonly trouble: string;
  readonly pod: Pod;
}

/** What restarts go by. */
export interface RestartSite {
  readonly store: StoreView;
  readonly workloads: Workloads;
  /** Is asked when no restart holds a pod. */
  readonly gate: PodGate;
  /** Begins the id of every command. */
  readonly prefix: string;
}

/**
 * A ready pod that is the only one of its ReplicaSet, on a node that is cordoned, waits until its
 * Deployment has another one ready and stops it: its rollout is restarted once. Where that does not
 * happen within its time, or cannot, the pod is evicted as others are. So is one that the Deployment
 * has started on the same node.
 */
export class RolloutRestarts implements PodGate {
  readonly #timeoutMs: Millis;
  readonly #site: RestartSite;
  readonly #writes: KeyedWrites;
  readonly #restarts = new Map<string, Restart>();
  readonly #timeouts = new Schedule();

  constructor(timeoutMs: Millis, site: RestartSite) {
    this.#timeoutMs = timeoutMs;
    this.#site = site;
    this.#writes = new KeyedWrites({ ...retry, prefix: site.prefix, max: restartsMax });
  }

  holdOf(now: Instant, pod: Pod): string | null {
    return this.#restartOf(now, pod) ?? this.#site.gate.holdOf(now, pod);
  }

  sent(now: Instant, pod: Pod): void {
    this.#site.gate.sent(now, pod);
  }

  answered(uid: string, outcome: Outcome): void {
    this.#site.gate.answered(uid, outcome);
  }

  /** The node takes pods again. */
  forget(nodeName: string): void {
    for (const [uid, { pod }] of this.#restarts) {
      if (pod.nodeName === nodeName && !this.#site.store.pod(uid)) this.#restarts.delete(uid);
    }
  }

  isReplaced(uid: string): boolean {
    return this.#restarts.get(uid)?.state === 'restarted';
  }

  /** The restarts that are to be asked for now. */
  take(now: Instant): readonly Omit<RestartRollout, 'drain' | 'uid'>[] {
    while (this.#timeouts.takeDue(now) !== null);
    // One after the other: what is begun takes room.
    const begun = Array.from(this.#writes.takeDue(now), (uid) => {
      const pod = this.#site.store.pod(uid);
      const isOpen = this.#restarts.get(uid)?.state === 'asked';
      if (!isOpen || !pod?.owner || pod.deletionTimestamp !== null) {
        this.#writes.forget(uid);
        return [];
      }
      const id = this.#writes.begin(uid);
      return { kind: 'restartRollout' as const, id, pod: podRef(pod), owner: pod.owner };
    });
    return begun.flat();
  }

  settle(now: Instant, id: string, outcome: Outcome): void {
    const uid = this.#writes.settle(now, id, outcome)?.key ?? '';
    const restart = this.#restarts.get(uid);
    if (!restart) return;
    const trouble = isSetback(outcome) ? (blockerOf(outcome).message ?? outcome.kind) : '';
    if (outcome.kind === 'done') this.#put(uid, { ...restart, state: 'restarted', trouble });
    else if (outcome.kind === 'changed' || outcome.kind === 'gone') {
      this.#put(uid, { ...restart, state: 'unfit', trouble });
    } else this.#put(uid, { ...restart, trouble });
  }

  nextWake(): Instant | null {
    return earliest([this.#writes.nextWake(), this.#timeouts.next()]);
  }

  /** Why the pod waits for a restart, in words; null: it does not. */
  #restartOf(now: Instant, pod: Pod): string | null {
    const restart = this.#restarts.get(pod.uid) ?? this.#ask(now, pod);
    if (!restart || restart.state === 'unfit' || restart.until <= now) return null;
    const { clock } = this.#site.store;
    // Whether the Deployment can is known by the answer alone.
    const what = restart.state === 'asked' ? 'is asked whether it can' : 'is to';
    const waits = `its Deployment ${what} start another pod first, by ${formatDeadline(clock.wall(restart.until))}`;
    return restart.trouble === '' ? waits : `${waits}: ${restart.trouble}`;
  }

  #ask(now: Instant, pod: Pod): Restart | null {
    const { store, workloads } = this.#site;
    const { owner, ready, nodeName } = pod;
    const isOfSet = owner?.kind === 'ReplicaSet' && owner.apiVersion.startsWith('apps/');
    if (!isOfSet || ready !== 'True' || store.node(nodeName)?.unschedulable !== true) return null;
    if (workloads.sizeOf(now, pod) !== 1 || this.#cameByRestart(pod)) return null;
    const until = now + this.#timeoutMs;
    const restart: Restart = { until, state: 'asked', trouble: '', pod: plainPod(pod) };
    this.#put(pod.uid, restart);
    this.#timeouts.set(pod.uid, restart.until);
    this.#writes.notice(now, pod.uid);
    return restart;
  }

  #cameByRestart(pod: Pod): boolean {
    return [...this.#restarts.values()].some((one) => {
      const isThere = one.state === 'restarted' && one.pod.nodeName === pod.nodeName;
      return isThere && isReplica(one.pod, pod);
    });
  }

  #put(uid: string, restart: Restart): void {
    this.#restarts.set(uid, restart);
  }
}
