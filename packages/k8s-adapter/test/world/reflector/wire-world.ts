import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import type { ServerHttp2Session } from 'node:http2';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Clock, Timer } from '@taintmgr/sim-cluster';
import {
  type Answering,
  type Asked,
  certificates,
  startHttp2Server,
  startServer,
  startWire,
  type TestServer,
  type Wire,
} from '../http-server.ts';
import type { Runtime } from '../runtimes.ts';
import type { Mode } from './follower.ts';
import { LeaseCache, setbackOf } from './lease-cache.ts';
import { Leases } from './leases.ts';
import { type Order, type Report, speed } from './reflector-runtime.ts';
import type { Line } from './troubled-lines.ts';

const program = fileURLToPath(new URL('reflector-runtime.ts', import.meta.url));
const patienceMs = 120_000;

/** The time of the reflectors, in which the server lives too. */
class FastClock implements Clock {
  now(): number {
    return Date.now() + performance.now() * (speed - 1);
  }

  after(delayMs: number, callback: () => void): Timer {
    const handle = setTimeout(callback, delayMs / speed);
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  }
}

/** A process of one of the runtimes, in which reflectors run. */
export class RuntimeProcess {
  readonly #child: ChildProcess;
  readonly #reports = new EventEmitter().setMaxListeners(0);

  constructor({ binary, run }: Runtime) {
    const child = spawn(binary, [...run, program], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child = child;
    createInterface(child.stdout).on('line', (line) => {
      const { id, effect } = JSON.parse(line) as Report;
      this.#reports.emit(id, effect);
    });
  }

  order(order: Order): void {
    this.#child.stdin?.write(`${JSON.stringify(order)}\n`);
  }

  hear(id: string, listener: (effect: Report['effect']) => void): void {
    this.#reports.on(id, listener);
  }

  async end(): Promise<void> {
    const over = once(this.#child, 'close');
    this.#child.stdin?.end();
    await over;
  }
}

/** An API server on real sockets, and a reflector of another process that follows its leases. */
export class WireWorld {
  readonly clock: Clock = new FastClock();
  readonly leases: Leases;
  readonly sessions = new Set<ServerHttp2Session>();
  readonly setbacks: string[] = [];
  line: Line = (server) => server;
  lists = 0;
  readonly #cache = new LeaseCache();
  readonly #heard = new EventEmitter();
  #fault: unknown = null;
  #wire: Wire | null = null;
  #server: TestServer | null = null;

  constructor(mode: Mode) {
    this.leases = new Leases({ clock: this.clock, protobuf: mode.protobuf });
    for (let n = 0; n < 10; n++) this.leases.create();
    this.leases.beat();
  }

  get wire(): Wire {
    return this.#wire ?? assert.fail();
  }

  get server(): TestServer {
    return this.#server ?? assert.fail();
  }

  /** Serves until the test is over, and lets the process follow. */
  async start(t: TestContext, runtime: RuntimeProcess, mode: Mode, http1: boolean): Promise<void> {
    this.#server = http1
      ? await startServer(t, this.#answer, certificates.server)
      : await startHttp2Server(t, this.#answer, {
          onSession: (session) => this.sessions.add(session),
        });
    this.#wire = await startWire(t, this.#server.port);
    const id = t.name + Math.random();
    const order = { id, server: `https://127.0.0.1:${this.#wire.port}`, mode };
    runtime.hear(id, (effect) => this.#hear(effect));
    runtime.order({ ...order, ca: certificates.ca.toString() });
    t.after(() => runtime.order({ ...order, server: null, ca: '' }));
  }

  /** Until the cache is what a list would say. */
  complete(): Promise<void> {
    return this.#until(() => assert.deepEqual(this.#cache.versions, this.leases.listed()));
  }

  /** Until people are told so. */
  told(pattern: RegExp): Promise<void> {
    return this.#until(() => assert.match(this.setbacks.join('\n'), pattern));
  }

  /** Fails, with the reason, when it takes too long. */
  async #until(check: () => void): Promise<void> {
    const signal = AbortSignal.timeout(patienceMs);
    for (;;) {
      if (this.#fault) throw this.#fault;
      try {
        check();
        return;
      } catch (reason) {
        await once(this.#heard, 'effect', { signal }).catch(() => {
          throw new Error(`it takes too long; told was: ${this.setbacks.join('; ')}`, {
            cause: reason,
          });
        });
      }
    }
  }

  #hear(effect: Report['effect']): void {
    try {
      if (effect.kind === 'upsert' || effect.kind === 'delete') this.#cache.take(effect);
      if (effect.kind === 'notice') {
        this.setbacks.push(...setbackOf(effect.notice));
        if (effect.notice.kind === 'listed') this.lists += 1;
      }
    } catch (error) {
      this.#fault ??= error;
    }
    this.#heard.emit('effect');
  }

  readonly #answer = ({ url: path = '', headers }: Asked, to: Answering): void => {
    const own = Object.entries(headers).flatMap(([name, value]) =>
      name.startsWith(':') || typeof value !== 'string' ? [] : [[name, value]],
    );
    const request = { method: 'GET', path, headers: Object.fromEntries(own), body: null } as const;
    const hangUp = this.line(this.leases.api.exchange)(request, {
      head: (status, answered) => {
        to.statusCode = status;
        for (const [name, value] of Object.entries(answered)) to.setHeader(name, value);
        to.flushHeaders();
      },
      data: (chunk) => void to.write(chunk),
      end: () => void to.end(),
      reset: () => void to.destroy(),
    });
    to.once('close', hangUp);
  };
}
