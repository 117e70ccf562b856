import { badRequest, type Cause, invalid, serverError } from '../objects/errors.ts';
import { forbiddenValue, notSupported } from '../validation/causes.ts';

/** The query of a list or a watch, read and checked. */
export interface ListOptions {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly watch: boolean;
  /** '' when not given. */
  readonly resourceVersion: string;
  readonly match: string;
  /** 0 for no limit. */
  readonly limit: number;
  readonly continueToken: string;
  readonly timeoutSeconds: number | null;
  readonly allowBookmarks: boolean;
  /** Null when not given. */
  readonly sendInitialEvents: boolean | null;
}

/** Reads the query; 400 for numbers that do not parse, 422 for options that do not go together. */
export function readListOptions(query: URLSearchParams): ListOptions {
  const text = (name: string): string => query.get(name) ?? '';
  const options: ListOptions = {
    labelSelector: text('labelSelector'),
    fieldSelector: text('fieldSelector'),
    watch: flag(query.get('watch')) ?? false,
    resourceVersion: text('resourceVersion'),
    match: text('resourceVersionMatch'),
    limit: Math.max(0, readInteger(query.get('limit')) ?? 0),
    continueToken: text('continue'),
    timeoutSeconds: readInteger(query.get('timeoutSeconds')),
    allowBookmarks: flag(query.get('allowWatchBookmarks')) ?? false,
    sendInitialEvents: flag(query.get('sendInitialEvents')),
  };
  const causes = options.watch ? watchCauses(options) : listCauses(options);
  if (causes.length > 0) {
    throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', causes);
  }
  return options;
}

/** Only `false` and `0` are false; any other value, the empty one too, is true. */
export function flag(value: string | null): boolean | null {
  return value === null ? null : value !== 'false' && value !== '0';
}

/** A decimal integer, null when absent; 400 otherwise. */
export function readInteger(value: string | null): number | null {
  if (value === null) return null;
  if (/^[+-]?\d+$/.test(value)) return Number(value);
  throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`);
}

const rvMatch = 'resourceVersionMatch';

function listCauses({ match, resourceVersion, continueToken, sendInitialEvents }: ListOptions) {
  const causes: Cause[] = [];
  if (match !== '') {
    if (resourceVersion === '') {
      const text = 'resourceVersionMatch is forbidden unless resourceVersion is provided';
      causes.push(forbiddenValue(rvMatch, text));
    }
    if (continueToken !== '') {
      const text = 'resourceVersionMatch is forbidden when continue is provided';
      causes.push(forbiddenValue(rvMatch, text));
    }
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      causes.push(notSupported(rvMatch, match, ['Exact', 'NotOlderThan', '']));
    }
    if (match === 'Exact' && resourceVersion === '0') {
      const text = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"';
      causes.push(forbiddenValue(rvMatch, text));
    }
  }
  if (sendInitialEvents !== null) {
    causes.push(forbiddenValue('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  return causes;
}

function watchCauses({ match, continueToken, sendInitialEvents }: ListOptions): readonly Cause[] {
  const causes: Cause[] = [];
  if (sendInitialEvents !== null && match !== 'NotOlderThan') {
    const text = 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan';
    causes.push(forbiddenValue(rvMatch, text));
  }
  if (match !== '' && sendInitialEvents === null) {
    const text = 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided';
    causes.push(forbiddenValue(rvMatch, text));
  }
  if (match !== '' && match !== 'NotOlderThan') {
    causes.push(notSupported(rvMatch, match, ['NotOlderThan']));
  }
  if (continueToken !== '') {
    const text = 'resourceVersionMatch is forbidden when continue is provided';
    causes.push(forbiddenValue(rvMatch, text));
  }
  return causes;
}

/**
 * The requested resourceVersion as a number; 0 for none. An invalid one is 400 for a list, but 500
 * for a get and a watch.
 */
export function readResourceVersion(text: string, isList: boolean): number {
  if (text === '') return 0;
  const isNumber = /^\d+$/.test(text);
  if (isNumber && (text.length < uint64Max.length || BigInt(text) <= BigInt(uint64Max))) {
    return Number(text);
  }
  const quoted = JSON.stringify(text);
  const fault = isNumber ? 'value out of range' : 'invalid syntax';
  const message = `resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: ${fault}`;
  throw isList ? badRequest(`invalid resource version: ${message}`) : serverError(message);
}

const uint64Max = '18446744073709551615';
