// Requests that write Kubernetes Events.
import { formatTime, type Instant } from '@taintmgr/core/time';
import { type ApiRequest, objectRequest, patchRequest } from './requests.ts';

/** The object that a Kubernetes Event is about. */
export interface EventSubject {
  /** Such as `v1`. */
  readonly apiVersion: string;
  /** Such as `Pod`. */
  readonly kind: string;
  /** '' for objects that live in no namespace. */
  readonly namespace: string;
  /** The name of the object. */
  readonly name: string;
  /** The UID of the object. */
  readonly uid: string;
  /** Left out: no certain version is meant. */
  readonly resourceVersion?: string;
}

/** The content of a Kubernetes Event. */
export interface ClusterEvent {
  /** The object that the Event is about. */
  readonly subject: EventSubject;
  /** `Warning` for what a person should look at. */
  readonly type: 'Normal' | 'Warning';
  /** One word in CamelCase, for programs. */
  readonly reason: string;
  /** Text for people. */
  readonly message: string;
  /** Left out: none. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** The name of its source; left out: the reporter's name. */
  readonly component?: string;
}

/** An Event object: its text, its count, and its first and last time. */
export interface EventSeries {
  /** metadata.name, by eventName. */
  readonly name: string;
  readonly event: ClusterEvent;
  readonly component: string;
  readonly firstAt: Instant;
  readonly lastAt: Instant;
  readonly count: number;
}

/** Control characters, and invisible ones that reorder, hide or break visible text. */
const steering = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}]/gu;

/**
 * Messages quote what others wrote: webhooks, pods, people. Their readers, with kubectl too, see
 * one line of them, in which nothing steers a terminal.
 */
export function onOneLine(message: string): string {
  if (message.search(steering) < 0) return message;
  const shown = message.replace(steering, escapeOf);
  // Not by a pattern with spaces on both sides: of a long run of spaces it would try each beginning.
  const parts = shown.split(/[\r\n\t]+/);
  return parts.length === 1
    ? shown
    : parts
        .map((part) => part.trim())
        .filter(Boolean)
        .join(' ');
}

function escapeOf(character: string): string {
  if ('\r\n\t'.includes(character)) return character;
  return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
}

const nameLengthMax = 253;
/** The number of Events of an object that have distinct names within a millisecond. */
export const serialMax = 1_000_000;

/**
 * `<object>.<nanoseconds in 16 hex digits>`, the object's name cut where the whole would be too
 * long. `serial` distinguishes the events of one object within one millisecond.
 */
export function eventName(objectName: string, now: Instant, serial: number): string {
  const nanoseconds = BigInt(Math.trunc(now)) * 1_000_000n + BigInt(serial % serialMax);
  const suffix = nanoseconds.toString(16).padStart(16, '0');
  const room = nameLengthMax - suffix.length - 1;
  return `${objectName.slice(0, room).replace(/[.-]+$/, '')}.${suffix}`;
}

/** POST of an Event that is recorded once, for callers without a recorder. */
export function newEventRequest(event: ClusterEvent, component: string, now: Instant): ApiRequest {
  const name = eventName(event.subject.name, now, 0);
  return postEventRequest({ name, event, component, firstAt: now, lastAt: now, count: 1 });
}

/** POST of a core/v1 Event, in the namespace of its object or else in `default`. */
export function postEventRequest(series: EventSeries): ApiRequest {
  const { name, event, component, firstAt, lastAt, count } = series;
  const { annotations, subject } = event;
  const { kind, namespace, name: object, uid, apiVersion, resourceVersion } = subject;
  const body = {
    kind: 'Event',
    apiVersion: 'v1',
    metadata: { name, namespace: namespaceOf(event), ...(annotations && { annotations }) },
    involvedObject: {
      kind,
      ...(namespace !== '' && { namespace }),
      name: object,
      ...(uid !== '' && { uid }),
      apiVersion,
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
    reason: event.reason,
    message: onOneLine(event.message),
    source: { component: event.component ?? component },
    firstTimestamp: formatTime(firstAt),
    lastTimestamp: formatTime(lastAt),
    count,
    type: event.type,
    eventTime: null,
    reportingComponent: component,
    reportingInstance: '',
  };
  return objectRequest('POST', eventsPath(event), body);
}

/** PATCH that counts further occurrences; 404 when the Event has expired meanwhile. */
export function countEventRequest(series: EventSeries): ApiRequest {
  const { name, event, lastAt, count } = series;
  const path = `${eventsPath(event)}/${encodeURIComponent(name)}`;
  return patchRequest('strategicMerge', path, {
    count,
    lastTimestamp: formatTime(lastAt),
    message: onOneLine(event.message),
  });
}

/** Where an Event is written: that of its object, or else `default`. */
export function namespaceOf({ subject }: ClusterEvent): string {
  return subject.namespace === '' ? 'default' : subject.namespace;
}

function eventsPath(event: ClusterEvent): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespaceOf(event))}/events`;
}
