// A cluster with several NodeDrains, and people who change drains and nodes while they run.

import assert from 'node:assert/strict';
import {
  type Command,
  createEngine,
  type Engine,
  type Event,
  makeNode,
  makePod,
  type Node,
  type Outcome,
  type Pod,
  type PodInput,
} from '@taintmgr/core';
import type { NodeDrainState, WriteDrainNode } from '@taintmgr/core/drain';
import type { NodeDrain, NodeDrainSpec } from '@taintmgr/core/policy';

/** A node as a name says it: `a/n1` is in zone a, `blue@n1` has the label pool=blue. */
function nodeOf(text: string): Node {
  const [, zone = '', pool = '', name = ''] = /^(?:(\w+)\/)?(?:(\w+)@)?(\w+)$/.exec(text) ?? [];
  return makeNode({
    name,
    ...(zone !== '' && { zone }),
    ...(pool !== '' && { labels: { pool } }),
  });
}

/** A cluster where others change things too; several drains may be there. */
/** Changes that somebody writes into a spec. */
type SpecChanges = Partial<Omit<NodeDrainSpec, 'limits' | 'timeouts'>> & {
  readonly limits?: Partial<NodeDrainSpec['limits']>;
  readonly timeouts?: Partial<NodeDrainSpec['timeouts']>;
};

export class SharedCluster {
  now = 0;
  readonly nodes = new Map<string, Node>();
  readonly pods = new Map<string, Pod>();
  readonly drains = new Map<string, NodeDrain>();
  /** Acts, in their order. */
  readonly log: string[] = [];
  /** Outcomes of commands that are not just done, by their words in the log. */
  readonly answers = new Map<string, Outcome>();
  /** The answer to questions about windows. */
  windows: Outcome = { kind: 'done' };
  /** Results that are held back while this is true. */
  holdsAnswers = false;
  /** Commands that are done only when answers are given, by their words in the log. */
  readonly slow = new Set<string>();
  /** So long pods take that are to go: they do not end by themselves. */
  lingersMs = 0;
  readonly #held: (() => void)[] = [];
  /** True if there is an engine that hears of events. */
  #isHeard = true;
  #serial = 0;
  engine: Engine = createEngine({ nodeDrains: true, mode: 'evict' });

  constructor(drains: readonly NodeDrain[], names: readonly string[]) {
    for (const drain of drains) this.drains.set(drain.name, drain);
    for (const text of names) {
      const node = nodeOf(text);
      this.nodes.set(node.name, node);
      this.#addPod(node.name);
    }
    this.start();
  }

  /** A new engine, as after a restart or a failover. */
  start(): void {
    this.#isHeard = true;
    this.engine = createEngine({ nodeDrains: true, mode: 'evict' });
    this.tell({ kind: 'otherEvictors', others: { kind: 'nobody', text: '', advice: '' } });
    for (const node of this.nodes.values()) this.tell({ kind: 'nodeUpsert', node });
    for (const pod of this.pods.values()) this.tell({ kind: 'podUpsert', pod });
    for (const drain of this.drains.values()) this.tell({ kind: 'nodeDrainUpsert', drain });
    this.tell({ kind: 'synced' });
  }

  /** A new engine that has the last one's status to go by, and what happened meanwhile. */
  restart(meanwhile: () => void = () => {}): void {
    this.#isHeard = false;
    for (const drain of this.drains.values()) {
      const { nodes: known, startedAt, selector } = this.state(drain.name);
      this.drains.set(drain.name, {
        ...drain,
        ...{ known, startedAt, observedSelector: selector },
        observedGeneration: drain.generation,
      });
    }
    meanwhile();
    this.start();
  }

  declare(drain: NodeDrain): void {
    this.drains.set(drain.name, drain);
    this.tell({ kind: 'nodeDrainUpsert', drain });
  }

  /** Somebody edits its spec. */
  edit(changes: SpecChanges, others: Partial<NodeDrain> = {}, name = 'kernel'): void {
    const drain = this.drain(name);
    const { limits, timeouts } = drain.spec;
    const spec = {
      ...{ ...drain.spec, ...changes },
      limits: { ...limits, ...changes.limits },
      timeouts: { ...timeouts, ...changes.timeouts },
    };
    this.declare({ ...drain, generation: drain.generation + 1, spec, ...others });
  }

  /** Somebody deletes it. */
  remove(name = 'kernel'): void {
    this.edit({}, { isDeleted: true }, name);
  }

  addNode(text: string): void {
    this.#serial += 1;
    const node = { ...nodeOf(text), uid: `node-${this.#serial}`, createdAt: this.now };
    this.nodes.set(node.name, node);
    this.tell({ kind: 'nodeUpsert', node });
    this.#addPod(node.name);
    for (const pod of this.pods.values()) {
      if (pod.nodeName === node.name) this.tell({ kind: 'podUpsert', pod });
    }
  }

  /** One more pod on a node. */
  addPod(name: string, nodeName: string, given: Partial<PodInput> = {}): void {
    const pod = makePod({ namespace: 'shop', name, uid: name, nodeName, ...given });
    this.pods.set(pod.uid, pod);
    this.tell({ kind: 'podUpsert', pod });
  }

  /** Somebody changes a node. */
  change(name: string, changes: Partial<Node>): void {
    const node = { ...this.node(name), ...changes };
    this.nodes.set(name, node);
    this.tell({ kind: 'nodeUpsert', node });
  }

  deleteNode(name: string): void {
    this.nodes.delete(name);
    this.tell({ kind: 'nodeDelete', name });
    for (const { uid, nodeName } of [...this.pods.values()]) {
      if (nodeName === name) this.deletePod(uid);
    }
  }

  tell(event: Event): void {
    if (!this.#isHeard) return;
    for (const command of this.engine.handle(this.now, event)) this.#do(command);
  }

  /** Gives the answers that were held back. */
  answer(): void {
    this.holdsAnswers = false;
    this.slow.clear();
    for (const give of this.#held.splice(0)) give();
  }

  /** Lets so many milliseconds pass; fewer than all that is due may be done in them. */
  pass(length: number): void {
    const until = this.now + length;
    for (;;) {
      const wake = this.engine.nextWake();
      if (wake === null || wake > until) break;
      this.now = Math.max(this.now, wake);
      this.tell({ kind: 'tick' });
    }
    this.now = until;
  }

  /** Acts since the last call. */
  done(): readonly string[] {
    return this.log.splice(0);
  }

  state(name = 'kernel'): NodeDrainState {
    return this.engine.policyCounts(this.now).drains?.get(name) ?? assert.fail(name);
  }

  /** `n1 Drained, n2 Held` */
  phases(name = 'kernel'): string {
    return this.state(name)
      .nodes.map((node) => `${node.name} ${node.phase}`)
      .join(', ');
  }

  node(name: string): Node {
    return this.nodes.get(name) ?? assert.fail(name);
  }

  drain(name = 'kernel'): NodeDrain {
    return this.drains.get(name) ?? assert.fail(name);
  }

  /** Traces of drains on nodes: `n1 cordon work kernel`. */
  traces(): readonly string[] {
    return [...this.nodes.values()].flatMap(({ name, unschedulable, taints, drainMarks = [] }) => {
      const words = [
        ...(unschedulable ? ['cordon'] : []),
        ...taints.map(({ key }) => key),
        ...drainMarks.map(({ id }) => `mark of ${id}`),
      ];
      return words.length === 0 ? [] : [[name, ...words].join(' ')];
    });
  }

  #addPod(nodeName: string): void {
    const uid = `on-${nodeName}-${this.#serial}`;
    const pod = makePod({ namespace: 'shop', name: `on-${nodeName}`, uid, nodeName });
    this.pods.set(pod.uid, pod);
  }

  #endLater(uid: string): void {
    const pod = this.pods.get(uid) ?? assert.fail(uid);
    const next = { ...pod, deletionTimestamp: this.now + this.lingersMs };
    this.pods.set(uid, next);
    this.tell({ kind: 'podUpsert', pod: next });
  }

  deletePod(uid: string): void {
    this.pods.delete(uid);
    this.tell({ kind: 'podDelete', uid });
  }

  #do(command: Command): void {
    if (!('id' in command)) return;
    const { id } = command;
    const words = wordsOf(command);
    if (words !== null && !words.startsWith('renew ')) this.log.push(words);
    const isOfWindows = command.kind === 'askForDrain' && command.question.kind === 'windows';
    const usual: Outcome = isOfWindows ? this.windows : { kind: 'done' };
    const outcome = this.answers.get(words ?? '') ?? usual;
    const perform = (): void => {
      if (outcome.kind === 'done') this.#perform(command);
    };
    const answer = (): void => this.tell({ kind: 'result', id, outcome });
    if (this.slow.has(words ?? '')) this.#held.push(perform, answer);
    else {
      perform();
      if (this.holdsAnswers) this.#held.push(answer);
      else answer();
    }
  }

  #perform(command: Command): void {
    switch (command.kind) {
      case 'guardDrain':
        if (command.isGuarded) this.declare({ ...this.drain(command.drain), isGuarded: true });
        else {
          this.drains.delete(command.drain);
          this.tell({ kind: 'nodeDrainDelete', name: command.drain });
        }
        return;
      case 'writeDrainNode':
        this.#write(command);
        return;
      case 'evictPod':
      case 'deletePod':
        if (this.lingersMs === 0) this.deletePod(command.pod.uid);
        else this.#endLater(command.pod.uid);
    }
  }

  #write(command: WriteDrainNode): void {
    const node = this.nodes.get(command.nodeName);
    if (!node) return;
    const next = written(node, command, this.now);
    this.nodes.set(node.name, next);
    this.tell({ kind: 'nodeUpsert', node: next });
  }
}

/** The node after a write. */
function written(node: Node, { write, taint, drain: id }: WriteDrainNode, now: number): Node {
  const { drainMarks = [], drains = [], unschedulable, ...bare } = node;
  const mark = { id, taint: `${taint.key}:${taint.effect}`, by: 'taintmgr-controller' };
  const marks = drainMarks.filter((one) => one.id !== id);
  const working = drains.filter((one) => one.id !== id);
  const others = bare.taints.filter(({ key }) => key !== taint.key);
  const shown = [...working, { ...mark, heartbeat: String(now) }];
  const was = unschedulable === true;
  const made = (
    isCordoned: boolean,
    taints: Node['taints'],
    own: NonNullable<Node['drainMarks']>,
    at: NonNullable<Node['drains']>,
  ): Node => ({
    ...{ ...bare, taints },
    ...(isCordoned && { unschedulable: true }),
    ...(own.length > 0 && { drainMarks: own }),
    ...(at.length > 0 && { drains: at }),
  });
  switch (write.kind) {
    case 'cordon':
      return made(true, bare.taints, [...marks, mark], drains);
    case 'taint': {
      const tainted = [...others, { ...taint, timeAdded: now }];
      return made(was || write.cordon, tainted, [...marks, mark], shown);
    }
    case 'renew':
      return made(was, bare.taints, drainMarks, shown);
    case 'end':
      return made(was, bare.taints, drainMarks, working);
    case 'untaint':
      return made(was, others, drainMarks, working);
    case 'undo': {
      const isOurs = marks.length < drainMarks.length;
      return made(was && !(isOurs && marks.length === 0), others, marks, working);
    }
  }
}

/** A command in few words; null: it is not worth any. */
function wordsOf(command: Command): string | null {
  switch (command.kind) {
    case 'guardDrain':
      return command.isGuarded ? 'guard' : 'let go';
    case 'writeDrainNode':
      return `${command.write.kind} ${command.nodeName}`;
    case 'evictPod':
      return `evict ${command.pod.name}`;
    case 'deletePod':
      return `delete ${command.pod.name}`;
    default:
      return null;
  }
}
