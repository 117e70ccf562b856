// The states that pods and nodes go through during a drain, and the table of its pods.
import { type Attempt, type AttemptState, untried } from '../attempt/attempt.ts';
import type { Blocker } from '../attempt/blocker.ts';
import type { Outcome } from '../attempt/outcome.ts';
import { describeReason, type Reason } from '../eviction/reason.ts';
import { Schedule } from '../kernel/schedule.ts';
import type { Instant, Millis } from '../kernel/time.ts';
import { type Disruption, type Pod, type PodRef, podRef } from '../model/pod.ts';

/** Why a drain leaves a pod or refuses to begin. */
export type DrainFault = 'DaemonSet' | 'OrphanedDaemonSetPod' | 'EmptyDir' | 'Unmanaged';

/** The state of one pod on its way out, or the reason why it stays. */
export type DrainPodState =
  | Exclude<AttemptState, { kind: 'asked' | 'paused' }>
  /** The pod stays: it tolerates the taint, or deleting it would not stop it. */
  | { readonly kind: 'kept' }
  /** kubectl drain's filters leave it where it is. */
  | { readonly kind: 'left'; readonly faults: readonly DrainFault[] }
  /** No further try is made. */
  | { readonly kind: 'givenUp' }
  | { readonly kind: 'terminating'; readonly since: Instant }
  /** The pod has been terminating for too long to be waited for. */
  | { readonly kind: 'skipped' }
  | { readonly kind: 'gone'; readonly at: Instant; readonly departure: Departure };

/** The pod is due, and it is not its turn. */
export const outOfTurn: Extract<AttemptState, { hit: null }> = { kind: 'queued', hit: null };

/** A pod of a target node. */
export interface DrainPod extends Omit<Attempt, 'state'> {
  /** The pod. */
  readonly pod: PodRef;
  /** The state that the pod has reached. */
  readonly state: DrainPodState;
  /** Why it goes or stays. */
  readonly because: readonly Reason[];
  /** When it was, or will be, due; null: never. */
  readonly due: Instant | null;
  /** The blocker of the last try that failed; null: none did. */
  readonly blocker: Blocker | null;
  /** True if budgets were no longer asked in the end, or never. */
  readonly deleted: boolean;
  /** When the first request for it was sent; null: none was. */
  readonly begunAt: Instant | null;
  /** Says if a request of ours removed the pod, or may have. */
  readonly claim: Claim;
  /** True if a request is out and not yet answered. */
  readonly awaitsAnswer: boolean;
  /** When it went, while we wait for the answer that says whether it was our doing. */
  readonly vanishedAt: Instant | null;
  /** The hold of the pod, beside its own time and turn; null: none. */
  readonly hold: PodHold | null;
  /** The mark that another controller put on the pod; null: none. */
  readonly disruption: Disruption | null;
  /** The other controller that deleted it for the taint; null: none. */
  readonly taken: ForeignDeletion | null;
}

/** The reason why a pod does not leave, in words, and since when. */
interface PodHold {
  readonly message: string;
  readonly since: Instant;
}

/** Why a node could not be drained. */
export type DrainFailure =
  /** Something holds pods back that waiting alone does not help. */
  | 'Blocked'
  | 'TimedOut'
  /** The API server refuses, for want of rights for example. */
  | 'Denied'
  /** The taint was removed, and not by us. */
  | 'TaintRemoved'
  /** Another drain has taken the node over, or our mark was removed by others. */
  | 'AnotherDrain'
  /** A wave before its own could not be drained. */
  | 'NotBegun'
  /** Some of its pods must not go: it was not begun. */
  | 'PodsRefused'
  /** There is no such node. */
  | 'NotFound'
  /** Another controller deletes pods for the taint and asks no budgets: the drain was stopped. */
  | 'ForeignEviction'
  /** A step of others was not done in time. */
  | 'StepTimedOut';

/** The phase of a node. */
export type DrainNodePhase =
  /** Not its turn yet. */
  | { readonly kind: 'pending' }
  /** Its turn came at `since`; its taint is not there yet. */
  | { readonly kind: 'tainting'; readonly since: Instant }
  | { readonly kind: 'draining'; readonly since: Instant }
  | { readonly kind: 'drained'; readonly since: Instant; readonly at: Instant }
  | {
      readonly kind: 'failed';
      readonly why: DrainFailure;
      readonly at: Instant;
      /** In the API server's words; null: it said nothing. */
      readonly message: string | null;
    }
  /** The node was deleted: nothing more is done there. */
  | { readonly kind: 'vanished'; readonly at: Instant };

/** A target node. */
export interface DrainNode {
  /** Name of the node. */
  readonly name: string;
  /** `region/zone`; '': none. */
  readonly zone: string;
  /** The wave of the node. */
  readonly wave: Wave;
  /** Its phase. */
  readonly phase: DrainNodePhase;
}

/** The hold of a node whose turn would have come. */
export interface DrainHold {
  /** One word. */
  readonly reason: string;
  readonly message: string;
}

/** A drain as it is carried out, for readers; the drain machine implements it. */
export interface DrainView {
  /** The target nodes, in their order. */
  nodes(): readonly DrainNode[];
  /** All pods of target nodes that were ever seen, in that order. */
  pods(): readonly DrainPod[];
  /**
   * Pods that run on where their node's turn has come, and that no DaemonSet and no kubelet brings
   * back.
   */
  staying(): readonly DrainPod[];
  /** DaemonSets whose pods that end are not made again where the node's turn has come: the taint keeps them off. */
  keptOff(): readonly string[];
  /** True if every node is done with and no request is under way. */
  readonly finished: boolean;
  /** True if the node's turn has come, and it is not done with. */
  isBegun(nodeName: string): boolean;
}

/** Who is held up for longer than this leaves its place to others. */
export const heldUpMs: Millis = 60_000;

/**
 * A command of a drain beside evictions: put the taint on a node whose turn has come. A `result`
 * event that carries the id answers it.
 */
export interface TaintNode {
  readonly kind: 'taintNode';
  readonly id: string;
  readonly nodeName: string;
}

/** Why a drain was stopped: the first pod that another controller deleted. */
export interface DrainStop {
  /** The pod. */
  readonly pod: PodRef;
  /** The other controller. */
  readonly by: ForeignDeletion;
}

/** Something that people are notified of as it happens. */
export type DrainNote =
  /** Its pods go from now on; `wasTainted`: the taint was there before its turn came. */
  | { readonly kind: 'nodeBegun'; readonly node: string; readonly wasTainted: boolean }
  /** The taint could not be put on; it is tried again, unless the node ends. */
  | { readonly kind: 'nodeSetBack'; readonly node: string; readonly blocker: Blocker }
  | { readonly kind: 'nodeEnded'; readonly node: string; readonly phase: DrainNodePhase }
  /** A pod is gone, `took` after the first request for it; null: we did not ask it to go. */
  | {
      readonly kind: 'podGone';
      readonly pod: DrainPod;
      readonly took: Millis | null;
      readonly departure: Departure;
    }
  /** Another controller deletes pods for the taint: the drain has stopped. */
  | { readonly kind: 'stopped'; readonly stop: DrainStop }
  | {
      readonly kind: 'podSetBack' | 'podGivenUp';
      readonly pod: DrainPod;
      readonly blocker: Blocker;
    }
  /** Budgets held it back until now; it is deleted. */
  | { readonly kind: 'podEscalated'; readonly pod: DrainPod; readonly waitedMs: Millis }
  /** The pod came after the drain began, and the filters leave it there. */
  | { readonly kind: 'podLeft'; readonly pod: DrainPod; readonly faults: readonly DrainFault[] }
  | { readonly kind: 'podSkipped'; readonly pod: DrainPod };

/** True if nothing more is expected of a pod. */
export function isDone({ kind }: DrainPodState): boolean {
  return ['kept', 'left', 'skipped', 'gone', 'givenUp'].includes(kind);
}

/** True if a pod is not to go at all. */
export function isStaying({ state }: DrainPod): boolean {
  return state.kind === 'kept' || state.kind === 'left';
}

/** True if a pod is on its way out, by our doing or, for what we can tell, by that of an earlier run. */
export function isUnderWay({ state }: DrainPod): boolean {
  return ['requested', 'accepted', 'terminating'].includes(state.kind);
}

/** True if a node is done with, one way or the other. */
export function isEnded({ kind }: DrainNodePhase): boolean {
  return kind !== 'pending' && !isBegun({ kind });
}

/** True if a node's turn has come and it is not done with. */
export function isBegun({ kind }: Pick<DrainNodePhase, 'kind'>): boolean {
  return kind === 'tainting' || kind === 'draining';
}

/** Who made a pod go. */
export type Departure =
  /** A request of ours, which was accepted. */
  | { readonly kind: 'ours' }
  /** The pod was on its way out before the drain began. */
  | { readonly kind: 'earlier' }
  /** Its workload has put another pod in its place, as the drain has asked. */
  | { readonly kind: 'replaced' }
  | ForeignDeletion;

/** The deletion of a pod by another program or by a person. */
export interface ForeignDeletion {
  readonly kind: 'foreign';
  /** The program that marked it, by metadata.managedFields; null: it is not recorded. */
  readonly manager: string | null;
  /** The reason in the mark, e.g. `DeletionByTaintManager`; null: it has none. */
  readonly reason: string | null;
}

/** The claim that our requests have on the removal of a pod. */
export type Claim =
  /** No request was accepted. */
  | 'none'
  /** To one of them no answer came, or the server failed: it may have been accepted. */
  | 'possible'
  | 'sure';

/** Nodes that are done with before those of the next wave begin. */
export interface Wave {
  /** '': the one without a name. */
  readonly name: string;
  /** Null: that of the drain counts. */
  readonly nodesAtOnceMax: number | null;
}

/** A node to be drained. */
export interface DrainTarget {
  /** Name of the node. */
  readonly name: string;
  /** `region/zone`; '': none. */
  readonly zone: string;
  /**
   * The wave of the node: one wave is done before the next begins; left out: the wave without a
   * name.
   */
  readonly wave?: Wave;
  /** Pods of it have gone in an earlier run; left out: none has. */
  readonly hasWorked?: boolean;
  /** The phase in which an earlier run left the node; left out: its turn is still to come. */
  readonly phase?: DrainNodePhase;
}

/** The node failed; `message`: in words of others. */
export function failed(
  why: DrainFailure,
  at: Instant,
  message: string | null = null,
): DrainNodePhase {
  return { kind: 'failed', why, at, message };
}

/** Of a node whose time is over. */
export function lateEndOf(now: Instant, pods: readonly DrainPod[]): DrainNodePhase {
  const isHeld = pods.some(({ state, blocker }) => state.kind !== 'gone' && isInTheWay(blocker));
  return failed(isHeld ? 'Blocked' : 'TimedOut', now);
}

/** True if it does not resolve by itself. */
export function isInTheWay(blocker: Blocker | null): boolean {
  return blocker !== null && blocker.verdict !== 'resolves';
}

/** The failure of a node whose pods were refused. */
export interface Refusal {
  readonly why: Extract<DrainFailure, 'Blocked' | 'Denied'>;
  /** Null: the known state of its pods says it. */
  readonly message: string | null;
  /** True if pods of the node have gone since the drain began. */
  readonly hasWorked: boolean;
}

/** Why a node has failed, by its pods; null: none was given up. */
export function givenUpOn(pods: readonly DrainPod[]): Omit<Refusal, 'message'> | null {
  const givenUp = pods.filter(isGivenUp);
  if (givenUp.length === 0) return null;
  const why = givenUp.some(isDenied) ? 'Denied' : 'Blocked';
  return { why, hasWorked: pods.some(hasLeft) };
}

/**
 * Names one of these pods that were refused, with the refusal, and how many more; '': there are
 * none.
 */
export function refusedText(pods: readonly DrainPod[]): string {
  const refused = pods.filter(({ blocker }) => blocker !== null);
  const first = refused.find(isDenied) ?? refused[0];
  if (!first?.blocker) return '';
  const more = refused.length === 1 ? '' : ` (${refused.length} such pods)`;
  return `pod ${first.pod.namespace}/${first.pod.name}${more}: ${first.blocker.message}`;
}

export function isGivenUp({ state }: DrainPod): boolean {
  return state.kind === 'givenUp';
}

function isDenied({ blocker }: DrainPod): boolean {
  return blocker?.code === 'Denied';
}

function hasLeft({ state }: DrainPod): boolean {
  return state.kind === 'gone' && state.departure.kind !== 'earlier';
}

const namesMax = 4;
const codes: readonly string[] = [
  'ToleratedForever',
  'KeptByPolicy',
  'PolicyUndecided',
  'OptedOut',
];

/** True if `kubectl drain` would evict the pod: no pod of a DaemonSet, none that has ended, none that is static. */
export function isStayingOn({ state, because: [decisive] }: DrainPod, pod: Pod | null): boolean {
  if (state.kind !== 'kept' || !pod || pod.owner?.kind === 'DaemonSet') return false;
  if (pod.phase === 'Succeeded' || pod.phase === 'Failed') return false;
  return decisive !== undefined && codes.includes(decisive.code);
}

/**
 * Names the pods that stay: `2 pods stay: shop/op-0 (tolerates m=k:NoSchedule for ever) and 1
 * more`; '': none does.
 */
export function stayingText(pods: readonly DrainPod[]): string {
  if (pods.length === 0) return '';
  const names = pods.slice(0, namesMax).map(({ pod, because: [decisive] }) => {
    const why = decisive ? ` (${describeReason(decisive)})` : '';
    return `${pod.namespace}/${pod.name}${why}`;
  });
  const more = pods.length > namesMax ? ` and ${pods.length - namesMax} more` : '';
  const stay = pods.length === 1 ? '1 pod stays' : `${pods.length} pods stay`;
  return `${stay}: ${names.join(', ')}${more}`;
}

const fresh: Omit<DrainPod, 'pod' | 'state'> = {
  ...untried,
  because: [],
  due: null,
  blocker: null,
  deleted: false,
  begunAt: null,
  claim: 'none',
  awaitsAnswer: false,
  vanishedAt: null,
  hold: null,
  disruption: null,
  taken: null,
};

/** The pods of target nodes, by uid and by node, and when each is looked at again. */
export class DrainPods {
  /** By uid. */
  readonly schedule: Schedule = new Schedule();
  readonly #pods = new Map<string, DrainPod>();
  readonly #byNode = new Map<string, Set<string>>();

  get(uid: string): DrainPod | null {
    return this.#pods.get(uid) ?? null;
  }

  /** In the order in which they were first seen. */
  all(): readonly DrainPod[] {
    return [...this.#pods.values()];
  }

  on(nodeName: string): readonly DrainPod[] {
    return Array.from(this.#byNode.get(nodeName) ?? [], (uid) => this.#pods.get(uid)).filter(
      (pod) => pod !== undefined,
    );
  }

  delete(uid: string): void {
    const pod = this.#pods.get(uid);
    if (!pod) return;
    this.#pods.delete(uid);
    this.#byNode.get(pod.pod.nodeName)?.delete(uid);
  }

  /** Changes the known state of a pod, and returns it. */
  put(
    named: PodRef,
    state: DrainPodState,
    changed: Partial<Omit<DrainPod, 'pod' | 'state'>> = {},
  ): DrainPod {
    const pod = podRef(named);
    if ('until' in state) this.schedule.set(pod.uid, state.until);
    else if (isDone(state)) this.schedule.cancel(pod.uid);
    const next = { ...fresh, ...this.#pods.get(pod.uid), ...changed, state, pod };
    this.#pods.set(pod.uid, next);
    const onNode = this.#byNode.get(pod.nodeName) ?? new Set();
    this.#byNode.set(pod.nodeName, onNode.add(pod.uid));
    return next;
  }
}

/** Is asked before a request for a pod is sent, and hears what came of it. */
export interface PodGate {
  /** The reason why the pod must not leave now, in words; null: it may. */
  holdOf(now: Instant, pod: Pod): string | null;
  /** The request for a pod is sent. Left out: the gate ignores it. */
  sent?(now: Instant, pod: Pod): void;
  answered?(uid: string, outcome: Outcome): void;
  /** True if its workload was asked to put another pod in its place, and does. Left out: none is asked. */
  isReplaced?(uid: string): boolean;
  /** True where others were asked to move the pod, and may. Left out: no responder is asked. */
  isRequested?(uid: string): boolean;
}

/** Lets all pods go. */
export const openGate: PodGate = { holdOf: () => null };
