// Sends the requests that make the pods of a drain leave, each in its turn, and says what their answers mean.
import { accepted, setBack } from '../attempt/attempt.ts';
import { type Blocker, blockerOf, isUncertain } from '../attempt/blocker.ts';
import {
  type BudgetPolicy,
  escalationOf,
  methodFor,
  podCommand,
  type Terms,
} from '../attempt/delete-or-evict.ts';
import { isSetback, type Outcome, type Setback } from '../attempt/outcome.ts';
import { Pace } from '../attempt/pace.ts';
import type { PodCommand, RecordPodEvent } from '../attempt/pod-command.ts';
import { evictionEvent } from '../eviction/pod-events.ts';
import type { Reason } from '../eviction/reason.ts';
import { earlier, formatDeadline, type Instant } from '../kernel/time.ts';
import { isShuttingDown } from '../model/node.ts';
import { type Disruption, type Pod, type PodRef, podRef } from '../model/pod.ts';
import type { DrainConfig, NodeDrainSpec } from '../policy/node-drain.ts';
import { isInGroup } from '../policy/scope.ts';
import type { StoreView } from '../store.ts';
import type { DrainNodes } from './node-turns.ts';
import { finishBy } from './pod-filters.ts';
import {
  type Claim,
  type Departure,
  type DrainNode,
  type DrainNote,
  type DrainPod,
  type DrainPods,
  type DrainStop,
  type ForeignDeletion,
  heldUpMs,
  isDone,
  isUnderWay,
  openGate,
  outOfTurn,
  type PodGate,
} from './state.ts';

const never = Number.POSITIVE_INFINITY;
/** The interval at which the budget of a pod that is refused repeatedly is read. */
const budgetReadEveryTries = 4;

/** A request that makes a pod leave, or the Event that says so. */
type PodRequest = PodCommand<Reason> | RecordPodEvent<Reason>;

/** The surroundings of requests. */
interface RequestSite {
  readonly store: StoreView;
  readonly nodes: DrainNodes;
  readonly pods: DrainPods;
  readonly gate: PodGate;
  readonly note: (note: DrainNote) => void;
}

/** Sends removals of pods, and moves the pods by the results. */
export class DrainRequests {
  readonly #config: DrainConfig;
  readonly #site: RequestSite;
  readonly #pace: Pace;

  constructor(config: DrainConfig, site: RequestSite) {
    this.#config = config;
    this.#site = site;
    this.#pace = new Pace('drain', config.pace.requestsInFlightMax);
  }

  /**
   * The time from which another request may be sent about a pod of a namespace; null: after an
   * answer.
   */
  roomAt(namespace: string): Instant | null {
    return this.#pace.roomAt(namespace);
  }

  send(now: Instant, pod: Pod, known: DrainPod): readonly PodRequest[] {
    const { because, due } = known;
    const budgets = drainBudgetsOf(this.#config.spec);
    const method = methodFor(now, known.budgetsAsked, pod, this.#terms(pod, due));
    const id = this.#pace.start(now, pod.uid, pod.namespace);
    this.#site.gate.sent?.(now, pod);
    const sent = this.#site.pods.put(
      pod,
      { kind: 'requested', id },
      {
        tries: known.tries + 1,
        begunAt: known.begunAt ?? now,
        deleted: method.kind === 'delete',
        awaitsAnswer: true,
        hold: null,
      },
    );
    if (method.escalated && budgets.kind === 'deleteAfter') {
      this.#site.note({ kind: 'podEscalated', pod: sent, waitedMs: budgets.afterMs });
    }
    const asked = podCommand(id, pod, method, false, because);
    const readsBudget = this.#config.isUnattended && readsBudgetAt(known);
    const command: typeof asked = {
      ...asked,
      ofDrain: true,
      ...(asked.kind === 'evictPod' && readsBudget && { readsBudget: true }),
    };
    return known.tries === 0 ? [evictionEvent(pod, because), command] : [command];
  }

  /**
   * The pod for which another try follows; null: none does, or the answer was for none of these.
   */
  answered(now: Instant, id: string, outcome: Outcome): PodRef | null {
    const { pods } = this.#site;
    const uid = this.#pace.finish(now, id, outcome);
    const before = uid === null ? null : pods.get(uid);
    if (uid === null || !before) return null;
    this.#site.gate.answered?.(uid, outcome);
    const claim = claimAfter(before.claim, outcome);
    const known = pods.put(before.pod, before.state, { claim, awaitsAnswer: false });
    if (known.vanishedAt !== null) this.gone(known.vanishedAt, known);
    if (known.vanishedAt !== null || known.state.kind !== 'requested') return null;
    if (isSetback(outcome)) {
      this.#setBack(now, known, outcome);
      return known.pod;
    }
    if (outcome.kind === 'gone') this.gone(now, known);
    else pods.put(known.pod, accepted(now, this.#config.pace));
    return null;
  }

  gone(now: Instant, known: DrainPod): void {
    const { uid } = known.pod;
    const isReplaced = this.#site.gate.isReplaced?.(uid) === true;
    const departure = departureOf(known, this.#config.leaving.has(uid), isReplaced);
    const pod = this.#site.pods.put(known.pod, { kind: 'gone', at: now, departure });
    const took = pod.begunAt === null ? null : now - pod.begunAt;
    this.#site.note({ kind: 'podGone', pod, took, departure });
  }

  /**
   * A pod should have left since it was due, and at the earliest since its node's turn came and its
   * time to finish was over.
   */
  #terms(pod: Pod, due: Instant | null): Terms {
    const { spec } = this.#config;
    const { gracePeriodSeconds = null, waitCompleted } = spec.pods;
    const begunAt = this.#site.nodes.phases.begunAt(pod.nodeName);
    const since = finishBy(pod, waitCompleted, begunAt) ?? begunAt ?? never;
    const deadline = Math.max(due ?? since, since);
    return { deadline, budgets: drainBudgetsOf(spec), gracePeriodSeconds, nodeEnd: null };
  }

  /** Between two looks at a budget its meaning stays the same. */
  #blockerOf({ pod, blocker: before }: DrainPod, setback: Setback): Blocker {
    const blocker = blockerOf(setback, this.#site.store.pod(pod.uid));
    const isUnread = setback.kind === 'blocked' && setback.found === undefined;
    if (!isUnread || !this.#config.isUnattended) return blocker;
    return { ...blocker, verdict: before?.code === 'Budget' ? before.verdict : 'unknown' };
  }

  #setBack(now: Instant, known: DrainPod, setback: Setback): void {
    const { store, pods, note } = this.#site;
    const { uid } = known.pod;
    const { once, spec } = this.#config;
    const blocker = this.#blockerOf(known, setback);
    // A budget may be relaxed.
    const isFinal =
      blocker.code !== 'Budget' &&
      blocker.verdict === 'never' &&
      (blocker.code === 'Denied' || spec.budgets.policy !== 'DeleteAfter');
    if (once || isFinal) {
      const pod = pods.put(known.pod, { kind: 'givenUp' }, { blocker });
      note({ kind: 'podGivenUp', pod, blocker });
      return;
    }
    const seen = store.pod(uid);
    const escalateAt = seen && escalationOf(seen, this.#terms(seen, known.due));
    const { state, ...changed } = setBack(now, uid, known, setback, escalateAt, this.#config.pace);
    const pod = pods.put(known.pod, state, { ...changed, blocker });
    note({ kind: 'podSetBack', pod, blocker });
  }
}

/** The treatment of disruption budgets that a NodeDrain asks for, as evictions take it. */
export function drainBudgetsOf({ budgets }: Pick<NodeDrainSpec, 'budgets'>): BudgetPolicy {
  const { policy, deleteAfter = 0 } = budgets;
  if (policy === 'DeleteAfter') return { kind: 'deleteAfter', afterMs: deleteAfter };
  return { kind: policy === 'Ignore' ? 'ignore' : 'respect' };
}

/** A budget that has not been counted yet says something else soon. */
function readsBudgetAt({ tries, blocker }: DrainPod): boolean {
  return tries % budgetReadEveryTries === 0 || blocker?.verdict === 'resolves';
}

const taintDeletion = 'DeletionByTaintManager';

/** The claim on a pod after a further request has ended so. */
function claimAfter(claim: Claim, outcome: Outcome): Claim {
  switch (outcome.kind) {
    case 'done':
      return 'sure';
    // The pod is not there, or nothing was asked of it: the answer says nothing of the requests
    // before.
    case 'gone':
    case 'changed':
      return claim;
    // The Eviction API refuses none that terminates: those before were not accepted either.
    case 'blocked':
      return 'none';
    case 'failed':
      return isUncertain(outcome) && claim !== 'sure' ? 'possible' : claim;
  }
}

/**
 * The deletion that a mark names, where another controller evicts for taints; null: none does.
 * `isOurs`: we have asked to delete the pod, and so have marked it ourselves. A partner deletes it for
 * another taint.
 */
function taintDeletionOf(
  { reason, manager }: Disruption,
  isOurs: boolean,
  { fieldManager, partners }: Pick<DrainConfig, 'fieldManager' | 'partners'>,
): ForeignDeletion | null {
  if (reason !== taintDeletion) return null;
  const isKnown = manager !== null && [fieldManager, ...partners].includes(manager);
  if (manager === null ? isOurs : isKnown) return null;
  return { kind: 'foreign', manager, reason };
}

/**
 * Who made it go, now that it is gone; `wasLeaving`: it was about to before the drain began. `isReplaced`: its
 * workload was asked to put another pod in its place.
 */
function departureOf(
  { taken, claim, disruption }: DrainPod,
  wasLeaving: boolean,
  isReplaced: boolean,
): Departure {
  if (taken) return taken;
  if (claim !== 'none') return { kind: 'ours' };
  if (wasLeaving) return { kind: 'earlier' };
  if (isReplaced && disruption === null) return { kind: 'replaced' };
  const { manager = null, reason = null } = disruption ?? {};
  return { kind: 'foreign', manager, reason };
}

/** The surroundings in which other evictors are seen. */
interface EvictorSite {
  readonly nodes: DrainNodes;
  readonly pods: DrainPods;
  readonly note: (note: DrainNote) => void;
}

/** Evictions by others for the taint, by the marks that they leave on pods. */
export class ForeignEvictions {
  readonly #config: DrainConfig;
  readonly #site: EvictorSite;
  #stop: DrainStop | null = null;

  constructor(config: DrainConfig, site: EvictorSite) {
    this.#config = config;
    this.#site = site;
  }

  /** Why the drain was stopped; null: it was not. */
  get stop(): DrainStop | null {
    return this.#stop;
  }

  /** A pod as it is now. */
  follow(now: Instant, pod: Pod): void {
    const { nodes, pods } = this.#site;
    const { disruption, nodeName } = pod;
    if (!disruption || !nodes.phases.has(nodeName)) return;
    const known = pods.get(pod.uid);
    const by = taintDeletionOf(disruption, known?.deleted === true, this.#config);
    // A mark from before the taint came belongs to another taint.
    const isNews = by !== null && !known?.taken && !nodes.phases.isPending(nodeName);
    if (known) pods.put(pod, known.state, { disruption, taken: known.taken ?? by });
    if (!isNews || !this.#matters || this.#stop !== null) return;
    this.#stop = { pod: podRef(pod), by };
    this.#site.note({ kind: 'stopped', stop: this.#stop });
    nodes.stop(now, 'ForeignEviction');
  }

  /** True if it matters that another controller deletes pods: for our taint, without asking budgets. */
  get #matters(): boolean {
    const { taint, budgets } = this.#config.spec;
    return taint.effect === 'NoExecute' && budgets.policy !== 'Ignore';
  }
}

const noLimit = Number.POSITIVE_INFINITY;

/** The surroundings of the turns of pods. */
interface TurnSite {
  readonly store: StoreView;
  readonly nodes: DrainNodes;
  readonly pods: DrainPods;
  readonly gate: PodGate;
  readonly requests: DrainRequests;
}

/** The turns of pods that are due: their order, their number at a time, and what holds each. */
export class PodTurns {
  readonly #config: DrainConfig;
  readonly #site: TurnSite;
  /** The time at which the first pod without a place may have one; null: after an answer. */
  #placeAt: Instant | null = null;

  constructor(config: DrainConfig, site: TurnSite) {
    this.#config = config;
    this.#site = site;
  }

  /** The time at which a pod without a place may leave nevertheless; null: after an event. */
  nextWake(): Instant | null {
    return this.#placeAt;
  }

  /**
   * Sends the requests that are due on the nodes whose turn it is, the longest due first, as far as
   * there is room.
   */
  dispatch(now: Instant): readonly PodRequest[] {
    const { podsAtOnce } = this.#config.spec.limits;
    const { nodes, requests, store } = this.#site;
    const queue = this.#queue(now);
    const isPending = (name: string): boolean => nodes.phases.isPending(name);
    let room = podsAtOnce === 0 ? noLimit : podsAtOnce - countUnderWay(now, queue, isPending);
    const commands: PodRequest[] = [];
    this.#placeAt = null;
    const isFull = new Set<string>();
    for (const waiting of podsInTurn(nodes.phases.list(), queue)) {
      if (room <= 0) break;
      const { namespace } = waiting.pod;
      if (isFull.has(namespace)) continue;
      const placeAt = requests.roomAt(namespace);
      if (placeAt === null || placeAt > now) {
        this.#placeAt = earlier(this.#placeAt, placeAt);
        isFull.add(namespace);
        continue;
      }
      const pod = store.pod(waiting.pod.uid);
      if (!pod || this.#isHeldBack(now, pod, waiting)) continue;
      commands.push(...requests.send(now, pod, waiting));
      room -= 1;
    }
    return commands;
  }

  /** The hold of a pod when its turn came, if it holds still. */
  stillOn(now: Instant, pod: Pod): DrainPod['hold'] {
    const { gate, nodes, pods } = this.#site;
    const hold = pods.get(pod.uid)?.hold ?? null;
    // The gate may ask others for the pod: not while it must not go.
    const mayGo = nodes.mayEvict(now, pod.nodeName);
    const found = hold && this.#holdOn(now, pod, mayGo ? gate : openGate);
    return hold && found ? { ...hold, message: found.message } : null;
  }

  /** The nodes on which only held pods are left. */
  heldUpNodes(now: Instant): ReadonlySet<string> {
    if (this.#config.spec.limits.heldUpNodes === 0) return new Set();
    const nodes = this.#site.nodes.phases.list().filter(({ phase }) => phase.kind === 'draining');
    const heldUp = nodes.filter(({ name }) => isNodeHeldUp(now, name, this.#queue(now)));
    return new Set(heldUp.map(({ name }) => name));
  }

  /** True if something holds a pod whose turn it is. */
  #isHeldBack(now: Instant, pod: Pod, known: DrainPod): boolean {
    const found = this.#holdOn(now, pod, this.#site.gate);
    if (found === null) return false;
    const { pods } = this.#site;
    const { message, until } = found;
    const since = known.hold?.since ?? now;
    const state = until === null ? outOfTurn : ({ kind: 'waiting', since: now, until } as const);
    pods.put(pod, state, { hold: { message, since } });
    // Then its node leaves its place to others.
    const heldUp = since + heldUpMs;
    if (heldUp > now && heldUp < (until ?? noLimit)) pods.schedule.set(pod.uid, heldUp);
    return true;
  }

  /** The hold of a pod in words, and its end (null: unknown); null: nothing holds the pod. */
  #holdOn(
    now: Instant,
    pod: Pod,
    gate: PodGate,
  ): { readonly message: string; readonly until: Instant | null } | null {
    const { store, nodes } = this.#site;
    const { pods, heeds } = this.#config.spec;
    const until = finishBy(pod, pods.waitCompleted, nodes.phases.begunAt(pod.nodeName));
    if (until !== null && until > now) {
      return { message: `it may finish by ${formatDeadline(store.clock.wall(until))}`, until };
    }
    const node = store.node(pod.nodeName);
    if (node && isShuttingDown(node)) {
      return { message: 'its node shuts down, and the kubelet ends its pods', until: null };
    }
    const asked = heeds.podAnnotations?.find((key) => annotations[key](pod));
    if (asked)
      return { message: `its annotation ${asked} is ${annotations[asked](pod)}`, until: null };
    const message = gate.holdOf(now, pod);
    return message === null ? null : { message, until: null };
  }

  #queue(now: Instant): Queue {
    const { nodes, pods, store } = this.#site;
    const mayEvict = (name: string): boolean => nodes.mayEvict(now, name);
    return { pods, store, order: this.#config.spec.pods, mayEvict };
  }
}

const annotations = {
  'cluster-autoscaler.kubernetes.io/safe-to-evict': ({ unsafeToEvict }: Pod) =>
    unsafeToEvict && 'false',
  'karpenter.sh/do-not-disrupt': ({ doNotDisrupt }: Pod) => doNotDisrupt && 'true',
};

/** The pods and rules that decide whose turn comes. */
interface Queue {
  readonly pods: DrainPods;
  readonly store: StoreView;
  readonly order: PodOrder;
  readonly mayEvict: (nodeName: string) => boolean;
}

/** The pods whose turn it is, the longest due first. */
function podsInTurn(nodes: readonly DrainNode[], queue: Queue): readonly DrainPod[] {
  return nodes
    .filter(({ name }) => queue.mayEvict(name))
    .flatMap(({ name }) => lowestRank(queue.pods.on(name), queue))
    .filter(isQueued)
    .sort(byDue);
}

/** Of the pods that are still there and to go, those of the lowest rank. */
function lowestRank(pods: readonly DrainPod[], { store, order }: Queue): readonly DrainPod[] {
  if (order.order === 'Together' && !order.last) return pods;
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
function countUnderWay(
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
function isNodeHeldUp(
  now: Instant,
  nodeName: string,
  { pods, store }: Pick<Queue, 'pods' | 'store'>,
): boolean {
  const left = pods.on(nodeName).filter(({ state }) => !isDone(state));
  return left.length > 0 && left.every((one) => isHeldUp(now, one, store));
}

/**
 * True if the time of its leaving is unknown: it is refused again and again, or does not end in its
 * time.
 */
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

/** Pods of one rank go together, and are gone before those of the next rank begin. */
export type PodOrder = Pick<NodeDrainSpec['pods'], 'order' | 'last'>;

/** The place among the groups that go last (0: it is in none), and the priority that counts. */
export type PodRank = readonly [group: number, priority: number];

export function rankOf(
  pod: Pick<Pod, 'namespace' | 'labels' | 'priority'>,
  { order, last = [] }: PodOrder,
): PodRank {
  const group = last.findLastIndex((one) => isInGroup(one, pod)) + 1;
  return [group, order === 'ByPriority' ? (pod.priority ?? 0) : 0];
}

/** Negative: the first goes before the second. */
export function compareRanks(one: PodRank, other: PodRank): number {
  return one[0] - other[0] || one[1] - other[1];
}
