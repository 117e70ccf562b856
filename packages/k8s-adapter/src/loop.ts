import type {
  Command,
  DaemonSet,
  Event,
  Instant,
  Lease,
  Millis,
  Node,
  Pod,
  Report,
} from '@taintmgr/core';
import type { Random } from './proto/backoff.ts';
import {
  daemonSetFromJson,
  labelledPodFromJson,
  leaseFromJson,
  nodeFromJson,
  podFromJson,
} from './proto/convert.ts';
import type { ExchangeInput } from './proto/exchange.ts';
import type { ExecuteOptions } from './proto/execute.ts';
import { Executor, type ExecutorEffect, type ExecutorNotice } from './proto/executor.ts';
import type { Change, Project } from './proto/inventory.ts';
import {
  Reflector,
  type ReflectorEffect,
  type ReflectorInput,
  type ReflectorNotice,
} from './proto/reflector.ts';
import {
  type ApiRequest,
  daemonSetsPath,
  nodeLeasesPath,
  nodesPath,
  podsPath,
  type Selectors,
} from './proto/request.ts';

const defaultViewAgeMsMax: Millis = 10_000;

/** The engine as the loop sees it. */
export interface Machine {
  handle(now: Instant, event: Event): readonly Command[];
  nextWake(): Instant | null;
}

export interface LoopOptions {
  readonly machine: Machine;
  /** Randomness for waits and timeouts, e.g. Math.random. */
  readonly random: Random;
  /** Who Kubernetes Events come from; `taintmgr` when left out. */
  readonly component?: string;
  /** Grace period and dry run of every eviction. */
  readonly removal?: ExecuteOptions;
  /** A view older than this is not trusted: pod and node are read again before a pod goes. */
  readonly viewAgeMsMax?: Millis;
  /** What of each collection is read at all, judged by the server. */
  readonly nodes?: Selectors;
  readonly pods?: Selectors;
  /** What of that the machine is told of, judged by us. */
  readonly acceptsNode?: (node: Node) => boolean;
  readonly acceptsPod?: (pod: Pod) => boolean;
  /** Read the leases of nodes too, for the node lifecycle; false when left out. */
  readonly leases?: boolean;
  /** Read DaemonSets and the labels of pods too, for its legacy mode; false when left out. */
  readonly daemonSets?: boolean;
  /** List once, watch nothing, change nothing. */
  readonly readOnly?: boolean;
}

export type LoopInput =
  | { readonly kind: 'start' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'tick' }
  /** Something the machine is to be told from elsewhere, e.g. leadership. */
  | { readonly kind: 'event'; readonly event: Event }
  | ExchangeInput;

export type LoopAction =
  | {
      readonly kind: 'send';
      /** What is heard of this request comes back as inputs with this id. */
      readonly id: string;
      readonly request: ApiRequest;
    }
  /** Hang up; what still comes is not heard. */
  | { readonly kind: 'abort'; readonly id: string }
  | { readonly kind: 'notice'; readonly notice: Notice };

/** What a person running the loop may want to know; the caller logs, counts or prints it. */
export type Notice =
  | ReflectorNotice
  | ExecutorNotice
  /** Everything that exists has been read once; from now on pods are evicted. */
  | { readonly kind: 'synced' }
  | { readonly kind: 'report'; readonly report: Report };

/** How far one collection is read. */
export interface ReflectorStatus {
  readonly resource: string;
  readonly state: Reflector<unknown>['state'];
  /** As of when the picture is known to be complete; null: not yet. */
  readonly heardAt: Instant | null;
}

/** A collection that is read, whatever is in it. */
interface Source {
  readonly reflector: Pick<Reflector<unknown>, 'resource' | 'state' | 'heardAt' | 'nextWake'>;
  /** What an input gives: news for the machine, or requests. */
  readonly handle: (now: Instant, input: ReflectorInput) => readonly (Event | Effect)[];
}

type Effect = Exclude<ReflectorEffect<never>, Change<never>>;

/** A watch may be cut off for so long, as it is when the server ends it, before we call it so. */
const viewGapMsMax: Millis = 5_000;

/**
 * The whole controller without its I/O: two reflectors feed the machine, and what the machine
 * commands becomes requests whose outcomes it is told. Whoever holds it sends the requests, reports
 * what is heard, and calls with a tick at nextWake(); an extra tick is harmless.
 */
export class Loop {
  #phase: 'idle' | 'running' | 'stopped' = 'idle';
  #actions: LoopAction[] = [];
  readonly #unsynced: Set<string>;
  readonly #sources: readonly Source[];
  readonly #executor: Executor;
  readonly #machine: Machine;
  readonly #readOnly: boolean;
  readonly #viewAgeMsMax: Millis;
  /** Since when some collection is not being watched; null: all are. */
  #gapSince: Instant | null = null;
  #isViewCurrent = true;

  constructor(options: LoopOptions) {
    const { machine, component = 'taintmgr', removal = {}, readOnly = false } = options;
    this.#viewAgeMsMax = options.viewAgeMsMax ?? defaultViewAgeMsMax;
    this.#machine = machine;
    this.#readOnly = readOnly;
    this.#executor = new Executor(component, removal);
    this.#sources = sourcesOf(options);
    this.#unsynced = new Set(this.#sources.map(({ reflector }) => reflector.resource));
  }

  /** Whether it was stopped and no request is under way any more. */
  get closed(): boolean {
    return this.#phase === 'stopped' && this.#executor.idle;
  }

  /** Whether everything that exists has been read once. */
  get synced(): boolean {
    return this.#unsynced.size === 0;
  }

  /** How far each collection is read. */
  status(): readonly ReflectorStatus[] {
    return this.#sources.map(({ reflector: { resource, state, heardAt } }) => {
      return { resource, state, heardAt };
    });
  }

  /** When to call with a tick; null: not before something is heard. */
  nextWake(): Instant | null {
    const wakes = [...this.#sources.map(({ reflector }) => reflector), this.#executor];
    const machines = this.#phase === 'running' ? [...wakes, this.#machine] : wakes;
    return machines.map((machine) => machine.nextWake()).reduce(earlier, this.#gapEnd());
  }

  /** Takes one input and answers what is to be done, in this order. `now` never goes back. */
  handle(now: Instant, input: LoopInput): readonly LoopAction[] {
    this.#take(now, input);
    const actions = this.#actions;
    this.#actions = [];
    return actions;
  }

  #take(now: Instant, input: LoopInput): void {
    switch (input.kind) {
      case 'start':
        if (this.#phase === 'idle') this.#phase = 'running';
        this.#read(now, input);
        break;
      case 'stop':
        // What is under way comes to its end, so that its outcome is known; nothing new begins.
        this.#phase = 'stopped';
        this.#executor.stop();
        this.#read(now, input);
        break;
      case 'tick':
        this.#read(now, input);
        this.#act(now, this.#executor.tick(now));
        this.#watchView(now);
        this.#tell(now, input);
        break;
      case 'event':
        this.#tell(now, input.event);
        break;
      default:
        this.#read(now, input);
        this.#act(now, this.#executor.receive(now, input));
    }
  }

  #read(now: Instant, input: ReflectorInput): void {
    for (const source of this.#sources) {
      for (const effect of source.handle(now, input)) {
        if (effect.kind === 'synced') this.#sourceSynced(now, source.reflector.resource);
        else if (isEffect(effect)) this.#actions.push(effect);
        else this.#tell(now, effect);
      }
    }
    this.#watchView(now);
  }

  /** Tells the machine when a collection has not been watched for a while, and when all are again. */
  #watchView(now: Instant): void {
    if (this.#phase !== 'running' || !this.synced || this.#readOnly) return;
    const isGap = this.#sources.some(({ reflector }) => reflector.state !== 'Watching');
    this.#gapSince = isGap ? (this.#gapSince ?? now) : null;
    const isCurrent = this.#gapSince === null || now < this.#gapSince + viewGapMsMax;
    if (isCurrent === this.#isViewCurrent) return;
    this.#isViewCurrent = isCurrent;
    this.#tell(now, { kind: 'view', current: isCurrent });
  }

  /** When a gap in what we hear becomes too long; null: there is none, or it has. */
  #gapEnd(): Instant | null {
    if (this.#phase !== 'running' || this.#gapSince === null || !this.#isViewCurrent) return null;
    return this.#gapSince + viewGapMsMax;
  }

  #sourceSynced(now: Instant, resource: string): void {
    this.#unsynced.delete(resource);
    if (!this.synced) return;
    this.#actions.push({ kind: 'notice', notice: { kind: 'synced' } });
    this.#tell(now, { kind: 'synced' });
  }

  #tell(now: Instant, event: Event): void {
    if (this.#phase !== 'running') return;
    for (const command of this.#machine.handle(now, event)) {
      if (command.kind === 'report') {
        this.#actions.push({ kind: 'notice', notice: command });
      } else if (!this.#readOnly) {
        const doubtful = 'confirm' in command && command.confirm;
        const confirm = doubtful || this.#isStale(now);
        this.#act(now, this.#executor.execute(now, command, confirm));
      }
    }
  }

  /** Whether what we know is too old to remove a pod on its account without looking again. */
  #isStale(now: Instant): boolean {
    const heard = this.status().map(({ heardAt }) => heardAt ?? Number.NEGATIVE_INFINITY);
    return now - Math.min(...heard) > this.#viewAgeMsMax;
  }

  #act(now: Instant, effects: readonly ExecutorEffect[]): void {
    for (const effect of effects) {
      if (effect.kind === 'result') this.#tell(now, effect);
      else this.#actions.push(effect);
    }
  }
}

/** Reads an object, and lets through what the filter accepts. */
function accepted<T>(read: (object: unknown) => T, accepts?: (item: T) => boolean): Project<T> {
  if (!accepts) return read;
  return (object) => {
    const item = read(object);
    return accepts(item) ? item : null;
  };
}

function sourcesOf(options: LoopOptions): readonly Source[] {
  const { random, leases = false, daemonSets = false, readOnly = false } = options;
  const shared = { random, watch: !readOnly };
  const nodes = new Reflector<Node>({
    ...shared,
    resource: 'nodes',
    path: nodesPath,
    selectors: options.nodes ?? {},
    project: accepted(nodeFromJson, options.acceptsNode),
  });
  const pods = new Reflector<Pod>({
    ...shared,
    resource: 'pods',
    path: podsPath,
    selectors: options.pods ?? {},
    project: accepted(daemonSets ? labelledPodFromJson : podFromJson, options.acceptsPod),
  });
  const sources = [source(nodes, nodeEvent), source(pods, podEvent)];
  if (leases) {
    const [resource, path, project] = ['leases', nodeLeasesPath, leaseFromJson] as const;
    const reflector = new Reflector<Lease>({ ...shared, resource, path, selectors: {}, project });
    sources.push(source(reflector, leaseEvent));
  }
  if (daemonSets) {
    const [resource, path, project] = ['daemonsets', daemonSetsPath, daemonSetFromJson] as const;
    const reflector = new Reflector<DaemonSet>({
      ...shared,
      resource,
      path,
      selectors: {},
      project,
    });
    sources.push(source(reflector, daemonSetEvent));
  }
  return sources;
}

/** A reflector, with its differences turned into what they are to the machine. */
function source<T>(reflector: Reflector<T>, event: (change: Change<T>) => Event): Source {
  return {
    reflector,
    handle: (now, input) =>
      reflector.handle(now, input).map((effect) => (isChange(effect) ? event(effect) : effect)),
  };
}

function nodeEvent(change: Change<Node>): Event {
  return change.kind === 'upsert'
    ? { kind: 'nodeUpsert', node: change.item }
    : { kind: 'nodeDelete', name: change.name };
}

function podEvent(change: Change<Pod>): Event {
  return change.kind === 'upsert'
    ? { kind: 'podUpsert', pod: change.item }
    : { kind: 'podDelete', uid: change.uid };
}

function leaseEvent(change: Change<Lease>): Event {
  return change.kind === 'upsert'
    ? { kind: 'leaseUpsert', lease: change.item }
    : { kind: 'leaseDelete', nodeName: change.name };
}

function daemonSetEvent(change: Change<DaemonSet>): Event {
  return change.kind === 'upsert'
    ? { kind: 'daemonSetUpsert', daemonSet: change.item }
    : { kind: 'daemonSetDelete', uid: change.uid };
}

function isChange<T>(effect: ReflectorEffect<T>): effect is Change<T> {
  return effect.kind === 'upsert' || effect.kind === 'delete';
}

function isEffect(effect: Event | Effect): effect is Effect {
  return effect.kind === 'send' || effect.kind === 'abort' || effect.kind === 'notice';
}

function earlier(one: Instant | null, other: Instant | null): Instant | null {
  if (one === null) return other;
  return other === null ? one : Math.min(one, other);
}
