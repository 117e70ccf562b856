// A cluster that does at once what NodeDrains ask for.

import assert from 'node:assert/strict';
import {
  type Command,
  type Config,
  createEngine,
  type Engine,
  type Event,
  makeNode,
  makePod,
  type Node,
  type NodeInput,
  type Outcome,
  type Pod,
  type PodInput,
  type PodRef,
} from '@taintmgr/core';
import type {
  Budget,
  DrainCondition,
  DrainQuestion,
  EvictionRequest,
  NodeDrainState,
  WriteEvictionRequest,
} from '@taintmgr/core/drain';
import type { NodeDrain } from '@taintmgr/core/policy';

/** An eviction that does not succeed at once. */
export interface Mishap {
  readonly outcome: Outcome;
  /** The answer takes so long. */
  readonly after: number;
  /** True if the pod goes all the same. */
  readonly goes?: boolean;
}

/** Answers every command as done, and shows what it changed. */
export class World {
  now = 0;
  readonly nodes = new Map<string, Node>();
  readonly pods = new Map<string, Pod>();
  readonly log: string[] = [];
  /** The outcome of restarts of rollouts. */
  restarts: Outcome = { kind: 'done' };
  /** The outcome of deletions of drains; null: nobody answers. */
  deletions: Outcome | null = { kind: 'done' };
  /** The outcome of writes of conditions. */
  conditions: Outcome = { kind: 'done' };
  /** Pods that a budget lets nobody evict. */
  readonly refuses = new Set<string>();
  /** The budget as whoever reads it finds it; null: nobody may. */
  budget: Budget | null = null;
  /** The answers to its questions about others; '': nothing, ever. */
  answers = (_: DrainQuestion): Outcome | '' => ({ kind: 'done' });
  engine: Engine = createEngine({ nodeDrains: true, mode: 'evict' });
  /** EvictionRequests of the cluster; null: it has none. */
  requests: EvictionRequest[] | null = [];
  /** The outcome of their creation. */
  creations: Outcome = { kind: 'done' };
  /** The outcome of lists of them. */
  lists: Outcome = { kind: 'done' };
  /** The number of lists of them that were asked for. */
  listed = 0;
  /** The outcome of an eviction in place of its success: late, refused, or lost on its way back. */
  mishap: (pod: PodRef) => Mishap | null = () => null;
  /** So long pods terminate that are evicted. */
  lingersMs = 0;
  /** The leader is killed when it is about to hear of the event of this number; null: it is not. */
  killedAt: number | null = null;
  /** The number of events that there were to hear of. */
  heard = 0;
  /** Pods that are there no more, by name. */
  readonly ended: string[] = [];
  /** True if the next leader reads the pods of nodes only after everything else. */
  readsPodsLate = false;
  readonly #drains = new Map<string, NodeDrain>();
  /** The statuses that were written last. */
  readonly #said = new Map<string, Partial<NodeDrain>>();
  /** The ids of commands that the leader of now has sent. */
  readonly #sent = new Set<string>();
  #isHeard = true;
  readonly #later: { readonly at: number; readonly run: () => unknown }[] = [];

  readonly #config: Partial<Config>;

  /** Nodes of such names, with a pod each that nobody owns; or such nodes and pods. */
  constructor(
    drain: NodeDrain | readonly NodeDrain[],
    nodes: readonly (string | NodeInput)[],
    pods: readonly PodInput[] = [],
    config: Partial<Config> = {},
  ) {
    this.#config = { nodeDrains: true, mode: 'evict', ...config };
    for (const one of [drain].flat()) this.#drains.set(one.name, one);
    for (const given of nodes) {
      const node = makeNode(typeof given === 'string' ? { name: given } : given);
      this.nodes.set(node.name, node);
      if (typeof given === 'string') this.add({ name: `on-${given}`, nodeName: given });
    }
    for (const pod of pods) this.add(pod);
    this.start();
  }

  /** A pod that nobody has heard of before a start. */
  add(given: PodInput): void {
    const pod = makePod({ namespace: 'shop', ...given });
    this.pods.delete(pod.uid);
    this.pods.set(pod.uid, pod);
  }

  /** A new engine, as after a restart or a failover. */
  start(): void {
    this.engine = createEngine(this.#config);
    this.#sent.clear();
    this.tell({ kind: 'otherEvictors', others: { kind: 'nobody', text: '', advice: '' } });
    for (const node of this.nodes.values()) this.tell({ kind: 'nodeUpsert', node });
    if (this.readsPodsLate) this.tell({ kind: 'podViews', others: 'unread', nodes: {} });
    else this.#readPods();
    for (const drain of this.#drains.values()) this.declare(drain);
    this.tell({ kind: 'synced' });
    if (this.readsPodsLate) this.after(500, () => this.#readPods());
  }

  #readPods(): void {
    for (const pod of this.pods.values()) this.tell({ kind: 'podUpsert', pod });
    this.tell({ kind: 'podViews', others: 'watched', nodes: {} });
  }

  /** Statuses are written as things are. */
  say(): void {
    for (const [name, drain] of this.#drains) {
      const state = this.engine.policyCounts(this.now).drains?.get(name);
      if (!state) continue;
      const { nodes: known, startedAt, notReplaced, podsGone, pods, selector } = state;
      const listed = known.reduce((sum, node) => sum + node.podsGone, 0);
      this.#said.set(name, {
        ...{ known, startedAt, notReplaced, podsGoneBefore: podsGone - listed },
        podsLeft: pods.slice(0, 100).map(({ node, uid }) => ({ node, uid })),
        observedSelector: selector,
        observedGeneration: drain.generation,
      });
    }
  }

  /** Another leads, and knows of drains what their status says: as things are, or as it was written last. */
  failOver(meanwhile: () => void = () => {}, says = true): void {
    if (says) this.say();
    for (const [name, drain] of this.#drains) {
      this.#drains.set(name, { ...drain, isGuarded: true, ...this.#said.get(name) });
    }
    meanwhile();
    this.start();
  }

  /** Statuses are written every second from now on. */
  saysEachSecond(): void {
    if (this.#isHeard) this.say();
    this.after(1000, () => this.saysEachSecond());
  }

  /** Nobody leads for a while. */
  #die(): void {
    const until = this.now + 5_000;
    this.#isHeard = false;
    for (;;) {
      const [next] = this.#later.sort((a, b) => a.at - b.at);
      if (!next || next.at > until) break;
      this.now = Math.max(this.now, next.at);
      this.#later.shift()?.run();
    }
    this.now = until;
    this.#isHeard = true;
    this.failOver(() => {}, false);
  }

  /** A pod is gone, and nobody hears of it. */
  lose(name: string): void {
    for (const pod of [...this.pods.values()]) if (pod.name === name) this.#end(pod.uid);
  }

  #end(uid: string): boolean {
    const pod = this.pods.get(uid);
    if (pod) this.ended.push(`${pod.name}@${pod.nodeName}`);
    return this.pods.delete(uid);
  }

  declare(drain: NodeDrain): void {
    this.#drains.set(drain.name, drain);
    this.tell({ kind: 'nodeDrainUpsert', drain });
  }

  tell(event: Event): void {
    if (!this.#isHeard) return;
    // A process that is gone hears no answer.
    if (event.kind === 'result' && !this.#sent.has(event.id)) return;
    this.heard += 1;
    if (this.heard === this.killedAt) {
      this.#die();
      return;
    }
    const { engine } = this;
    for (const command of engine.handle(this.now, event)) {
      if (engine !== this.engine) return;
      if ('id' in command) this.#sent.add(command.id);
      this.#do(command);
    }
  }

  /** Lets so many milliseconds pass. */
  pass(length: number): void {
    const until = this.now + length;
    for (;;) {
      const [next] = this.#later.sort((a, b) => a.at - b.at);
      const wake = this.engine.nextWake();
      const at = Math.max(this.now, Math.min(wake ?? until + 1, next?.at ?? until + 1));
      if (at > until) break;
      this.now = at;
      if (next && next.at <= at) this.#later.shift()?.run();
      else this.tell({ kind: 'tick' });
    }
    this.now = Math.max(this.now, until);
  }

  /** Lets something happen once so many milliseconds have passed. */
  after(length: number, run: () => unknown): void {
    this.#later.push({ at: this.now + length, run });
  }

  state(name = 'kernel'): NodeDrainState {
    return this.engine.policyCounts(this.now).drains?.get(name) ?? assert.fail();
  }

  /** Plays the workload of an evicted pod; by itself nothing. */
  onEvicted: (pod: PodRef) => void = () => {};

  /** Hears Events about pods. */
  onEvent: (event: Extract<Command, { kind: 'recordEvent' }>) => void = () => {};

  show(given: PodInput): void {
    this.add(given);
    const pod = [...this.pods.values()].at(-1) ?? assert.fail();
    this.tell({ kind: 'podUpsert', pod });
  }

  showNode(node: Node): void {
    this.nodes.set(node.name, node);
    this.tell({ kind: 'nodeUpsert', node });
  }

  remove(uid: string): void {
    assert.ok(this.#end(uid), uid);
    this.tell({ kind: 'podDelete', uid });
  }

  #do(command: Command): void {
    if (command.kind === 'guardDrain') {
      this.log.push(command.isGuarded ? 'guard' : 'let go');
      const drain = this.#drains.get(command.drain) ?? assert.fail();
      if (!command.isGuarded) this.tell({ kind: 'nodeDrainDelete', name: command.drain });
      else this.declare({ ...drain, isGuarded: true });
    } else if (command.kind === 'deleteDrain') {
      this.log.push('delete');
      const outcome = this.deletions;
      if (outcome && outcome.kind !== 'done')
        this.tell({ kind: 'result', id: command.id, outcome });
      if (outcome?.kind !== 'done') return;
      const drain = this.#drains.get(command.drain) ?? assert.fail();
      this.declare({ ...drain, isGuarded: true, isDeleted: true });
    } else if (command.kind === 'writeDrainNode') {
      const { nodeName, write, taint, drain: id } = command;
      const node = this.nodes.get(nodeName) ?? assert.fail();
      if (write.kind !== 'renew') this.log.push(`${write.kind} ${nodeName}`);
      const mark = { id, taint: `${taint.key}:${taint.effect}`, by: 'taintmgr-controller' };
      const { drainMarks: _, drains: _work, ...bare } = node;
      const heartbeat = String(this.now);
      const isUndone = write.kind === 'undo';
      const isThere = node.taints.some(({ key, effect }) => {
        return key === taint.key && effect === taint.effect;
      });
      const isCordoned = write.kind === 'taint' && write.cordon;
      const cordon = isCordoned ? { unschedulable: true } : {};
      const working = isUndone || write.kind === 'end' ? {} : { drains: [{ ...mark, heartbeat }] };
      const next = isUndone
        ? { ...bare, taints: [] }
        : {
            ...{ ...bare, ...cordon, ...working, drainMarks: [mark] },
            taints: isThere ? node.taints : [{ ...taint, timeAdded: this.now }],
          };
      this.nodes.set(nodeName, next);
      this.tell({ kind: 'nodeUpsert', node: next });
    } else if (command.kind === 'recordEvent') {
      this.onEvent(command);
    } else if (command.kind === 'readEvictionRequests') {
      const { id, drain } = command;
      this.listed += 1;
      const [isServed, requests] = [this.requests !== null, [...(this.requests ?? [])]];
      if (this.lists.kind === 'done')
        this.tell({ kind: 'evictionRequests', drain, isServed, requests });
      this.tell({ kind: 'result', id, outcome: this.lists });
      return;
    } else if (command.kind === 'writeEvictionRequest') {
      this.tell({ kind: 'result', id: command.id, outcome: this.#writeRequest(command) });
      return;
    } else if (command.kind === 'restartRollout') {
      this.log.push(`restart ${command.owner.name}`);
      this.tell({ kind: 'result', id: command.id, outcome: this.restarts });
      return;
    } else if (command.kind === 'setDrainConditions') {
      const { node, conditions } = command;
      const said = conditions.map(({ type, status }) => `${type}=${status}`).join(' ');
      this.log.push(`${node.name} ${said}`);
      if (this.conditions.kind !== 'done') {
        this.tell({ kind: 'result', id: command.id, outcome: this.conditions });
        return;
      }
      this.#setConditions(node.name, conditions);
    } else if (command.kind === 'evictPod' && this.refuses.has(command.pod.name)) {
      const outcome = {
        kind: 'blocked',
        message: 'needs 1 healthy pod',
        retryAfter: null,
        ...(command.readsBudget && { found: this.budget }),
      } as const;
      this.tell({ kind: 'result', id: command.id, outcome });
      return;
    } else if (command.kind === 'evictPod' && this.#meetsMishap(command.id, command.pod)) {
      return;
    } else if (command.kind === 'evictPod') {
      this.#evict(command.pod);
    }
    if ('id' in command) {
      const isQuestion = command.kind === 'askForDrain';
      const outcome = isQuestion ? this.answers(command.question) : ({ kind: 'done' } as const);
      if (outcome !== '') this.tell({ kind: 'result', id: command.id, outcome });
    }
  }

  #meetsMishap(id: string, pod: PodRef): boolean {
    const mishap = this.mishap(pod);
    if (!mishap) return false;
    const { outcome, after, goes = false } = mishap;
    this.after(after, () => {
      if (goes && this.pods.has(pod.uid)) this.#evict(pod);
      this.tell({ kind: 'result', id, outcome });
    });
    return true;
  }

  #evict(pod: PodRef): void {
    this.log.push(`evict ${pod.name}`);
    // Two machines may evict the same pod at once.
    const there = this.pods.get(pod.uid);
    if (there && this.lingersMs === 0) this.remove(pod.uid);
    else if (there) {
      const going = { ...there, deletionTimestamp: this.now };
      this.pods.set(pod.uid, going);
      this.after(this.lingersMs, () => this.pods.has(pod.uid) && this.remove(pod.uid));
      this.tell({ kind: 'podUpsert', pod: going });
    }
    this.onEvicted(pod);
  }

  #writeRequest({ write, uid: drain }: WriteEvictionRequest): Outcome {
    if (write.kind === 'withdraw') {
      this.log.push(`withdraw ${write.name}`);
      this.requests = this.requests?.filter(({ name }) => name !== write.name) ?? null;
      return { kind: 'done' };
    }
    const { namespace, name, uid: podUid } = write.pod;
    this.log.push(`request ${name}`);
    if (!this.requests) return { kind: 'failed', status: 404, message: 'no API', retryAfter: null };
    if (this.creations.kind !== 'done') return this.creations;
    const request = { namespace, podUid, drain, name: `of-${name}`, failed: null };
    const asked = { requester: 'taintmgr.dev/node-drain', intent: 'Eviction' } as const;
    const fresh = { createdAt: this.now, responder: null };
    this.requests.push({ ...request, ...asked, ...fresh });
    return { kind: 'done' };
  }

  #setConditions(name: string, conditions: readonly DrainCondition[]): void {
    const node = this.nodes.get(name) ?? assert.fail();
    const types = new Set(conditions.map(({ type }) => type));
    const others = (node.conditions ?? []).filter(({ type }) => !types.has(type));
    const set = conditions.map((one) => ({ ...one, heartbeatAt: null, transitionAt: null }));
    const next = { ...node, conditions: [...others, ...set] };
    this.nodes.set(name, next);
    this.tell({ kind: 'nodeUpsert', node: next });
  }
}
