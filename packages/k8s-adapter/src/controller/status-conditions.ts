// Since when conditions are as they are, for the status that the leader publishes.

import { formatDuration, formatTime, type Instant, type Millis } from '@taintmgr/core/time';
import type { TaintManagerStatus } from '../kinds/taint-manager.ts';
import { asList, asRecord } from '../proto/json.ts';

export type Condition = NonNullable<TaintManagerStatus['conditions']>[number];

/** A condition without its date. */
export type StatedCondition = Omit<Condition, 'lastTransitionTime' | 'observedGeneration'>;

/** The parts of a condition that its date depends on. */
export type DatedCondition = Pick<Condition, 'type' | 'status' | 'lastTransitionTime'>;

/** The conditions that hold at `wall`, dated by when they came or became what they are. */
export function dated(
  wall: Instant,
  stated: readonly StatedCondition[],
  known: readonly DatedCondition[],
): readonly Condition[] {
  return stated.map((condition) => {
    const before = known.find(({ type }) => type === condition.type);
    const isSame = before?.status === condition.status;
    return {
      ...condition,
      lastTransitionTime: isSame ? before.lastTransitionTime : formatTime(wall),
    };
  });
}

/** The conditions of a status as they were written. */
export function conditionsIn(status: unknown): readonly DatedCondition[] {
  return asList(asRecord(status).conditions).filter(isDated);
}

function isDated(value: unknown): value is DatedCondition {
  const { type, status, lastTransitionTime } = asRecord(value);
  return [type, status, lastTransitionTime].every((part) => typeof part === 'string');
}

/** All that a loop knows of itself. */
export interface LoopState {
  /** True if changes of the cluster arrive. */
  readonly isCurrent: boolean;
  /** True if deadlines are held, as the cluster's clock is unknown. */
  readonly isHeld: boolean;
  /** The time by which that clock is ahead of ours. */
  readonly ahead: Millis;
}

/** Answers are dated in whole seconds: less shows nothing. */
const skewMsMin: Millis = 2_000;

/** The words of a loop on itself: its faults only. */
export function loopConditions(state: LoopState): readonly StatedCondition[] {
  return [
    ...(state.isCurrent ? [] : [staleCondition]),
    ...(state.isHeld ? [heldCondition] : []),
    ...(Math.abs(state.ahead) < skewMsMin ? [] : [skewCondition(state.ahead)]),
  ];
}

function skewCondition(ahead: Millis): StatedCondition {
  const side = ahead > 0 ? 'ahead of' : 'behind';
  const message = `the API server's clock is ${formatDuration(Math.abs(ahead))} ${side} that of this replica; deadlines and heartbeats follow the API server`;
  const reason = ahead > 0 ? 'ServerClockAhead' : 'ServerClockBehind';
  return { type: 'ClockSkew', status: 'True', reason, message };
}

const staleCondition: StatedCondition = {
  type: 'CacheStale',
  status: 'True',
  reason: 'WatchInterrupted',
  message: 'changes of the cluster are not heard of: pods are read again before they go',
};

const heldCondition: StatedCondition = {
  type: 'ClockHeld',
  status: 'True',
  reason: 'ClockUnknown',
  message: 'what time it is in the cluster is not known: deadlines are held',
};
