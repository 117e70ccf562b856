import { type Instant, type Millis, parseTime } from '@taintmgr/core/time';
import {
  asInteger,
  asList,
  asRecord,
  asText,
  isRecord,
  parseJson,
  parseToWriteBack,
} from './json.ts';

/** How a request ended, with a response or without one, and the failure in it. */
export type Answer =
  | {
      readonly kind: 'response';
      readonly status: number;
      readonly headers: ResponseHeaders;
      readonly body: string;
      /** The body as a value, where it came as one; nobody writes to it. */
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

/** How far a request came that failed, where that is not the connection itself. */
export type FailureStage = 'login';

/** Response headers, names in lower case. */
export type ResponseHeaders = Readonly<Record<string, string>>;

/** What the API server says about a failure: a v1 Status, or what can be made of another body. */
export interface Failure {
  /** HTTP status; null without an answer. */
  readonly status: number | null;
  /** Status.reason, e.g. NotFound; '' where the server names none. */
  readonly reason: string;
  readonly message: string;
  /** How long the server asks us to wait; null: it does not say. */
  readonly retryAfter: Millis | null;
  readonly causes: readonly FailureCause[];
  /** Status.details.name and .kind: what the failure is about. */
  readonly name: string;
  readonly kind: string;
}

export interface FailureCause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

/** No server may send us away for longer than this. */
const retryAfterMsMax: Millis = 300_000;
const messageLengthMax = 500;

/** Reads the failure out of an answer that is not a 2xx. */
export function failureOf(answer: Answer): Failure {
  if (answer.kind === 'none') return noAnswer(answer.message);
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

/** What an answer says, as JSON; undefined: it is none. */
export function answerValue(answer: Responded): unknown {
  return answer.value ?? parseJson(answer.body);
}

/** The same for what is to be written back. */
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
