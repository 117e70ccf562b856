// The node pressure agent without its I/O: reflectors, poller, machine and executor.
import type {
  Instant,
  PressureCommand,
  PressureEvent,
  PressureNode,
  PressurePod,
  PressureReport,
} from '@taintmgr/core';
import { readSummary } from '@taintmgr/core';
import type { KubeletAddress } from '../client/kubelets.ts';
import {
  kubeletAddressFromJson,
  pressureNodeFromJson,
  pressurePodFromJson,
} from '../pressure/convert.ts';
import { type PollEffect, type PollOptions, SummaryPoller } from '../pressure/summary-poller.ts';
import type { Random } from '../proto/backoff.ts';
import type { Change } from '../proto/inventory.ts';
import {
  Reflector,
  type ReflectorEffect,
  type ReflectorInput,
  type ReflectorNotice,
} from '../proto/reflector.ts';
import { nodesPath, podsPath } from '../proto/request.ts';
import { ServerClock } from './clock/server-clock.ts';
import type { MayAct } from './errands.ts';
import type { ReflectorStatus } from './loop.ts';
import {
  PressureExecutor,
  type PressureExecutorEffect,
  type PressureExecutorNotice,
} from './pressure-executor.ts';
import type { PressureRemoval } from './procedures/pressure-eviction.ts';
import type { RunningAction, RunningInput, RunningLoop } from './running-loop.ts';

/** The node pressure machine as the loop sees it. */
export interface PressureMachineLike {
  handle(now: Instant, event: PressureEvent): readonly PressureCommand[];
  nextWake(): Instant | null;
}

export interface PressureLoopOptions extends PollOptions {
  readonly machine: PressureMachineLike;
  /** Randomness for waits and timeouts, e.g. Math.random. */
  readonly random: Random;
  /** Which nodes are asked how they are: those that settings hold for. */
  readonly watches: (node: PressureNode) => boolean;
  /** By what pods are made to go; `delete` when left out. */
  readonly removal?: PressureRemoval;
  /** Who Kubernetes Events come from; `taintmgr` when left out. */
  readonly component?: string;
  /** Whether this replica may act at an instant, asked before each request; always when left out. */
  readonly mayAct?: MayAct;
}

/** What a person running the loop may want to know; the caller logs, counts or prints it. */
export type PressureNotice =
  | ReflectorNotice
  | PressureExecutorNotice
  /** Everything that exists has been read once; from now on pods are evicted. */
  | { readonly kind: 'synced' }
  | { readonly kind: 'pressureReport'; readonly report: PressureReport };

type Effect = Exclude<ReflectorEffect<never>, Change<never>>;

/** A collection that is read, whatever is in it. */
interface Source {
  readonly reflector: Pick<Reflector<unknown>, 'resource' | 'state' | 'aliveAt' | 'nextWake'>;
  readonly handle: (now: Instant, input: ReflectorInput) => readonly (PressureEvent | Effect)[];
}

/**
 * The node pressure agent without its I/O: reflectors tell the machine of nodes and pods, a poller
 * of what is used on each node, and what the machine commands becomes requests whose outcomes it is
 * told. It is held as Loop is.
 */
export class PressureLoop implements RunningLoop<PressureEvent, PressureNotice> {
  #phase: 'idle' | 'running' | 'stopped' = 'idle';
  #actions: RunningAction<PressureNotice>[] = [];
  readonly #unsynced: Set<string>;
  readonly #sources: readonly Source[];
  readonly #machine: PressureMachineLike;
  readonly #executor: PressureExecutor;
  readonly #poller: SummaryPoller;
  readonly #watches: (node: PressureNode) => boolean;
  readonly #serverClock = new ServerClock();
  /** By node. */
  readonly #kubelets: Kubelets = new Map();

  constructor(options: PressureLoopOptions) {
    const { machine, random, watches, removal = 'delete', component = 'taintmgr' } = options;
    const { mayAct = () => true } = options;
    this.#machine = machine;
    this.#watches = watches;
    this.#executor = new PressureExecutor({
      ...{ component, random, removal, mayAct },
      clock: this.#serverClock,
    });
    this.#poller = new SummaryPoller(options);
    this.#sources = sourcesOf(random, this.#kubelets);
    this.#unsynced = new Set(this.#sources.map(({ reflector }) => reflector.resource));
  }

  get closed(): boolean {
    return this.#phase === 'stopped' && this.#executor.idle && this.#poller.idle;
  }

  /** Whether everything that exists has been read once. */
  get synced(): boolean {
    return this.#unsynced.size === 0;
  }

  /** How far each collection is read. */
  status(): readonly ReflectorStatus[] {
    return this.#sources.map(({ reflector: { resource, state, aliveAt } }) => {
      return { resource, state, heardAt: aliveAt };
    });
  }

  /** Where the kubelet of a node listens; null: nothing is known of it. */
  kubeletOf(nodeName: string): KubeletAddress | null {
    return this.#kubelets.get(nodeName) ?? null;
  }

  nextWake(): Instant | null {
    const sources = this.#sources.map(({ reflector }) => reflector);
    const wakes = [...sources, this.#executor, this.#serverClock];
    const running = this.#phase === 'running' ? [this.#poller, this.#machine] : [];
    const instants = [...wakes, ...running].flatMap((one) => one.nextWake() ?? []);
    return instants.length === 0 ? null : Math.min(...instants);
  }

  /** What the cluster's clock shows at `now`. */
  wall(now: Instant): Instant {
    return this.#serverClock.wall(now);
  }

  handle(
    now: Instant,
    input: RunningInput<PressureEvent>,
  ): readonly RunningAction<PressureNotice>[] {
    if (this.#serverClock.handle(now, input)) {
      this.#tell(now, { kind: 'clock', ahead: this.#serverClock.ahead });
    }
    this.#take(now, input);
    const actions = this.#actions;
    this.#actions = [];
    this.#serverClock.follow(now, actions);
    return actions;
  }

  #take(now: Instant, input: RunningInput<PressureEvent>): void {
    switch (input.kind) {
      case 'start':
        if (this.#phase === 'idle') this.#phase = 'running';
        this.#read(now, input);
        break;
      case 'stop':
        // Evictions under way come to their end, so that each pod says why it went.
        this.#phase = 'stopped';
        this.#executor.stop();
        this.#hear(now, this.#poller.stop());
        this.#read(now, input);
        break;
      case 'tick':
        this.#read(now, input);
        this.#act(now, this.#executor.tick(now));
        if (this.#phase === 'running') this.#hear(now, this.#poller.tick(now));
        this.#tell(now, input);
        break;
      case 'event':
        this.#tell(now, input.event);
        // What is under way must not go on where leadership has ended.
        this.#act(now, this.#executor.tick(now));
        break;
      case 'clockStep':
        this.#serverClock.doubt();
        break;
      default:
        this.#read(now, input);
        this.#act(now, this.#executor.receive(now, input));
        this.#hear(now, this.#poller.receive(now, input));
    }
  }

  #read(now: Instant, input: ReflectorInput): void {
    for (const { reflector, handle } of this.#sources) {
      for (const effect of handle(now, input)) {
        if (isEffect(effect)) this.#actions.push(effect);
        else if (effect.kind === 'synced') this.#sourceSynced(now, reflector.resource);
        else this.#learn(now, effect);
      }
    }
  }

  /** Takes in a node or a pod; whether a node is to be asked may change with its labels. */
  #learn(now: Instant, event: PressureEvent): void {
    this.#tell(now, event);
    if (event.kind === 'pressureNodeGone') this.#poller.delete(event.name);
    if (event.kind !== 'pressureNode') return;
    if (this.#watches(event.node)) this.#poller.add(now, event.node.name);
    else this.#poller.delete(event.node.name);
  }

  #sourceSynced(now: Instant, resource: string): void {
    this.#unsynced.delete(resource);
    if (!this.synced) return;
    this.#actions.push({ kind: 'notice', notice: { kind: 'synced' } });
    this.#tell(now, { kind: 'synced' });
  }

  #hear(now: Instant, effects: readonly PollEffect[]): void {
    for (const effect of effects) {
      switch (effect.kind) {
        case 'answered': {
          const { nodeName, summary } = effect;
          this.#tell(now, { kind: 'observed', nodeName, observation: readSummary(summary) });
          break;
        }
        case 'unanswered': {
          const { nodeName, message } = effect;
          this.#tell(now, { kind: 'observationFailed', nodeName, message });
          break;
        }
        default:
          this.#actions.push(effect);
      }
    }
  }

  #tell(now: Instant, event: PressureEvent): void {
    if (this.#phase !== 'running') return;
    for (const command of this.#machine.handle(now, event)) {
      if (command.kind === 'pressureReport')
        this.#actions.push({ kind: 'notice', notice: command });
      else this.#act(now, this.#executor.execute(now, command));
    }
  }

  #act(now: Instant, effects: readonly PressureExecutorEffect[]): void {
    for (const effect of effects) {
      if (effect.kind === 'result') this.#tell(now, effect);
      else this.#actions.push(effect);
    }
  }
}

type Kubelets = Map<string, KubeletAddress | null>;

/** A node as the machine sees it, and where its kubelet is, which is no matter of the machine's. */
interface ReachableNode extends PressureNode {
  readonly kubelet: KubeletAddress | null;
}

function sourcesOf(random: Random, kubelets: Kubelets): readonly Source[] {
  const shared = { random, watch: true, selectors: {} };
  const nodes = new Reflector<ReachableNode>({
    ...shared,
    resource: 'nodes',
    path: nodesPath,
    project: (value) => ({
      ...pressureNodeFromJson(value),
      kubelet: kubeletAddressFromJson(value),
    }),
  });
  const pods = new Reflector<PressurePod>({
    ...shared,
    resource: 'pods',
    path: podsPath,
    project: pressurePodFromJson,
  });
  return [source(nodes, (change) => nodeEvent(change, kubelets)), source(pods, podEvent)];
}

/** A reflector, with its differences turned into what they are to the machine. */
function source<T>(reflector: Reflector<T>, event: (change: Change<T>) => PressureEvent): Source {
  return {
    reflector,
    handle: (now, input) =>
      reflector.handle(now, input).map((effect) => (isChange(effect) ? event(effect) : effect)),
  };
}

function nodeEvent(change: Change<ReachableNode>, kubelets: Kubelets): PressureEvent {
  if (change.kind === 'delete') {
    kubelets.delete(change.name);
    return { kind: 'pressureNodeGone', name: change.name };
  }
  const { kubelet, ...node } = change.item;
  kubelets.set(node.name, kubelet);
  return { kind: 'pressureNode', node };
}

function podEvent(change: Change<PressurePod>): PressureEvent {
  return change.kind === 'upsert'
    ? { kind: 'pressurePod', pod: change.item }
    : { kind: 'pressurePodGone', uid: change.uid };
}

function isChange<T>(effect: ReflectorEffect<T>): effect is Change<T> {
  return effect.kind === 'upsert' || effect.kind === 'delete';
}

function isEffect(effect: PressureEvent | Effect): effect is Exclude<Effect, { kind: 'synced' }> {
  return effect.kind === 'send' || effect.kind === 'abort' || effect.kind === 'notice';
}
