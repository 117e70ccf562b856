// Serves the page and its stream on loopback, to one session.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { LivePage } from '@taintmgr/page';
import { UsageError } from '../../usage-error.ts';
import { redirectTo } from './browser.ts';
import { type Admission, Session } from './session.ts';
import type { Streams } from './streams.ts';
import type { WhatIfAnswers } from './what-if/answers.ts';

const host = '127.0.0.1';
const connectionsMax = 32;
const headMsMax = 10_000;

/** No other site may put it into a frame, load it, or learn where it is. */
const everywhere = {
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const;

/** A running server. */
export interface WebServer {
  /** What the user opens. */
  readonly address: string;
  close(): void;
}

/** Begins to serve. Throws UsageError where the port is taken. */
export async function startWeb(port: number, content: Content): Promise<WebServer> {
  const server = createServer({ headersTimeout: headMsMax, requestTimeout: headMsMax });
  const strangers = boundConnections(server);
  const session = new Session(await listen(server, port));
  server.on('request', (request, response) => {
    const admission = session.judge(request);
    if (admission.kind === 'in') strangers.delete(request.socket);
    answer(request, response, admission, content);
  });
  return {
    address: session.address,
    close: () => {
      content.streams.close();
      server.close();
      server.closeAllConnections();
    },
  };
}

/**
 * Where there is no room, the oldest of those who have not been let in makes it. Returns these, the
 * oldest first.
 */
function boundConnections(server: Server): Set<Socket> {
  const open = new Set<Socket>();
  const strangers = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    strangers.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      strangers.delete(socket);
    });
    if (open.size <= connectionsMax) return;
    const [oldest = socket] = strangers;
    oldest.destroy();
    open.delete(oldest);
    strangers.delete(oldest);
  });
  return strangers;
}

/** What is served. */
export interface Content {
  /** Told when the address has been used, which it can be once. */
  readonly onEnter: () => void;
  readonly page: LivePage;
  readonly streams: Streams;
  readonly whatIf: WhatIfAnswers;
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  admission: Admission,
  { onEnter, page, streams, whatIf }: Content,
): void {
  if (admission.kind === 'out') {
    const allow = admission.status === 405 ? { allow: 'GET' } : {};
    say(response, admission.status, admission.message, allow);
    return;
  }
  const asked = URL.parse(request.url ?? '/', `http://${host}`);
  if (!asked) {
    say(response, 400, 'this is no address');
    return;
  }
  const { pathname, searchParams } = asked;
  const answered = whatIf.page(pathname.replace(/^\/what-if\//, ''));
  if (pathname === '/') {
    const { cookie } = admission;
    if (cookie === null) show(response, page);
    else {
      show(response, entrance, { 'set-cookie': cookie });
      onEnter();
    }
  } else if (answered) {
    show(response, answered);
  } else if (pathname === '/what-if') {
    void whatIf.answer(searchParams, response, everywhere);
  } else if (pathname.startsWith('/what-if/')) {
    say(response, 404, 'this answer is not kept any more: ask again on the page of the cluster');
  } else if (pathname === '/events') {
    const last = request.headers['last-event-id'];
    stream(response, streams, typeof last === 'string' ? last : undefined);
  } else {
    say(response, 404, 'there is no such page here');
  }
}

/** Leads on to the page, which has no token in its address and is asked for by nobody else's page. */
const entrance: LivePage = { html: redirectTo('/'), policy: "default-src 'none'" };

function show(
  response: ServerResponse,
  { html, policy }: LivePage,
  headers: Readonly<Record<string, string>> = {},
): void {
  const type = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy };
  response.writeHead(200, { ...everywhere, ...type, ...headers });
  response.end(html);
}

function stream(response: ServerResponse, streams: Streams, lastId: string | undefined): void {
  response.setHeader('content-type', 'text/event-stream');
  for (const [name, value] of Object.entries(everywhere)) response.setHeader(name, value);
  if (streams.open(response, lastId)) return;
  response.removeHeader('content-type');
  say(response, 429, 'too many windows look at this already: close one');
}

function say(
  response: ServerResponse,
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const type = { 'content-type': 'text/plain; charset=utf-8' };
  response.writeHead(status, { ...everywhere, ...type, ...headers });
  response.end(`${message}\n`);
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      reject(new UsageError(`--port: got ${port}, want a free one (${error.message})`));
    });
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}
