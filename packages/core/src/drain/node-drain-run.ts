// Carries one NodeDrain out: its drain machine, what keeps nodes waiting, and its undoing.
import type { Outcome } from '../attempt/outcome.ts';
import type { Event } from '../event.ts';
import { askerOf } from '../kernel/inflight.ts';
import { earliest, type Instant } from '../kernel/time.ts';
import type { MatchOptions } from '../model/toleration.ts';
import type { DrainProgram, NodeDrain } from '../policy/node-drain.ts';
import type { NodeDrainCommand } from './drain-commands.ts';
import { DrainConditions } from './drain-conditions.ts';
import { type DrainCommand, DrainMachine } from './drain-machine.ts';
import { DrainMarks, RollBacks, type SettingWrites, StartCordons } from './marks.ts';
import { GoneBefore, type NodeDrainState, stateOf } from './node-drain-state.ts';
import { DrainHolds, type HoldSurroundings } from './node-holds.ts';
import type { DrainTimes } from './pod-filters.ts';
import { DrainGates, type GateSite } from './pod-gates.ts';
import { type DrainHold, type DrainNote, isEnded } from './state.ts';
import {
  begunWith,
  DrainTargets,
  drainConfigOf,
  nodesMax,
  nodesOf,
  selectorText,
} from './target-waves.ts';
import type { Workloads } from './workloads.ts';

/** The surroundings of a run. */
interface RunSurroundings extends HoldSurroundings, MatchOptions {
  readonly times: DrainTimes;
  readonly workloads: Workloads;
  readonly replicas: GateSite['replicas'];
  /** Tells this run from others, earlier ones of the same drain too: an answer may come late. */
  readonly serial: number;
  /** The writes of earlier runs of the same drain; left out: none. */
  readonly written?: SettingWrites | undefined;
  /**
   * The settings of a program that carries out this drain alone, for a person who looks on; null: a
   * controller does.
   */
  readonly program: DrainProgram | null;
}

/**
 * The life of a NodeDrain: its finalizer guards it before anything is written; its nodes are
 * drained; when it is deleted, everything that it set on nodes is taken back, and then its
 * finalizer is removed. All state is in the cluster: a new leader continues from the status and
 * from the marks.
 */
export class NodeDrainRun {
  #drain: NodeDrain;
  readonly #machine: DrainMachine;
  readonly #surroundings: RunSurroundings;
  readonly #marks: DrainMarks;
  readonly #gates: DrainGates;
  /** Pods that had left when this run began: what its status says later counts ours too. */
  readonly #goneBefore: GoneBefore;
  readonly #holds: DrainHolds;
  readonly #conditions: DrainConditions;
  readonly #targets: DrainTargets;
  /** Null: nodes are not cordoned at the start. */
  readonly #cordons: StartCordons | null;
  /** Null: nodes that have begun are not rolled back. */
  readonly #rollBacks: RollBacks | null;
  /** By the cluster's clock. */
  #startedAt: Instant | null;
  #actAt: Instant | null;
  /** True if its time after its end is over. */
  #isDeleting = false;
  /** Notes that were not taken yet; a controller takes none. */
  #notes: DrainNote[] = [];

  constructor(now: Instant, drain: NodeDrain, surroundings: RunSurroundings) {
    this.#drain = drain;
    this.#surroundings = surroundings;
    const { store, program } = surroundings;
    const before = begunWith(drain);
    const nodes = nodesOf(drain, before, store);
    const pods = nodes.flatMap(({ name }) => [...store.podsOn(name)]);
    const leaving = pods.flatMap(({ uid, deletionTimestamp }) =>
      deletionTimestamp === null ? [] : uid,
    );
    this.#gates = new DrainGates(now, drain, {
      ...surroundings,
      idOf: (id) => this.#idOf(id),
      nodes: () => this.#begunNodes(),
      isGoing: (uid) => this.#machine.isGoing(uid),
    });
    const config = program
      ? { ...program, spec: drain.spec }
      : drainConfigOf(drain, new Set(leaving), surroundings);
    this.#machine = new DrainMachine(config, surroundings.times, this.#gates);
    this.#goneBefore = new GoneBefore(drain, { store, machine: this.#machine });
    const site = { store, machine: this.#machine, drain: () => this.#drain };
    this.#marks = new DrainMarks({ ...site, prefix: this.#idOf('write') }, surroundings.written);
    this.#conditions = new DrainConditions(this.#idOf(''), store);
    this.#holds = new DrainHolds(drain, this.#idOf(''), this.#machine, {
      ...surroundings,
      // A person who looks on may name any number, and hears of a node that must not begin.
      ...(program ? { endsRefused: true } : { nodesMax }),
      holdOf: (one, node) =>
        this.#undoingOf(node.name) ?? this.#cordons?.hold ?? surroundings.holdOf(one, node),
    });
    const isMarked = (name: string): boolean => this.#marks.isOn(name);
    this.#rollBacks =
      drain.spec.whileClosed === 'RollBack'
        ? new RollBacks({
            ...{ machine: this.#machine, isMarked },
            forget: (name) => {
              this.#holds.forget(name);
              this.#cordons?.forget(name);
              this.#gates.rolledBack(name);
            },
          })
        : null;
    this.#cordons =
      drain.spec.cordon === 'AtStart'
        ? new StartCordons({
            ...{ machine: this.#machine, node: (name) => store.node(name), isMarked },
            isAlone: () => this.#targets.isAlone,
            want: (at, name) => this.#marks.want(at, name, { kind: 'cordon' }),
            isOfProgram: program !== null,
          })
        : null;
    this.#targets = new DrainTargets({
      ...site,
      marks: this.#marks,
      holds: this.#holds,
      cordons: this.#cordons,
      isOfProgram: program !== null,
      hasBegun: () => this.#startedAt !== null,
      hasWorked: (name) => this.#goneBefore.isSome(name),
      forget: (name) => this.#countForgotten(now, name),
    });
    this.#startedAt = drain.startedAt;
    this.#actAt = now;
    this.#targets.begin(now, before, nodes);
    this.#goneBefore.look();
  }

  get drain(): NodeDrain {
    return this.#drain;
  }

  get machine(): DrainMachine {
    return this.#machine;
  }

  /** The waits in words: by node, and for all nodes ('') while none begins. */
  holds(): ReadonlyMap<string, string> {
    const { closed } = this.#holds;
    const held = Array.from(this.#holds.all, ([name, { message }]) => [name, message] as const);
    if (closed === null) return new Map(held);
    const others = held.filter(([, message]) => message !== closed.message);
    return new Map([['', closed.message], ...others]);
  }

  /** Notes of all that happened since the last call, where a program runs the drain. */
  takeNotes(now: Instant): readonly DrainNote[] {
    this.#heedNotes(now);
    return this.#notes.splice(0);
  }

  /** Pods that have left nodes which were forgotten. */
  get podsGoneBefore(): number {
    return this.#goneBefore.forgotten;
  }

  /** The writes on nodes, for the next run of the drain. */
  get written(): SettingWrites {
    return this.#marks.written;
  }

  /** The same drain, as it was read again: deleted or guarded by now. */
  update(now: Instant, drain: NodeDrain): void {
    this.#drain = drain;
    this.#actAt = now;
  }

  /** True if it has ended: only what happens to its nodes, and to its object, concerns it. */
  get isAtRest(): boolean {
    const { isDeleted, isGuarded, spec } = this.#drain;
    const hasEnd = spec.laterNodes === 'Leave';
    const isOver = isGuarded && !isDeleted && hasEnd && this.#startedAt !== null;
    if (this.#isDeleting) return false;
    return isOver && this.#machine.finished && this.#nextWork() === null;
  }

  /** The instant at which it is deleted, as it has ended; null: never. */
  get deleteAt(): Instant | null {
    const { spec, isDeleted, isGuarded } = this.#drain;
    const { ttlSecondsAfterFinished: ttl } = spec;
    if (ttl === undefined || isDeleted || !isGuarded || !this.#machine.finished) return null;
    const ends = this.#machine.nodes().flatMap(({ phase }) => ('at' in phase ? phase.at : []));
    return ends.length === 0 ? null : Math.max(...ends) + ttl * 1000;
  }

  /** The nodes that it is for, or was. */
  nodeNames(): readonly string[] {
    return this.#machine.nodes().map(({ name }) => name);
  }

  /** True if it is for a node, or was. */
  has(nodeName: string): boolean {
    return this.#targets.has(nodeName);
  }

  /** Looks again at the holds of its nodes and pods. */
  recheck(now: Instant): void {
    this.#actAt = now;
    this.#machine.recheck(now);
  }

  /** Policies or pauses may decide otherwise now about every pod. */
  redecide(now: Instant): void {
    this.#actAt = now;
    this.#machine.redecide(now);
  }

  /** True if it is at work on the node, or will be. */
  isOpenOn(nodeName: string): boolean {
    if (!this.#targets.has(nodeName) || this.#drain.isDeleted) return false;
    const node = this.#machine.nodes().find(({ name }) => name === nodeName);
    return node !== undefined && !isEnded(node.phase);
  }

  /** True if its turn on the node has come, and it is not done there. */
  isBegunOn(nodeName: string): boolean {
    return this.#machine.isBegun(nodeName);
  }

  state(now: Instant): NodeDrainState {
    this.#goneBefore.look();
    const { clock } = this.#surroundings.store;
    const unguarded = this.#marks.hold;
    const nodes = this.#machine.nodes();
    return stateOf({
      machine: this.#machine,
      holds: unguarded ? new Map(nodes.map(({ name }) => [name, unguarded])) : this.#holds.all,
      closed: unguarded ?? this.#holds.closed,
      remarks: [...this.#gates.remarks(this.#machine.hasGoing()), ...this.#marks.remarks],
      fallback: this.#gates.fallback,
      volumeWaits: this.#gates.volumeWaits,
      notReplaced: this.#surroundings.workloads.takenBy(now, this.#drain.uid),
      waitsSince: (name) => this.#holds.waitsSince(name),
      wall: (at) => clock.wall(at),
      now,
      startedAt: this.#startedAt,
      selector: selectorText(this.#drain),
      isUndoing: this.#drain.isDeleted,
      isPaused: this.#drain.spec.paused,
      goneBefore: this.#goneBefore,
    });
  }

  /** Takes an event about the cluster, where it is about this drain; or the result of a command. */
  handle(now: Instant, event: Event): void {
    switch (event.kind) {
      case 'nodeUpsert':
        this.#actAt = now;
        this.#targets.seen(now, event.node);
        return;
      case 'nodeDelete':
        this.#actAt = now;
        this.#targets.vanished(now, event.name);
        return;
      case 'podUpsert':
        this.#seePod(now, event);
        return;
      case 'result':
        this.#answered(now, event.id, event.outcome);
        return;
      case 'evictionRequests':
        this.#actAt = now;
        this.#gates.hear(event);
        return;
      case 'tick':
        return;
      default:
        this.#machine.handle(now, event);
    }
  }

  #countForgotten(now: Instant, name: string): void {
    const node = this.state(now).nodes.find((one) => one.name === name);
    this.#goneBefore.forget(name, node?.podsGone ?? 0);
  }

  #seePod(now: Instant, event: Extract<Event, { kind: 'podUpsert' }>): void {
    if (!this.#targets.has(event.pod.nodeName)) return;
    const { stop } = this.#machine;
    this.#machine.handle(now, event);
    // Another program evicts for the taint: the taint is removed at once.
    if (this.#machine.stop !== stop) this.#actAt = now;
  }

  /** The commands that are due. */
  act(now: Instant): readonly NodeDrainCommand[] {
    this.#actAt = null;
    const drain = this.#drain;
    if (!drain.isDeleted && !drain.isGuarded) this.#marks.guard(now, true);
    const isOn = !drain.isDeleted && drain.isGuarded;
    const commands = isOn ? this.#carryOn(now) : [];
    const gates = this.#gates;
    const asked = isOn ? gates.take(now) : drain.isDeleted ? gates.undo(now) : [];
    const conditions = this.#conditions.act(now, drain, this.#machine);
    if (drain.isDeleted) this.#undo(now);
    const { deleteAt } = this;
    if (deleteAt !== null && deleteAt <= now) this.#delete(now);
    return [...commands, ...asked, ...conditions, ...this.#marks.take(now)];
  }

  nextWake(): Instant | null {
    return earliest([this.#nextWork(), this.#isDeleting ? null : this.deleteAt]);
  }

  /** When there is something to do before it is deleted. */
  #nextWork(): Instant | null {
    const { isDeleted, isGuarded, spec } = this.#drain;
    const { until } = spec;
    const isOn = isGuarded && !isDeleted;
    const { clock } = this.#surroundings.store;
    return earliest([
      this.#actAt,
      this.#marks.nextWake(),
      this.#conditions.nextWake(),
      isOn ? this.#machine.nextWake() : null,
      isOn && !this.#machine.finished ? this.#holds.nextWake() : null,
      isOn || isDeleted ? this.#gates.nextWake() : null,
      isOn && until !== undefined && !this.#machine.finished ? clock.when(until) : null,
    ]);
  }

  #carryOn(now: Instant): readonly NodeDrainCommand[] {
    const { until, paused } = this.#drain.spec;
    const { clock } = this.#surroundings.store;
    if (until !== undefined && now >= clock.when(until)) this.#machine.giveUp(now);
    this.#machine.pause(paused);
    this.#holds.look(now);
    if (this.#holds.isSurelyClosed && this.#rollBacks?.begin()) this.#holds.look(now);
    for (const name of this.#rollBacks?.open() ?? []) this.#marks.want(now, name, { kind: 'undo' });
    const isOpen = !paused && this.#holds.closed === null;
    if (isOpen && this.#cordons?.begin(now, this.#holds.all)) this.#holds.look(now);
    const commands = this.#machine.handle(now, { kind: 'tick' });
    const questions = this.#holds.ask(now);
    this.#heedNotes(now);
    return [...questions, ...commands.map((command) => this.#asOurs(now, command))];
  }

  #heedNotes(now: Instant): void {
    const notes = this.#machine.takeNotes();
    if (this.#surroundings.program) this.#notes.push(...notes);
    for (const note of notes) {
      if (note.kind === 'stopped') this.#marks.takeTaintsBack(now);
      else if (note.kind === 'nodeEnded') {
        this.#cordons?.forget(note.node);
        this.#marks.end(now, note.node, note.phase);
      }
    }
  }

  /** A command of the drain machine, by the words of NodeDrains. */
  #asOurs(now: Instant, command: DrainCommand): NodeDrainCommand {
    if (command.kind === 'recordEvent') return command;
    const id = this.#idOf(command.id);
    if (command.kind === 'renewMark') {
      return this.#marks.send(id, command.nodeName, { kind: 'renew' });
    }
    if (command.kind !== 'taintNode') return { ...command, id };
    this.#startedAt ??= this.#surroundings.store.clock.wall(now);
    const isCordoned = this.#drain.spec.cordon !== 'Never';
    return this.#marks.send(id, command.nodeName, { kind: 'taint', cordon: isCordoned });
  }

  #undoingOf(nodeName: string): DrainHold | null {
    const isOpen = this.#rollBacks?.has(nodeName) || this.#marks.isUndoing(nodeName);
    if (!isOpen) return null;
    return { reason: 'RollingBack', message: 'what was set on it is undone first' };
  }

  #delete(now: Instant): void {
    this.#isDeleting = true;
    this.#marks.delete(now);
  }

  #begunNodes(): readonly string[] {
    const nodes = this.#machine.nodes().filter(({ phase }) => phase.kind !== 'pending');
    return nodes.map(({ name }) => name);
  }

  /** Once nothing of it is left on nodes and elsewhere, the object may go. */
  #undo(now: Instant): void {
    if (!this.#marks.undo(now) || this.#conditions.isOpen || !this.#gates.isUndone) return;
    if (this.#drain.isGuarded) this.#marks.guard(now, false);
  }

  #answered(now: Instant, id: string, outcome: Outcome): void {
    this.#actAt = now;
    const setOn = this.#marks.heard(id, outcome);
    const node = this.#machine.stop && this.#machine.nodes().find(({ name }) => name === setOn);
    if (node) {
      // The node may have come after the taints were taken back: once more.
      this.#marks.forget(node.name);
      this.#marks.end(now, node.name, node.phase);
    }
    const prefix = this.#idOf('');
    // Only this much of an earlier run of the drain is of use.
    if (!id.startsWith(prefix)) return;
    const own = id.slice(prefix.length);
    switch (askerOf(own)) {
      case 'ask':
        this.#holds.answered(now, id, outcome);
        return;
      case 'conditions':
        this.#conditions.settle(now, id, outcome);
        return;
      case 'write':
        this.#wrote(now, id, outcome);
        return;
      case 'drain':
      case 'taint':
      case 'mark':
        this.#machine.handle(now, { kind: 'result', id: own, outcome });
        return;
      default:
        this.#gates.settle(now, askerOf(own), id, outcome);
    }
  }

  #wrote(now: Instant, id: string, outcome: Outcome): void {
    const ended = this.#marks.settle(now, id, outcome);
    if (ended?.wrote.kind !== 'node') return;
    const { nodeName, write } = ended.wrote;
    if (write.kind === 'cordon' && this.#cordons) {
      const isTriedAgain = this.#cordons.settle(now, nodeName, outcome);
      const isAtTurn = this.#surroundings.program && this.#machine.isPending(nodeName);
      if (isAtTurn && !isTriedAgain) this.#marks.forget(nodeName);
    }
    if (ended.isDone && write.kind === 'undo') this.#rollBacks?.written(nodeName);
  }

  #idOf(id: string): string {
    return `nodedrain/${this.#drain.uid}/${this.#surroundings.serial}/${id}`;
  }
}
