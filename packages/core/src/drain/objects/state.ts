// How far a NodeDrain is, as its status says it.
import type { Blocker } from '../../attempt/blocker.ts';
import type { Instant } from '../../kernel/time.ts';
import type { PodRef } from '../../model/pod.ts';
import type { DrainMachine } from '../machine.ts';
import { type DrainNode, type DrainPod, isDone, isStaying } from '../state.ts';
import { currentWave } from '../turns.ts';

/** The whole drain. */
export interface NodeDrainState {
  readonly phase: NodeDrainPhase;
  /** The wave that it is at; '': there are none, or all are done with. */
  readonly wave: string;
  /** By the cluster's clock, as all instants here; null: not yet. */
  readonly startedAt: Instant | null;
  readonly endedAt: Instant | null;
  readonly nodes: readonly NodeDrainNodeState[];
  readonly podsGone: number;
  readonly podsLeft: number;
  readonly expectedEnd: Instant | null;
  /** Those that have still to leave, what is held back first. */
  readonly pods: readonly NodeDrainPodState[];
  /** What stands in its way, in words. */
  readonly blockers: readonly string[];
}

export type NodeDrainPhase =
  | 'Pending'
  | 'Running'
  | 'Blocked'
  | 'Drained'
  | 'Failed'
  | 'TimedOut'
  | 'Undoing';

/** One of its nodes. */
export interface NodeDrainNodeState {
  readonly name: string;
  readonly phase: 'Pending' | 'Held' | 'Tainting' | 'Draining' | 'Drained' | 'Failed' | 'Gone';
  readonly startedAt: Instant | null;
  readonly endedAt: Instant | null;
  readonly podsLeft: number;
  readonly reason: string;
  readonly message: string;
}

/** A pod that has still to leave. */
export interface NodeDrainPodState {
  readonly node: string;
  readonly pod: string;
  readonly state: string;
  readonly blocker: Blocker | null;
}

/** What holds a node whose turn would have come. */
export interface DrainHold {
  /** One word. */
  readonly reason: string;
  readonly message: string;
}

/** What a state is made of. */
export interface StateInput {
  readonly machine: DrainMachine;
  readonly holds: ReadonlyMap<string, DrainHold>;
  readonly wall: (at: Instant) => Instant;
  readonly now: Instant;
  readonly startedAt: Instant | null;
  readonly isUndoing: boolean;
}

export function stateOf(input: StateInput): NodeDrainState {
  const { machine, wall, startedAt, now } = input;
  const going = machine.pods().filter((pod) => !isStaying(pod));
  const left = going.filter(({ state }) => !isDone(state));
  const nodes = machine.nodes().map((node) => nodeState(node, left, input));
  const podsGone = going.filter(({ state }) => state.kind === 'gone').length;
  const blocked = left.filter(({ blocker }) => blocker !== null);
  const blockers = [
    ...nodes.flatMap(({ name, reason, message }) =>
      reason === '' ? [] : [`node ${name}: ${message || reason}`],
    ),
    ...blocked.map(({ pod, blocker }) => `pod ${podName(pod)}: ${blocker?.message ?? ''}`),
  ];
  const phase = phaseOf(input, nodes, left);
  const ends = nodes.flatMap(({ endedAt }) => endedAt ?? []);
  const isOver = ['Drained', 'Failed', 'TimedOut'].includes(phase);
  return {
    phase,
    wave: currentWave(machine.nodes())?.name ?? '',
    startedAt,
    endedAt: isOver && ends.length > 0 ? Math.max(...ends) : null,
    nodes,
    podsGone,
    podsLeft: left.length,
    expectedEnd:
      phase === 'Running' ? expectedEnd(wall(now), startedAt, podsGone, left.length) : null,
    pods: [...blocked, ...left.filter(({ blocker }) => blocker === null)].map(podState),
    blockers,
  };
}

function nodeState(
  { name, phase }: DrainNode,
  left: readonly DrainPod[],
  { holds, wall }: StateInput,
): NodeDrainNodeState {
  const here = left.filter(({ pod }) => pod.nodeName === name).length;
  const hold = holds.get(name);
  const none = { startedAt: null, endedAt: null, podsLeft: here, reason: '', message: '' };
  switch (phase.kind) {
    case 'pending':
      return hold ? { ...none, name, phase: 'Held', ...hold } : { ...none, name, phase: 'Pending' };
    case 'tainting':
      return { ...none, name, phase: 'Tainting', startedAt: wall(phase.since) };
    case 'draining':
      return { ...none, name, phase: 'Draining', startedAt: wall(phase.since) };
    case 'drained': {
      const [startedAt, endedAt] = [wall(phase.since), wall(phase.at)];
      return { ...none, name, phase: 'Drained', startedAt, endedAt };
    }
    case 'failed': {
      const [reason, message] = [phase.why, phase.message ?? ''];
      return { ...none, name, phase: 'Failed', endedAt: wall(phase.at), reason, message };
    }
    case 'vanished':
      return { ...none, name, phase: 'Gone', endedAt: wall(phase.at) };
  }
}

function phaseOf(
  { isUndoing, startedAt }: StateInput,
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
  if (startedAt === null) return open.some(({ phase }) => phase === 'Held') ? 'Blocked' : 'Pending';
  const isAtWork = left.some(({ blocker }) => blocker === null);
  const isHeld = left.length > 0 || open.every(({ phase }) => phase === 'Held');
  return isHeld && !isAtWork ? 'Blocked' : 'Running';
}

/** As though the others took as long as those that are gone. */
function expectedEnd(
  wall: Instant,
  startedAt: Instant | null,
  gone: number,
  left: number,
): Instant | null {
  if (startedAt === null || gone === 0 || left === 0) return null;
  return wall + Math.round(((wall - startedAt) / gone) * left);
}

function podName({ namespace, name }: PodRef): string {
  return `${namespace}/${name}`;
}

function podState({ pod, state, blocker }: DrainPod): NodeDrainPodState {
  return { node: pod.nodeName, pod: podName(pod), state: state.kind, blocker };
}
