// When the procedures of kube-controller-manager 1.36.2 run, and on how many workers.
import type { NodeNotReadyReason } from '../../attempt/pod-command.ts';
import type { Event } from '../../event.ts';
import { chanceOf } from '../../kernel/chance.ts';
import type { Instant, Millis } from '../../kernel/time.ts';
import { type Node, readyOf, zoneKey, zoneName } from '../../model/node.ts';
import type { Pod } from '../../model/pod.ts';
import type { OwnReplicas } from '../../own-replicas.ts';
import type { Change, StoreView } from '../../store.ts';
import type { LifecycleConfig } from '../config.ts';
import type { LifecycleMachine } from '../machine.ts';
import type { LifecycleCommand } from '../node-command.ts';
import type { LifecycleReason, NodeHealth, ZoneStatus } from '../reason.ts';
import { UpstreamController } from './controller.ts';
import { sleep, type Task, Tasks } from './tasks.ts';

const nodeWorkers = 8;
const podWorkers = 4;
const monitorWorkers = 8;
const enforcePeriodMs: Millis = 100;
/** A pass itself takes some milliseconds, so that passes drift against heartbeats. */
const passMs: Millis = 3;
const retryWaitMsMin: Millis = 5;
const retryWaitMsMax: Millis = 1_000_000;
/** All tries again together: 10 a second, 100 at once. */
const retrySpacingMs: Millis = 100;
const retryBurst = 100;

/** Everything a run of the process has in memory. */
interface ProcessRun {
  readonly controller: UpstreamController;
  readonly tasks: Tasks;
  readonly nodeQueue: WorkQueue;
  readonly podQueue: WorkQueue;
  readonly failures: Map<string, number>;
  retryAt: Instant;
}

/**
 * The node lifecycle controller of kube-controller-manager 1.36.2 behind the methods of a machine:
 * when its procedures run, and on how many workers. The controller restarts with every leadership,
 * since kube-controller-manager exits when it loses its own.
 */
export class UpstreamLifecycleMachine implements LifecycleMachine {
  readonly askers = ['lifecycle'] as const;
  readonly #store: StoreView;
  readonly #config: LifecycleConfig;
  readonly #replicas: OwnReplicas;
  #synced = false;
  #leader: boolean;
  /** Since when it has acted before it was told of anything; null: it begins now. */
  #since: Instant | null = null;
  #seed: number | null = null;
  #run: ProcessRun | null = null;
  #commands: LifecycleCommand[] = [];

  constructor(store: StoreView, config: LifecycleConfig, leader: boolean, replicas: OwnReplicas) {
    this.#store = store;
    this.#replicas = replicas;
    this.#config = config;
    this.#leader = leader;
  }

  handle(now: Instant, event: Event, changes: readonly Change[]): readonly LifecycleCommand[] {
    this.#commands = [];
    if (event.kind === 'synced') this.#synced = true;
    if (event.kind === 'leadership') {
      this.#leader = event.held;
      this.#since = event.since ?? null;
      this.#seed = event.seed ?? null;
    }
    const run = this.#synced && this.#leader ? (this.#run ?? this.#start(now)) : null;
    this.#run = run;
    if (run) {
      run.controller.now = now;
      if (event.kind === 'result') run.tasks.settle(event.id, event.outcome);
      for (const change of changes) follow(run, change);
      if (event.kind === 'tick') this.#act(now, run);
    }
    return this.#commands;
  }

  nextWake(): Instant | null {
    if (!this.#run) return null;
    const { tasks, nodeQueue, podQueue, controller } = this.#run;
    if (tasks.isReady || nodeQueue.hasWork || podQueue.hasWork) return controller.now;
    return tasks.nextWake();
  }

  /** Without a look at all nodes: it is asked for each that is tainted. */
  zoneOf(_now: Instant, { labels = {} }: Node): ZoneStatus {
    return this.#zoneStatus(zoneKey(labels), zoneName(labels));
  }

  zones(): readonly ZoneStatus[] {
    const names = new Map<string, string>();
    for (const { labels = {} } of this.#store.nodes()) names.set(zoneKey(labels), zoneName(labels));
    return [...names]
      .map(([key, name]) => this.#zoneStatus(key, name))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  healthOf(_now: Instant, node: Node): NodeHealth {
    const entry = this.#run?.controller.health.get(node.name);
    const queue = this.#run?.controller.zones.queueOf(node);
    const ready = readyOf(node.conditions);
    const { nodeMonitorGracePeriodMs, nodeStartupGracePeriodMs } = this.#config;
    const grace = ready ? nodeMonitorGracePeriodMs : nodeStartupGracePeriodMs;
    const index = queue?.queued.findIndex(({ value }) => value === node.name) ?? -1;
    return {
      heardAt: entry?.probe ?? null,
      unreachableAt: entry && ready?.status !== 'Unknown' ? entry.probe + grace : null,
      leaseRenewedAt: this.#store.lease(node.name)?.renewedAt ?? null,
      // The order within a zone is arbitrary upstream, so the time is unknown.
      taintAt: null,
      place: index < 0 ? null : index + 1,
      because: [reasonOf(ready?.status)],
    };
  }

  deletionOf(pod: Pod): NodeNotReadyReason | null {
    const { health, legacy, zones } = this.#run?.controller ?? {};
    const entry = health?.get(pod.nodeName);
    const node = this.#store.node(pod.nodeName);
    const ready = readyOf(node?.conditions)?.status;
    if (!legacy || !entry || !node || ready === undefined) return null;
    // A zone that is stopped deletes only the pods that arrive on a node whose pods were deleted
    // already.
    const isStopped = zones?.queueOf(node)?.limiter.kind === 'never';
    if (isStopped && legacy.stateOf(node.name) !== 'evicted') return null;
    return legacy.reasonOn(pod, ready, entry);
  }

  #start(now: Instant): ProcessRun {
    const emit = (command: LifecycleCommand): void => {
      this.#commands.push(command);
    };
    const controller = new UpstreamController(this.#store, this.#config, emit, this.#replicas);
    controller.now = now;
    controller.seed = this.#seed;
    const tasks = new Tasks();
    const [nodeQueue, podQueue] = [new WorkQueue(nodeWorkers), new WorkQueue(podWorkers)];
    const run = { controller, tasks, nodeQueue, podQueue, failures: new Map(), retryAt: 0 };
    for (const node of this.#store.nodes()) meetNode(run, node);
    for (const { name } of this.#store.nodes()) {
      for (const pod of this.#store.podsOn(name)) podQueue.add(pod.uid);
    }
    tasks.start(forever(enforcePeriodMs, () => controller.enforcePass()));
    const seed = this.#seed;
    const every = this.#config.nodeMonitorPeriodMs + (seed === null ? 0 : passMs);
    const begun = seed === null ? 0 : Math.floor(chanceOf(seed, 'pass') * every);
    const since = this.#since;
    this.#since = null;
    if (since !== null) controller.takeUp({ last: now - begun, every, since });
    const passes = forever(every, () => controller.monitorPass(monitorWorkers));
    tasks.start(since === null ? passes : later(every - begun, passes));
    return run;
  }

  #act(now: Instant, run: ProcessRun): void {
    const { controller, tasks, nodeQueue, podQueue } = run;
    do {
      for (let name = nodeQueue.take(); name !== null; name = nodeQueue.take()) {
        const taken = name;
        tasks.start(controller.nodePass(taken), () => nodeQueue.done(taken));
      }
      for (let uid = podQueue.take(); uid !== null; uid = podQueue.take()) {
        const taken = uid;
        tasks.start(podTask(run, taken), () => podQueue.done(taken));
      }
      for (const command of tasks.run(now)) this.#commands.push(command);
    } while (nodeQueue.hasWork || podQueue.hasWork);
  }

  #zoneStatus(key: string, name: string): ZoneStatus {
    const zones = this.#run?.controller.zones;
    const { ready, notReady } = zones?.nodeCounts.get(key) ?? { ready: 0, notReady: 0 };
    const queue = zones?.queues.get(key);
    const waiting = queue?.queued.map(({ value }) => value) ?? [];
    // The digits of a 32-bit rate, as the settings have them.
    const qps = queue?.limiter.kind === 'tokenBucket' ? queue.limiter.qps : 0;
    const rate = Number(qps.toPrecision(7));
    const tainted = zones?.evictions.get(key) ?? 0;
    const state = zones?.states.get(key) ?? null;
    return { name, key, state, ready, notReady, rate, hold: null, waiting, tainted };
  }
}

function follow(run: ProcessRun, change: Change): void {
  if (change.kind === 'node') {
    if (!change.node) run.controller.nodeDeleted(change.name);
    else if (change.previous) run.nodeQueue.add(change.name);
    else meetNode(run, change.node);
  }
  if (change.kind === 'pod') {
    const { pod, previous } = change;
    if (pod.nodeName !== '' && previous?.nodeName !== pod.nodeName) run.podQueue.add(pod.uid);
  }
}

function meetNode({ controller, nodeQueue }: ProcessRun, { name }: Node): void {
  controller.legacy?.register(name);
  nodeQueue.add(name);
}

function* later(length: Millis, task: Task): Task {
  yield* sleep(length);
  yield* task;
}

/** Again and again, with a pause after the end of each. */
function* forever(pause: Millis, procedure: () => Task): Task {
  for (;;) {
    yield* procedure();
    yield* sleep(pause);
  }
}

/** Defect: the count of failures of a name is never reset, so waits only grow. */
function* podTask(run: ProcessRun, uid: string): Task {
  const { controller, failures, podQueue } = run;
  if (yield* controller.podPass(uid)) return;
  const count = failures.get(uid) ?? 0;
  failures.set(uid, count + 1);
  const { now } = controller;
  run.retryAt = Math.max(run.retryAt, now - retryBurst * retrySpacingMs) + retrySpacingMs;
  const own = Math.min(retryWaitMsMax, retryWaitMsMin * 2 ** Math.min(count, 40));
  yield* sleep(Math.max(own, run.retryAt - now));
  podQueue.add(uid);
}

function reasonOf(status: string | undefined): LifecycleReason {
  switch (status) {
    case 'True':
      return { code: 'Ready' };
    case 'False':
      return { code: 'KubeletNotReady' };
    case undefined:
      return { code: 'NotReported' };
    default:
      return { code: 'Unknown' };
  }
}

/** Names to work on, each once however often it is asked for, by this number of workers at most. */
class WorkQueue {
  readonly #workersMax: number;
  readonly #waiting = new Set<string>();
  readonly #active = new Set<string>();

  constructor(workersMax: number) {
    this.#workersMax = workersMax;
  }

  get hasWork(): boolean {
    return this.#next() !== null;
  }

  add(name: string): void {
    this.#waiting.add(name);
  }

  /** Takes the next name that no worker has; null: none, or no worker is free. */
  take(): string | null {
    const name = this.#next();
    if (name === null) return null;
    this.#waiting.delete(name);
    this.#active.add(name);
    return name;
  }

  done(name: string): void {
    this.#active.delete(name);
  }

  #next(): string | null {
    if (this.#active.size >= this.#workersMax) return null;
    for (const name of this.#waiting) if (!this.#active.has(name)) return name;
    return null;
  }
}
