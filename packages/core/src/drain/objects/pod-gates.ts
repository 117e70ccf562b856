// What of a NodeDrain is asked, one after the other, before a pod of it goes.

import type { Outcome } from '../../attempt/outcome.ts';
import type { Event } from '../../event.ts';
import { lastReplicaText } from '../../eviction/reason.ts';
import { earliest, type Instant } from '../../kernel/time.ts';
import type { Pod } from '../../model/pod.ts';
import type { OwnReplicas } from '../../own-replicas.ts';
import type { NodeDrain } from '../../policy/node-drain.ts';
import type { StoreView } from '../../store.ts';
import type { PodGate } from '../pod-gate.ts';
import type { NodeDrainCommand } from './command.ts';
import { EvictionRequests } from './eviction-requests.ts';
import { OtherRequests } from './other-movers.ts';
import { RolloutRestarts } from './rollout-restarts.ts';
import { VolumeWaits } from './volume-waits.ts';
import type { Workloads } from './workloads.ts';

/** What gates go by. */
export interface GateSite {
  readonly store: StoreView;
  readonly workloads: Workloads;
  readonly replicas: OwnReplicas;
  /** The id of a command, of what names it within the run. */
  readonly idOf: (id: string) => string;
  /** The nodes whose turn has come. */
  readonly nodes: () => readonly string[];
  readonly isGoing: (podUid: string) => boolean;
}

/** The last replica of ours, limits over all drains, volumes of StatefulSets, restarts of rollouts: whichever of them it asks for. */
export class DrainGates implements PodGate {
  readonly #drain: Pick<NodeDrain, 'name' | 'uid'>;
  /** Null: no rollout is restarted. */
  readonly #restarts: RolloutRestarts | null;
  /** Null: volumes are not waited for. */
  readonly #volumes: VolumeWaits | null;
  /** Null: nobody is asked but the API server. */
  readonly #requests: EvictionRequests | null;
  /** Null: those who are asked by ours know of those of others. */
  readonly #others: OtherRequests | null;
  readonly #replicas: OwnReplicas;
  readonly #first: PodGate;

  constructor(now: Instant, drain: NodeDrain, given: GateSite) {
    const { store, workloads, idOf, nodes } = given;
    this.#drain = drain;
    const isGoing = (uid: string): boolean => {
      const pod = store.pod(uid);
      return pod !== null && given.isGoing(uid) && !this.#isLast(pod);
    };
    this.#replicas = given.replicas;
    const { limits, timeouts, pods } = drain.spec;
    const workloadLimits = workloads.gate(limits.maxUnavailable ?? null, drain.uid);
    const skipTerminatingMs = timeouts.terminatingPods ?? null;
    const site = { store, workloads, nodes, skipTerminatingMs };
    const ofVolumes = { prefix: idOf('volumes'), known: drain.volumeWaits };
    this.#volumes = pods.waitDetached
      ? new VolumeWaits(pods.waitDetached, { ...site, gate: workloadLimits, ...ofVolumes })
      : null;
    const gate = this.#volumes ?? workloadLimits;
    this.#restarts =
      pods.singleReplicas === 'RolloutRestart'
        ? new RolloutRestarts(timeouts.rollout, { ...site, gate, prefix: idOf('restart') })
        : null;
    const isByRequest = pods.evictBy === 'EvictionRequest';
    const first = this.#restarts ?? gate;
    const [timeoutMs, max] = [timeouts.evictionRequest ?? null, limits.podsAtOnce];
    const asks = { ...site, gate: first, prefix: idOf('request'), drain, timeoutMs, max, isGoing };
    this.#requests = isByRequest ? new EvictionRequests(now, asks) : null;
    this.#others = isByRequest ? null : new OtherRequests(now, asks);
    this.#first = this.#requests ?? this.#others ?? first;
  }

  holdOf(now: Instant, pod: Pod): string | null {
    if (this.#isLast(pod)) return lastReplicaText(this.#replicas.nameOf(pod));
    const hold = this.#first.holdOf(now, pod);
    // Whoever answers for it may move it at any time: no other replica goes meanwhile.
    if (this.isRequested(pod.uid)) this.#replicas.requested(pod.uid);
    return hold;
  }

  sent(now: Instant, pod: Pod): void {
    this.#replicas.sent(pod);
    this.#first.sent(now, pod);
  }

  answered(uid: string, outcome: Outcome): void {
    this.#replicas.answered(uid, outcome);
    this.#first.answered(uid, outcome);
  }

  isReplaced(uid: string): boolean {
    return this.#restarts?.isReplaced(uid) === true;
  }

  isRequested(uid: string): boolean {
    return this.#requests?.isOpen(uid) === true;
  }

  /** What the drain has set on the node is taken back. */
  rolledBack(nodeName: string): void {
    this.#restarts?.forget(nodeName);
  }

  /** What is to be asked for now. */
  take(now: Instant): readonly NodeDrainCommand[] {
    const { name: drain, uid } = this.#drain;
    const restarts = this.#restarts?.take(now) ?? [];
    const volumes = this.#volumes?.take(now) ?? [];
    const requests = this.#requests?.take(now) ?? this.#others?.take(now) ?? [];
    for (const uid of this.#requests?.open() ?? []) this.#replicas.requested(uid);
    return [
      ...requests.map((one) => ({ ...one, drain, uid })),
      ...restarts.map((restart) => ({ ...restart, drain, uid })),
      ...volumes.map((one) => (one.kind === 'recordEvent' ? one : { ...one, drain })),
    ];
  }

  /** What takes back what was asked of others. */
  undo(now: Instant): readonly NodeDrainCommand[] {
    const { name: drain, uid } = this.#drain;
    this.#others?.rest();
    return (this.#requests?.undo(now) ?? []).map((one) => ({ ...one, drain, uid }));
  }

  /** Whether nothing of the drain is left with others. */
  get isUndone(): boolean {
    return this.#requests?.isUndone ?? true;
  }

  /** The StatefulSets that wait for volumes, and since when, by our own time. */
  get volumeWaits(): VolumeWaits['waits'] {
    return this.#volumes?.waits ?? [];
  }

  /** What people are to know of the drain; who else moves pods matters while some are `going`. */
  remarks(going: boolean): readonly string[] {
    const others = going ? (this.#others?.remark ?? null) : null;
    const remarks = [this.#requests?.remark ?? null, others];
    return remarks.filter((one) => one !== null);
  }

  hear(event: Extract<Event, { kind: 'evictionRequests' }>): void {
    if (event.drain !== this.#drain.name) return;
    this.#requests?.hear(event);
    this.#others?.hear(event);
  }

  /** Takes the result of what one of these has asked for. */
  settle(now: Instant, asker: string, id: string, outcome: Outcome): void {
    if (asker === 'restart') this.#restarts?.settle(now, id, outcome);
    else if (asker === 'volumes') this.#volumes?.settle(now, id, outcome);
    else (this.#requests ?? this.#others)?.settle(now, id, outcome);
  }

  #isLast(pod: Pod): boolean {
    return this.#replicas.standIns(pod)?.length === 0;
  }

  nextWake(): Instant | null {
    const gates = [this.#requests, this.#others, this.#restarts, this.#volumes];
    return earliest(gates.map((gate) => gate?.nextWake() ?? null));
  }
}
