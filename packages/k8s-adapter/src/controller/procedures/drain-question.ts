// Finds out what a NodeDrain has to know: windows, conditions of objects, alerts, volumes.
import type { Command, Outcome } from '@taintmgr/core';
import type { DrainQuestion } from '@taintmgr/core/drain';
import type { Instant } from '@taintmgr/core/time';
import { openingAt } from '../../drain/windows.ts';
import { type Answer, answerValue, failureOf, succeeded } from '../../proto/answer.ts';
import { asInteger, asList, asRecord, asText } from '../../proto/json.ts';
import { type ApiRequest, getRequest } from '../../proto/requests.ts';
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

type AlertQuery = Extract<DrainQuestion, { kind: 'noAlerts' }>['query'];

export function alertsRequest({ url, query, timeout }: AlertQuery): ApiRequest {
  const request = getRequest('/api/v1/query', { query });
  return { ...request, elsewhere: { url, timeoutMs: timeout } };
}

/** The meaning of an answer. Anything but a whole answer without a result is no leave to go on. */
type Alerts =
  | { readonly kind: 'none' }
  | { readonly kind: 'some'; readonly message: string }
  | { readonly kind: 'unknown'; readonly message: string };

export function readAlerts(body: unknown): Alerts {
  const { status, data, error, warnings } = asRecord(body);
  if (status !== 'success') return unknown(asText(error) || 'the answer is not one of Prometheus');
  const { resultType, result } = asRecord(data);
  if (resultType !== 'vector' || !Array.isArray(result)) {
    return unknown(`the query answers ${asText(resultType) || 'nothing'}, want a vector`);
  }
  const [first, ...others] = result;
  if (first !== undefined) return { kind: 'some', message: alertText(first, others.length) };
  const [warning] = asList(warnings);
  return warning === undefined ? { kind: 'none' } : unknown(asText(warning));
}

function unknown(message: string): Alerts {
  return { kind: 'unknown', message };
}

function alertText(sample: unknown, others: number): string {
  const { alertname, __name__: metric } = asRecord(asRecord(sample).metric);
  const name = asText(alertname) || asText(metric) || 'a series without a name';
  return others === 0 ? `${name} fires` : `${name} fires, and ${others} more`;
}

type ObjectState = Extract<DrainQuestion, { kind: 'object' }>['object'];

/** `/api/v1`, `/apis/GROUP/VERSION`: it lists the resources of the version. */
function versionPath({ apiVersion }: ObjectState): string {
  return apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
}

/** Where the object is, by the list of resources; or why there is no such place. */
type ObjectPath =
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'none'; readonly message: string };

export function objectPath(object: ObjectState, resources: unknown): ObjectPath {
  const { kind, apiVersion, namespace, name } = object;
  const listed = asList(asRecord(resources).resources).map(asRecord);
  const resource = listed.find((one) => one.kind === kind && !asText(one.name).includes('/'));
  if (!resource) return none(`the cluster has no ${kind} of ${apiVersion}`);
  const isNamespaced = resource.namespaced === true;
  if (isNamespaced && namespace === undefined) return none(`${kind} ${name}: want its namespace`);
  if (!isNamespaced && namespace !== undefined) {
    return none(`${kind} ${name}: got namespace ${namespace}, but it belongs to no namespace`);
  }
  const place = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  const plural = encodeURIComponent(asText(resource.name));
  const path = `${versionPath(object)}${place}/${plural}/${encodeURIComponent(name)}`;
  return { kind: 'path', path };
}

function none(message: string): ObjectPath {
  return { kind: 'none', message };
}

/** The objection that the object does not meet the condition; null: it does. */
export function objection(object: ObjectState, found: unknown): string | null {
  const { metadata: meta, status } = asRecord(found);
  const { annotation, condition: wanted } = object;
  const name = nameOf(object);
  const { annotations, generation, deletionTimestamp } = asRecord(meta);
  if (deletionTimestamp !== undefined) return `${name} is being deleted`;
  if (annotation) {
    const value = asRecord(annotations)[annotation.key];
    if (value === annotation.value) return null;
    if (value === undefined) return `${name} has no annotation ${annotation.key}`;
    const texts = [value, annotation.value].map((text) => JSON.stringify(text));
    return `annotation ${annotation.key} of ${name} is ${texts[0]}, want ${texts[1]}`;
  }
  if (!wanted) return null;
  const conditions = asList(asRecord(status).conditions).map(asRecord);
  const condition = conditions.find(({ type }) => type === wanted.type);
  if (!condition) return `${name} has no condition ${wanted.type}`;
  if (condition.status !== wanted.status) {
    const reason = asText(condition.reason);
    const got = `${asText(condition.status)}${reason === '' ? '' : ` (${reason})`}`;
    return `condition ${wanted.type} of ${name} is ${got}, want ${wanted.status}`;
  }
  const [observed, written] = [condition.observedGeneration, generation].map(asInteger);
  const isOld = observed != null && written != null && observed < written;
  return isOld ? `condition ${wanted.type} of ${name} is of an older generation` : null;
}

/** `Node n1`, `Cluster db/main` */
function nameOf({ kind, namespace, name }: ObjectState): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}
