import type { OutgoingHttpHeaders } from 'node:http';
import { disarmed } from '../log/logger.ts';

/** The page that a client asks for. */
export interface Inquiry {
  /** Without the query, `/readyz`. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The header Accept; '' without. */
  readonly accept: string;
  /** The last that was heard of a stream, by the header Last-Event-ID; left out: nothing. */
  readonly lastEventId?: string;
}

/** HTTP answers as values. */
export interface Answer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string;
}

/** Answers one path. */
export type Handler = (inquiry: Inquiry) => Answer | Promise<Answer>;

const noSniffing = { 'x-content-type-options': 'nosniff' } as const;

/** A body as it is. */
export function exactAnswer(body: string, status: number, contentType: string): Answer {
  return { status, headers: { 'content-type': contentType, ...noSniffing }, body };
}

/** Plain text. Names and messages come from the cluster: nothing in them steers a terminal. */
export function textAnswer(body: string, status = 200): Answer {
  return exactAnswer(disarmed(body), status, 'text/plain; charset=utf-8');
}

/** Plain text with its line end, as Go's http.Error writes it. */
export function errorAnswer(message: string, status: number): Answer {
  return textAnswer(`${message}\n`, status);
}

/** JSON for people who read it too. */
export function jsonAnswer(value: unknown, status = 200): Answer {
  return exactAnswer(`${disarmed(JSON.stringify(value, null, 2))}\n`, status, 'application/json');
}

/** A v1 Status that says what failed, as kube-apiserver writes it. */
export function statusAnswer(status: number, reason: string, message: string): Answer {
  const details = reason === 'Forbidden' ? { details: {} } : {};
  const head = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' };
  return jsonAnswer({ ...head, message, reason, ...details, code: status }, status);
}

/** Tells whether the reader asks for JSON before plain text. */
export function wantsJson({ accept, query }: Inquiry): boolean {
  const output = query.get('output') ?? query.get('o');
  if (output !== null) return output === 'json';
  const types = accept.split(',').map((type) => type.split(';')[0]?.trim());
  const json = types.indexOf('application/json');
  const text = types.findIndex((type) => type === 'text/plain' || type === '*/*');
  return json >= 0 && (text < 0 || json < text);
}
