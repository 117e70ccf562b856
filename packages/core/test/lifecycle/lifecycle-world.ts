import {
  type Command,
  type Config,
  createEngine,
  type Engine,
  type Event,
  type Node,
  type NodeCondition,
  type Outcome,
  type Pod,
} from '@taintmgr/core';
import type { LimitRecord } from '@taintmgr/core/policy';
import { mergeConditions } from '../../src/model/node.ts';
import { applyTaints } from '../conformance/node-objects.ts';
import { Agenda } from './agenda.ts';

/** A moment at which something happened, in milliseconds since the start. */
export interface Deed {
  readonly at: number;
  readonly command: Exclude<Command, { kind: 'report' }>;
  readonly outcome: Outcome['kind'] | null;
}

/**
 * What goes wrong with a write; null: nothing. `lost`: carried out, and nobody hears of it; `late`:
 * carried out, and answered with 504, as the API server does while its store takes too long.
 */
export type Mishap = 'refused' | 'conflict' | 'lost' | 'late' | null;

export interface WorldOptions {
  readonly engine: Partial<Config>;
  /** Between two heartbeats of a kubelet. */
  readonly heartbeatMs?: number;
  /** How long a write and the news of it take. */
  readonly latencyMs?: number;
  readonly mishap?: (command: Command) => Mishap;
  readonly onCommand?: (at: number, command: Command) => void;
}

interface Kubelet {
  /** `running`: status and lease; `leaseOnly`; `stopped`. */
  state: 'running' | 'leaseOnly' | 'stopped';
  ready: 'True' | 'False';
  readonly phaseMs: number;
}

/**
 * A cluster as small as can be: nodes with kubelets, pods, and an API that carries out what the
 * engine commands. Time is virtual; everything that happens at one instant happens in the order in
 * which it was planned.
 */
export class LifecycleWorld {
  now = 0;
  readonly deeds: Deed[] = [];
  readonly nodes = new Map<string, Node>();
  readonly pods = new Map<string, Pod>();
  readonly kubelets = new Map<string, Kubelet>();
  readonly #options: WorldOptions;
  #engine: Engine;
  readonly #agenda = new Agenda();
  #uids = 0;
  #deaf = false;
  readonly #objects = new Map<string, Event>();
  /** What is written down of limits. */
  #record: LimitRecord | null = null;
  #ahead = 0;

  constructor(options: WorldOptions) {
    this.#options = options;
    this.#engine = createEngine(options.engine);
  }

  get engine(): Engine {
    return this.#engine;
  }

  /** Everything that exists has been told; from now on the engine acts. */
  sync(): void {
    this.tell({ kind: 'synced' });
  }

  /**
   * The process dies and another one begins, knowing nothing but what the API says. `since`: it is told that
   * it has acted since then.
   */
  restart(since: number | null = null): void {
    this.#engine = createEngine(this.#options.engine);
    this.#agenda.keep((run) => lasting.has(run));
    this.tell({ kind: 'clock', ahead: this.#ahead });
    for (const node of this.nodes.values()) this.tell({ kind: 'nodeUpsert', node });
    for (const name of this.kubelets.keys()) this.#tellLease(name);
    for (const pod of this.pods.values()) this.tell({ kind: 'podUpsert', pod });
    for (const event of [...this.#objects.values()]) this.tell(event);
    if (since !== null) this.tell({ kind: 'leadership', held: true, since });
    this.sync();
  }

  /** Sets the cluster's clock so far ahead of the engine's time; what is written goes by it. */
  setClock(ahead: number): void {
    this.#ahead = ahead;
    this.tell({ kind: 'clock', ahead });
  }

  /** The watches are cut off, or are heard again; then what was missed is told. */
  setDeaf(deaf: boolean): void {
    this.#deaf = deaf;
    if (deaf) {
      this.#engine.handle(this.now, { kind: 'view', current: false });
      return;
    }
    for (const node of this.nodes.values()) this.tell({ kind: 'nodeUpsert', node });
    for (const name of this.kubelets.keys()) this.#tellLease(name);
    this.tell({ kind: 'view', current: true });
  }

  addNode(name: string, zone: string, options: Partial<Node> & { reported?: boolean } = {}): void {
    const { reported = true, ...fields } = options;
    const labels = { 'topology.kubernetes.io/zone': zone, ...fields.labels };
    const base = { name, uid: `uid-${++this.#uids}`, taints: [], zone, createdAt: this.now };
    this.nodes.set(name, {
      ...base,
      conditions: reported ? this.#healthy('True') : [],
      ...fields,
      labels,
    });
    const phaseMs = (this.kubelets.size * 37) % (this.#options.heartbeatMs ?? 10_000);
    this.kubelets.set(name, { state: reported ? 'running' : 'stopped', ready: 'True', phaseMs });
    this.#tellNode(name);
    this.#beat(name);
  }

  removeNode(name: string): void {
    this.nodes.delete(name);
    this.kubelets.delete(name);
    this.tell({ kind: 'nodeDelete', name });
  }

  addPod(name: string, nodeName: string, more: Partial<Pod> = {}): void {
    const pod: Pod = {
      namespace: 'default',
      name,
      uid: name,
      nodeName,
      tolerations: [],
      boundAt: this.now,
      deletionTimestamp: null,
      phase: 'Running',
      generation: 1,
      mirror: false,
      owner: null,
      hasEmptyDir: false,
      ready: 'True',
      ...more,
    };
    this.pods.set(name, pod);
    this.tell({ kind: 'podUpsert', pod });
  }

  removePod(name: string): void {
    const pod = this.pods.get(name);
    if (pod && this.pods.delete(name)) this.tell({ kind: 'podDelete', uid: pod.uid });
  }

  changePod(name: string, change: Partial<Pod>): void {
    const pod = this.pods.get(name);
    if (pod) this.pods.set(name, { ...pod, ...change });
    this.#tellPod(name);
  }

  setKubelet(name: string, state: Kubelet['state'], ready: Kubelet['ready'] = 'True'): void {
    const kubelet = this.kubelets.get(name);
    if (!kubelet) throw new Error(`there is no node ${name}`);
    kubelet.state = state;
    kubelet.ready = ready;
    if (state === 'running') this.#report(name, kubelet);
  }

  /** A condition that is not the kubelet's. */
  setCondition(name: string, type: string, status: string): void {
    const conditions = this.nodes.get(name)?.conditions ?? [];
    const times = { heartbeatAt: this.#wall, transitionAt: this.#wall };
    const condition = { type, status, reason: 'Detector', message: '', ...times };
    this.changeNode(name, { conditions: mergeConditions(conditions, [condition]) });
  }

  changeNode(name: string, change: Partial<Node>): void {
    const node = this.nodes.get(name);
    if (!node) return;
    this.nodes.set(name, { ...node, ...change });
    this.#tellNode(name);
  }

  /** Lets time pass up to and including an instant. */
  runUntil(until: number): void {
    for (let turns = 0; ; turns++) {
      const plan = this.#agenda.next();
      const wake = this.#engine.nextWake() ?? Number.POSITIVE_INFINITY;
      const at = Math.max(this.now, Math.min(plan?.at ?? Number.POSITIVE_INFINITY, wake));
      if (at > until) break;
      if (at > this.now) turns = 0;
      if (turns > turnsMax) throw new Error(`it spins at ${at}`);
      this.now = at;
      if (plan && plan.at <= at) {
        this.#agenda.run(plan);
      } else {
        this.tell({ kind: 'tick' });
      }
    }
    this.now = until;
  }

  /** The process stands still; what happens meanwhile is read afterwards. */
  standStill(length: number): void {
    const held = this.#engine;
    const missed: Event[] = [];
    const handle = (_now: number, event: Event): readonly Command[] => {
      missed.push(event);
      return [];
    };
    this.#engine = { ...held, nextWake: () => null, handle };
    this.runUntil(this.now + length);
    this.#engine = held;
    this.tell({ kind: 'tick' });
    for (const event of missed) this.tell(event);
  }

  tell(event: Event): void {
    this.#keep(event);
    if (this.#deaf && event.kind !== 'tick' && event.kind !== 'result') return;
    for (const command of this.#engine.handle(this.now, event)) this.#perform(command);
  }

  /** Rules and pauses are there for the next process too. */
  #keep(event: Event): void {
    if (event.kind === 'taintRuleUpsert') this.#objects.set(`rule/${event.rule.name}`, event);
    if (event.kind === 'taintRuleDelete') this.#objects.delete(`rule/${event.name}`);
    if (event.kind === 'pauseUpsert') this.#objects.set(`pause/${event.pause.name}`, event);
    if (event.kind === 'pauseDelete') this.#objects.delete(`pause/${event.name}`);
  }

  #perform(command: Command): void {
    this.#options.onCommand?.(this.now, command);
    if (command.kind === 'report') return;
    if (!('id' in command)) {
      this.deeds.push({ at: this.now, command, outcome: null });
      return;
    }
    const mishap = this.#options.mishap?.(command) ?? null;
    const latency = this.#options.latencyMs ?? 10;
    this.#plan(latency, () => {
      const isRefused = mishap === 'refused' || mishap === 'conflict';
      const outcome = isRefused ? failed(mishap) : this.#apply(command);
      this.deeds.push({ at: this.now, command, outcome: outcome.kind });
      const heard = mishap === null ? outcome : failed(mishap);
      this.#plan(mishap === 'lost' ? 30_000 : latency, () =>
        this.tell({ kind: 'result', id: command.id, outcome: heard }),
      );
    });
  }

  #apply(command: Extract<Command, { id: string }>): Outcome {
    if (command.kind === 'deletePod' || command.kind === 'evictPod') {
      return this.#terminate(command.pod.name, command.pod.uid);
    }
    if (command.kind === 'keepTaintStarts') {
      this.changeNode(command.nodeName, { ...(command.starts && { taintStarts: command.starts }) });
      return { kind: 'done' };
    }
    if (command.kind === 'keepLimits') this.#record = command.record;
    if (command.kind === 'readLimits') {
      this.tell({ kind: 'limitRecord', record: this.#record, resume: null });
    }
    if (command.kind === 'markPodNotReady') {
      const pod = this.pods.get(command.pod.name);
      if (!pod) return { kind: 'gone' };
      this.pods.set(pod.name, { ...pod, ready: 'False' });
      this.#plan(5, () => this.#tellPod(pod.name));
      return { kind: 'done' };
    }
    if (!('node' in command)) return { kind: 'done' };
    const node = this.nodes.get(command.node.name);
    if (node?.uid !== command.node.uid) return { kind: 'gone' };
    const changed = this.#changed(node, command);
    if (!changed) return { kind: 'changed', message: 'its kubelet has reported' };
    this.nodes.set(node.name, changed);
    this.#plan(5, () => this.#tellNode(node.name));
    return { kind: 'done' };
  }

  #terminate(name: string, uid: string): Outcome {
    if (this.pods.get(name)?.uid !== uid) return { kind: 'gone' };
    this.changePod(name, { deletionTimestamp: this.#wall });
    const run = (): void => this.removePod(name);
    lasting.add(run);
    this.#plan(terminationMs, run);
    return { kind: 'done' };
  }

  #changed(node: Node, command: Extract<Command, { node: unknown }>): Node | null {
    switch (command.kind) {
      case 'changeTaints': {
        const taints = applyTaints(node.taints, command.add, command.remove);
        const { owned } = command;
        return { ...node, taints, ...(owned !== undefined && { ownedTaints: owned ?? {} }) };
      }
      case 'setNodeConditions': {
        const ready = node.conditions?.find(({ type }) => type === 'Ready');
        if (ready?.heartbeatAt !== command.seen?.heartbeatAt) return null;
        return { ...node, conditions: mergeConditions(node.conditions ?? [], command.conditions) };
      }
      case 'setNodeLabels':
        return { ...node, labels: { ...node.labels, ...command.labels } };
      default:
        return node;
    }
  }

  #beat(name: string): void {
    const run = (): void => {
      const kubelet = this.kubelets.get(name);
      if (!kubelet) return;
      if (kubelet.state === 'running') this.#report(name, kubelet);
      else if (kubelet.state === 'leaseOnly') this.#tellLease(name);
      this.#plan(this.#options.heartbeatMs ?? 10_000, run);
      lasting.add(run);
    };
    lasting.add(run);
    this.#plan(this.kubelets.get(name)?.phaseMs ?? 0, run);
  }

  #report(name: string, { ready }: Kubelet): void {
    const node = this.nodes.get(name);
    if (!node) return;
    this.nodes.set(name, { ...node, conditions: this.#healthy(ready, node.conditions) });
    this.#tellNode(name);
    this.#tellLease(name);
  }

  #healthy(ready: string, before: readonly NodeCondition[] = []): readonly NodeCondition[] {
    const statuses = {
      Ready: ready,
      MemoryPressure: 'False',
      DiskPressure: 'False',
      PIDPressure: 'False',
    };
    const posted = Object.entries(statuses).map(([type, status]): NodeCondition => {
      const known = before.find((condition) => condition.type === type);
      const transitionAt = known?.status === status ? known.transitionAt : this.#wall;
      const heartbeatAt = this.#wall;
      return { type, status, reason: 'Kubelet', message: '', heartbeatAt, transitionAt };
    });
    return mergeConditions(before, posted);
  }

  #tellNode(name: string): void {
    const node = this.nodes.get(name);
    if (node) this.tell({ kind: 'nodeUpsert', node });
  }

  #tellPod(name: string): void {
    const pod = this.pods.get(name);
    if (pod) this.tell({ kind: 'podUpsert', pod });
  }

  #tellLease(nodeName: string): void {
    if (this.kubelets.get(nodeName)?.state === 'stopped') return;
    this.tell({ kind: 'leaseUpsert', lease: { nodeName, renewedAt: this.#wall } });
  }

  get #wall(): number {
    return this.now + this.#ahead;
  }

  #plan(wait: number, run: () => void): void {
    this.#agenda.add(this.now + wait, run);
  }
}

const terminationMs = 1_000;

/** Heartbeats, and the end of pods that terminate: they go on when the process of the engine does not. */
const lasting = new WeakSet<() => void>();
/** More than any world here has to say at one instant. */
const turnsMax = 10_000;

function failed(why: Exclude<Mishap, null>): Outcome {
  const status = { refused: 403, conflict: 409, lost: null, late: 504 }[why];
  return { kind: 'failed', status, message: why, retryAfter: null };
}
