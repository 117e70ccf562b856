// Carries out the commands of the node pressure machine.
import type { Instant, Millis, Outcome, PressureCommand } from '@taintmgr/core';
import { ownCondition } from '../pressure/conditions.ts';
import { setConditionsRequest } from '../pressure/requests.ts';
import { type Answer, failureOf, succeeded } from '../proto/answer.ts';
import type { ClusterEvent } from '../proto/event-requests.ts';
import {
  type Errand,
  type ErrandEffect,
  type ErrandOptions,
  Errands,
  type Turn,
} from './errands.ts';
import type { RecorderNotice } from './event-recorder.ts';
import {
  beginEviction,
  continueEviction,
  type EvictionStep,
  type EvictUnderPressure,
  type PressureRemoval,
} from './procedures/pressure-eviction.ts';

/** How commands are carried out, and who tells of it. */
export interface PressureExecutorOptions extends ErrandOptions {
  readonly removal: PressureRemoval;
}

/** The command that changes conditions of a node. */
export type SetPressureConditions = Extract<PressureCommand, { kind: 'setPressureConditions' }>;

export type PressureExecutorEffect = ErrandEffect<PressureExecutorNotice>;

export type PressureExecutorNotice =
  | { readonly kind: 'evictionSent'; readonly command: EvictUnderPressure }
  | {
      readonly kind: 'evictionFinished';
      readonly command: EvictUnderPressure;
      readonly outcome: Outcome;
      readonly took: Millis;
      /** Why the pod went without the status that a kubelet gives it; null: it has it. */
      readonly refusal: string | null;
    }
  | {
      readonly kind: 'conditionsWritten';
      readonly command: SetPressureConditions;
      readonly outcome: Outcome;
    }
  | RecorderNotice;

/** Nobody but its kubelet can clear a node of images and dead containers. */
const reclaimRefusal = 'images and containers of a node can only be cleared away on the node';

/** Turns the machine's commands into requests and answers into outcomes. */
export class PressureExecutor extends Errands<PressureExecutorNotice> {
  readonly #removal: PressureRemoval;

  constructor({ removal, ...options }: PressureExecutorOptions) {
    super(options);
    this.#removal = removal;
  }

  /** Begins a command. */
  execute(
    now: Instant,
    command: Exclude<PressureCommand, { kind: 'pressureReport' }>,
  ): readonly PressureExecutorEffect[] {
    switch (command.kind) {
      case 'evictUnderPressure': {
        const notice = { kind: 'evictionSent', command } as const;
        return this.begin(now, evicting(command, this.#removal), notice);
      }
      case 'setPressureConditions':
        return this.begin(now, writingConditions(command));
      case 'reclaimNode':
        return [{ kind: 'result', id: command.id, outcome: failed(reclaimRefusal) }];
      default:
        return this.record(now, clusterEvent(command));
    }
  }
}

/** A pod whose deletion was accepted goes on to be told why it went, also after a stop. */
function evicting(
  command: EvictUnderPressure,
  removal: PressureRemoval,
): Errand<PressureExecutorNotice> {
  return {
    id: command.id,
    first: evictionTurn(beginEviction(command), removal),
    deposed: failed,
    ended: (outcome, took, refusal) => ({
      ...{ kind: 'evictionFinished', command, outcome, took, refusal },
    }),
    outlastsStop: true,
  };
}

function evictionTurn(step: EvictionStep, removal: PressureRemoval): Turn<PressureExecutorNotice> {
  if (step.kind === 'finished') return step;
  const { state, request } = step;
  const onAnswer = (answer: Answer, wall: Instant): Turn<PressureExecutorNotice> =>
    evictionTurn(continueEviction(state, answer, wall, removal), removal);
  return { kind: 'send', request, onAnswer, notice: null };
}

function writingConditions(command: SetPressureConditions): Errand<PressureExecutorNotice> {
  const request = setConditionsRequest(command.node, command.conditions.map(ownCondition));
  const onAnswer = (answer: Answer): Turn<PressureExecutorNotice> => ({
    ...{ kind: 'finished', outcome: conditionsOutcome(answer), refusal: null },
  });
  return {
    id: command.id,
    first: { kind: 'send', request, onAnswer, notice: null },
    deposed: failed,
    ended: (outcome) => ({ kind: 'conditionsWritten', command, outcome }),
    outlastsStop: true,
  };
}

function failed(message: string): Outcome {
  return { kind: 'failed', status: null, message, retryAfter: null };
}

/** A node that is another one by now has no need of the condition: 422 names the uid. */
function conditionsOutcome(answer: Answer): Outcome {
  if (succeeded(answer)) return { kind: 'done' };
  const { status, message, retryAfter } = failureOf(answer);
  if (status === 404) return { kind: 'gone' };
  return { kind: 'failed', status, message, retryAfter };
}

type EventCommand = Extract<PressureCommand, { kind: 'recordPressureEvent' | 'recordNodeEvent' }>;

function clusterEvent(command: EventCommand): ClusterEvent {
  const { type, reason, message } = command;
  if (command.kind === 'recordNodeEvent') {
    const subject = { apiVersion: 'v1', kind: 'Node', namespace: '', ...command.node };
    return { subject, type, reason, message };
  }
  const { pod, annotations } = command;
  const { namespace, name, uid } = pod;
  const subject = { apiVersion: 'v1', kind: 'Pod', namespace, name, uid };
  const hasAny = Object.keys(annotations).length > 0;
  return { subject, type, reason, message, ...(hasAny && { annotations }) };
}
