// The replicas of the program that runs the engine: the last working one is never removed.
import { isUncertain } from './attempt/blocker.ts';
import { isSetback, type Outcome } from './attempt/outcome.ts';
import type { Event } from './event.ts';
import { Schedule } from './kernel/schedule.ts';
import type { Instant, Millis } from './kernel/time.ts';
import { plainPod } from './model/kept-pod.ts';
import { readyStatus } from './model/node.ts';
import type { Pod, PodRef } from './model/pod.ts';
import type { Change, StoreView } from './store.ts';

/** The pod in which this program runs. */
export interface OwnPod {
  readonly namespace: string;
  readonly name: string;
}

/**
 * A request for the removal of a pod without visible effect after this time has failed, regardless
 * of its answer.
 */
const removalMsMax: Millis = 120_000;

/**
 * Knows the replicas of the workload to which our own pod belongs, and which of them works. A replica is a pod
 * of our namespace with the same controller: labels alone make none, and neither does another namespace. Where
 * our own pod is not told, or was never seen, there are no replicas and no rule.
 *
 * Our own pod works, since it runs this. Another works while it is ready on a node that is ready, and nothing
 * has been sent to remove it. So a replica on a dead node may be replaced, and of two that are due together
 * one goes: the other is the last until a third is ready.
 */
export class OwnReplicas {
  readonly #store: StoreView;
  readonly #own: OwnPod | null;
  /** The uids of all pods of our namespace. */
  readonly #neighbours = new Set<string>();
  /** Our own pod as it was seen last. */
  #ownSeen: Pod | null = null;
  /** Null: to be looked up. */
  #replicas: readonly Pod[] | null = null;
  /** By uid, those whose removal was asked for, and until when it may come of that. */
  readonly #sent = new Schedule();
  /** By uid, how many requests have no answer: of several machines, or a second one after the first was dropped. */
  readonly #unanswered = new Map<string, number>();
  /** By uid, until when one that was not refused may take effect, whatever the others are answered. */
  readonly #mayLeave = new Map<string, Instant>();
  #version = 0;
  #now: Instant = Number.NEGATIVE_INFINITY;

  constructor(store: StoreView, own: OwnPod | null) {
    this.#store = store;
    this.#own = own;
  }

  /** Another number whenever another replica may be the last one that works. */
  get version(): number {
    return this.#version;
  }

  /** All of them, our own pod too. */
  list(): readonly Pod[] {
    this.#replicas ??= this.#lookUp();
    return this.#replicas;
  }

  has(pod: Pod): boolean {
    if (pod.namespace !== this.#own?.namespace) return false;
    return this.list().some(({ uid }) => uid === pod.uid);
  }

  isOwn({ uid }: PodRef): boolean {
    return uid === this.#ownSeen?.uid;
  }

  /**
   * The replicas that continue to work without this one; null: the pod is no replica of ours, or
   * does not work itself.
   */
  standIns(pod: Pod): readonly Pod[] | null {
    if (!this.has(pod) || !this.#works(pod)) return null;
    return this.list().filter((other) => {
      return other.uid !== pod.uid && this.#sent.at(other.uid) === null && this.#works(other);
    });
  }

  /** Their common name, in words: `Deployment taintmgr-controller`. */
  nameOf(pod: Pod): string {
    return replicasName(pod);
  }

  /** The time at which a requested removal counts as failed; null: none may. */
  nextWake(): Instant | null {
    return this.#sent.next();
  }

  /** Takes in what has changed in the store. */
  follow(now: Instant, event: Event, changes: readonly Change[]): void {
    if (this.#own === null) return;
    this.#now = now;
    for (let uid = this.#sent.takeDue(now); uid !== null; uid = this.#sent.takeDue(now)) {
      this.#settle(uid);
      this.#version += 1;
    }
    if (event.kind === 'podViews') this.#replicas = null;
    for (const change of changes) {
      if (change.kind === 'pod') this.#followPod(this.#own, change.pod);
      else if (change.kind === 'podGone') this.#forget(change.previous);
      else if (change.kind === 'node') this.#followNode(change.name);
    }
  }

  /** The decision about one of them, without this rule, may be otherwise: others wait for that. */
  touch(): void {
    this.#version += 1;
  }

  /** A request for its removal is about to be sent. */
  sent({ uid }: PodRef): void {
    if (!this.#neighbours.has(uid)) return;
    this.#unanswered.set(uid, (this.#unanswered.get(uid) ?? 0) + 1);
    this.#expect(uid, this.#now + removalMsMax);
  }

  /** Others were asked to move the pod, and may. */
  requested(uid: string): void {
    if (!this.#neighbours.has(uid)) return;
    this.#mayLeave.set(uid, this.#now + removalMsMax);
    this.#expect(uid, this.#now + removalMsMax);
  }

  /** A request was answered. A request that may have been accepted counts as accepted. */
  answered(uid: string, outcome: Outcome): void {
    const unanswered = this.#unanswered.get(uid);
    if (unanswered === undefined) return;
    if (unanswered > 1) this.#unanswered.set(uid, unanswered - 1);
    else this.#unanswered.delete(uid);
    const isRefused = isSetback(outcome) && !isUncertain(outcome);
    if (!isRefused) this.#mayLeave.set(uid, this.#now + removalMsMax);
    if (unanswered > 1) return;
    const until = this.#mayLeave.get(uid) ?? this.#now;
    if (until > this.#now) this.#expect(uid, until);
    else if (this.#sent.cancel(uid)) {
      this.#settle(uid);
      this.#version += 1;
    }
  }

  #expect(uid: string, until: Instant): void {
    if (this.#sent.at(uid) === null) this.#version += 1;
    this.#sent.set(uid, until);
  }

  /** The request has no further effect. */
  #settle(uid: string): void {
    this.#unanswered.delete(uid);
    this.#mayLeave.delete(uid);
  }

  #followPod(own: OwnPod, pod: Pod): void {
    if (pod.namespace !== own.namespace) return;
    this.#neighbours.add(pod.uid);
    if (pod.name === own.name) this.#ownSeen = plainPod(pod);
    this.#replicas = null;
    this.#version += 1;
  }

  #forget({ uid }: Pod): void {
    if (!this.#neighbours.delete(uid)) return;
    this.#sent.cancel(uid);
    this.#settle(uid);
    this.#replicas = null;
    this.#version += 1;
  }

  #followNode(name: string): void {
    if (this.list().some(({ nodeName }) => nodeName === name)) this.#version += 1;
  }

  #lookUp(): readonly Pod[] {
    const own = this.#ownSeen;
    if (!own) return [];
    const known = [...this.#neighbours].flatMap((uid) => {
      const pod = this.#store.pod(uid);
      return pod && isReplica(own, pod) ? [pod] : [];
    });
    // A pod whose node is no longer read is not known to be gone.
    const isUnread = this.#store.podView(own.nodeName) === 'unread';
    return isUnread && !this.#neighbours.has(own.uid) ? [own, ...known] : known;
  }

  /** As far as the API shows it, without requests for it. */
  #works(pod: Pod): boolean {
    return this.isOwn(pod) ? pod.deletionTimestamp === null : isReadyReplica(pod, this.#store);
  }
}

/** True when a replica that is not our own pod works, as far as the API shows it. */
function isReadyReplica(pod: Pod, store: Pick<StoreView, 'node'>): boolean {
  if (pod.deletionTimestamp !== null) return false;
  const isReady = pod.phase === 'Running' && pod.ready === 'True';
  return isReady && readyStatus(store.node(pod.nodeName)) === 'True';
}

/** The replicas of our own pod among these pods that work; our own pod is among them. */
export function workingReplicas(
  own: OwnPod,
  pods: readonly Pod[],
  store: Pick<StoreView, 'node'>,
): readonly Pod[] {
  const isOwn = (pod: Pod): boolean => pod.namespace === own.namespace && pod.name === own.name;
  const ours = pods.find(isOwn);
  if (!ours) return [];
  return pods.filter((pod) => {
    if (!isReplica(ours, pod)) return false;
    return isOwn(pod) ? pod.deletionTimestamp === null : isReadyReplica(pod, store);
  });
}

/** The common name of the replicas of a workload, in words: `Deployment taintmgr-controller`. */
export function replicasName(pod: Pod): string {
  return workloadOf(pod).join(' ');
}

/** True when two pods are replicas of one workload. */
export function isReplica(one: Pod, other: Pod): boolean {
  if (one.namespace !== other.namespace) return false;
  return workloadOf(one).join('/') === workloadOf(other).join('/');
}

/** A Deployment has a ReplicaSet for each of its templates, named after the label that tells them apart. */
function workloadOf({ owner, labels = {}, uid }: Pod): readonly [kind: string, name: string] {
  if (!owner) return ['Pod', uid];
  const suffix = `-${labels['pod-template-hash'] ?? ''}`;
  const isOfDeployment =
    owner.kind === 'ReplicaSet' && suffix !== '-' && owner.name.endsWith(suffix);
  if (isOfDeployment) return ['Deployment', owner.name.slice(0, -suffix.length)];
  return [owner.kind, owner.name];
}
