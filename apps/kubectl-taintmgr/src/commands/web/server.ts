// The server of the live page: who may ask, and what follows the cluster.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { printable, UsageError } from '@taintmgr/k8s-adapter/command-line';
import type { LiveInput, LivePage } from '@taintmgr/page';
import type { WhatIfAnswers } from './what-if.ts';

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
  /** The address that the user opens. */
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

/** The content that is served. */
interface Content {
  /** Told when the address has been used, which it can be once. */
  readonly onEnter: () => void;
  readonly page: LivePage;
  readonly streams: Pick<Streams, 'open' | 'close'>;
  /** Left out: such questions are not answered. */
  readonly whatIf?: WhatIfAnswers;
  /** Takes what a button of the demo says; false: it is none. Left out: there are no buttons. */
  readonly press?: (query: URLSearchParams) => boolean;
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  admission: Admission,
  { onEnter, page, streams, whatIf, press }: Content,
): void {
  if (admission.kind === 'out') {
    const allow = admission.status === 405 ? { allow: 'GET' } : {};
    if (wantsPage(request)) show(response, messagePage(admission.message), allow, admission.status);
    else say(response, admission.status, admission.message, allow);
    return;
  }
  const asked = URL.parse(request.url ?? '/', `http://${host}`);
  if (!asked) {
    say(response, 400, 'this is no address');
    return;
  }
  const { pathname, searchParams } = asked;
  const answered = whatIf?.page(pathname.replace(/^\/what-if\//, ''));
  if (pathname === '/') {
    const { cookie } = admission;
    if (cookie === null) show(response, page);
    else {
      show(response, entrance, { 'set-cookie': cookie });
      onEnter();
    }
  } else if (answered) {
    show(response, answered);
  } else if (whatIf && pathname === '/what-if') {
    void whatIf.answer(searchParams, response, everywhere);
  } else if (whatIf && pathname === '/what-if/stop') {
    whatIf.stop();
    say(response, 200, 'stopped');
  } else if (pathname.startsWith('/what-if/')) {
    const text = 'this answer is not kept any more: ask again on the page of the cluster';
    if (wantsPage(request)) show(response, messagePage(text), {}, 404);
    else say(response, 404, text);
  } else if (press && pathname === '/press') {
    const isButton = press(searchParams);
    say(response, isButton ? 200 : 400, isButton ? 'pressed' : 'there is no such button');
  } else if (pathname === '/events') {
    const last = request.headers['last-event-id'];
    stream(response, streams, typeof last === 'string' ? last : undefined);
  } else {
    say(response, 404, 'there is no such page here');
  }
}

/** Redirects to the page, which has no token in its address and which no other site's page can ask for. */
const entrance: LivePage = { html: redirectTo('/'), policy: "default-src 'none'" };

function show(
  response: ServerResponse,
  { html, policy }: LivePage,
  headers: Readonly<Record<string, string>> = {},
  status = 200,
): void {
  const type = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy };
  response.writeHead(status, { ...everywhere, ...type, ...headers });
  response.end(html);
}

/** True where a person looks at the answer. */
function wantsPage({ headers: { accept = '' } }: IncomingMessage): boolean {
  return accept.includes('text/html');
}

const messageStyle =
  ':root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:60ch;margin:15vh auto;padding:0 20px}';

/** A page that says why there is no other one. */
function messagePage(message: string): LivePage {
  const [first = '', ...others] = message.split('\n');
  const style = createHash('sha256').update(messageStyle).digest('base64');
  const text = [first.charAt(0).toUpperCase(), first.slice(1)].join('');
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>kubectl taintmgr web</title><style>${messageStyle}</style></head>
<body><main><h1>kubectl taintmgr web</h1><p>${[text, ...others].join('</p><p>')}</p></main></body></html>
`;
  return { html, policy: `default-src 'none'; style-src 'sha256-${style}'` };
}

function stream(
  response: ServerResponse,
  streams: Content['streams'],
  lastId: string | undefined,
): void {
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

/** The credential that admits a request, or the reason to refuse it. */
type Admission =
  | { readonly kind: 'in'; readonly cookie: string | null }
  | { readonly kind: 'out'; readonly status: 403 | 405; readonly message: string };

const used =
  'The page is open in another browser: the address that kubectl taintmgr web prints works once.\n' +
  'For a new address, stop the command with Ctrl-C and run it again.';
const secretBytes = 32;

/**
 * One session. Its address has a token that becomes a cookie at its first use. A page of another site that
 * leads here by a foreign name (DNS rebinding) is known by the header Host, and one that makes the browser
 * ask in its name by Sec-Fetch-Site.
 */
export class Session {
  readonly #port: number;
  readonly #token: string = newSecret();
  readonly #secret: string = newSecret();
  #isUsed = false;

  constructor(port: number) {
    this.#port = port;
  }

  /** The address that the user opens. */
  get address(): string {
    return `http://127.0.0.1:${this.#port}/?token=${this.#token}`;
  }

  /** Judges a request by its head alone. */
  judge({ method, url, headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>): Admission {
    const hosts = ['127.0.0.1', 'localhost'].map((name) => `${name}:${this.#port}`);
    if (!hosts.includes(headers.host ?? '')) return out('wrong Host');
    if (method !== 'GET') {
      return { kind: 'out', status: 405, message: 'nothing here takes anything but GET' };
    }
    const { 'sec-fetch-site': site = 'none' } = headers;
    const isOurs = site === 'same-origin' || site === 'none';
    if (isOurs && cookiesIn(headers.cookie).some(([name, value]) => this.#isOwn(name, value))) {
      return { kind: 'in', cookie: null };
    }
    // The file of --open leads here from another site, as browsers see it.
    const asked = URL.parse(url ?? '/', 'http://127.0.0.1');
    const isFirst = !this.#isUsed && asked?.pathname === '/';
    if (!isFirst || !isSame(asked.searchParams.get('token') ?? '', this.#token)) return out(used);
    this.#isUsed = true;
    return {
      kind: 'in',
      cookie: `${this.#name}=${this.#secret}; Path=/; HttpOnly; SameSite=Strict`,
    };
  }

  /** Cookies are of all ports of a host. */
  get #name(): string {
    return `taintmgr-web-${this.#port}`;
  }

  #isOwn(name: string, value: string): boolean {
    return name === this.#name && isSame(value, this.#secret);
  }
}

function out(message: string): Admission {
  return { kind: 'out', status: 403, message };
}

function newSecret(): string {
  return randomBytes(secretBytes).toString('base64url');
}

function cookiesIn(header: string | undefined): readonly (readonly [string, string])[] {
  return (header ?? '').split(';').map((part) => {
    const [name = '', value = ''] = part.trim().split('=');
    return [name, value] as const;
  });
}

/** In a time that says nothing of where they differ. */
function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Each is one connection of one window. */
const viewersMax = 8;
/** A browser that was cut off connects again after this time. */
const retryMs = 2000;

interface Viewer {
  readonly response: ServerResponse;
  /** The viewer has not read the last data, and there is a newer state since. */
  isBehind: boolean;
}

/**
 * Sends states as server-sent events. A slow viewer gets fewer of them: only the last one counts. A viewer
 * that reconnects with the present state does not get it again.
 */
export class Streams<State extends { readonly now: number } = LiveInput> {
  readonly #viewers = new Set<Viewer>();
  /** Tells the states of this process from those of another one at the same address. */
  readonly #run: number;
  #revision = 0;
  #json = '';
  #state: State | null = null;

  constructor(run: number = Date.now()) {
    this.#run = run;
  }

  /** The number of viewers. */
  get viewers(): number {
    return this.#viewers.size;
  }

  /** Sends a state; only its time where nothing else of it has changed. */
  publish(state: State): void {
    const json = JSON.stringify({ ...state, now: 0 });
    const isNew = json !== this.#json;
    this.#state = state;
    this.#json = json;
    if (isNew) this.#revision += 1;
    for (const viewer of this.#viewers) this.#send(viewer, isNew);
  }

  /** A new connection; false: there are too many. */
  open(response: ServerResponse, lastId: string | undefined): boolean {
    if (this.#viewers.size >= viewersMax) return false;
    const viewer = { response, isBehind: false };
    this.#viewers.add(viewer);
    response.once('close', () => this.#viewers.delete(viewer));
    response.on('drain', () => {
      if (viewer.isBehind) this.#send(viewer, true);
    });
    response.write(`retry: ${retryMs}\n\n`);
    this.#send(viewer, lastId !== this.#id);
    return true;
  }

  /** Ends all connections. */
  close(): void {
    for (const { response } of this.#viewers) response.end();
  }

  get #id(): string {
    return `${this.#run}-${this.#revision}`;
  }

  #send(viewer: Viewer, isNew: boolean): void {
    if (!this.#state) return;
    const { response } = viewer;
    if (response.writableNeedDrain) {
      viewer.isBehind ||= isNew;
      return;
    }
    viewer.isBehind = false;
    const { now } = this.#state;
    if (!isNew) response.write(`event: now\ndata: ${now}\n\n`);
    else
      response.write(
        `id: ${this.#id}\nevent: state\ndata: ${JSON.stringify(this.#state, shown)}\n\n`,
      );
  }
}

/** A character that is not seen, or reorders others, is shown as an escape: names and messages are of others. */
function shown(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? printable(value) : value;
}

/** A page that leads to an address. */
export function redirectTo(address: string): string {
  const leads = `<meta http-equiv="refresh" content="0;url=${address}">`;
  return `<!doctype html><meta charset="utf-8"><title>kubectl taintmgr</title>${leads}\n`;
}
