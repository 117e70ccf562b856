// The pods of a drain: how far each one has come, and which of them go next.
import { untried } from '../attempt/attempt.ts';
import type { Outcome } from '../attempt/outcome.ts';
import { Schedule } from '../kernel/schedule.ts';
import type { Instant, Millis } from '../kernel/time.ts';
import { type Pod, type PodRef, podRef } from '../model/pod.ts';
import type { StoreView } from '../store.ts';
import { compareRanks, type PodOrder, type PodRank, rankOf } from './config.ts';
import { type DrainNode, type DrainPod, type DrainPodState, isDone, isUnderWay } from './state.ts';

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

  /** Changes what is known about a pod, and answers it. */
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

/** Who is held up for longer than this leaves its place to others. */
export const heldUpMs: Millis = 60_000;

/** The pods and rules that decide whose turn comes. */
export interface Queue {
  readonly pods: DrainPods;
  readonly store: StoreView;
  readonly order: PodOrder;
  readonly mayEvict: (nodeName: string) => boolean;
}

/** The pods whose turn it is, the longest due first. */
export function podsInTurn(nodes: readonly DrainNode[], queue: Queue): readonly DrainPod[] {
  return nodes
    .filter(({ name }) => queue.mayEvict(name))
    .flatMap(({ name }) => lowestRank(queue.pods.on(name), queue))
    .filter(isQueued)
    .sort(byDue);
}

/** Of the pods that are still there and to go, those of the lowest rank. */
function lowestRank(pods: readonly DrainPod[], { store, order }: Queue): readonly DrainPod[] {
  if (!order.byPriority && order.last.length === 0) return pods;
  const ranked = pods.flatMap((known): readonly { known: DrainPod; rank: PodRank }[] => {
    const pod = isDone(known.state) ? null : store.pod(known.pod.uid);
    return pod ? [{ known, rank: rankOf(pod, order) }] : [];
  });
  const [first] = ranked.map(({ rank }) => rank).sort(compareRanks);
  return ranked.flatMap(({ known, rank }) =>
    first && compareRanks(rank, first) === 0 ? known : [],
  );
}

/** Counts the pods that are on their way out of nodes whose turn has come; pods that are held up do not count. */
export function countUnderWay(
  now: Instant,
  { pods, store }: Pick<Queue, 'pods' | 'store'>,
  isPending: (nodeName: string) => boolean,
): number {
  const counted = pods.all().filter((one) => {
    return isUnderWay(one) && !isPending(one.pod.nodeName) && !isHeldUp(now, one, store);
  });
  return counted.length;
}

/** True if nothing is left on a node but what has been held up for long. */
export function isNodeHeldUp(
  now: Instant,
  nodeName: string,
  { pods, store }: Pick<Queue, 'pods' | 'store'>,
): boolean {
  const left = pods.on(nodeName).filter(({ state }) => !isDone(state));
  return left.length > 0 && left.every((one) => isHeldUp(now, one, store));
}

/** True if nobody knows when it goes: it is refused again and again, or does not end in its time. */
function isHeldUp(now: Instant, known: DrainPod, store: StoreView): boolean {
  const { state, blocker, begunAt, hold } = known;
  const isHeld = state.kind === 'queued' || state.kind === 'waiting';
  if (isHeld) return hold !== null && hold.since + heldUpMs <= now;
  if (state.kind === 'terminating') {
    const pod = store.pod(known.pod.uid);
    const at = pod && heldUpAt(pod, store);
    return at !== null && at <= now;
  }
  const isRefused = state.kind === 'blocked' || state.kind === 'failed';
  const isLong = begunAt !== null && begunAt + heldUpMs <= now;
  return isRefused && isLong && blocker !== null && blocker.verdict !== 'resolves';
}

/** When a pod that terminates counts as held up. */
export function heldUpAt(
  { deletionTimestamp }: Pick<Pod, 'deletionTimestamp'>,
  { clock }: Pick<StoreView, 'clock'>,
): Instant | null {
  return deletionTimestamp === null ? null : clock.when(deletionTimestamp) + heldUpMs;
}

/** True if its turn is all that it waits for: a pause holds it otherwise. */
function isQueued({ state, because }: DrainPod): boolean {
  return state.kind === 'queued' && because[0]?.code !== 'Paused';
}

/** The longest due first. */
function byDue(a: DrainPod, b: DrainPod): number {
  if (a.due !== b.due) return (a.due ?? 0) - (b.due ?? 0);
  const [left, right] = [a, b].map(({ pod }) => `${pod.namespace}/${pod.name}`);
  return (left ?? '') < (right ?? '') ? -1 : 1;
}

/** Is asked before a request for a pod is sent, and hears what came of it. */
export interface PodGate {
  /** Why the pod must not go now, in words; null: it may. */
  holdOf(now: Instant, pod: Pod): string | null;
  sent(now: Instant, pod: Pod): void;
  answered(uid: string, outcome: Outcome): void;
  /** True if its workload was asked to put another pod in its place, and does. Left out: none is asked. */
  isReplaced?(uid: string): boolean;
  /** True where others were asked to move the pod, and may. Left out: nobody is asked. */
  isRequested?(uid: string): boolean;
}

/** Lets all pods go. */
export const openGate: PodGate = {
  holdOf: () => null,
  sent: () => {},
  answered: () => {},
};
