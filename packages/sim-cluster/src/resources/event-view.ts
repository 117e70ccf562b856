// Events in both of their API groups: members of an events.k8s.io/v1 Event and what the stored
// core/v1 form calls them.
import type { KubeObject } from '../objects/kube-object.ts';

/** Members of an events.k8s.io/v1 Event and what the stored core/v1 form calls them. */
const renamedFields = {
  note: 'message',
  regarding: 'involvedObject',
  reportingController: 'reportingComponent',
  deprecatedSource: 'source',
  deprecatedFirstTimestamp: 'firstTimestamp',
  deprecatedLastTimestamp: 'lastTimestamp',
  deprecatedCount: 'count',
} as const;

const sharedFields = [
  'eventTime',
  'series',
  'reportingInstance',
  'action',
  'reason',
  'related',
  'type',
] as const;

/** A stored event as events.k8s.io/v1 shows it. */
export function newEventView(event: KubeObject): KubeObject {
  const view: Record<string, unknown> = {};
  for (const name of sharedFields) if (event[name] !== undefined) view[name] = event[name];
  for (const [now, stored] of Object.entries(renamedFields)) {
    if (event[stored] !== undefined) view[now] = event[stored];
  }
  // The empty component and instance of a core event are not shown here.
  for (const name of ['reportingInstance', 'reportingController']) {
    if (view[name] === '') delete view[name];
  }
  return { kind: 'Event', apiVersion: 'events.k8s.io/v1', metadata: event.metadata, ...view };
}

/** An events.k8s.io/v1 Event as it is stored. */
export function storedEvent(event: KubeObject): KubeObject {
  const stored: Record<string, unknown> = {};
  for (const name of sharedFields) if (event[name] !== undefined) stored[name] = event[name];
  for (const [now, name] of Object.entries(renamedFields)) {
    if (event[now] !== undefined) stored[name] = event[now];
  }
  return { kind: 'Event', apiVersion: 'v1', metadata: event.metadata, ...stored };
}
