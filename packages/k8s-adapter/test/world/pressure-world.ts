import assert from 'node:assert/strict';
import { ServedCluster } from '@taintmgr/api-server';
import { type Config, createEngine } from '@taintmgr/core';
import {
  createPressureMachine,
  type PressureConfig,
  type PressureEvent,
  type PressureMachine,
} from '@taintmgr/core/pressure';
import type { Instant } from '@taintmgr/core/time';
import {
  type KubeObject,
  type NodeDescription,
  namespace,
  pod,
  seededRandom,
  VirtualClock,
} from '@taintmgr/sim-cluster';
import { Loop } from '../../src/controller/engine-loop.ts';
import {
  PressureLoop,
  type PressureLoopOptions,
  type PressureNotice,
} from '../../src/controller/pressure-loop.ts';
import { type Exchange, VirtualDriver } from '../../src/driver/virtual.ts';
import type { ApiRequest } from '../../src/proto/requests.ts';

export const [mebibyte, gibibyte]: readonly [number, number] = [2 ** 20, 2 ** 30];

/** A request, in seconds after the beginning, and what the API server answered. */
export interface Exchanged {
  readonly at: number;
  readonly request: ApiRequest;
  status: number | null;
}

export interface PressureWorldOptions {
  readonly pressure: Partial<PressureConfig>;
  readonly agent?: Partial<Omit<PressureLoopOptions, 'machine'>>;
  /** Its nodes; left out: one of 16Gi. */
  readonly nodes?: readonly NodeDescription[];
  /** How long containers take to stop, in milliseconds; left out: half a second. */
  readonly podStopMs?: readonly [min: number, max: number];
  /** Runs the engine beside the agent; left out: nobody taints anything. */
  readonly engine?: Partial<Config>;
}

/** What a pod is like. */
export interface PodTraits {
  readonly priorityClassName?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly requests?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, string>>;
  readonly graceSeconds?: number;
}

const start = Date.parse('2026-01-01T00:00:00Z');
const sliceMs = 100;

/** A simulated cluster whose nodes run out of things, and the agent, on a clock that jumps. */
export class PressureWorld {
  readonly cluster: ServedCluster;
  machine: PressureMachine;
  loop: PressureLoop;
  readonly notices: PressureNotice[] = [];
  readonly exchanges: Exchanged[] = [];
  /** What happened to the cluster, as `SECONDS what`. */
  readonly story: string[] = [];
  readonly #clock = new VirtualClock(start);
  readonly #options: PressureWorldOptions;
  #driver: VirtualDriver<PressureEvent, PressureNotice>;
  readonly #engineDriver: VirtualDriver | null;

  constructor(options: PressureWorldOptions) {
    const { nodes, engine, podStopMs = [500, 600] } = options;
    this.#options = options;
    const none = { region: 'r', zones: [], nodesPerZone: 0, workloads: [], budgets: [] };
    this.cluster = new ServedCluster({
      clock: this.#clock,
      seed: 5,
      topology: none,
      timing: {
        heartbeatMs: 10_000,
        startupMs: [10, 20],
        podStartMs: [10, 20],
        podStopMs,
      },
      without: ['conditionTaints', 'scheduler', 'workloads'],
    });
    [this.machine, this.loop, this.#driver] = this.#newAgent();
    this.#engineDriver = engine ? this.#drive(engine) : null;
    for (const node of nodes ?? [{ name: 'n1' }]) this.cluster.addNode(node);
    this.cluster.api.create('namespaces', namespace('shop'));
    this.cluster.api.subscribe(({ resource, object }) => this.#tellStory(resource, object));
    this.cluster.start();
    this.#driver.feed({ kind: 'start' });
    this.#engineDriver?.feed({ kind: 'start' });
  }

  /** Lets another agent go on, which knows nothing of what the one before it did. */
  restart(): void {
    this.#driver.feed({ kind: 'stop' });
    [this.machine, this.loop, this.#driver] = this.#newAgent();
    this.#driver.feed({ kind: 'start' });
  }

  get now(): Instant {
    return this.#clock.now();
  }

  get seconds(): number {
    return (this.#clock.now() - start) / 1000;
  }

  /** Runs to that second of the story. */
  runTo(second: number): void {
    const end = start + second * 1000;
    const engineDriver = this.#engineDriver;
    for (let at = this.#clock.now(); engineDriver && at < end; ) {
      at = Math.min(at + sliceMs, end);
      this.#driver.runUntil(at);
      engineDriver.runUntil(at);
    }
    this.#driver.runUntil(end);
  }

  feed(...input: Parameters<VirtualDriver<PressureEvent, PressureNotice>['feed']>): void {
    this.#driver.feed(...input);
  }

  addPod(name: string, traits: PodTraits = {}, nodeName = 'n1'): void {
    const { annotations = {}, requests, limits, graceSeconds = 30, priorityClassName } = traits;
    const object = pod('shop', name);
    const containers: readonly object[] = object.spec.containers;
    const resources = { ...(requests && { requests }), ...(limits && { limits }) };
    this.cluster.api.create('pods', {
      ...object,
      metadata: { ...object.metadata, annotations },
      spec: {
        ...object.spec,
        nodeName,
        ...(priorityClassName && { priorityClassName }),
        terminationGracePeriodSeconds: graceSeconds,
        containers: containers.map((container) => ({ ...container, resources })),
      },
    });
  }

  node(name = 'n1'): KubeObject {
    return this.cluster.api.get('nodes', '', name) ?? assert.fail(`no node ${name}`);
  }

  /** The names of the pods that are there, and not on their way out. */
  get pods(): readonly string[] {
    return this.cluster.api
      .list('pods', 'shop')
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.name)
      .sort();
  }

  condition(type: string): string | null {
    const conditions: readonly { type: string; status: string }[] = this.node().status.conditions;
    return conditions.find((condition) => condition.type === type)?.status ?? null;
  }

  get taints(): readonly string[] {
    const taints: readonly { key: string; effect: string }[] = this.node().spec.taints ?? [];
    return taints.map(({ key, effect }) => `${key}:${effect}`);
  }

  /** What was written, but for Events, as `METHOD path`. */
  get writes(): readonly string[] {
    return this.exchanges
      .filter(({ request: { method, path } }) => method !== 'GET' && !path.includes('/events'))
      .map(({ request: { method, path } }) => `${method} ${path}`);
  }

  /** The codes of what was last told to be wrong with what is known of a node. */
  get doubts(): readonly string[] {
    const told = this.notices.flatMap((notice) =>
      notice.kind === 'pressureReport' && notice.report.kind === 'doubt' ? [notice.report] : [],
    );
    return told.at(-1)?.because.map(({ code }) => code) ?? [];
  }

  #newAgent(): [PressureMachine, PressureLoop, VirtualDriver<PressureEvent, PressureNotice>] {
    const { pressure, agent } = this.#options;
    const machine = createPressureMachine(pressure);
    const random = seededRandom(4);
    const loop = new PressureLoop({ machine, random, watches: () => true, ...agent });
    const driver = new VirtualDriver({
      loop,
      exchange: this.#noted(this.cluster.exchange),
      clock: this.#clock,
      onNotice: (notice: PressureNotice) => this.notices.push(notice),
    });
    return [machine, loop, driver];
  }

  #drive(engine: Partial<Config>): VirtualDriver {
    const loop = new Loop({ machine: createEngine(engine), random: seededRandom(3), leases: true });
    const { exchange } = this.cluster;
    return new VirtualDriver({ loop, exchange, clock: this.#clock, onNotice: () => {} });
  }

  #noted(exchange: Exchange): Exchange {
    return (request, sink) => {
      const noted: Exchanged = { at: this.seconds, request, status: null };
      this.exchanges.push(noted);
      const head: typeof sink.head = (status, headers) => {
        noted.status = status;
        sink.head(status, headers);
      };
      return exchange(request, { ...sink, head });
    };
  }

  #tellStory(resource: string, object: KubeObject): void {
    const line = lineOf(resource, object);
    if (line === null || line === this.#lastAbout(line)) return;
    this.story.push(`${Math.round(this.seconds)} ${line}`);
  }

  #lastAbout(line: string): string | undefined {
    const [kind, name] = line.split(' ');
    const about = this.story.map((told) => told.slice(told.indexOf(' ') + 1));
    return about.findLast((told) => told.startsWith(`${kind} ${name} `));
  }
}

/** What the story tells of an object as it is now. */
function lineOf(resource: string, object: KubeObject): string | null {
  const { metadata, spec, status } = object;
  if (resource === 'nodes') {
    const conditions: readonly { type: string; status: string }[] = status?.conditions ?? [];
    const own = conditions.filter(({ type }) => type.startsWith('taintmgr.dev/'));
    const taints: readonly { key: string }[] = spec.taints ?? [];
    const held = own.map(({ type, status: value }) => `${type}=${value}`);
    return `node ${metadata.name} [${held}] [${taints.map(({ key }) => key)}]`;
  }
  if (resource === 'pods') {
    const { deletionGracePeriodSeconds: grace } = metadata;
    const { phase, reason } = status ?? {};
    const leaves = grace === undefined ? '' : ` leaves within ${grace}s`;
    return `pod ${metadata.name} ${phase}${reason ? `/${reason}` : ''}${leaves}`;
  }
  if (resource !== 'events') return null;
  const { involvedObject, reason, message } = object;
  return `event ${involvedObject.name} ${reason}: ${message}`;
}
