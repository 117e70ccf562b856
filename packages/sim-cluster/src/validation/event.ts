// The validation of Events.
import type { Cause } from '../objects/errors.ts';
import { equal } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { qualifiedNameErrors } from '../objects/names.ts';
import { invalidValue, required } from './causes.ts';
import { validateMetadata } from './metadata.ts';

const noteBytesMax = 1024;

/**
 * The rules for an event in its stored (core/v1) form. An event with `eventTime`, and any event
 * written through events.k8s.io (`isNew`), obeys the newer and stricter rules as well.
 */
export function validateEvent(event: KubeObject, isNew: boolean): readonly Cause[] {
  const causes = [...validateMetadata(event)];
  const { namespace = '' } = event.involvedObject;
  const expected = namespace === '' ? 'default' : namespace;
  if (event.metadata.namespace !== expected) {
    const text = 'does not match event.namespace';
    causes.push(invalidValue('involvedObject.namespace', namespace, text));
  }
  if (!isNew && event.eventTime === null) return causes;
  return [...causes, ...validateNewRules(event, isNew)];
}

function validateNewRules(event: KubeObject, isNew: boolean): readonly Cause[] {
  const causes: Cause[] = [];
  if (event.eventTime === null) causes.push(required('eventTime'));
  const controller: string = event.reportingComponent ?? '';
  if (controller === '') causes.push(required('reportingController'));
  for (const error of qualifiedNameErrors(controller)) {
    causes.push(invalidValue('reportingController', controller, error));
  }
  for (const field of ['reportingInstance', 'action', 'reason'] as const) {
    if (!event[field]) causes.push(required(field));
  }
  const type: string = event.type ?? '';
  if (type !== 'Normal' && type !== 'Warning') {
    causes.push(invalidValue('type', '', `has invalid value: ${type}`));
  }
  if (isNew && Buffer.byteLength(event.message ?? '') > noteBytesMax) {
    const text = `can have at most ${noteBytesMax} characters`;
    causes.push(invalidValue('message', '', text));
  }
  if (event.series && (event.series.count ?? 0) < 2) {
    causes.push(invalidValue('series.count', '', 'should be at least 2'));
  }
  return causes;
}

/** Members of the stored form that stay as they are once an event has an `eventTime`. */
const fixedFields = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'reportingComponent',
  'reportingInstance',
  'action',
  'related',
  'type',
  'eventTime',
] as const;

/** The faults of an update of an event; events without `eventTime` are freely mutable. */
export function validateEventUpdate(next: KubeObject, previous: KubeObject): readonly Cause[] {
  if (previous.eventTime === null) return [];
  return fixedFields
    .filter((field) => !equal(next[field], previous[field]))
    .map((field) => invalidValue(field, next[field], 'field is immutable'));
}
