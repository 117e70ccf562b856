// How many pods of a workload are unavailable, over all drains: who drains one more asks here.
import { isUncertain } from '../../attempt/blocker.ts';
import { isSetback, type Outcome } from '../../attempt/outcome.ts';
import { earliest, type Instant, type Millis } from '../../kernel/time.ts';
import type { Pod } from '../../model/pod.ts';
import { poolLimit } from '../../policy/condition-rule.ts';
import type { NodeDrain, TakenPod } from '../../policy/values.ts';
import type { Change, StoreView } from '../../store.ts';
import type { PodGate } from '../pod-gate.ts';

/** At most so many pods of a workload, or such a part of them. */
export type MaxUnavailable = number | `${number}%`;

/** A pod that drains took, until another has come in its place. */
interface Debt {
  readonly workload: string;
  /** The uid of the drain. */
  readonly by: string;
  readonly until: Instant;
}

/** As long as this another is waited for: its workload may have been made smaller. */
const debtMs: Millis = 600_000;

/**
 * Counts pods by the controller that owns them, wherever they run. Unavailable is what is not ready,
 * and what drains took as long as no other pod has come in its place: a StatefulSet starts its pod anew
 * only when the old one is gone. The status of a drain says what it took: the next leader counts the
 * same. Pods that nobody owns, and those of DaemonSets and Jobs, do not count.
 */
export class Workloads {
  readonly #store: StoreView;
  /** The uids of pods by workload; null: nobody has asked. */
  #pods: Map<string, Set<string>> | null = null;
  readonly #debts = new Map<string, Debt>();
  /** Workloads that were full when they were last asked about. */
  readonly #full = new Set<string>();

  constructor(store: StoreView) {
    this.#store = store;
  }

  /** Asks about each pod of a drain; null: the drain has no such limit. */
  gate(limit: MaxUnavailable | null, drainUid: string): PodGate {
    return {
      holdOf: (now, pod) => (limit === null ? null : this.#holdOf(now, pod, limit)),
      sent: (now, pod) => {
        const workload = workloadOf(pod);
        if (workload !== null)
          this.#debts.set(pod.uid, { workload, by: drainUid, until: now + debtMs });
      },
      answered: (uid, outcome) => {
        if (isRefused(outcome)) this.#debts.delete(uid);
      },
    };
  }

  /** The pods that a drain took, as long as another is waited for. */
  takenBy(now: Instant, drainUid: string): readonly TakenPod[] {
    return Array.from(this.#debts, ([uid, debt]) => ({ uid, ...debt }))
      .filter(({ by, until }) => by === drainUid && until > now)
      .map(({ uid, workload, until }) => {
        return { workload, uid, since: this.#store.clock.wall(until - debtMs) };
      });
  }

  /** Takes from its status what a drain took before we led, unless another pod has come since. */
  recall(now: Instant, { uid: by, notReplaced }: NodeDrain): void {
    const counted = new Set<string>();
    for (const { workload, uid, since } of notReplaced.toSorted((a, b) => a.since - b.since)) {
      const until = this.#store.clock.when(since) + debtMs;
      if (this.#debts.has(uid) || until <= now) continue;
      const successor = this.#cameAfter(workload, since, counted);
      if (successor === null) this.#debts.set(uid, { workload, by, until });
      else counted.add(successor);
    }
  }

  /** How many pods the workload of a pod has, those on their way included. */
  sizeOf(now: Instant, pod: Pod): number {
    const workload = workloadOf(pod);
    return workload === null ? 1 : this.#count(now, workload, pod.uid).size;
  }

  /** Takes in what has changed; whether a workload that was full may have room now. */
  follow(now: Instant, changes: readonly Change[]): boolean {
    let mayHaveRoom = false;
    for (const change of changes) {
      if (change.kind !== 'pod' && change.kind !== 'podGone') continue;
      const pod = change.kind === 'pod' ? change.pod : change.previous;
      const workload = workloadOf(pod);
      if (workload === null) continue;
      this.#index(workload, pod.uid, change.kind === 'pod');
      if (change.kind === 'pod' && !change.previous) this.#replace(workload, pod.uid);
      if (this.#full.delete(workload)) mayHaveRoom = true;
    }
    for (const [uid, { workload, until }] of this.#debts) {
      if (until > now) break;
      this.#debts.delete(uid);
      if (this.#full.delete(workload)) mayHaveRoom = true;
    }
    return mayHaveRoom;
  }

  /** When the first pod is waited for no more, where somebody waits for that; null: nobody does. */
  nextWake(): Instant | null {
    if (this.#full.size === 0) return null;
    return earliest(Array.from(this.#debts.values(), ({ until }) => until));
  }

  #holdOf(now: Instant, pod: Pod, limit: MaxUnavailable): string | null {
    const workload = workloadOf(pod);
    if (workload === null) return null;
    const { size, unavailable } = this.#count(now, workload, pod.uid);
    const most = Math.max(1, poolLimit(limit, size) ?? 1);
    if (unavailable < most) return null;
    this.#full.add(workload);
    const of = `at most ${most} of ${size}`;
    return `${workload} has ${unavailable} unavailable, and may have ${of} (limits.maxUnavailable)`;
  }

  /** How many pods it should have, and how many of the others than `uid` are not there or not ready. */
  #count(
    now: Instant,
    workload: string,
    uid: string,
  ): { readonly size: number; readonly unavailable: number } {
    const [size, unavailable] = [new Set<string>(), new Set<string>()];
    for (const each of this.#podsOf(workload)) {
      const pod = this.#store.pod(each);
      if (!pod || isFinished(pod) || isReplaced(pod)) continue;
      size.add(each);
      if (pod.deletionTimestamp !== null || !isAvailable(pod)) unavailable.add(each);
    }
    for (const [each, debt] of this.#debts) {
      if (debt.workload !== workload || debt.until <= now) continue;
      size.add(each);
      unavailable.add(each);
    }
    unavailable.delete(uid);
    return { size: size.size, unavailable: unavailable.size };
  }

  /** A pod that was bound since then and counts for no other; null: there is none. Times are whole seconds. */
  #cameAfter(workload: string, since: Instant, counted: ReadonlySet<string>): string | null {
    for (const uid of this.#podsOf(workload)) {
      const boundAt = this.#store.pod(uid)?.boundAt ?? null;
      if (boundAt !== null && boundAt >= since && !counted.has(uid)) return uid;
    }
    return null;
  }

  #podsOf(workload: string): Iterable<string> {
    if (!this.#pods) {
      this.#pods = new Map();
      for (const pod of this.#store.pods()) {
        const name = workloadOf(pod);
        if (name !== null) this.#index(name, pod.uid, true);
      }
    }
    return this.#pods.get(workload) ?? [];
  }

  #index(workload: string, uid: string, isThere: boolean): void {
    if (!this.#pods) return;
    const uids = this.#pods.get(workload) ?? new Set();
    if (isThere) uids.add(uid);
    else uids.delete(uid);
    if (uids.size > 0) this.#pods.set(workload, uids);
    else this.#pods.delete(workload);
  }

  /** A pod that is new stands for the one that was taken first. */
  #replace(workload: string, uid: string): void {
    for (const [taken, debt] of this.#debts) {
      if (debt.workload !== workload || taken === uid) continue;
      this.#debts.delete(taken);
      return;
    }
  }
}

/** `namespace/kind/name` of the controller, as limits have it; null: it is not counted. */
function workloadOf({ namespace, owner }: Pod): string | null {
  if (!owner || owner.kind === 'DaemonSet' || owner.kind === 'Job') return null;
  return `${namespace}/${owner.kind}/${owner.name}`;
}

function isFinished({ phase }: Pod): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

/** Whether another pod is started as soon as it terminates: all controllers do, but StatefulSets. */
function isReplaced({ deletionTimestamp, owner }: Pod): boolean {
  return deletionTimestamp !== null && owner?.kind !== 'StatefulSet';
}

/** Readiness that nobody reported is not held against a pod that runs. */
function isAvailable({ ready, nodeName, phase }: Pod): boolean {
  if (nodeName === '') return false;
  return ready === 'True' || (ready == null && phase === 'Running');
}

/** Whether the pod surely stays for now. */
function isRefused(outcome: Outcome): boolean {
  return isSetback(outcome) && !isUncertain(outcome);
}
