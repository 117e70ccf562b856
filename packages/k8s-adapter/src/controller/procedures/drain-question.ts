// How it is found out what a NodeDrain has to know: windows, conditions of objects, alerts.
import type { Command, Outcome } from '@taintmgr/core';
import type { Instant } from '@taintmgr/core/time';
import { alertsRequest, readAlerts } from '../../drain/alerts.ts';
import {
  nameOf,
  type ObjectState,
  objection,
  objectPath,
  versionPath,
} from '../../drain/object-state.ts';
import { openingAt } from '../../drain/windows.ts';
import { answerValue, failureOf, succeeded } from '../../proto/answer.ts';
import { getRequest } from '../../proto/api-request.ts';
import {
  changed,
  failedBy,
  failedUnasked,
  finish,
  type StateStep,
  send,
  stepsFrom,
  type Task,
  type TaskStep,
} from '../task.ts';
import { volumeSteps } from './drain-volumes.ts';

type AskForDrain = Extract<Command, { kind: 'askForDrain' }>;
type Question<K> = Extract<AskForDrain['question'], { kind: K }>;

export function drainAsking({ id, question }: AskForDrain, wall: Instant): Task<never> {
  return {
    ...{ kind: 'task', id, deposed: failedUnasked, outlastsStop: false },
    first: firstStep(question, wall),
    ended: () => null,
  };
}

function firstStep(question: AskForDrain['question'], wall: Instant): TaskStep<never> {
  switch (question.kind) {
    case 'windows':
      return finish(windowOutcome(question, wall));
    case 'object':
      return objectSteps(question.object);
    case 'noAlerts':
      return alertSteps(question);
    case 'volumes':
      return volumeSteps(question);
  }
}

function windowOutcome({ windows }: Question<'windows'>, wall: Instant): Outcome {
  const opening = openingAt(windows, wall);
  if (opening.kind === 'unreadable') return failedUnasked(opening.message);
  if (opening.kind === 'open') return { kind: 'done', until: opening.until };
  const { message, until } = opening;
  return { ...changed(message), ...(until !== null && { until }) };
}

/** The API server says what the kind is called in paths; then the object is read. */
function objectSteps(object: ObjectState): TaskStep<never> {
  type State = 'resources' | 'object';
  const first = send<State>('resources', getRequest(versionPath(object)));
  return stepsFrom<State, never>(first, (state, answer): StateStep<State> => {
    if (!succeeded(answer)) {
      const failure = failureOf(answer);
      if (failure.status !== 404) return finish(failedBy(failure));
      const { apiVersion } = object;
      const message =
        state === 'object' ? `${nameOf(object)} is not there` : `the cluster has no ${apiVersion}`;
      return finish(changed(message));
    }
    const found = answerValue(answer);
    if (state === 'resources') {
      const place = objectPath(object, found);
      if (place.kind === 'none') return finish(changed(place.message));
      return send<State>('object', getRequest(place.path));
    }
    const reason = objection(object, found);
    return finish(reason === null ? { kind: 'done' } : changed(reason));
  });
}

function alertSteps({ query }: Question<'noAlerts'>): TaskStep<never> {
  const first = send<null>(null, alertsRequest(query));
  return stepsFrom<null, never>(first, (_, answer) => {
    if (answer.kind === 'none') return finish(failedUnasked(`${query.url}: ${answer.message}`));
    const alerts = readAlerts(answerValue(answer));
    if (alerts.kind === 'none' && succeeded(answer)) return finish({ kind: 'done' });
    if (alerts.kind === 'some') return finish(changed(alerts.message));
    const why = alerts.kind === 'unknown' ? alerts.message : `HTTP status ${answer.status}`;
    return finish(failedUnasked(`${query.url}: ${why}`));
  });
}
