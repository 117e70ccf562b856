// One eviction under node pressure as requests: mark, remove, record why.

import type { PressureCommand } from '@taintmgr/core/pressure';
import type { Instant } from '@taintmgr/core/time';
import { disruptionTarget, setPodStatusRequest } from '../../pressure/requests.ts';
import { type Answer, type Failure, failureOf, succeeded } from '../../proto/answer.ts';
import { identityOf, podFromJson } from '../../proto/convert.ts';
import { isDeniedByAdmission, isMissing } from '../../proto/denial.ts';
import { parseJson } from '../../proto/json.ts';
import { deletePodRequest, evictPodRequest, getPodRequest } from '../../proto/pod-requests.ts';
import { finish, type StateStep, send } from '../task.ts';
import { removalOutcome } from './pod-removal.ts';
/** The command that makes a pod go. */
export type EvictUnderPressure = Extract<PressureCommand, { kind: 'evictUnderPressure' }>;

/**
 * By what pods are made to go: `delete` as a kubelet does, whatever disruption budgets say; `evict`
 * asks the Eviction API, which keeps them.
 */
export type PressureRemoval = 'delete' | 'evict';

/** Which request of an eviction is under way. */
export interface EvictionState {
  readonly kind: 'Reading' | 'Marking' | 'Removing' | 'ReadingAgain' | 'Writing';
  readonly command: EvictUnderPressure;
  /** Why the pod is without the status that a kubelet gives it; null: nothing was refused. */
  readonly refusal: string | null;
  /** How often the status was tried to be written. */
  readonly attempts: number;
}

/** `refusal`, at the end: why the pod went without the status that a kubelet gives it; null: it has it. */
export type EvictionStep = StateStep<EvictionState>;

/** Refusals of the condition that no later attempt would mend. */
const unmarkable: readonly number[] = [400, 403, 422];

/** The kubelet of the pod writes the same status: it may always have been quicker. */
const attemptsMax = 3;

/**
 * Begins to evict a pod. It is read first: what we know of it may be old, and pods go one by one.
 *
 * The condition DisruptionTarget comes before the deletion, as Jobs need it; phase, reason and
 * message come after it. A pod that has failed is deleted at once, without the time it was to be
 * given, and one that is refused to go must not say that it has gone.
 */
export function beginEviction(command: EvictUnderPressure): EvictionStep {
  const state = { kind: 'Reading', command, refusal: null, attempts: 0 } as const;
  return send(state, getPodRequest(command.pod));
}

/** Takes the answer to the request under way. */
export function continueEviction(
  state: EvictionState,
  answer: Answer,
  now: Instant,
  removal: PressureRemoval,
): EvictionStep {
  if (!succeeded(answer)) return afterFailure(state, failureOf(answer), removal);
  switch (state.kind) {
    case 'Reading':
      return afterRead(state, parseJson(answer.body), now, removal);
    case 'Marking':
      return remove(state, removal);
    case 'Removing':
      return send({ ...state, kind: 'ReadingAgain' }, getPodRequest(state.command.pod));
    case 'ReadingAgain':
      return afterReadAgain(state, parseJson(answer.body));
    case 'Writing':
      return done(state);
  }
}

/** The very pod has to be there still, and not on its way out by somebody else's hand. */
function afterRead(
  state: EvictionState,
  object: unknown,
  now: Instant,
  removal: PressureRemoval,
): EvictionStep {
  const { pod, status, generation } = state.command;
  const { uid, phase, deletionTimestamp } = podFromJson(object);
  if (uid !== pod.uid || hasEnded(phase) || deletionTimestamp !== null) {
    return finish({ kind: 'gone' });
  }
  // The Eviction API writes the condition by itself.
  if (status.disruptionTarget === null || removal === 'evict') return remove(state, removal);
  const { disruptionTarget: reason, message } = status;
  const condition = disruptionTarget(reason, message, generation, now);
  const request = setPodStatusRequest(pod, null, { conditions: [condition] });
  return send({ ...state, kind: 'Marking' }, request);
}

function remove(state: EvictionState, removal: PressureRemoval): EvictionStep {
  const { pod, gracePeriodSeconds: grace } = state.command;
  // Negative: as the pod has it. With 0 the API would not ask the node whether the pod has ended.
  const options = grace < 0 ? {} : { gracePeriodSeconds: Math.max(1, grace) };
  const request =
    removal === 'evict' ? evictPodRequest(pod, options) : deletePodRequest(pod, options);
  return send({ ...state, kind: 'Removing' }, request);
}

/** A pod that has ended says itself how, and one that is not leaving must not say that it did. */
function afterReadAgain(state: EvictionState, object: unknown): EvictionStep {
  const { pod, status } = state.command;
  const { phase: phaseNow, deletionTimestamp } = podFromJson(object);
  const identity = identityOf(object);
  const isLeaving = identity?.uid === pod.uid && deletionTimestamp !== null && !hasEnded(phaseNow);
  if (!isLeaving) return done(state);
  const { phase, reason, message } = status;
  const request = setPodStatusRequest(pod, identity.resourceVersion, { phase, reason, message });
  return send({ ...state, kind: 'Writing', attempts: state.attempts + 1 }, request);
}

function afterFailure(
  state: EvictionState,
  failure: Failure,
  removal: PressureRemoval,
): EvictionStep {
  if (state.kind === 'ReadingAgain' || state.kind === 'Writing') {
    return afterStatusFailure(state, failure);
  }
  if (isOtherPod(failure)) return finish({ kind: 'gone' }, state.refusal);
  // A role without pods/status, an admission webhook: no reason to keep the pod.
  const isUnmarkable = unmarkable.includes(failure.status ?? 0) || isDeniedByAdmission(failure);
  if (state.kind === 'Marking' && isUnmarkable) {
    return remove({ ...state, refusal: failure.message }, removal);
  }
  const request = state.kind === 'Removing' && removal === 'evict' ? 'Evicting' : 'Deleting';
  return finish(removalOutcome(request, failure), state.refusal);
}

/** The pod goes; whether its status says why does not change that. */
function afterStatusFailure(state: EvictionState, failure: Failure): EvictionStep {
  const { status, message } = failure;
  if (isMissing(failure)) return done(state);
  if (status === 409 && state.attempts < attemptsMax) {
    return send({ ...state, kind: 'ReadingAgain' }, getPodRequest(state.command.pod));
  }
  return done({ ...state, refusal: message });
}

/** Whether the name belongs to another pod by now. */
function isOtherPod({ status, causes }: Failure): boolean {
  return status === 422 && causes.some(({ field }) => field === 'metadata.uid');
}

function hasEnded(phase: string): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

function done({ refusal }: EvictionState): EvictionStep {
  return finish({ kind: 'done' }, refusal);
}
