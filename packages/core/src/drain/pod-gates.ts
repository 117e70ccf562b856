// Gates that a pod of a NodeDrain passes before it goes: our last replica, limits, volumes, restarts of rollouts.
import { blockerOf, isUncertain } from '../attempt/blocker.ts';
import { KeyedWrites } from '../attempt/keyed-writes.ts';
import { isSetback, type Outcome } from '../attempt/outcome.ts';
import type { RecordPodEvent } from '../attempt/pod-command.ts';
import type { Event } from '../event.ts';
import { lastReplicaText, type Reason } from '../eviction/reason.ts';
import { EvictionRequests } from '../eviction/requests/eviction-requests.ts';
import { OtherRequests } from '../eviction/requests/other-requests.ts';
import { Schedule } from '../kernel/schedule.ts';
import { earliest, formatDeadline, type Instant, type Millis } from '../kernel/time.ts';
import { plainPod } from '../model/kept-pod.ts';
import { type Pod, type PodRef, podRef } from '../model/pod.ts';
import { isReplica, type OwnReplicas } from '../own-replicas.ts';
import type { NodeDrain, NodeDrainSpec, WaitDetached } from '../policy/node-drain.ts';
import type { StoreView } from '../store.ts';
import type {
  AskForDrain,
  DrainQuestion,
  NodeDrainCommand,
  RestartRollout,
} from './drain-commands.ts';
import { type Known, Questions } from './node-holds.ts';
import { skipAt } from './pod-filters.ts';
import type { PodGate } from './state.ts';
import type { Workloads } from './workloads.ts';

/** The surroundings of the gates of a drain. */
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

/**
 * The gates that the drain asks for: the last replica of ours, limits over all drains, volumes of
 * StatefulSets, restarts of rollouts.
 */
export class DrainGates implements PodGate {
  readonly #drain: Pick<NodeDrain, 'name' | 'uid'>;
  /** Null: no rollout is restarted. */
  readonly #restarts: RolloutRestarts | null;
  /** Null: volumes are not waited for. */
  readonly #volumes: VolumeWaits | null;
  /** Null: only the API server is asked. */
  readonly #requests: EvictionRequests | null;
  /** Null: those who are asked by ours know of those of others. */
  readonly #others: OtherRequests | null;
  readonly #replicas: OwnReplicas;
  /** Gates that hold a pod for which no responder is asked. */
  readonly #gate: PodGate;

  constructor(now: Instant, drain: NodeDrain, given: GateSite) {
    const { store, workloads, idOf, nodes } = given;
    this.#drain = drain;
    const isGoing = (uid: string): boolean => {
      const pod = store.pod(uid);
      return pod !== null && given.isGoing(uid) && !this.#isLast(pod);
    };
    this.#replicas = given.replicas;
    const { limits, timeouts, pods } = drain.spec;
    const site = { store, workloads, nodes, timeouts };
    const ofVolumes = { ...site, prefix: idOf('volumes'), known: drain.volumeWaits };
    this.#volumes = pods.waitDetached ? new VolumeWaits(pods.waitDetached, ofVolumes) : null;
    this.#restarts =
      pods.singleReplicas === 'RolloutRestart'
        ? new RolloutRestarts(timeouts.rollout, { ...site, prefix: idOf('restart') })
        : null;
    const isByRequest = pods.evictBy === 'EvictionRequest';
    const [timeoutMs, max] = [timeouts.evictionRequest, limits.podsAtOnce];
    const asks = { ...site, prefix: idOf('request'), drain, timeoutMs, max, isGoing };
    this.#others = isByRequest ? null : new OtherRequests(now, asks);
    const ofWorkloads = workloads.gate(limits.maxUnavailable ?? null, drain.uid);
    const gates = [this.#others, this.#restarts, this.#volumes, ofWorkloads];
    const gate = allOf(gates.filter((one) => one !== null));
    this.#gate = gate;
    this.#requests = isByRequest ? new EvictionRequests(now, { ...asks, gate }) : null;
  }

  holdOf(now: Instant, pod: Pod): string | null {
    if (this.#isLast(pod)) return lastReplicaText(this.#replicas.nameOf(pod));
    const hold = (this.#requests ?? this.#gate).holdOf(now, pod);
    // The pod's responder may move it at any time: no other replica leaves meanwhile.
    if (this.isRequested(pod.uid)) this.#replicas.requested(pod.uid);
    return hold;
  }

  sent(now: Instant, pod: Pod): void {
    this.#replicas.sent(pod);
    this.#gate.sent?.(now, pod);
  }

  answered(uid: string, outcome: Outcome): void {
    this.#replicas.answered(uid, outcome);
    this.#gate.answered?.(uid, outcome);
  }

  isReplaced(uid: string): boolean {
    return this.#restarts?.isReplaced(uid) === true;
  }

  isRequested(uid: string): boolean {
    return this.#requests?.isOpen(uid) === true;
  }

  /** Forgets the node: the drain has taken back all that was set there. */
  rolledBack(nodeName: string): void {
    this.#restarts?.forget(nodeName);
  }

  /** The commands that are due. */
  take(now: Instant): readonly NodeDrainCommand[] {
    const { name: drain, uid } = this.#drain;
    const restarts = this.#restarts?.take(now) ?? [];
    const volumes = this.#volumes?.take(now) ?? [];
    const requests = this.#requests?.take(now) ?? this.#others?.take(now) ?? [];
    for (const uid of this.#requests?.open() ?? []) this.#replicas.requested(uid);
    return [
      ...requests.map((one) => (one.kind === 'recordEvent' ? one : { ...one, drain, uid })),
      ...restarts.map((restart) => ({ ...restart, drain, uid })),
      ...volumes.map((one) => (one.kind === 'recordEvent' ? one : { ...one, drain })),
    ];
  }

  /** The commands that take back requests to others. */
  undo(now: Instant): readonly NodeDrainCommand[] {
    const { name: drain, uid } = this.#drain;
    this.#others?.rest();
    return (this.#requests?.undo(now) ?? []).map((one) =>
      one.kind === 'recordEvent' ? one : { ...one, drain, uid },
    );
  }

  /** True if nothing of the drain is left with others. */
  get isUndone(): boolean {
    return this.#requests?.isUndone ?? true;
  }

  /** The StatefulSets that wait for volumes, and since when, by our own time. */
  get volumeWaits(): VolumeWaits['waits'] {
    return this.#volumes?.waits ?? [];
  }

  /** Why pods went by pods/eviction though requests were asked for; null: they did not. */
  get fallback(): string | null {
    return this.#requests?.remark ?? null;
  }

  /** Remarks for people; who else moves pods matters while some are `going`. */
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

/** Asks gates one after the other: the first that holds a pod counts. */
function allOf(gates: readonly PodGate[]): PodGate {
  return {
    holdOf: (now, pod) => {
      for (const gate of gates) {
        const hold = gate.holdOf(now, pod);
        if (hold !== null) return hold;
      }
      return null;
    },
    sent: (now, pod) => {
      for (const gate of gates) gate.sent?.(now, pod);
    },
    answered: (uid, outcome) => {
      for (const gate of gates) gate.answered?.(uid, outcome);
    },
  };
}

/** Requests under way at one time, at most. */
const restartsMax = 10;
const retry = { retryWaitMsMin: 1_000, retryWaitMsMax: 30_000, confirmationWaitMs: 30_000 };

/** The restart that a pod waits for, or has waited for. */
interface Restart {
  readonly until: Instant;
  /** `unfit`: its Deployment cannot do it, or there is none. */
  readonly state: 'asked' | 'restarted' | 'unfit';
  /** The reason of the last failure; '': no failure is known. */
  readonly trouble: string;
  readonly pod: Pod;
}

/** The surroundings of restarts. */
interface RestartSite {
  readonly store: StoreView;
  readonly workloads: Workloads;
  /** Begins the id of every command. */
  readonly prefix: string;
}

/**
 * A ready pod that is the only one of its ReplicaSet, on a node that is cordoned, waits until its
 * Deployment has another one ready and stops it: its rollout is restarted once. Where that does not
 * happen within its time, or cannot, the pod is evicted as others are. So is one that the Deployment
 * has started on the same node.
 */
class RolloutRestarts implements PodGate {
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

  /** The node takes pods again. */
  forget(nodeName: string): void {
    for (const [uid, { pod }] of this.#restarts) {
      if (pod.nodeName === nodeName && !this.#site.store.pod(uid)) this.#restarts.delete(uid);
    }
  }

  isReplaced(uid: string): boolean {
    return this.#restarts.get(uid)?.state === 'restarted';
  }

  /** The restarts to ask for now. */
  take(now: Instant): readonly Omit<RestartRollout, 'drain' | 'uid'>[] {
    while (this.#timeouts.takeDue(now) !== null);
    // Writes begin one after the other: each takes a place.
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

  /** The reason why the pod waits for a restart, in words; null: it does not wait. */
  holdOf(now: Instant, pod: Pod): string | null {
    const restart = this.#restarts.get(pod.uid) ?? this.#ask(now, pod);
    if (!restart || restart.state === 'unfit' || restart.until <= now) return null;
    const { clock } = this.#site.store;
    // Only the answer tells whether the Deployment can.
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

/** The surroundings of waits for volumes. */
interface VolumeSite {
  readonly store: StoreView;
  /** Begins the id of every command. */
  readonly prefix: string;
  /** The nodes whose turn has come, those that are done with too. */
  readonly nodes: () => readonly string[];
  readonly timeouts: NodeDrainSpec['timeouts'];
  /** The waits that another leader has found, by the cluster's clock. */
  readonly known: NodeDrain['volumeWaits'];
}

type Asked = Extract<DrainQuestion, { kind: 'volumes' }>;

/**
 * The question if volumes are detached is asked again for each pod, of the cluster as it is: a
 * volume of the set is on one of our nodes, and the pod that had it is not. So a new leader waits
 * for what another one has begun, and since when that one did, by the status. An unknown volume
 * counts as attached.
 */
class VolumeWaits implements PodGate {
  readonly #wait: WaitDetached;
  readonly #site: VolumeSite;
  readonly #questions: Questions;
  /** Pods whose eviction was asked for, and not refused, by uid. */
  readonly #sent = new Map<string, PodRef>();
  /** The pod of each set that was sent last: its volumes are looked for on its node by name. */
  readonly #left = new Map<string, PodRef>();
  /** When the time of a set that waits is over. */
  readonly #ends = new Map<string, Instant>();
  readonly #timeouts = new Schedule();
  /** The keys of the questions of this tick. */
  #asked = new Set<string>();
  /** The pods of each set on our nodes; null: not looked at since the last tick. */
  #members: Map<string, Pod[]> | null = null;
  #late: RecordPodEvent<Reason>[] = [];
  /** Pods that went though volumes were still attached. */
  readonly #reported = new Set<string>();

  constructor(wait: WaitDetached, site: VolumeSite) {
    this.#wait = wait;
    this.#site = site;
    this.#questions = new Questions(site.prefix, (wall) => site.store.clock.when(wall));
    for (const { statefulSet, since } of site.known) {
      this.#ends.set(statefulSet, site.store.clock.when(since) + wait.timeout);
    }
  }

  /** The sets that wait, and since when. */
  get waits(): readonly { readonly statefulSet: string; readonly since: Instant }[] {
    return Array.from(this.#ends, ([statefulSet, end]) => {
      return { statefulSet, since: end - this.#wait.timeout };
    });
  }

  holdOf(now: Instant, pod: Pod): string | null {
    const set = setOf(pod);
    return set === null ? null : this.#volumesHold(now, pod, set);
  }

  sent(_now: Instant, pod: Pod): void {
    const set = setOf(pod);
    if (set === null) return;
    this.#sent.set(pod.uid, podRef(pod));
    this.#left.set(set, podRef(pod));
    this.#forgetTime(set);
  }

  answered(uid: string, outcome: Outcome): void {
    if (isSetback(outcome) && !isUncertain(outcome)) this.#sent.delete(uid);
  }

  /** The questions to ask now, and the Events to record. */
  take(now: Instant): readonly (Omit<AskForDrain, 'drain'> | RecordPodEvent<Reason>)[] {
    while (this.#timeouts.takeDue(now) !== null);
    this.#members = null;
    this.#questions.keep(this.#asked);
    this.#asked = new Set();
    const events = this.#late;
    this.#late = [];
    const questions = Array.from(this.#questions.takeDue(now), ({ id, question }) => {
      return { kind: 'askForDrain', id, question } as const;
    });
    return [...events, ...questions];
  }

  settle(now: Instant, id: string, outcome: Outcome): void {
    this.#questions.answered(now, id, outcome);
  }

  nextWake(): Instant | null {
    return earliest([this.#questions.nextWake(), this.#timeouts.next()]);
  }

  #volumesHold(now: Instant, pod: Pod, set: string): string | null {
    const others = this.#membersOf(set).filter(({ uid }) => uid !== pod.uid);
    const leaving = others.find((one) => this.#isLeaving(now, one));
    if (leaving) return `waits for pod ${leaving.name} of its StatefulSet to be gone`;
    const known = this.#known(now, pod, set, others);
    if (known.kind === 'yes') {
      this.#forgetTime(set);
      return null;
    }
    const what =
      known.kind === 'no'
        ? `waits for ${known.message}`
        : `waits to hear whether volumes of its StatefulSet are detached: ${known.message}`;
    return this.#untilLate(now, pod, set, what);
  }

  /** The hold in words with its time; null: the hold is over, and the pod leaves. */
  #untilLate(now: Instant, pod: Pod, set: string, what: string): string | null {
    const { timeout, onTimeout } = this.#wait;
    const goesOn = onTimeout === 'GoOn';
    const end = this.#ends.get(set) ?? now + timeout;
    this.#ends.set(set, end);
    const time = formatDeadline(this.#site.store.clock.wall(end));
    if (now < end) {
      this.#timeouts.set(set, end);
      return goesOn ? `${what}; it is evicted anyway at ${time}` : what;
    }
    if (!goesOn) return `${what}; its time was over at ${time}`;
    this.#report(pod, what);
    return null;
  }

  #report(pod: Pod, what: string): void {
    if (this.#reported.has(pod.uid)) return;
    this.#reported.add(pod.uid);
    this.#late.push({
      ...{ kind: 'recordEvent', pod: podRef(pod), type: 'Warning', because: [] },
      reason: 'VolumesNotDetached',
      message: `${what}: its time is over, and the pod is evicted anyway`,
    });
  }

  #known(now: Instant, pod: Pod, set: string, others: readonly Pod[]): Known {
    const left = this.#left.get(set);
    const isGone = left !== undefined && left.uid !== pod.uid && !this.#site.store.pod(left.uid);
    const question: Asked = {
      kind: 'volumes',
      namespace: pod.namespace,
      statefulSet: pod.owner?.name ?? '',
      nodes: this.#site.nodes(),
      staying: [pod, ...others].map(({ name }) => name).sort(),
      left: isGone ? { pod: left.name, node: left.nodeName } : null,
    };
    const key = JSON.stringify(question);
    this.#asked.add(key);
    return this.#questions.known(now, key, question);
  }

  /** True if it is about to go: the volumes that it has are not free before. */
  #isLeaving(now: Instant, pod: Pod): boolean {
    if (pod.deletionTimestamp === null) return this.#sent.has(pod.uid);
    const at = skipAt(pod, this.#site.timeouts, this.#site.store.clock);
    return at === null || now < at;
  }

  #membersOf(set: string): readonly Pod[] {
    this.#members ??= this.#readMembers();
    return this.#members.get(set) ?? [];
  }

  #readMembers(): Map<string, Pod[]> {
    const { store, nodes } = this.#site;
    const members = new Map<string, Pod[]>();
    for (const pod of nodes().flatMap((name) => [...store.podsOn(name)])) {
      const set = setOf(pod);
      if (set !== null) members.set(set, [...(members.get(set) ?? []), pod]);
    }
    return members;
  }

  #forgetTime(set: string): void {
    this.#ends.delete(set);
    this.#timeouts.cancel(set);
  }
}

/** `namespace/name` of its StatefulSet; null: it is of none. */
function setOf({ namespace, owner }: Pod): string | null {
  const isOfSet = owner?.kind === 'StatefulSet' && owner.apiVersion.startsWith('apps/');
  return isOfSet ? `${namespace}/${owner.name}` : null;
}
