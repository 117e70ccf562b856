import assert from 'node:assert/strict';
import { seededRandom, VirtualClock } from '@taintmgr/sim-cluster';
import type { ExchangeSink } from '../../../src/driver/virtual.ts';
import {
  Reflector,
  type ReflectorEffect,
  type ReflectorInput,
  type ReflectorNotice,
} from '../../../src/proto/reflector.ts';
import { giveAnswer, InputSink, type Sink } from '../../../src/transport/sink.ts';
import { LeaseCache, setbackOf, type Version, versionOf } from './lease-cache.ts';
import { Leases } from './leases.ts';
import type { Line } from './troubled-lines.ts';

const start = Date.parse('2026-01-01T00:00:00Z');

/** How lists come, and in which format the streams. */
export interface Mode {
  readonly streamLists: boolean;
  readonly protobuf: boolean;
  /** Whether an answer that comes at once comes in one piece, as it does over HTTP/2. */
  readonly whole?: boolean;
}

/** The ways in which everything about reflectors is tested. */
export const modes: readonly (readonly [string, Mode])[] = [
  ['lists in pages', { streamLists: false, protobuf: false }],
  ['lists streamed', { streamLists: true, protobuf: false }],
  ['lists in pages, watches in protobuf', { streamLists: false, protobuf: true }],
  ['lists streamed in protobuf', { streamLists: true, protobuf: true }],
  ['lists in pages, in one piece', { streamLists: false, protobuf: true, whole: true }],
  ['lists streamed, in one piece', { streamLists: true, protobuf: false, whole: true }],
];

/**
 * A reflector that follows the leases of a simulated API server on a virtual clock, and the cache
 * that comes of what it tells.
 */
export class Follower {
  readonly clock = new VirtualClock(start);
  readonly leases: Leases;
  readonly notices: ReflectorNotice[] = [];
  /** Paths with queries, in order. */
  readonly requests: string[] = [];
  readonly reflector: Reflector<Version>;
  /** Changes told so far, in words. */
  readonly told: string[] = [];
  line: Line = (server) => server;
  readonly #cache = new LeaseCache();
  readonly #hangUps = new Map<string, () => void>();

  readonly #isWhole: boolean;

  constructor({ streamLists, protobuf, whole = false }: Mode, historyLength = 1000) {
    const { clock } = this;
    this.#isWhole = whole;
    this.leases = new Leases({ clock, historyLength, protobuf });
    this.reflector = new Reflector({
      resource: 'leases',
      path: '/apis/coordination.k8s.io/v1/leases',
      selectors: {},
      watch: true,
      streamLists,
      protobuf,
      random: seededRandom(8),
      project: versionOf,
    });
  }

  get api() {
    return this.leases.api;
  }

  start(): void {
    this.leases.beat();
    this.feed({ kind: 'start' });
  }

  feed(input: ReflectorInput): void {
    for (const effect of this.reflector.handle(this.clock.now(), input)) this.#perform(effect);
  }

  /** Lets time pass; ticks come when they are asked for. */
  run(ms: number): void {
    const end = this.clock.now() + ms;
    for (let next = this.#nextWake(); next <= end; next = this.#nextWake()) {
      this.clock.advanceTo(Math.max(next, this.clock.now()));
      const wake = this.reflector.nextWake();
      if (wake !== null && wake <= this.clock.now()) this.feed({ kind: 'tick' });
    }
    this.clock.advanceTo(end);
  }

  /** Fails unless the cache is what a list would say. */
  assertComplete(): void {
    assert.deepEqual(this.#cache.versions, this.leases.listed());
    assert.equal(this.reflector.state, 'Watching');
  }

  get lists(): number {
    return this.notices.filter(({ kind }) => kind === 'listed').length;
  }

  /** What went wrong, each as `STATUS message, then NEXT`. */
  get setbacks(): string[] {
    return this.notices.flatMap(setbackOf);
  }

  #nextWake(): number {
    return Math.min(
      this.clock.nextWake() ?? Number.POSITIVE_INFINITY,
      this.reflector.nextWake() ?? Number.POSITIVE_INFINITY,
    );
  }

  #perform(effect: ReflectorEffect<Version>): void {
    switch (effect.kind) {
      case 'send': {
        this.requests.push(effect.request.path);
        const heard = new InputSink(effect.id, (input) => this.feed(input));
        const gathered = this.#isWhole ? new Gathered(heard) : null;
        const told = gathered ?? heard;
        const sink: ExchangeSink = {
          head: (status, headers) => told.head(status, headers),
          data: (chunk) => told.data(chunk),
          end: () => told.end(),
          reset: () => told.failed('connection reset'),
        };
        this.#hangUps.set(effect.id, this.line(this.api.exchange)(effect.request, sink));
        gathered?.release();
        break;
      }
      case 'abort':
        this.#hangUps.get(effect.id)?.();
        break;
      case 'notice':
        this.notices.push(effect.notice);
        break;
      case 'synced':
        this.told.push('synced');
        break;
      default:
        this.#cache.take(effect);
        this.told.push(effect.kind);
    }
  }
}

/** Holds back what comes while a request is sent, and tells it in one piece. */
class Gathered {
  readonly #sink: Sink;
  #isHeld = true;
  #head: Parameters<Sink['head']> | null = null;
  readonly #parts: Uint8Array[] = [];
  #isOver = false;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  head(...head: Parameters<Sink['head']>): void {
    if (this.#isHeld) this.#head = head;
    else this.#sink.head(...head);
  }

  data(chunk: Uint8Array | string): void {
    if (this.#isHeld) this.#parts.push(Buffer.from(chunk));
    else this.#sink.data(chunk);
  }

  end(): void {
    if (this.#isHeld) this.#isOver = true;
    else this.#sink.end();
  }

  failed(message: string): void {
    this.release();
    this.#sink.failed(message);
  }

  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    const bytes = Buffer.concat(this.#parts);
    if (this.#head && this.#isOver) giveAnswer(this.#sink, ...this.#head, bytes);
    else {
      if (this.#head) this.#sink.head(...this.#head);
      if (bytes.length > 0) this.#sink.data(bytes);
      if (this.#isOver) this.#sink.end();
    }
  }
}
