// A server that tests flood, with real sockets.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import tls from 'node:tls';
import type { ApiRequest } from '@taintmgr/k8s-adapter';
import { type Handler, textAnswer } from '../../src/server/answer.ts';
import { readServerIdentity } from '../../src/server/certificate.ts';
import type { DropReason } from '../../src/server/connections.ts';
import { createAuthenticator, createAuthorizer, createGate } from '../../src/server/gate.ts';
import {
  type ServerLimits,
  type StatusServer,
  type StatusServerOptions,
  serverLimits,
  startServer,
} from '../../src/server/server.ts';

const files = { tlsCertFile: '', tlsPrivateKeyFile: '', clientCaFile: '', bindAddress: '::1' };
const identity = readServerIdentity(files, (name) => name);

export interface Flooded extends StatusServer {
  readonly drops: DropReason[];
  /** What the API server was asked about. */
  readonly reviewed: string[];
  readonly served: { count: number };
  /** Requests that were answered at the same time. */
  mostAtOnce(): number;
}

export async function start(
  t: TestContext,
  limits: Partial<ServerLimits>,
  options: Partial<StatusServerOptions> = {},
): Promise<Flooded> {
  const drops: DropReason[] = [];
  const reviewed: string[] = [];
  const served = { count: 0 };
  let [atOnce, mostAtOnce] = [0, 0];
  const client = {
    send: async ({ body }: ApiRequest): Promise<unknown> => {
      const { spec } = JSON.parse(body ?? '');
      reviewed.push(spec.token ?? spec.user);
      const isGood = spec.token?.startsWith('good');
      return { status: { authenticated: isGood, allowed: true, user: { username: 'somebody' } } };
    },
  };
  const onError = (error: unknown): never => assert.fail(String(error));
  const authenticate = createAuthenticator({ client, cacheTtl: 60_000, onError });
  const always = { alwaysAllowPaths: ['/livez'], allowedTtl: 60_000, deniedTtl: 60_000 };
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    tls: { minVersion: 'TLSv1.2', identity },
    gate: createGate(authenticate, createAuthorizer({ client, ...always })),
    routes: new Map<string, Handler>([
      ['/livez', () => textAnswer('ok')],
      [
        '/metrics',
        async () => {
          served.count += 1;
          atOnce += 1;
          mostAtOnce = Math.max(mostAtOnce, atOnce);
          await turn();
          atOnce -= 1;
          return textAnswer('metrics');
        },
      ],
    ]),
    onError,
    onDrop: (reason) => drops.push(reason),
    limits: { ...serverLimits, ...limits },
    ...options,
  });
  t.after(() => server.close());
  return Object.assign(server, { drops, reviewed, served, mostAtOnce: () => mostAtOnce });
}

/** Resolves when it is over, well or not. */
export function closed(socket: Socket): Promise<void> {
  if (socket.closed) return Promise.resolve();
  return new Promise((resolve) => {
    socket.on('error', () => {}).once('close', () => resolve());
  });
}

/** With `allowHalfOpen` it does not hang up when the server does. */
export async function connectTo(port: number, how: string, allowHalfOpen = false): Promise<Socket> {
  const where = { port, host: '127.0.0.1', rejectUnauthorized: false, allowHalfOpen };
  const socket = how === 'TLS' ? tls.connect(where) : connect(where);
  await once(socket, how === 'TLS' ? 'secureConnect' : 'connect');
  return socket;
}
