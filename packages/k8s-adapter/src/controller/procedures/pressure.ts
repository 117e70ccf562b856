// Carries out the commands of the node pressure machine: evictions (mark, remove, record why) and conditions.

import type { Outcome } from '@taintmgr/core';
import type { PressureCommand } from '@taintmgr/core/pressure';
import type { Instant, Millis } from '@taintmgr/core/time';
import { ownCondition } from '../../pressure/convert.ts';
import {
  disruptionTarget,
  setConditionsRequest,
  setPodStatusRequest,
} from '../../pressure/requests.ts';
import {
  answerValue,
  type Failure,
  failureOf,
  isDeniedByAdmission,
  succeeded,
} from '../../proto/answer.ts';
import { identityOf, podFromJson } from '../../proto/convert.ts';
import type { ClusterEvent } from '../../proto/event-requests.ts';
import {
  type ApiRequest,
  deletePodRequest,
  evictPodRequest,
  getPodRequest,
} from '../../proto/requests.ts';
import {
  call,
  done,
  ended,
  failedUnasked,
  gone,
  type Procedures,
  readModifyWrite,
  type Steps,
  type Task,
  write,
} from '../task.ts';
import { nodeEvent, podEvent } from './engine.ts';
import { outcomeOf } from './pod-removal.ts';

/** The command that makes a pod go. */
export type EvictUnderPressure = Extract<PressureCommand, { kind: 'evictUnderPressure' }>;

/** The command that changes conditions of a node. */
type SetPressureConditions = Extract<PressureCommand, { kind: 'setPressureConditions' }>;

/**
 * By what pods are made to go: `delete` as a kubelet does, whatever disruption budgets say; `evict`
 * asks the Eviction API, which keeps them.
 */
export type PressureRemoval = 'delete' | 'evict';

/** A notice of what became of a command of the node pressure machine. */
export type PressureCommandNotice =
  | Extract<PressureCommand, { kind: 'pressureReport' }>
  | { readonly kind: 'evictionSent'; readonly command: EvictUnderPressure }
  | {
      readonly kind: 'evictionFinished';
      readonly command: EvictUnderPressure;
      readonly outcome: Outcome;
      readonly took: Millis;
      /** The reason why the pod went without the status that a kubelet gives it; null: it has it. */
      readonly refusal: string | null;
    }
  | {
      readonly kind: 'conditionsWritten';
      readonly command: SetPressureConditions;
      readonly outcome: Outcome;
    };

/** Carries out all that the node pressure machine wants done. */
export function pressureProcedures(
  removal: PressureRemoval,
): Procedures<PressureCommand, PressureCommandNotice> {
  return {
    evictUnderPressure: (command) => evicting(command, removal),
    setPressureConditions: writingConditions,
    reclaimNode: ({ id }) => ({ kind: 'task', id, steps: ended(unreclaimable) }),
    recordPressureEvent: (command) => ({ kind: 'event', event: evictionEvent(command) }),
    recordNodeEvent: (command) => ({ kind: 'event', event: nodeEvent(command) }),
    pressureReport: (command) => ({ kind: 'notice', notice: command }),
  };
}

/** Only its kubelet can clear a node of images and dead containers. */
const unreclaimable = failedUnasked(
  'images and containers of a node can only be cleared away on the node',
);

/** A pod whose deletion was accepted still gets the status that says why it went, also after a stop. */
function evicting(
  command: EvictUnderPressure,
  removal: PressureRemoval,
): Task<PressureCommandNotice> {
  let refusal: string | null = null;
  function* steps(): Steps {
    const end = yield* evictUnderPressure(command, removal);
    refusal = end.refusal;
    return end.outcome;
  }
  return {
    ...{ kind: 'task', id: command.id, outlastsStop: true, steps: steps() },
    begun: { kind: 'evictionSent', command },
    ended: (outcome, took) => ({ kind: 'evictionFinished', command, outcome, took, refusal }),
  };
}

/** A node that is another one by now has no need of the condition: 422 names the uid. */
function writingConditions(command: SetPressureConditions): Task<PressureCommandNotice> {
  const request = setConditionsRequest(command.node, command.conditions.map(ownCondition));
  return {
    ...{ kind: 'task', id: command.id, outlastsStop: true, steps: write(request) },
    ended: (outcome) => ({ kind: 'conditionsWritten', command, outcome }),
  };
}

function evictionEvent(
  command: Extract<PressureCommand, { kind: 'recordPressureEvent' }>,
): ClusterEvent {
  const { annotations } = command;
  const hasAny = Object.keys(annotations).length > 0;
  return { ...podEvent(command), ...(hasAny && { annotations }) };
}

/** Refusals of the condition that no later attempt would mend. */
const unmarkable: readonly number[] = [400, 403, 422];

/** The kubelet of the pod writes the same status: it may always have been quicker. */
const statusConflictsMax = 2;

interface EvictionEnd {
  readonly outcome: Outcome;
  /** The reason why the pod went without the status that a kubelet gives it; null: it has it. */
  readonly refusal: string | null;
}

/**
 * Evicts a pod. The pod is read first: the known state may be old, and pods leave one by one.
 *
 * The condition DisruptionTarget comes before the deletion, as Jobs need it; phase, reason and
 * message come after it. A pod that has failed is deleted at once, without the time it was to be
 * given, and one that is refused to go must not say that it has gone.
 */
export function* evictUnderPressure(
  command: EvictUnderPressure,
  removal: PressureRemoval,
): Steps<EvictionEnd> {
  const { pod } = command;
  const { answer: found, wall } = yield* call(getPodRequest(pod));
  if (!succeeded(found))
    return { outcome: refusedRemoval('Deleting', failureOf(found)), refusal: null };
  const { uid, phase, deletionTimestamp } = podFromJson(answerValue(found));
  const isLeaving = hasEnded(phase) || deletionTimestamp !== null;
  if (uid !== pod.uid || isLeaving) return { outcome: gone, refusal: null };
  const marked = yield* mark(command, removal, wall);
  if (marked.outcome.kind !== 'done') return marked;
  const { answer } = yield* call(removalRequest(command, removal));
  const request = removal === 'evict' ? 'Evicting' : 'Deleting';
  if (!succeeded(answer)) return { ...marked, outcome: refusedRemoval(request, failureOf(answer)) };
  const refusal = yield* sayWhy(command);
  return { outcome: done, refusal: refusal ?? marked.refusal };
}

/** Done, too, where a mark that is refused is no reason to keep the pod. */
function* mark(
  { pod, status, generation }: EvictUnderPressure,
  removal: PressureRemoval,
  now: Instant,
): Steps<EvictionEnd> {
  const { disruptionTarget: reason, message } = status;
  // The Eviction API writes the condition by itself.
  if (reason === null || removal === 'evict') return { outcome: done, refusal: null };
  const condition = disruptionTarget(reason, message, generation, now);
  const { answer } = yield* call(setPodStatusRequest(pod, null, { conditions: [condition] }));
  if (succeeded(answer)) return { outcome: done, refusal: null };
  const failure = failureOf(answer);
  // A role without pods/status, an admission webhook.
  const isUnmarkable = unmarkable.includes(failure.status ?? 0) || isDeniedByAdmission(failure);
  if (isUnmarkable && !isOtherPod(failure)) return { outcome: done, refusal: failure.message };
  return { outcome: refusedRemoval('Deleting', failure), refusal: null };
}

function removalRequest(
  { pod, gracePeriodSeconds: grace }: EvictUnderPressure,
  removal: PressureRemoval,
): ApiRequest {
  // Negative: as the pod has it. With 0 the API would not ask the node whether the pod has ended.
  const options = grace < 0 ? {} : { gracePeriodSeconds: Math.max(1, grace) };
  return removal === 'evict' ? evictPodRequest(pod, options) : deletePodRequest(pod, options);
}

/**
 * Records in the pod's status why it goes; why that is not done, or null. A pod that has ended says itself how,
 * and one that is not leaving must not say that it did. Either way the pod goes.
 */
function* sayWhy({ pod, status }: EvictUnderPressure): Steps<string | null> {
  const { phase, reason, message } = status;
  const outcome = yield* readModifyWrite(
    () => getPodRequest(pod),
    (found) => {
      const object = answerValue(found);
      const { phase: phaseNow, deletionTimestamp } = podFromJson(object);
      const identity = identityOf(object);
      const isLeaving = deletionTimestamp !== null && !hasEnded(phaseNow);
      if (identity?.uid !== pod.uid || !isLeaving) return done;
      return setPodStatusRequest(pod, identity.resourceVersion, { phase, reason, message });
    },
    statusConflictsMax,
  );
  return outcome.kind === 'failed' ? outcome.message : null;
}

function refusedRemoval(request: 'Deleting' | 'Evicting', failure: Failure): Outcome {
  return isOtherPod(failure) ? gone : outcomeOf(request, failure);
}

/** Tells whether the name belongs to another pod by now. */
function isOtherPod({ status, causes }: Failure): boolean {
  return status === 422 && causes.some(({ field }) => field === 'metadata.uid');
}

function hasEnded(phase: string): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}
