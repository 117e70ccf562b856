import { AccessError, type ApiError, type Status } from '../objects/errors.ts';
import { jsonOf } from '../objects/json.ts';
import { keptText } from '../objects/kept-text.ts';
import { lastWritten } from '../objects/last-written.ts';

/** The answer of a handler, and its form as a response. */
export type Answer = Reply | Stream | Later | Asking;

/** A whole response. */
export interface Reply {
  readonly kind: 'reply';
  /** The HTTP status. */
  readonly status: number;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The body, in one piece or in several; or what writes it: text costs more than all else of an answer, and
   * not everybody wants it.
   */
  readonly body: string | Iterable<string | Uint8Array> | (() => string);
  /** The body as a value; left out: the body is no JSON object. */
  readonly value?: object;
}

/**
 * A continuing response: `start` is called when its head is sent and returns a function that stops
 * it.
 */
export interface Stream {
  readonly kind: 'stream';
  readonly headers: Readonly<Record<string, string>>;
  readonly start: (emit: Emit, end: () => void) => () => void;
}

/** The output of a stream. */
interface Emit {
  data(chunk: string | Uint8Array): void;
  /** An event as a value; null: the client wants bytes. */
  readonly value: ((value: object) => void) | null;
}

/** A response that is decided after a while, unless the client leaves. */
interface Later {
  readonly kind: 'later';
  readonly delayMs: number;
  readonly answer: () => Answer;
}

/** A response that is decided when others have been asked, unless the client leaves. */
export interface Asking {
  readonly kind: 'asking';
  /** Asks them, then calls `done`; returns how to give up. */
  readonly ask: (done: () => void) => () => void;
  readonly answer: () => Answer;
}

/** The limit for all warnings of an answer: clients refuse answers whose head is too long. */
const warningCharactersMax = 4096;
/** The length of a warning when all warnings together are too long. */
const cutWarningCharactersMax = 256;

const commonHeaders = { 'cache-control': 'no-cache, private' } as const;
const jsonHeaders = { 'content-type': 'application/json', ...commonHeaders } as const;

const objectText = lastWritten((object: object) => jsonOf(object));

/** JSON on one line with a final newline, or indented without one. */
function jsonText(value: object, pretty: boolean): string {
  return pretty ? jsonOf(value, 2) : `${objectText(value)}\n`;
}

/** A JSON response; each warning becomes a Warning header entry. */
export function jsonReply(
  status: number,
  value: object,
  pretty: boolean,
  warnings: readonly string[] = [],
): Reply {
  return { ...bodyReply(status, () => jsonText(value, pretty), warnings), value };
}

/** A JSON response whose body is already text. */
export function bodyReply(
  status: number,
  body: Reply['body'],
  warnings: readonly string[] = [],
): Reply {
  const header = warningHeader(warnings);
  const warning = header === '' ? {} : { warning: header };
  return { kind: 'reply', status, headers: { ...jsonHeaders, ...warning }, body };
}

/**
 * Each warning once; where all are too long together, each is cut. Text from clients may hold
 * letters that a header cannot.
 */
function warningHeader(warnings: readonly string[]): string {
  const distinct = new Set(warnings.map((text) => text.replaceAll(/\p{Cc}/gu, '')));
  const texts = [...distinct].filter((text) => text !== '').map((text) => [...text]);
  const isCut = texts.reduce((sum, { length }) => sum + length, 0) > warningCharactersMax;
  const shown: string[] = [];
  let written = 0;
  for (const letters of texts) {
    if (isCut && written >= warningCharactersMax) break;
    const kept = isCut ? letters.slice(0, cutWarningCharactersMax) : letters;
    shown.push(`299 - ${JSON.stringify(kept.join(''))}`);
    written += kept.length;
  }
  return Buffer.from(shown.join(', ')).toString('latin1');
}

/** The same answer with one more warning; an answer that is decided later gets none. */
export function withWarning<T extends Answer>(answer: T, text: string): T {
  if (answer.kind === 'later' || answer.kind === 'asking') return answer;
  const before = answer.headers.warning;
  const more = warningHeader([text]);
  if (more === '' || before?.includes(more)) return answer;
  const warning = before ? `${before}, ${more}` : more;
  return { ...answer, headers: { ...answer.headers, warning } };
}

/** A plain text response, as for health and unknown paths. */
export function textReply(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return {
    kind: 'reply',
    status,
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      ...commonHeaders,
      ...headers,
    },
    body,
  };
}

/** The form of a watch: its head, and one event of it. */
export interface WatchFormat {
  /** The headers of the answer, by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** One event: its type, such as `ADDED`, and its object. */
  event(type: string, object: Readonly<Record<string, unknown>>): string | Uint8Array;
}

/** One event per line. */
export const jsonWatch: WatchFormat = {
  headers: jsonHeaders,
  event: (type, object) => `{"type":"${type}","object":${objectText(object)}}\n`,
};

/** A refusal as a response; `reply` writes refusals in other forms than JSON. */
export function errorReply(
  error: ApiError,
  write: (code: number, status: Status, warnings: readonly string[]) => Reply = statusReply,
): Reply {
  const reply = write(error.code, error.status, error.warnings);
  const seconds = error.status.details?.retryAfterSeconds;
  return {
    ...reply,
    headers: {
      ...reply.headers,
      ...(seconds === undefined ? {} : { 'retry-after': String(seconds) }),
      ...(error instanceof AccessError ? { 'x-content-type-options': 'nosniff' } : {}),
    },
  };
}

/** The body of a response in its pieces, which is written now if it was not. */
export function chunksOf({ body }: Reply): Iterable<string | Uint8Array> {
  const written = typeof body === 'function' ? body() : body;
  return typeof written === 'string' ? [written] : written;
}

/** A Status Success as a response. */
export function statusReply(code: number, status: Status, warnings: readonly string[] = []): Reply {
  return jsonReply(code, status, false, warnings);
}

/** V8 has large texts lie apart, in memory that is new for each, which takes ten times as long. */
const chunkCharacters = 50_000;

/**
 * The JSON text of a list in pieces, so that a list of any length fits: `items` (or a Table's
 * `rows`) is its last and only long member.
 */
export function* listChunks(list: Readonly<Record<string, unknown>>): Generator<string> {
  const member = 'rows' in list ? 'rows' : 'items';
  const { [member]: items, ...rest } = list;
  let chunk = `${JSON.stringify(rest).slice(0, -1)},"${member}":[`;
  let between = '';
  for (const item of items as readonly unknown[]) {
    chunk += between + keptText(item);
    between = ',';
    if (chunk.length < chunkCharacters) continue;
    yield chunk;
    chunk = '';
  }
  yield `${chunk}]}\n`;
}
