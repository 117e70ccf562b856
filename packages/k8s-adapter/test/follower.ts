import assert from 'node:assert/strict';
import { ApiServer, seededRandom, VirtualClock } from '@taintmgr/sim-cluster';
import { identityOf } from '../src/proto/convert.ts';
import {
  Reflector,
  type ReflectorEffect,
  type ReflectorInput,
  type ReflectorNotice,
} from '../src/proto/reflector.ts';
import type { ApiRequest } from '../src/proto/request.ts';
import { inputSink } from '../src/sink.ts';
import type { ExchangeSink } from '../src/virtual.ts';
import { encodeFrame } from './protobuf-encoder.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
const namespaces = ['default', 'kube-system'];

/** What answers requests. */
export type Server = (request: ApiRequest, sink: ExchangeSink) => () => void;

/** What lies between a reflector and the API server. */
export type Line = (server: Server) => Server;

/** How lists come, and in which format the streams. */
export interface Mode {
  readonly streamLists: boolean;
  readonly protobuf: boolean;
}

/** The ways in which everything about reflectors is tested. */
export const modes: readonly (readonly [string, Mode])[] = [
  ['lists in pages', { streamLists: false, protobuf: false }],
  ['lists streamed', { streamLists: true, protobuf: false }],
  ['lists streamed in protobuf', { streamLists: true, protobuf: true }],
];

/**
 * A reflector that follows the leases of a simulated API server, on a virtual clock, and the cache
 * that comes of what it tells. What it tells has to fit: no object goes that is not there.
 */
export class Follower {
  readonly clock = new VirtualClock(start);
  readonly api: ApiServer;
  readonly cache = new Map<string, string>();
  readonly notices: ReflectorNotice[] = [];
  /** Paths with queries, in order. */
  readonly requests: string[] = [];
  readonly reflector: Reflector<readonly [key: string, version: string]>;
  /** Events told so far, in words. */
  readonly told: string[] = [];
  line: Line = (server) => server;
  readonly #server: Server;
  #names = new Map<string, string>();
  #serial = 0;
  readonly #hangUps = new Map<string, () => void>();

  constructor(mode: Mode, historyLength = 1000) {
    const { clock } = this;
    this.api = new ApiServer({ clock, random: seededRandom(7), historyLength });
    this.#server = mode.protobuf ? inProtobuf(this.api.exchange) : this.api.exchange;
    this.reflector = new Reflector({
      resource: 'leases',
      path: '/apis/coordination.k8s.io/v1/leases',
      selectors: {},
      watch: true,
      ...mode,
      random: seededRandom(8),
      project: (object) => {
        const { namespace, name, uid, resourceVersion } = identityOf(object) ?? assert.fail();
        return [`${namespace}/${name}`, `${uid} ${resourceVersion}`];
      },
    });
  }

  /** Begins. In the cluster something else always changes, as in every real one. */
  start(): void {
    this.api.create('nodes', { metadata: { name: 'n' } });
    this.#beat();
    this.feed({ kind: 'start' });
  }

  #beat(): void {
    this.clock.after(15_000, () => {
      const labels = { at: String(this.clock.now()) };
      this.api.update('nodes', { metadata: { name: 'n', labels } });
      this.#beat();
    });
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

  // What happens in the cluster

  create(): void {
    const name = `l${this.#serial++}`;
    const namespace = namespaces[name.length % 2] ?? '';
    this.api.create('leases', { metadata: { name, namespace }, spec: {} });
  }

  /** Changes an object; which one, chance decides. */
  touch(chance: number): void {
    const lease = this.#any(chance);
    if (!lease) return;
    const spec = { ...lease.spec, leaseTransitions: (lease.spec.leaseTransitions ?? 0) + 1 };
    this.api.update('leases', { ...lease, spec });
  }

  delete(chance: number): void {
    const lease = this.#any(chance);
    if (lease) this.api.delete('leases', lease.metadata.namespace ?? '', lease.metadata.name);
  }

  /** Another object takes the place of one. */
  replace(chance: number): void {
    const lease = this.#any(chance);
    if (!lease) return;
    const { name, namespace = '' } = lease.metadata;
    this.api.delete('leases', namespace, name);
    this.api.create('leases', { metadata: { name, namespace }, spec: {} });
  }

  // What came of it

  /** Fails unless the cache is what a list would say. */
  assertComplete(): void {
    const listed = this.api.list('leases').map(({ metadata }) => {
      const { namespace, name, uid, resourceVersion } = metadata;
      return [`${namespace}/${name}`, `${uid} ${resourceVersion}`] as const;
    });
    assert.deepEqual(new Map([...this.cache].sort()), new Map([...listed].sort()));
    assert.equal(this.reflector.state, 'Watching');
  }

  get lists(): number {
    return this.notices.filter(({ kind }) => kind === 'listed').length;
  }

  /** What went wrong, each as `STATUS message, then NEXT`. */
  get setbacks(): string[] {
    return this.notices.flatMap((notice) => {
      if (notice.kind !== 'reconnecting') return [];
      const { failure, next } = notice;
      return [`${failure.status ?? 'none'} ${failure.message}, then ${next}`];
    });
  }

  #any(chance: number) {
    const leases = this.api.list('leases');
    return leases[Math.floor(chance * leases.length)] ?? null;
  }

  #nextWake(): number {
    return Math.min(
      this.clock.nextWake() ?? Number.POSITIVE_INFINITY,
      this.reflector.nextWake() ?? Number.POSITIVE_INFINITY,
    );
  }

  #perform(effect: ReflectorEffect<readonly [string, string]>): void {
    switch (effect.kind) {
      case 'send': {
        this.requests.push(effect.request.path);
        const heard = inputSink(effect.id, (input) => this.feed(input));
        const sink: ExchangeSink = { ...heard, reset: () => heard.failed('connection reset') };
        this.#hangUps.set(effect.id, this.line(this.#server)(effect.request, sink));
        break;
      }
      case 'abort':
        this.#hangUps.get(effect.id)?.();
        break;
      case 'upsert':
        this.#upsert(...effect.item);
        break;
      case 'delete':
        this.#delete(effect.uid);
        break;
      case 'notice':
        this.notices.push(effect.notice);
        break;
      case 'synced':
        this.told.push('synced');
    }
  }

  #upsert(key: string, version: string): void {
    const [uid = ''] = version.split(' ');
    const before = this.cache.get(key);
    assert.ok(!before || before.startsWith(uid), `${key} is another one: a delete is missing`);
    assert.notEqual(before, version, `${key} is told twice`);
    this.cache.set(key, version);
    this.#names.set(uid, key);
    this.told.push(`upsert ${key}`);
  }

  #delete(uid: string): void {
    const key = this.#names.get(uid) ?? assert.fail(`unknown ${uid} is gone`);
    assert.ok(this.cache.get(key)?.startsWith(uid), `${key} is gone twice`);
    this.cache.delete(key);
    this.told.push(`delete ${key}`);
  }
}

/** The same server with protobuf for those who prefer it, in streams. */
function inProtobuf(server: Server): Server {
  return (request, sink) => {
    if (!request.headers.accept?.includes('protobuf')) return server(request, sink);
    const contentType = 'application/vnd.kubernetes.protobuf;stream=watch';
    let isStream = false;
    return server(request, {
      ...sink,
      head: (status, headers) => {
        isStream = status === 200;
        sink.head(status, isStream ? { ...headers, 'content-type': contentType } : headers);
      },
      data: (chunk) => {
        if (!isStream) return sink.data(chunk);
        for (const line of String(chunk)
          .split('\n')
          .filter((text) => text !== '')) {
          const { type, object } = JSON.parse(line);
          sink.data(encodeFrame(type, object));
        }
      },
    });
  };
}
