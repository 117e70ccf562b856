import net from 'node:net';
import tls from 'node:tls';
import { formatDuration, type Millis } from '@taintmgr/core/time';
import type { TlsMaterial } from './access.ts';
import { describeError } from './errors.ts';

/** Where a connection leads, and how. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
  /** Null: without TLS. */
  readonly tls: TlsMaterial | null;
  readonly proxy: URL | null;
}

/** A connection, and what both ends agreed to speak over it. */
export interface Dialled {
  readonly socket: net.Socket;
  readonly protocol: 'h2' | 'http/1.1';
}

/** A server that does not take the connection within this time is not waited for. */
const connectMsMax: Millis = 10_000;
/** The kernel asks this often whether the other end is there, where nothing else does. */
const tcpKeepAliveMs: Millis = 10_000;

/**
 * Connects by TCP, TLS and proxies, offering protocols in order. Rejects in words for people, also
 * when `signal` says that the connection is not wanted any more.
 */
export async function dial(
  endpoint: Endpoint,
  protocols: readonly Dialled['protocol'][],
  signal?: AbortSignal,
): Promise<Dialled> {
  const unwanted = 'the connection is not wanted any more';
  if (signal?.aborted) throw new Error(unwanted);
  const attempt = new Attempt();
  const tooLong = `no connection within ${formatDuration(connectMsMax)}`;
  const timer = setTimeout(() => attempt.giveUp(tooLong), connectMsMax);
  const onAbort = (): void => attempt.giveUp(unwanted);
  signal?.addEventListener('abort', onAbort);
  try {
    const socket = await attempt.connect(endpoint, protocols);
    socket.setKeepAlive(true, tcpKeepAliveMs);
    socket.setNoDelay(true);
    const agreed = socket instanceof tls.TLSSocket ? socket.alpnProtocol : false;
    return { socket, protocol: agreed === 'h2' ? 'h2' : 'http/1.1' };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

/** An attempt to connect, which can be given up at any point. */
class Attempt {
  #current: { destroy(error: Error): unknown } | null = null;

  giveUp(message: string): void {
    this.#current?.destroy(new Error(message));
  }

  async connect(endpoint: Endpoint, protocols: readonly string[]): Promise<net.Socket> {
    const { host, port, tls: material, proxy } = endpoint;
    const plain = proxy ? await this.#tunnel(proxy, host, port) : null;
    if (!material) return plain ?? (await this.#connected(net.connect({ host, port }), 'connect'));
    const servername = material.servername ?? (net.isIP(host) ? undefined : host);
    const socket = tls.connect({
      ...material,
      rejectUnauthorized: material.rejectUnauthorized ?? true,
      ...(plain ? { socket: plain, host } : { host, port }),
      ...(servername !== undefined && { servername }),
      ALPNProtocols: [...protocols],
    });
    return this.#connected(socket, 'secureConnect');
  }

  #connected(socket: net.Socket, event: string): Promise<net.Socket> {
    this.#current = socket;
    return new Promise((resolve, reject) => {
      socket.once(event, () => {
        socket.off('error', reject);
        socket.off('close', onClose);
        resolve(socket);
      });
      const onClose = (): void => reject(new Error('the connection was closed at once'));
      socket.once('error', reject);
      socket.once('close', onClose);
    });
  }

  /** A way through an HTTP proxy, by its CONNECT. */
  async #tunnel(proxy: URL, host: string, port: number): Promise<net.Socket> {
    const target = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    const { protocol, hostname, username, password } = proxy;
    const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    // With it comes half of what Node has for the web, which takes a while to load.
    const { request: send } = await (protocol === 'https:'
      ? import('node:https')
      : import('node:http'));
    const request = send({
      protocol,
      hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: proxy.port || (protocol === 'https:' ? 443 : 80),
      method: 'CONNECT',
      path: target,
      headers: {
        host: target,
        ...(username !== '' && {
          'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}`,
        }),
      },
      agent: false,
    });
    this.#current = request;
    return new Promise((resolve, reject) => {
      const place = `proxy ${proxy.host}`;
      request.once('connect', ({ statusCode, statusMessage }, socket: net.Socket) => {
        if (statusCode === 200) return resolve(socket);
        socket.destroy();
        return reject(new Error(`${place} refused: ${statusCode} ${statusMessage}`));
      });
      request.once('response', ({ statusCode, statusMessage }) => {
        request.destroy();
        reject(new Error(`${place} refused: ${statusCode} ${statusMessage}`));
      });
      request.once('error', (error) => reject(new Error(`${place}: ${describeError(error)}`)));
      request.end();
    });
  }
}
