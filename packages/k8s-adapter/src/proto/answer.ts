// The answer to a request: its end, its failure, and its match with the request. A gateway, a login
// page or a dashboard answers 200 too.

import { webhookDenial } from '@taintmgr/core';
import { type Instant, type Millis, parseTime } from '@taintmgr/core/time';
import {
  asInteger,
  asList,
  asRecord,
  asText,
  isRecord,
  type JsonRecord,
  parseJson,
  parseToWriteBack,
} from './json.ts';
import { type ApiRequest, isProxied } from './requests.ts';

/** The end of a request, with a response or without one, and the failure in it. */
export type Answer =
  | {
      readonly kind: 'response';
      readonly status: number;
      readonly headers: ResponseHeaders;
      readonly body: string;
      /** The body as a value, where it came as one; it is never changed. */
      readonly value?: unknown;
    }
  /** Refused, reset, timed out: the message says which. */
  | {
      readonly kind: 'none';
      readonly message: string;
      readonly stage?: FailureStage;
      readonly isTooLong?: true;
    };

/** An answer of the server. */
export type Responded = Extract<Answer, { kind: 'response' }>;

/** The stage that a failed request came to, where that is not the connection itself. */
export type FailureStage = 'login';

/** Response headers, names in lower case. */
export type ResponseHeaders = Readonly<Record<string, string>>;

/** The words of the API server on a failure: a v1 Status, or what can be made of another body. */
export interface Failure {
  /** HTTP status; null without an answer. */
  readonly status: number | null;
  /** Status.reason, e.g. NotFound; '' where the server names none. */
  readonly reason: string;
  /** Text for people: Status.message, or what the body says. */
  readonly message: string;
  /** The time that the server asks us to wait; null: it does not say. */
  readonly retryAfter: Millis | null;
  /** Status.details.causes; empty where the server names none. */
  readonly causes: readonly FailureCause[];
  /** Status.details.name and .kind: what the failure is about. */
  readonly name: string;
  /** The kind or resource that the failure is about; '' where the server names none. */
  readonly kind: string;
  /** Where the request came to nothing before it was sent. */
  readonly stage?: FailureStage;
}

/** A cause of a failure: Status.details.causes. */
export interface FailureCause {
  /** A word for programs; '' where there is none. */
  readonly reason: string;
  /** Text for people. */
  readonly message: string;
  /** The path of the field; '' where there is none. */
  readonly field: string;
}

/** No server may send us away for longer than this. */
const retryAfterMsMax: Millis = 300_000;
const messageLengthMax = 500;

/** Reads the failure out of an answer that is not a 2xx. */
export function failureOf(answer: Answer): Failure {
  if (answer.kind === 'none') {
    const { message, stage } = answer;
    return { ...noAnswer(message), ...(stage && { stage }) };
  }
  const body = answerValue(answer);
  const retryAfter = retryAfterHeader(answer.headers);
  if (!isRecord(body)) {
    const text = answer.body.trim().slice(0, messageLengthMax);
    const message = text || `HTTP status ${answer.status}`;
    return { ...noAnswer(message), status: answer.status, retryAfter };
  }
  const read = failureOfStatus(body, answer.status);
  return { ...read, retryAfter: retryAfter ?? read.retryAfter };
}

/** Reads a v1 Status object, e.g. of an ERROR event, whose code counts when `status` is null. */
export function failureOfStatus(value: unknown, status: number | null): Failure {
  const body = asRecord(value);
  const details = asRecord(body.details);
  const code = status ?? asInteger(body.code);
  return {
    status: code,
    reason: asText(body.reason),
    message: asText(body.message).slice(0, messageLengthMax) || `HTTP status ${code}`,
    retryAfter: seconds(asInteger(details.retryAfterSeconds)),
    causes: asList(details.causes).map(causeOf),
    name: asText(details.name),
    kind: asText(details.kind),
  };
}

/** Returns the JSON value of an answer; undefined: the answer has none. */
export function answerValue(answer: Responded): unknown {
  return answer.value ?? parseJson(answer.body);
}

/** The same for a value to write back. */
export function valueToWriteBack(answer: Responded): unknown {
  return answer.value ?? parseToWriteBack(answer.body);
}

/** Tells whether an answer is a 2xx. */
export function succeeded(answer: Answer): answer is Extract<Answer, { kind: 'response' }> {
  return answer.kind === 'response' && answer.status >= 200 && answer.status < 300;
}

/** Tells whether we hung up, because more came than is read. */
export function isTooLong(answer: Answer): boolean {
  return answer.kind === 'none' && answer.isTooLong === true;
}

/** The failure of a request that got no answer, or none that could be read. */
export function noAnswer(message: string): Failure {
  return { status: null, reason: '', message, retryAfter: null, causes: [], name: '', kind: '' };
}

function causeOf(value: unknown): FailureCause {
  const cause = asRecord(value);
  return {
    reason: asText(cause.reason),
    message: asText(cause.message),
    field: asText(cause.field),
  };
}

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
const httpDate = /^\w{3}, (\d\d) (\w{3}) (\d{4}) (\d\d:\d\d:\d\d) GMT$/;

/** The last date that was read: many answers are of one second. */
let lastDate: { readonly text: string; readonly at: Instant | null } = { text: '', at: null };

/** When the server dated the answer, by its own clock, in whole seconds; null: it did not. */
export function dateHeader({ date = '' }: ResponseHeaders): Instant | null {
  if (date !== lastDate.text) lastDate = { text: date, at: instantOf(date) };
  return lastDate.at;
}

function instantOf(date: string): Instant | null {
  const [, day, name = '', year, time] = httpDate.exec(date) ?? [];
  const month = String(months.indexOf(name) + 1).padStart(2, '0');
  return parseTime(`${year}-${month}-${day}T${time}Z`);
}

function retryAfterHeader(headers: ResponseHeaders): Millis | null {
  const value = headers['retry-after'];
  return value !== undefined && /^\d+$/.test(value) ? seconds(Number(value)) : null;
}

function seconds(count: number | null): Millis | null {
  return count === null || count <= 0 ? null : Math.min(count * 1000, retryAfterMsMax);
}

/** The object that an answer to a request has to be, by its path; null where anything may come. */
interface Wanted {
  /** In words: `list of pods`. */
  readonly what: string;
  /** Tells whether an answer of this kind and version is one. */
  readonly isKind: (kind: string, apiVersion: string) => boolean;
  readonly isList: boolean;
  /** The name that the object has to have; null: anything. */
  readonly name: string | null;
}

type Asked = Pick<ApiRequest, 'method' | 'path' | 'headers' | 'elsewhere'>;

/**
 * The reason why an answer with 2xx is not what was asked for: `what answers at /api/v1/nodes is no
 * list of nodes (v1), but JSON without a kind`. Null: it is. `value`: undefined for a body that is
 * no JSON.
 */
export function answerFault(request: Asked, value: unknown): string | null {
  const path = pathOf(request.path);
  if (value === undefined) return `what answers at ${path} does not speak JSON`;
  if (path === versionPath) return versionFault(value);
  const wanted = wantedBy(request);
  if (wanted === null) return null;
  const why = isRecord(value) ? faultOf(wanted, value) : nameOf(value);
  return why === null ? null : faultText(request, wanted, why);
}

const versionPath = '/version';

function versionFault(value: unknown): string | null {
  if (asText(asRecord(value).gitVersion) !== '') return null;
  const got = isRecord(value) ? 'JSON without gitVersion' : nameOf(value);
  return `what answers at ${versionPath} is no version, but ${got}`;
}

/** The reason why an object of a list is not of the requested kind; null: it is. */
export function itemFault(request: Asked, item: unknown): string | null {
  const wanted = wantedBy(request);
  if (wanted === null) return null;
  const why = faultOfItem(wanted, item);
  return why === null ? null : faultText(request, wanted, `one with ${why}`);
}

/** A v1 Status by which a request has failed, regardless of the HTTP status; null: this is none. */
export function statedFailure(value: unknown): JsonRecord | null {
  const { kind, apiVersion, status } = asRecord(value);
  const isStatus = kind === 'Status' && apiVersion === 'v1' && status === 'Failure';
  return isStatus ? asRecord(value) : null;
}

/** The HTTP status that such a Status stands for. */
export function statedStatus(status: JsonRecord): number {
  const code = asInteger(status.code) ?? 0;
  return code >= 400 && code < 600 ? code : 500;
}

/**
 * The answer, or the failure where a 2xx brings a v1 Status of one, or a read brings anything but
 * the requested object. The effect of a write shows in the watches, regardless of its answer.
 */
export function heeded(request: Asked, answer: Answer): Answer {
  // An answer from elsewhere is no object of the API; protobuf is written by those who know both kinds and versions.
  if (!succeeded(answer) || request.elsewhere || isProtobuf(answer.headers)) return answer;
  const isRead = request.method === 'GET';
  if (!isRead && !answer.body.includes('"Failure"')) return answer;
  const value = answerValue(answer);
  const failure = statedFailure(value);
  if (failure) {
    const { kind, headers, body } = answer;
    return { kind, headers, body, status: statedStatus(failure) };
  }
  const message = isRead ? answerFault(request, value) : null;
  return message === null ? answer : { kind: 'none', message };
}

function faultText({ path }: Asked, { what }: Wanted, why: string): string {
  return `what answers at ${pathOf(path)} is no ${what}, but ${why}`;
}

function faultOf(wanted: Wanted, value: JsonRecord): string | null {
  const { kind, apiVersion, metadata, items } = value;
  if (typeof kind !== 'string' || kind === '') return 'JSON without a kind';
  if (!wanted.isKind(kind, asText(apiVersion))) {
    return `a ${shown(kind)} of ${shown(apiVersion)}`;
  }
  if (wanted.name !== null && asRecord(metadata).name !== wanted.name) {
    return `one whose name is ${shown(asRecord(metadata).name)}`;
  }
  if (!wanted.isList) return null;
  if (asText(asRecord(metadata).resourceVersion) === '') return 'one without a resourceVersion';
  // A server written in Go may send null for an empty list.
  const list = items ?? [];
  if (!Array.isArray(list)) return `one whose items are ${nameOf(items)}`;
  for (const item of list) {
    const why = faultOfItem(wanted, item);
    if (why !== null) return `one with ${why}`;
  }
  return null;
}

function faultOfItem({ isKind }: Wanted, item: unknown): string | null {
  if (!isRecord(item)) return `${nameOf(item)} in it`;
  const { kind, apiVersion, metadata } = item;
  if (asText(asRecord(metadata).name) === '') return 'an object without a name in it';
  if (kind === undefined && apiVersion === undefined) return null;
  const isOne = isKind(`${asText(kind)}List`, asText(apiVersion));
  return isOne ? null : `a ${shown(kind)} of ${shown(apiVersion)} in it`;
}

/** Texts of others in a message are short. */
function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 60)) : nameOf(value);
}

function nameOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function pathOf(path: string): string {
  const [before = path] = path.split('?');
  return before;
}

const partialObject = 'as=PartialObjectMetadata';
/** Verbs whose answer is no object of the API. */
const unchecked = new Set(['proxy', 'log', 'exec', 'attach', 'portforward']);

/** The object that each request asks for: each object of a list is looked at. */
const known = new WeakMap<Asked, Wanted | null>();

function wantedBy(request: Asked): Wanted | null {
  let wanted = known.get(request);
  if (wanted === undefined) {
    wanted = readWanted(request);
    known.set(request, wanted);
  }
  return wanted;
}

function readWanted({ method, path, headers }: Asked): Wanted | null {
  if (isProxied({ path })) return null;
  const [root = '', ...rest] = pathOf(path).slice(1).split('/');
  if (root !== 'api' && root !== 'apis') return null;
  const discovered = discovery(root, rest);
  if (discovered !== null) return discovered;
  const group = root === 'api' ? '' : (rest.shift() ?? '');
  const version = rest.shift() ?? '';
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const [plural = '', name, subresource] = withoutNamespace(rest);
  if (subresource !== undefined && unchecked.has(subresource)) return null;
  if (method === 'DELETE' || (subresource !== undefined && !sameKind.has(subresource))) {
    return { ...anyObject, what: `answer of ${[plural, subresource].filter(Boolean).join('/')}` };
  }
  const isPartial = method !== 'GET' && headers.accept?.includes(partialObject) === true;
  const isOf = (kind: string, of: string): boolean =>
    (of === apiVersion && pluralOf(kind) === plural) ||
    (isPartial && kind === 'PartialObjectMetadata');
  if (name === undefined && method === 'GET') {
    const isKind = (kind: string, of: string): boolean =>
      kind.endsWith('List') && isOf(kind.slice(0, -'List'.length), of);
    return { what: `list of ${plural} (${apiVersion})`, isKind, isList: true, name: null };
  }
  const what = `object of ${plural} (${apiVersion})`;
  if (name === undefined) return { what, isKind: isOf, isList: false, name: null };
  // Others may name their kinds in paths freely: the API server has answered, and the name has to
  // be right.
  const isKind = (_: string, of: string): boolean => of === apiVersion || isPartial;
  return { what, isKind, isList: false, name: decoded(name) };
}

/** Subresources that answer with the object itself. */
const sameKind = new Set(['status', 'finalize', 'approval']);

const anyObject: Wanted = { what: '', isKind: () => true, isList: false, name: null };

/** The object in which the API server tells of itself. */
function discovery(root: string, rest: readonly string[]): Wanted | null {
  const depth = root === 'api' ? rest.length + 1 : rest.length;
  if (depth > 2) return null;
  const kinds = root === 'api' ? ['', 'APIVersions', 'APIResourceList'] : discoveryKinds;
  const kind = kinds[depth] ?? '';
  return { what: kind, isKind: (one) => one === kind, isList: false, name: null };
}

const discoveryKinds = ['APIGroupList', 'APIGroup', 'APIResourceList'];

/** A namespace is an object too. */
function withoutNamespace(rest: readonly string[]): readonly string[] {
  const isNamespace = rest.length < 3 || sameKind.has(rest[2] ?? '');
  return rest[0] !== 'namespaces' || isNamespace ? rest : rest.slice(2);
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** As apimachinery guesses it: all kinds that are listed here are called so. */
function pluralOf(kind: string): string {
  const word = kind.toLowerCase();
  if (word.endsWith('s')) return `${word}es`;
  return word.endsWith('y') ? `${word.slice(0, -1)}ies` : `${word}s`;
}

/** Tells whether a webhook or a policy refused, whatever the status: that says nothing of the object. */
export function isDeniedByAdmission({ message }: Failure): boolean {
  return byPolicy.test(message) || webhookDenial(message) !== null;
}

/** A policy chooses among 401, 403, 413 and 422. The end of a long sentence may have been cut off. */
const byPolicy = /^\S+ "[^"]*" is forbidden: ValidatingAdmissionPolicy '/;

/** Tells whether the API server says that there is no such object. */
export function isMissing(failure: Failure): boolean {
  return failure.status === 404 && !isDeniedByAdmission(failure);
}

/** The media type of Kubernetes' protobuf; a watch adds a parameter to it. */
export const protobufType = 'application/vnd.kubernetes.protobuf';

/** Tells whether an answer is in protobuf, by the server's own word. */
export function isProtobuf(headers: ResponseHeaders): boolean {
  return headers['content-type']?.startsWith(protobufType) ?? false;
}
