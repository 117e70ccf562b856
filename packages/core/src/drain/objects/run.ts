// One NodeDrain that is being carried out: its drain machine, what it writes on nodes, and its undoing.
import { KeyedWrites } from '../../attempt/keyed-writes.ts';
import type { Outcome } from '../../attempt/outcome.ts';
import type { Event } from '../../event.ts';
import { earliest, type Instant } from '../../kernel/time.ts';
import type { Node } from '../../model/node.ts';
import type { NodeDrain } from '../../policy/values.ts';
import type { StoreView } from '../../store.ts';
import { DrainMachine } from '../machine.ts';
import { isEnded } from '../state.ts';
import type { NodeDrainCommand, NodeDrainWrite } from './command.ts';
import { drainConfigOf, nodesOf, targetOf } from './settings.ts';
import { type DrainHold, type NodeDrainState, stateOf } from './state.ts';

/** Requests that write on nodes and on the object itself, at most. */
const writesMax = 20;
const retry = { retryWaitMsMin: 200, retryWaitMsMax: 10_000, confirmationWaitMs: 5_000 };
const guard = 'guard';

/** What a run asks of others. */
export interface RunSurroundings {
  readonly store: StoreView;
  /** Why the turn of a node must not come; null: it may. */
  readonly holdOf: (drain: NodeDrain, node: Node) => DrainHold | null;
}

/**
 * A NodeDrain goes this way: it is guarded by its finalizer before anything is written; its nodes are
 * drained; when somebody deletes it, what it has set on nodes is taken back, and then it is let go.
 * All of it is in the cluster: whoever begins anew goes on from the status and from the marks.
 */
export class NodeDrainRun {
  #drain: NodeDrain;
  readonly #machine: DrainMachine;
  readonly #surroundings: RunSurroundings;
  readonly #writes: KeyedWrites;
  /** What is to be written on which node. */
  readonly #wanted = new Map<string, NodeDrainWrite>();
  #holds: ReadonlyMap<string, DrainHold> = new Map();
  readonly #targets = new Set<string>();
  /** Writes of the drain machine on nodes that are under way. */
  readonly #sent = new Set<string>();
  /** Nodes on which nothing of the drain was left when they were last written. */
  readonly #undone = new Set<string>();
  /** By the cluster's clock. */
  #startedAt: Instant | null;
  #actAt: Instant | null;

  constructor(now: Instant, drain: NodeDrain, surroundings: RunSurroundings) {
    this.#drain = drain;
    this.#surroundings = surroundings;
    const { store } = surroundings;
    const nodes = nodesOf(drain, store);
    const pods = nodes.flatMap(({ name }) => [...store.podsOn(name)]);
    const leaving = pods.flatMap(({ uid, deletionTimestamp }) =>
      deletionTimestamp === null ? [] : uid,
    );
    this.#machine = new DrainMachine(drainConfigOf(drain, new Set(leaving)));
    this.#writes = new KeyedWrites({ ...retry, prefix: this.#idOf('write'), max: writesMax });
    this.#startedAt = drain.startedAt;
    this.#actAt = now;
    this.#feedPolicies(now);
    for (const node of nodes) this.#add(now, node);
    this.#machine.handle(now, { kind: 'synced' });
  }

  get drain(): NodeDrain {
    return this.#drain;
  }

  /** The same drain, as it was read again: deleted or guarded by now. */
  update(now: Instant, drain: NodeDrain): void {
    this.#drain = drain;
    this.#actAt = now;
  }

  /** Whether it is at work on the node, or is to be. */
  isOpenOn(nodeName: string): boolean {
    if (!this.#targets.has(nodeName) || this.#drain.isDeleted) return false;
    const node = this.#machine.nodes().find(({ name }) => name === nodeName);
    return node !== undefined && !isEnded(node.phase);
  }

  state(now: Instant): NodeDrainState {
    const { clock } = this.#surroundings.store;
    return stateOf({
      machine: this.#machine,
      holds: this.#holds,
      wall: (at) => clock.wall(at),
      now,
      startedAt: this.#startedAt,
      isUndoing: this.#drain.isDeleted,
    });
  }

  /** Takes an event about the cluster, where it is about this drain; or the result of a command. */
  handle(now: Instant, event: Event): void {
    switch (event.kind) {
      case 'nodeUpsert':
        this.#actAt = now;
        if (this.#targets.has(event.node.name)) this.#machine.handle(now, event);
        else if (this.#drain.takesLaterNodes) this.#addLater(now, event.node);
        return;
      case 'nodeDelete':
        this.#actAt = now;
        this.#machine.handle(now, event);
        return;
      case 'podUpsert':
        if (this.#targets.has(event.pod.nodeName)) this.#machine.handle(now, event);
        return;
      case 'result':
        this.#answered(now, event.id, event.outcome);
        return;
      case 'tick':
        return;
      default:
        this.#machine.handle(now, event);
    }
  }

  /** What is to be done now. */
  act(now: Instant): readonly NodeDrainCommand[] {
    this.#actAt = null;
    const drain = this.#drain;
    if (drain.isDeleted) this.#undo(now);
    else if (!drain.isGuarded) this.#want(now, guard, { kind: 'undo' });
    const commands = drain.isDeleted || !drain.isGuarded ? [] : this.#carryOn(now);
    return [...commands, ...this.#write(now)];
  }

  nextWake(): Instant | null {
    const { isDeleted, isGuarded, until } = this.#drain;
    const isOn = isGuarded && !isDeleted;
    const { clock } = this.#surroundings.store;
    return earliest([
      this.#actAt,
      this.#writes.nextWake(),
      isOn ? this.#machine.nextWake() : null,
      isOn && until !== null && !this.#machine.finished ? clock.when(until) : null,
    ]);
  }

  #carryOn(now: Instant): readonly NodeDrainCommand[] {
    const { until, cordon } = this.#drain;
    const { clock } = this.#surroundings.store;
    if (until !== null && now >= clock.when(until)) this.#machine.giveUp(now);
    this.#look(now);
    if (cordon === 'atStart') this.#cordonAll(now);
    const commands = this.#machine.handle(now, { kind: 'tick' });
    for (const note of this.#machine.takeNotes()) {
      if (note.kind === 'stopped') this.#takeTaintsBack(now);
      else if (note.kind === 'nodeEnded') this.#ended(now, note.node, note.phase.kind);
    }
    return commands.map((command): NodeDrainCommand => {
      if (command.kind === 'recordEvent') return command;
      const id = this.#idOf(command.id);
      if (command.kind === 'taintNode' || command.kind === 'renewMark') {
        if (command.kind === 'taintNode') this.#startedAt ??= clock.wall(now);
        const isTaint = command.kind === 'taintNode';
        const isCordoned = cordon !== 'never';
        const write: NodeDrainWrite = isTaint
          ? { kind: 'taint', cordon: isCordoned }
          : { kind: 'renew' };
        this.#sent.add(id);
        return this.#nodeCommand(id, command.nodeName, write);
      }
      return { ...command, id };
    });
  }

  /** Finds out which nodes must not begin yet. */
  #look(now: Instant): void {
    const { store, holdOf } = this.#surroundings;
    const holds = new Map<string, DrainHold>();
    for (const { name, phase } of this.#machine.nodes()) {
      const node = phase.kind === 'pending' ? store.node(name) : null;
      const hold = node && (holdOf(this.#drain, node) ?? this.#refusalOn(now, name));
      if (hold) holds.set(name, hold);
    }
    const before = this.#holds;
    this.#holds = holds;
    const isSame = before.size === holds.size && [...holds.keys()].every((one) => before.has(one));
    if (!isSame) this.#machine.hold(now, new Set(holds.keys()));
  }

  /** The first pod that must not go, and stands in the way of its node. */
  #refusalOn(now: Instant, nodeName: string): DrainHold | null {
    for (const pod of this.#surroundings.store.podsOn(nodeName)) {
      const fate = this.#machine.fateOf(now, pod);
      if (fate.kind !== 'refuse') continue;
      const words = fate.faults.map((fault) => faultWords[fault] ?? fault).join(', and ');
      const message = `pod ${pod.namespace}/${pod.name} ${words}`;
      return { reason: 'PodsRefused', message };
    }
    return null;
  }

  #cordonAll(now: Instant): void {
    for (const { name, phase } of this.#machine.nodes()) {
      const node = phase.kind === 'pending' ? this.#surroundings.store.node(name) : null;
      if (node && node.unschedulable !== true) this.#want(now, name, { kind: 'cordon' });
    }
  }

  #ended(now: Instant, nodeName: string, how: string): void {
    if (how === 'vanished') return;
    const isFailed = how === 'failed';
    const isBack = isFailed && (this.#drain.rollsBack || this.#machine.stop !== null);
    if (!isBack) this.#want(now, nodeName, { kind: 'end', isDrained: !isFailed });
    else this.#want(now, nodeName, { kind: this.#drain.rollsBack ? 'undo' : 'untaint' });
  }

  /** Somebody else evicts for the taint and asks no budgets: until it is gone. */
  #takeTaintsBack(now: Instant): void {
    for (const { name } of this.#machine.nodes()) {
      if (this.#isMarked(name)) this.#want(now, name, { kind: 'untaint' });
    }
  }

  /**
   * Every node that shows a mark of ours is taken back, and every one that may have got one that is not
   * seen yet; then the object may go.
   */
  #undo(now: Instant): void {
    if (this.#sent.size > 0) return;
    const begun = this.#machine.nodes().filter(({ phase }) => phase.kind !== 'pending');
    const open = begun.flatMap(({ name }) => (this.#undone.has(name) ? [] : name));
    const nodes = Array.from(this.#surroundings.store.nodes());
    const marked = nodes.flatMap(({ name }) => (this.#isMarked(name) ? name : []));
    for (const name of [...open, ...marked]) this.#want(now, name, { kind: 'undo' });
    if (open.length > 0 || marked.length > 0) return;
    if (this.#drain.isGuarded) this.#want(now, guard, { kind: 'undo' });
  }

  #isMarked(nodeName: string): boolean {
    const { drainMarks = [] } = this.#surroundings.store.node(nodeName) ?? {};
    return drainMarks.some(({ id }) => id === this.#drain.name);
  }

  /** What is wanted last counts; it is written until that succeeds. */
  #want(now: Instant, key: string, write: NodeDrainWrite): void {
    if (this.#wanted.get(key)?.kind === write.kind) return;
    this.#wanted.set(key, write);
    this.#writes.notice(now, key);
  }

  #write(now: Instant): readonly NodeDrainCommand[] {
    const commands: NodeDrainCommand[] = [];
    for (const key of this.#writes.takeDue(now)) {
      const write = this.#wanted.get(key);
      if (write && this.#isNeeded(key, write)) commands.push(this.#commandOf(key, write));
      else this.#drop(key);
    }
    return commands;
  }

  /** Whether a write that succeeded does not show yet, or one that did not is still of use. */
  #isNeeded(key: string, { kind }: NodeDrainWrite): boolean {
    if (key === guard) return this.#drain.isGuarded === this.#drain.isDeleted;
    if (this.#writes.failures(key) !== 0) return true;
    return kind === 'undo' && this.#isMarked(key);
  }

  #drop(key: string): void {
    this.#wanted.delete(key);
    this.#writes.forget(key);
  }

  #commandOf(key: string, write: NodeDrainWrite): NodeDrainCommand {
    const id = this.#writes.begin(key);
    if (key !== guard) return this.#nodeCommand(id, key, write);
    const { name: drain, uid, isDeleted } = this.#drain;
    return { kind: 'guardDrain', id, drain, uid, isGuarded: !isDeleted };
  }

  #nodeCommand(id: string, nodeName: string, write: NodeDrainWrite): NodeDrainCommand {
    const { name: drain, uid, taint } = this.#drain;
    return { kind: 'writeDrainNode', id, nodeName, drain, uid, taint, write };
  }

  #answered(now: Instant, id: string, outcome: Outcome): void {
    this.#actAt = now;
    const ended = this.#writes.settle(now, id, outcome);
    if (ended) {
      const { key, failures } = ended;
      if (failures === 0 && this.#wanted.get(key)?.kind === 'undo') this.#undone.add(key);
      // Somebody else has the node by now: there is nothing of ours to write.
      if (outcome.kind === 'changed') this.#drop(key);
      return;
    }
    this.#sent.delete(id);
    const prefix = this.#idOf('');
    if (!id.startsWith(prefix)) return;
    this.#machine.handle(now, { kind: 'result', id: id.slice(prefix.length), outcome });
  }

  #add(now: Instant, node: Node): void {
    const { known, generation, observedGeneration } = this.#drain;
    const { store } = this.#surroundings;
    const before = known.find(({ name }) => name === node.name) ?? null;
    const isSameSpec = observedGeneration === generation;
    const target = targetOf(this.#drain, node, before, isSameSpec, (wall) =>
      store.clock.when(wall),
    );
    this.#targets.add(node.name);
    this.#machine.add(now, target);
    this.#machine.handle(now, { kind: 'nodeUpsert', node });
    for (const pod of store.podsOn(node.name))
      this.#machine.handle(now, { kind: 'podUpsert', pod });
    const isOver = target.phase !== undefined && isEnded(target.phase);
    const isDrained = target.phase?.kind === 'drained';
    if (isOver && this.#isMarked(node.name)) this.#want(now, node.name, { kind: 'end', isDrained });
  }

  #addLater(now: Instant, node: Node): void {
    if (nodesOf(this.#drain, this.#surroundings.store).some(({ name }) => name === node.name)) {
      this.#add(now, node);
    }
  }

  /** What keeps and holds pods, as far as it is known by now. */
  #feedPolicies(now: Instant): void {
    const { store } = this.#surroundings;
    const machine = this.#machine;
    machine.handle(now, { kind: 'clock', ahead: store.clock.wall(now) - now });
    for (const [name, labels] of store.namespaces()) {
      machine.handle(now, { kind: 'namespaceUpsert', namespace: { name, labels } });
    }
    for (const policy of store.policies()) machine.handle(now, { kind: 'policyUpsert', policy });
    for (const { pause } of store.pauses()) machine.handle(now, { kind: 'pauseUpsert', pause });
  }

  #idOf(id: string): string {
    return `nodedrain/${this.#drain.uid}/${id}`;
  }
}

const faultWords: Readonly<Record<string, string>> = {
  Unmanaged: 'is not managed by a controller (spec.pods.withoutController lets it go)',
  EmptyDir: 'has emptyDir volumes, whose data would be lost (spec.pods.withEmptyDir lets it go)',
  OrphanedDaemonSetPod: 'is of a DaemonSet that is gone (spec.pods.withoutController lets it go)',
};
