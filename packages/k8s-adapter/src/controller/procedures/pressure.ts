// How each command of the node pressure machine is carried out.

import type { Outcome } from '@taintmgr/core';
import type { PressureCommand } from '@taintmgr/core/pressure';
import type { Millis } from '@taintmgr/core/time';
import { ownCondition } from '../../pressure/conditions.ts';
import { setConditionsRequest } from '../../pressure/requests.ts';
import { type Answer, failureOf, succeeded } from '../../proto/answer.ts';
import { isMissing } from '../../proto/denial.ts';
import type { ClusterEvent } from '../../proto/event-requests.ts';
import { failedBy, failedUnasked, finish, type Procedures, stepsFrom, type Task } from '../task.ts';
import { nodeEvent, podEvent } from './engine.ts';
import {
  beginEviction,
  continueEviction,
  type EvictUnderPressure,
  type PressureRemoval,
} from './pressure-eviction.ts';

/** The command that changes conditions of a node. */
export type SetPressureConditions = Extract<PressureCommand, { kind: 'setPressureConditions' }>;

/** A notice of what became of a command of the node pressure machine. */
export type PressureCommandNotice =
  | Extract<PressureCommand, { kind: 'pressureReport' }>
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
    };

/** What the node pressure machine wants done, and how that is done. */
export function pressureProcedures(
  removal: PressureRemoval,
): Procedures<PressureCommand, PressureCommandNotice> {
  return {
    evictUnderPressure: (command) => evicting(command, removal),
    setPressureConditions: writingConditions,
    reclaimNode: ({ id }) => ({ ...unreclaimable, id }),
    recordPressureEvent: (command) => ({ kind: 'event', event: evictionEvent(command) }),
    recordNodeEvent: (command) => ({ kind: 'event', event: nodeEvent(command) }),
    pressureReport: (command) => ({ kind: 'notice', notice: command }),
  };
}

/** Nobody but its kubelet can clear a node of images and dead containers. */
const unreclaimable: Omit<Task<never>, 'id'> = {
  kind: 'task',
  deposed: failedUnasked,
  ended: () => null,
  outlastsStop: false,
  first: finish(
    failedUnasked('images and containers of a node can only be cleared away on the node'),
  ),
};

/** A pod whose deletion was accepted still gets the status that says why it went, also after a stop. */
function evicting(
  command: EvictUnderPressure,
  removal: PressureRemoval,
): Task<PressureCommandNotice> {
  return {
    ...{ kind: 'task', id: command.id, deposed: failedUnasked, outlastsStop: true },
    first: stepsFrom(beginEviction(command), (state, answer, wall) =>
      continueEviction(state, answer, wall, removal),
    ),
    begun: { kind: 'evictionSent', command },
    ended: (outcome, took, refusal) => ({
      ...{ kind: 'evictionFinished', command, outcome, took, refusal },
    }),
  };
}

function writingConditions(command: SetPressureConditions): Task<PressureCommandNotice> {
  return {
    ...{ kind: 'task', id: command.id, deposed: failedUnasked, outlastsStop: true },
    first: {
      kind: 'send',
      request: setConditionsRequest(command.node, command.conditions.map(ownCondition)),
      onAnswer: (answer) => finish(conditionsOutcome(answer)),
      notice: null,
    },
    ended: (outcome) => ({ kind: 'conditionsWritten', command, outcome }),
  };
}

/** A node that is another one by now has no need of the condition: 422 names the uid. */
function conditionsOutcome(answer: Answer): Outcome {
  if (succeeded(answer)) return { kind: 'done' };
  const failure = failureOf(answer);
  return isMissing(failure) ? { kind: 'gone' } : failedBy(failure);
}

function evictionEvent(
  command: Extract<PressureCommand, { kind: 'recordPressureEvent' }>,
): ClusterEvent {
  const { annotations } = command;
  const hasAny = Object.keys(annotations).length > 0;
  return { ...podEvent(command), ...(hasAny && { annotations }) };
}
