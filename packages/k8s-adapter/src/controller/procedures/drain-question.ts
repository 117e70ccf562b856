// Finds out what a NodeDrain has to know: windows, conditions of objects, alerts, volumes.
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
import { type Answer, answerValue, failureOf, succeeded } from '../../proto/answer.ts';
import { getRequest } from '../../proto/api-request.ts';
import {
  type Circumstances,
  call,
  changed,
  done,
  failedBy,
  failedUnasked,
  type Steps,
  type Task,
} from '../task.ts';
import { volumeSteps } from './drain-volumes.ts';

type AskForDrain = Extract<Command, { kind: 'askForDrain' }>;
type Question<K> = Extract<AskForDrain['question'], { kind: K }>;

export function drainAsking({ id, question }: AskForDrain, { wall }: Circumstances): Task<never> {
  return { kind: 'task', id, steps: questionSteps(question, wall) };
}

function* questionSteps(question: AskForDrain['question'], wall: Instant): Steps {
  switch (question.kind) {
    case 'windows':
      return windowOutcome(question, wall);
    case 'object':
      return yield* objectSteps(question.object);
    case 'noAlerts':
      return yield* alertSteps(question);
    case 'volumes':
      return yield* volumeSteps(question);
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
function* objectSteps(object: ObjectState): Steps {
  const { answer: listed } = yield* call(getRequest(versionPath(object)));
  if (!succeeded(listed)) return missing(listed, `the cluster has no ${object.apiVersion}`);
  const place = objectPath(object, answerValue(listed));
  if (place.kind === 'none') return changed(place.message);
  const { answer } = yield* call(getRequest(place.path));
  if (!succeeded(answer)) return missing(answer, `${nameOf(object)} is not there`);
  const reason = objection(object, answerValue(answer));
  return reason === null ? done : changed(reason);
}

function missing(answer: Answer, message: string): Outcome {
  const failure = failureOf(answer);
  return failure.status === 404 ? changed(message) : failedBy(failure);
}

function* alertSteps({ query }: Question<'noAlerts'>): Steps {
  const { answer } = yield* call(alertsRequest(query));
  if (answer.kind === 'none') return failedUnasked(`${query.url}: ${answer.message}`);
  const alerts = readAlerts(answerValue(answer));
  if (alerts.kind === 'none' && succeeded(answer)) return done;
  if (alerts.kind === 'some') return changed(alerts.message);
  const why = alerts.kind === 'unknown' ? alerts.message : `HTTP status ${answer.status}`;
  return failedUnasked(`${query.url}: ${why}`);
}
