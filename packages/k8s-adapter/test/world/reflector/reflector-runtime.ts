import process from 'node:process';
import { createInterface } from 'node:readline';
import {
  Reflector,
  type ReflectorEffect,
  type ReflectorInput,
} from '../../../src/proto/reflector.ts';
import { HttpTransport } from '../../../src/transport/http-transport.ts';
import { InputSink } from '../../../src/transport/sink.ts';
import type { Mode } from './follower.ts';
import { type Version, versionOf } from './lease-cache.ts';

// Follows leases in the runtime that runs this file. Each line of its input is an order; each line
// of its output what a reflector of these tells. Time runs faster than elsewhere, so that waits are
// short.

/** Follow the leases of a server, or (`server` is null) end what was ordered by that id. */
export interface Order {
  readonly id: string;
  readonly server: string | null;
  /** PEM. */
  readonly ca: string;
  readonly mode: Mode;
}

/** What a reflector tells. */
export interface Report {
  readonly id: string;
  readonly effect: ReflectorEffect<Version>;
}

/** Milliseconds of a reflector's time in each of ours. */
export const speed = 20;
const timing = { pingEvery: 1000, idle: 60_000 };
const now = (): number => performance.now() * speed;

class Following {
  readonly #id: string;
  readonly #reflector: Reflector<Version>;
  readonly #transport: HttpTransport;
  readonly #hangUps = new Map<string, () => void>();
  #timer: NodeJS.Timeout | null = null;

  constructor({ id, server, ca, mode }: Order) {
    this.#id = id;
    const tls = { ca, servername: 'api.test' };
    const authorize = async () => ({ headers: {}, tls, agent: null });
    const access = { server: server ?? '', authorize, rejected: () => {} };
    this.#transport = new HttpTransport(access, 'taintmgr/test', timing);
    this.#reflector = new Reflector({
      resource: 'leases',
      path: '/apis/coordination.k8s.io/v1/leases',
      selectors: {},
      watch: true,
      ...mode,
      random: Math.random,
      project: versionOf,
    });
  }

  feed(input: ReflectorInput): void {
    for (const effect of this.#reflector.handle(now(), input)) this.#perform(effect);
    if (this.#timer) clearTimeout(this.#timer);
    const wake = this.#reflector.nextWake();
    if (wake === null) return;
    this.#timer = setTimeout(() => this.feed({ kind: 'tick' }), Math.max(0, wake - now()) / speed);
  }

  end(): void {
    this.feed({ kind: 'stop' });
    this.#transport.close();
  }

  #perform(effect: ReflectorEffect<Version>): void {
    if (effect.kind === 'send') {
      const heard = new InputSink(effect.id, (input) => this.feed(input));
      this.#hangUps.set(effect.id, this.#transport.send(effect.request, heard));
    } else if (effect.kind === 'abort') this.#hangUps.get(effect.id)?.();
    else process.stdout.write(`${JSON.stringify({ id: this.#id, effect } satisfies Report)}\n`);
  }
}

/** Takes orders until the input ends. */
async function main(): Promise<void> {
  const all = new Map<string, Following>();
  for await (const line of createInterface(process.stdin)) {
    const order = JSON.parse(line) as Order;
    if (order.server === null) all.get(order.id)?.end();
    else {
      const following = new Following(order);
      all.set(order.id, following);
      following.feed({ kind: 'start' });
    }
  }
}

if (import.meta.main) await main();
