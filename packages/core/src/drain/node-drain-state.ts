// The state of a NodeDrain, as its status shows it.
import type { Blocker } from '../attempt/blocker.ts';
import { describeReason } from '../eviction/reason.ts';
import { formatDeadline, type Instant } from '../kernel/time.ts';
import type { PodRef } from '../model/pod.ts';
import type { NodeDrain, TakenPod } from '../policy/node-drain.ts';
import type { StoreView } from '../store.ts';
import { currentWave } from './node-turns.ts';
import {
  type DrainHold,
  type DrainNode,
  type DrainPod,
  type DrainView,
  isDone,
  isGivenUp,
  isInTheWay,
  isStaying,
  refusedText,
  stayingText,
} from './state.ts';

/** The whole drain. */
export interface NodeDrainState {
  /** Its phase. */
  readonly phase: NodeDrainPhase;
  /** The wave that it is at; '': there are none, or all are done with. */
  readonly wave: string;
  /** By the cluster's clock, as all instants here; null: not yet. */
  readonly startedAt: Instant | null;
  /** When it ended; null: not yet. */
  readonly endedAt: Instant | null;
  /** The selector that found its nodes, as JSON; null: it has not begun, or it names them. */
  readonly selector: string | null;
  /** The nodes, in their order. */
  readonly nodes: readonly NodeDrainNodeState[];
  /** Pods that have left, on all nodes. */
  readonly podsGone: number;
  /** Pods that still have to leave, on all nodes. */
  readonly podsLeft: number;
  /** Pods that run on there, though they are no longer evicted. */
  readonly podsStaying: number;
  /** The same in words, with their names; '': none. */
  readonly staying: string;
  /** Why pods went by pods/eviction though EvictionRequests were asked for; '': they did not. */
  readonly fallback: string;
  /** DaemonSets that the taint keeps off, as `namespace/name`. */
  readonly daemonSetsKeptOff: readonly string[];
  /** An estimate from the pace so far; null: none, or it does not run. */
  readonly expectedEnd: Instant | null;
  /**
   * Pods that still have to leave: those held back first, and then those of nodes whose turn has
   * come.
   */
  readonly pods: readonly NodeDrainPodState[];
  /** The blockers, in words. */
  readonly blockers: readonly string[];
  /** StatefulSets that wait for volumes, as `namespace/name`. */
  readonly volumeWaits: VolumeWaitTimes;
  /** Pods that it took, for which another is waited for. */
  readonly notReplaced: readonly TakenPod[];
}

type VolumeWaitTimes = readonly { readonly statefulSet: string; readonly since: Instant }[];

/**
 * The phase of a NodeDrain. `Blocked`: pods are held back; `Undoing`: what was set on nodes is
 * taken back.
 */
export type NodeDrainPhase =
  | 'Pending'
  | 'Running'
  | 'Blocked'
  | 'Paused'
  | 'Drained'
  | 'Failed'
  | 'TimedOut'
  | 'Undoing';

/** The state of one node of the drain. */
export interface NodeDrainNodeState {
  /** Name of the node. */
  readonly name: string;
  /** Phase of the node; `Held`: something keeps its drain from beginning. */
  readonly phase: 'Pending' | 'Held' | 'Tainting' | 'Draining' | 'Drained' | 'Failed' | 'Gone';
  /** When its drain began; null: not yet. */
  readonly startedAt: Instant | null;
  /** Since when it waits, its pods gone, for the steps of others. */
  readonly waitsSince: Instant | null;
  /** When its drain ended; null: not yet. */
  readonly endedAt: Instant | null;
  /** Pods that have left. */
  readonly podsGone: number;
  /** Pods that still have to leave. */
  readonly podsLeft: number;
  /** The reason of the phase, for programs; '': none. */
  readonly reason: string;
  /** The reason in words; '': none. */
  readonly message: string;
}

/** A pod that has still to leave. */
export interface NodeDrainPodState {
  /** Name of the node. */
  readonly node: string;
  /** The pod, as `namespace/name`. */
  readonly pod: string;
  /** metadata.uid of the pod. */
  readonly uid: string;
  /** The state that the pod has reached. */
  readonly state: string;
  /** The blocker of the last try; null: none. */
  readonly blocker: Blocker | null;
  /** The hold of a pod that was not refused, in words; '': none. */
  readonly hold: string;
}

/** The parts that a state is made of. */
interface StateInput {
  readonly machine: DrainView;
  /** The holds of nodes, whatever their phases. */
  readonly holds: ReadonlyMap<string, DrainHold>;
  /** The hold of all nodes that wait for their turn; null: none. */
  readonly closed: DrainHold | null;
  /** Remarks for people on the drain as a whole. */
  readonly remarks: readonly string[];
  /** Why pods went by pods/eviction though requests were asked for; null: they did not. */
  readonly fallback: string | null;
  /** By our own time. */
  readonly volumeWaits: VolumeWaitTimes;
  /** By our own time. */
  readonly waitsSince: (node: string) => Instant | null;
  readonly notReplaced: readonly TakenPod[];
  readonly wall: (at: Instant) => Instant;
  readonly now: Instant;
  readonly startedAt: Instant | null;
  readonly selector: string | null;
  readonly isUndoing: boolean;
  readonly isPaused: boolean;
  /** Pods that had left when this run began. */
  readonly goneBefore: Pick<GoneBefore, 'on' | 'leftOn' | 'forgotten'>;
}

/** Pods by the node where they are, or were. */
interface Tally {
  readonly left: ReadonlyMap<string, number>;
  readonly gone: ReadonlyMap<string, number>;
  /** Pods that were given up. */
  readonly givenUp: ReadonlyMap<string, readonly DrainPod[]>;
  /** Pods that were in the way when the time of their node was over: the node names them. */
  readonly late: ReadonlyMap<string, readonly DrainPod[]>;
}

export function stateOf(input: StateInput): NodeDrainState {
  const { machine, wall, startedAt } = input;
  const pods = machine.pods();
  const open = pods.filter(({ state }) => !isDone(state));
  const givenUp = pods.filter(isGivenUp);
  const left = [...open, ...givenUp];
  const gone = pods.filter(({ state }) => state.kind === 'gone');
  const staying = machine.staying();
  const counts = { left: countByNode(left), gone: countByNode(gone) };
  const tally = { ...counts, givenUp: podsByNode(givenUp), late: latePods(machine.nodes(), open) };
  const nodes = machine.nodes().map((node) => nodeState(node, tally, input));
  const podsGone = nodes.reduce((sum, node) => sum + node.podsGone, input.goneBefore.forgotten);
  const said = new Set([...tally.late.values()].flat());
  const blocked = open.filter((pod) => isStuck(pod) && !said.has(pod));
  const { closed } = input;
  const blockers = [
    ...(nodes.length === 0 ? ['no node matches its nodeSelector'] : []),
    ...(closed ? [closed.message] : []),
    ...nodes.flatMap(({ name, reason, message }) =>
      reason === '' || reason === closed?.reason ? [] : [`node ${name}: ${message || reason}`],
    ),
    ...blocked.map((pod) => `pod ${podName(pod.pod)}: ${pod.blocker?.message ?? holdOf(pod)}`),
    ...input.remarks,
  ];
  const phase = phaseOf(input, nodes, open);
  const ends = nodes.flatMap(({ endedAt }) => endedAt ?? []);
  const isOver = ['Drained', 'Failed', 'TimedOut'].includes(phase);
  return {
    phase,
    wave: currentWave(machine.nodes())?.name ?? '',
    startedAt,
    endedAt: isOver && ends.length > 0 ? Math.max(...ends) : null,
    selector: startedAt === null ? null : input.selector,
    nodes,
    podsGone,
    podsLeft: nodes.reduce((sum, node) => sum + node.podsLeft, 0),
    podsStaying: staying.length,
    staying: stayingText(staying),
    fallback: input.fallback ?? '',
    daemonSetsKeptOff: machine.keptOff(),
    expectedEnd: phase === 'Running' ? expectedEnd(input, podsGone, open) : null,
    pods: byUrgency(left, machine).map((pod) => podState(pod, wall)),
    blockers,
    volumeWaits: input.volumeWaits.map((one) => ({ ...one, since: wall(one.since) })),
    notReplaced: input.notReplaced,
  };
}

function nodeState(
  { name, phase }: DrainNode,
  { left, gone, givenUp, late }: Tally,
  { holds, wall, goneBefore, waitsSince: sinceOf }: StateInput,
): NodeDrainNodeState {
  const hold = holds.get(name);
  const podsGone = goneBefore.on(name) + (gone.get(name) ?? 0);
  const pods = { podsGone, podsLeft: goneBefore.leftOn(name) || (left.get(name) ?? 0) };
  const none = {
    ...{ startedAt: null, waitsSince: null, endedAt: null },
    ...{ ...pods, reason: '', message: '' },
  };
  switch (phase.kind) {
    case 'pending':
      return hold ? { ...none, name, phase: 'Held', ...hold } : { ...none, name, phase: 'Pending' };
    case 'tainting':
      return { ...none, name, phase: 'Tainting', startedAt: wall(phase.since) };
    case 'draining': {
      const since = sinceOf(name);
      const waitsSince = since === null ? null : wall(since);
      return {
        ...none,
        ...hold,
        name,
        phase: 'Draining',
        startedAt: wall(phase.since),
        waitsSince,
      };
    }
    case 'drained': {
      const [startedAt, endedAt] = [wall(phase.since), wall(phase.at)];
      return { ...none, name, phase: 'Drained', startedAt, endedAt };
    }
    case 'failed': {
      const reason = phase.why;
      const message = phase.message ?? refusedText(givenUp.get(name) ?? late.get(name) ?? []);
      return { ...none, name, phase: 'Failed', endedAt: wall(phase.at), reason, message };
    }
    case 'vanished':
      return { ...none, name, phase: 'Gone', endedAt: wall(phase.at) };
  }
}

/**
 * Of each node that failed by pods in its way, those with the words of the first. The next leader knows what
 * the node says, and asks for none of these pods again.
 */
function latePods(
  nodes: readonly DrainNode[],
  open: readonly DrainPod[],
): ReadonlyMap<string, readonly DrainPod[]> {
  const failed = nodes.filter(({ phase }) => phase.kind === 'failed' && phase.why === 'Blocked');
  const names = new Set(failed.map(({ name }) => name));
  const refused = podsByNode(
    open.filter(({ pod, blocker }) => names.has(pod.nodeName) && isInTheWay(blocker)),
  );
  return new Map([...refused].map(([name, pods]) => [name, pods.filter(alike(pods[0]))]));
}

function alike(first: DrainPod | undefined): (pod: DrainPod) => boolean {
  return ({ blocker }) => blocker?.message === first?.blocker?.message;
}

function countByNode(pods: readonly DrainPod[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { pod } of pods) counts.set(pod.nodeName, (counts.get(pod.nodeName) ?? 0) + 1);
  return counts;
}

function podsByNode(pods: readonly DrainPod[]): ReadonlyMap<string, readonly DrainPod[]> {
  const found = new Map<string, DrainPod[]>();
  for (const pod of pods) {
    const { nodeName } = pod.pod;
    const here = found.get(nodeName);
    if (here) here.push(pod);
    else found.set(nodeName, [pod]);
  }
  return found;
}

function phaseOf(
  { isUndoing, isPaused, startedAt }: StateInput,
  nodes: readonly NodeDrainNodeState[],
  left: readonly DrainPod[],
): NodeDrainPhase {
  if (isUndoing) return 'Undoing';
  const open = nodes.filter(({ phase }) => !['Drained', 'Failed', 'Gone'].includes(phase));
  if (open.length === 0 && nodes.length > 0) {
    const failed = nodes.filter(({ phase }) => phase === 'Failed');
    if (failed.length === 0) return 'Drained';
    return failed.every(({ reason }) => reason === 'TimedOut') ? 'TimedOut' : 'Failed';
  }
  if (isPaused) return 'Paused';
  if (startedAt === null) return open.some(({ phase }) => phase === 'Held') ? 'Blocked' : 'Pending';
  const held = new Set(open.flatMap(({ name, reason }) => (reason === '' ? [] : name)));
  // Pods of nodes that have ended are no longer waited for, and those of the next nodes not yet.
  const begun = open.filter(({ phase }) => phase === 'Tainting' || phase === 'Draining');
  const names = new Set(begun.map(({ name }) => name));
  const awaited = left.filter(({ pod }) => names.has(pod.nodeName));
  const moving = new Set(awaited.filter((pod) => !isStuck(pod)).map(({ pod }) => pod.nodeName));
  const waiting = new Set(awaited.map(({ pod }) => pod.nodeName));
  const isAtWork = begun.some(({ name }) => {
    return !held.has(name) && (moving.has(name) || !waiting.has(name));
  });
  const isHeld = awaited.length > 0 || held.size > 0;
  return isHeld && !isAtWork ? 'Blocked' : 'Running';
}

/**
 * Assumes that the others take as long as those that are gone; not before the last pod with its own
 * time. Null too where a pod leaves only when others act, or end a pause.
 */
function expectedEnd(
  { wall: asWall, now, startedAt }: StateInput,
  gone: number,
  open: readonly DrainPod[],
): Instant | null {
  if (startedAt === null || open.length === 0) return null;
  const isTimely = ({ blocker, state, because }: DrainPod): boolean => {
    if (blocker) return blocker.verdict === 'resolves' || blocker.verdict === 'needsTime';
    return state.kind !== 'queued' || because[0]?.code !== 'Paused';
  };
  if (!open.every(isTimely)) return null;
  const wall = asWall(now);
  const ends = open.flatMap(({ state }) => (state.kind === 'waiting' ? asWall(state.until) : []));
  const others = open.length - ends.length;
  if (others > 0 && gone === 0) return null;
  const pace = others > 0 ? Math.round((wall - startedAt) / gone) : 0;
  return Math.max(wall + pace * others, ...ends);
}

/** The next leader knows of the first only which they are. */
function byUrgency(left: readonly DrainPod[], machine: DrainView): readonly DrainPod[] {
  const rank = (one: DrainPod): number =>
    isStuck(one) ? 0 : machine.isBegun(one.pod.nodeName) ? 1 : 2;
  return left.toSorted((a, b) => rank(a) - rank(b));
}

function podName({ namespace, name }: PodRef): string {
  return `${namespace}/${name}`;
}

/** True if the pod was refused, or its hold does not end without intervention. */
function isStuck(pod: DrainPod): boolean {
  return pod.blocker !== null || (pod.state.kind === 'queued' && holdOf(pod) !== '');
}

/** The hold of a pod that nothing has refused; '': none. */
function holdOf({ state, blocker, hold }: DrainPod): string {
  const isHeld = state.kind === 'queued' || state.kind === 'waiting';
  return isHeld && blocker === null ? (hold?.message ?? '') : '';
}

function podState(known: DrainPod, wall: (at: Instant) => Instant): NodeDrainPodState {
  const { pod, state, blocker, due, because } = known;
  const [reason] = because;
  const waits = state.kind === 'waiting' && due !== null && reason;
  const time = waits ? `${describeReason(reason)}: until ${formatDeadline(wall(due))}` : '';
  const hold = holdOf(known) || (blocker ? '' : time);
  const { nodeName: node, uid } = pod;
  return { node, pod: podName(pod), uid, state: state.kind, blocker, hold };
}

/** The pods that are there. */
interface GoneSite {
  readonly store: Pick<StoreView, 'pod' | 'podView'>;
  readonly machine: Pick<DrainView, 'pods'>;
}

/**
 * A status names the pods that still have to leave by their uids, as many as it has room for. Named
 * pods that are no longer there left while no controller watched, regardless of newcomers on their
 * node. Of the others it has the number, as statuses of earlier versions have of all: they left
 * where fewer pods are there, those that came since included. So a count may stay below what has
 * happened, and never exceeds it.
 */
export class GoneBefore {
  readonly #site: GoneSite;
  readonly #drain: NodeDrain;
  readonly #gone: Map<string, number>;
  #forgotten: number;
  /** Nodes whose pods are still to be compared with the status, and how many of these it has as left. */
  readonly #open: Map<string, number>;

  constructor(drain: NodeDrain, site: GoneSite) {
    this.#drain = drain;
    this.#site = site;
    this.#forgotten = drain.podsGoneBefore;
    this.#gone = new Map(drain.known.map(({ name, podsGone }) => [name, podsGone]));
    const listed = drain.known.filter(({ podsLeft }) => podsLeft > 0);
    this.#open = new Map(listed.map(({ name, podsLeft }) => [name, podsLeft]));
  }

  /** Pods that had left nodes which were forgotten. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /** Pods that had left the node. */
  on(nodeName: string): number {
    return this.#gone.get(nodeName) ?? 0;
  }

  /** True where pods had left the node, as far as that is known before pods are compared. */
  isSome(nodeName: string): boolean {
    const { store } = this.#site;
    if (this.on(nodeName) > 0) return true;
    if (store.podView(nodeName) !== 'watched') return false;
    return this.#drain.podsLeft.some(({ node, uid }) => node === nodeName && !store.pod(uid));
  }

  /** Pods that still had to leave the node, as long as it is unknown whether they did. */
  leftOn(nodeName: string): number {
    return this.#open.get(nodeName) ?? 0;
  }

  /** Compares the status with what is there, on nodes whose pods are read. */
  look(): void {
    const { store, machine } = this.#site;
    const read = [...this.#open].filter(([name]) => store.podView(name) === 'watched');
    if (read.length === 0) return;
    const here = grouped(machine.pods(), ({ pod }) => pod.nodeName);
    const named = grouped(this.#drain.podsLeft, ({ node }) => node);
    for (const [name, podsLeft] of read) {
      this.#open.delete(name);
      const unseen = this.#unseen(podsLeft, named.get(name) ?? [], here.get(name) ?? []);
      this.#gone.set(name, this.on(name) + unseen);
    }
  }

  /** The node is no longer one of the drain's nodes, and had lost this number of pods. */
  forget(nodeName: string, podsGone: number): void {
    this.#forgotten += podsGone;
    this.#gone.delete(nodeName);
    this.#open.delete(nodeName);
  }

  #unseen(podsLeft: number, named: NodeDrain['podsLeft'], here: readonly DrainPod[]): number {
    const { store } = this.#site;
    const known = new Set(here.map(({ pod }) => pod.uid));
    const gone = named.filter(({ uid }) => !known.has(uid) && !store.pod(uid));
    // With other settings other pods have to leave.
    if (this.#drain.observedGeneration !== this.#drain.generation) return gone.length;
    const uids = new Set(named.map(({ uid }) => uid));
    const others = here.filter((one) => {
      const { owner, mirror } = store.pod(one.pod.uid) ?? {};
      // A pod that is kept by now may have had to leave then, unless such pods are never evicted.
      const isOfNode = owner?.kind === 'DaemonSet' || mirror === true;
      return !uids.has(one.pod.uid) && !(isStaying(one) && isOfNode);
    });
    return gone.length + Math.max(0, podsLeft - named.length - others.length);
  }
}

function grouped<T>(all: readonly T[], keyOf: (one: T) => string): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const group = groups.get(keyOf(one));
    if (group) group.push(one);
    else groups.set(keyOf(one), [one]);
  }
  return groups;
}
