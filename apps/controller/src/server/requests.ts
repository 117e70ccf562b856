// Answers requests, one at a time for each connection.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Answer, errorAnswer, type Handler } from './answer.ts';
import type { Connections } from './connections.ts';
import type { Admission, Gate } from './gate.ts';
import { Paced } from './paced.ts';

/** What answers requests. */
export interface Answering {
  readonly gate: Gate;
  readonly routes: ReadonlyMap<string, Handler>;
  /** Told of a handler that throws: a mistake of ours. */
  readonly onError: (error: unknown) => void;
}

interface Reply {
  readonly answer: Answer;
  /** Whether a credential has shown who asks: the connection may carry another request. */
  readonly isKnown: boolean;
}

/** Answers one request of each connection after the other. */
export function requestListener(
  options: Answering,
  connections: Connections,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    const socket: Duplex = request.socket;
    if (!(socket instanceof Paced)) return;
    const { connection } = socket;
    connections.move(connection, 'answer');
    let keepAlive = false;
    response.once('close', () => {
      connections.move(connection, keepAlive ? 'idle' : 'ending');
      if (keepAlive) socket.proceed();
      else socket.finish();
    });
    const answered = ({ answer, isKnown }: Reply): void => {
      // What follows a head is read as the next one, so it had better be no body.
      keepAlive = isKnown && !hasBody(request);
      connections.move(connection, 'answer', isKnown);
      send(answer, keepAlive, request, response);
    };
    replyTo(request, options).then(answered, (error: unknown) => {
      options.onError(error);
      answered({ answer: errorAnswer('internal server error', 500), isKnown: false });
    });
  };
}

async function replyTo(request: IncomingMessage, { gate, routes }: Answering): Promise<Reply> {
  const url = URL.parse(request.url ?? '/', 'https://localhost');
  if (!url) return { answer: errorAnswer('400 Bad Request', 400), isKnown: false };
  const admission: Admission = await gate(request, url.pathname);
  const answer = admission.refusal ?? (await answerOf(request, url, routes));
  return { answer, isKnown: admission.isKnown };
}

async function answerOf(
  { method, headers }: IncomingMessage,
  { pathname: path, searchParams: query }: URL,
  routes: ReadonlyMap<string, Handler>,
): Promise<Answer> {
  const handler = routes.get(path);
  if (!handler) return errorAnswer('404 page not found', 404);
  if (method !== 'GET' && method !== 'HEAD') return errorAnswer('405 method not allowed', 405);
  const last = headers['last-event-id'];
  const lastEventId = typeof last === 'string' ? { lastEventId: last } : {};
  return handler({ path, query, accept: headers.accept ?? '', ...lastEventId });
}

function hasBody({ headers }: IncomingMessage): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers;
  return Number(length) !== 0 || encoding !== undefined;
}

function send(
  { status, headers, body }: Answer,
  keepAlive: boolean,
  { method }: IncomingMessage,
  to: ServerResponse,
): void {
  to.writeHead(status, {
    ...headers,
    'content-length': Buffer.byteLength(body),
    ...(!keepAlive && { connection: 'close' }),
  });
  to.end(method === 'HEAD' ? undefined : body);
}
