import { type Failure, failureOfStatus } from './answer.ts';
import { type Identity, identityOf } from './convert.ts';
import { asRecord, asText, isRecord, parseJson } from './json.ts';

/** One event of a watch, understood. */
export type WatchEvent =
  | { readonly kind: 'upsert'; readonly identity: Identity; readonly object: unknown }
  | { readonly kind: 'delete'; readonly identity: Identity }
  | {
      /** Nothing else changed up to this resourceVersion. */
      readonly kind: 'bookmark';
      readonly resourceVersion: string;
      /** Everything that existed when the watch began has been sent. */
      readonly endsList: boolean;
    }
  | { readonly kind: 'error'; readonly failure: Failure }
  /** Not a watch event at all, but `what`. */
  | { readonly kind: 'junk'; readonly what: string };

/** An event about one object. */
export type ObjectEvent = Extract<WatchEvent, { kind: 'upsert' | 'delete' }>;

/** An event about the collection. */
export type CollectionEvent = ObjectEvent | Extract<WatchEvent, { kind: 'bookmark' }>;

const junk: WatchEvent = { kind: 'junk', what: 'something that is not a watch event' };
const endOfList = 'k8s.io/initial-events-end';

/** Reads one line of a watch. Never throws. */
export function readWatchEvent(line: string): WatchEvent {
  return watchEventIn(parseJson(line));
}

/** Reads an event of a watch in JSON. Never throws. */
export function watchEventIn(value: unknown): WatchEvent {
  const { type, object } = asRecord(value);
  return watchEventOf(type, object);
}

/** Makes an event of its type and its object, as JSON has them. Never throws. */
export function watchEventOf(type: unknown, object: unknown): WatchEvent {
  if (!isRecord(object)) return junk;
  if (type === 'ERROR') return { kind: 'error', failure: failureOfStatus(object, null) };
  if (type === 'BOOKMARK') {
    const metadata = asRecord(object.metadata);
    const resourceVersion = asText(metadata.resourceVersion);
    const endsList = asRecord(metadata.annotations)[endOfList] === 'true';
    return resourceVersion === '' ? junk : { kind: 'bookmark', resourceVersion, endsList };
  }
  const identity = identityOf(object);
  if (!identity || identity.resourceVersion === '') return junk;
  if (type === 'ADDED' || type === 'MODIFIED') return { kind: 'upsert', identity, object };
  return type === 'DELETED' ? { kind: 'delete', identity } : junk;
}

/**
 * Whether one resourceVersion comes before another of the same collection. They are decimal numbers
 * of any length; of others it is not known.
 */
export function isOlder(resourceVersion: string, than: string): boolean {
  const decimal = /^[1-9]\d*$/;
  if (!decimal.test(resourceVersion) || !decimal.test(than)) return false;
  const longer = resourceVersion.length - than.length;
  return longer === 0 ? resourceVersion < than : longer < 0;
}
