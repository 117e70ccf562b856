import assert from 'node:assert/strict';
import { seededRandom, VirtualClock } from '@taintmgr/sim-cluster';
import type { ExchangeSink } from '../../../src/driver/virtual.ts';
import {
  Reflector,
  type ReflectorEffect,
  type ReflectorInput,
  type ReflectorNotice,
} from '../../../src/proto/reflector.ts';
import { inputSink } from '../../../src/transport/sink.ts';
import { LeaseCache, setbackOf, type Version, versionOf } from './lease-cache.ts';
import { Leases } from './leases.ts';
import type { Line } from './troubled-lines.ts';

const start = Date.parse('2026-01-01T00:00:00Z');

/** How lists come, and in which format the streams. */
export interface Mode {
  readonly streamLists: boolean;
  readonly protobuf: boolean;
}

/** The ways in which everything about reflectors is tested. */
export const modes: readonly (readonly [string, Mode])[] = [
  ['lists in pages', { streamLists: false, protobuf: false }],
  ['lists streamed', { streamLists: true, protobuf: false }],
  ['lists in pages, watches in protobuf', { streamLists: false, protobuf: true }],
  ['lists streamed in protobuf', { streamLists: true, protobuf: true }],
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

  constructor({ streamLists, protobuf }: Mode, historyLength = 1000) {
    const { clock } = this;
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
        const heard = inputSink(effect.id, (input) => this.feed(input));
        const sink: ExchangeSink = { ...heard, reset: () => heard.failed('connection reset') };
        this.#hangUps.set(effect.id, this.line(this.api.exchange)(effect.request, sink));
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
