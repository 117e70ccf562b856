// Sets taint, cordon and mark of a NodeDrain on nodes, and takes them back.
import { blockerOf } from '../attempt/blocker.ts';
import { KeyedWrites } from '../attempt/keyed-writes.ts';
import { isSetback, type Outcome } from '../attempt/outcome.ts';
import type { Instant } from '../kernel/time.ts';
import type { Node } from '../model/node.ts';
import type { NodeDrain } from '../policy/node-drain.ts';
import type { StoreView } from '../store.ts';
import type { NodeDrainCommand, NodeDrainWrite } from './drain-commands.ts';
import { type DrainHold, type DrainNodePhase, type DrainView, heldUpMs } from './state.ts';

/** Writes by which nodes have got something of a drain, or may still get it. */
export interface SettingWrites {
  /** Requests under way: their nodes by the ids. */
  readonly sent: ReadonlyMap<string, string>;
  /** The nodes of all of them, but for those that were undone since. */
  readonly nodes: ReadonlySet<string>;
}

/** The surroundings of marks. */
interface MarkSite {
  readonly store: Pick<StoreView, 'node' | 'nodes'>;
  readonly machine: DrainView;
  readonly drain: () => NodeDrain;
  /** Begins the ids of its writes. */
  readonly prefix: string;
}

/** Marks of other drains are not touched; what was written is believed once it is seen on the node. */
export class DrainMarks {
  readonly #site: MarkSite;
  readonly #writes: DrainWrites;
  /** Writes under way that may set something on a node: their nodes by the ids. */
  readonly #sent: Map<string, string>;
  /** Why the taint or the sign of life could not be written on a node last. */
  readonly #refused = new Map<string, string>();
  /** All nodes that got such a write. */
  readonly #set: Set<string>;
  /** Nodes on which nothing of the drain was left when they were last written. */
  readonly #undone = new Set<string>();
  /** Why undoing a node failed last; by '': why the finalizer could not be written. */
  readonly #failed = new Map<string, string>();

  /** `earlier`: by former runs of the drain. */
  constructor(site: MarkSite, earlier?: SettingWrites) {
    this.#site = site;
    this.#sent = new Map(earlier?.sent);
    this.#set = new Set(earlier?.nodes);
    this.#writes = new DrainWrites(site.prefix);
  }

  /** For the next run of the drain. */
  get written(): SettingWrites {
    const nodes = [...this.#set].filter((name) => !this.#undone.has(name));
    return { sent: this.#sent, nodes: new Set(nodes) };
  }

  /**
   * The reason why nothing begins or continues: the object is not guarded, and guarding it was
   * refused.
   */
  get hold(): DrainHold | null {
    const { isDeleted, isGuarded } = this.#site.drain();
    const why = this.#failed.get('');
    if (isDeleted || isGuarded || why === undefined) return null;
    return { reason: 'NotGuarded', message: `its finalizer must be set first: ${why}` };
  }

  /** Remarks for people on writes that fail. */
  get remarks(): readonly string[] {
    const begun = [...this.#refused].filter(([name]) => this.#site.machine.isBegun(name));
    return [
      ...begun.map(([name, why]) => `node ${name} could not be written, trying again: ${why}`),
      ...this.#notUndone(),
    ];
  }

  #notUndone(): readonly string[] {
    return Array.from(this.#failed).flatMap(([name, why]) => {
      if (this.#writes.isUndoing(name)) return [`node ${name} must still be undone: ${why}`];
      const { isDeleted, isGuarded } = this.#site.drain();
      if (name !== '' || !(isDeleted || isGuarded)) return [];
      const what = isDeleted ? 'its finalizer must be removed' : 'it must be deleted';
      return [`${what}: ${why}`];
    });
  }

  isOn(nodeName: string): boolean {
    const { drainMarks = [] } = this.#site.store.node(nodeName) ?? {};
    return drainMarks.some(({ id }) => id === this.#site.drain().name);
  }

  /** True if something of the drain is being taken off the node. */
  isUndoing(nodeName: string): boolean {
    return this.#writes.isUndoing(nodeName);
  }

  /** Until it is written, or of no use any more. */
  want(now: Instant, nodeName: string, write: NodeDrainWrite): void {
    this.#writes.want(now, { kind: 'node', nodeName, write });
  }

  /** The node is another one by now: the write is of no use. */
  forget(nodeName: string): void {
    this.#writes.forget(nodeName);
  }

  /** The object stays until all is undone; or may go. */
  guard(now: Instant, isGuarded: boolean): void {
    this.#writes.want(now, { kind: 'guard', isGuarded });
  }

  /** The time that it is kept after its end is over. */
  delete(now: Instant): void {
    this.#writes.want(now, { kind: 'delete' });
  }

  /** A write of the drain machine, which answers for it itself. */
  send(id: string, nodeName: string, write: NodeDrainWrite): NodeDrainCommand {
    return this.#setting(id, nodeName, write);
  }

  /** The writes that are due. */
  take(now: Instant): readonly NodeDrainCommand[] {
    const started = this.#writes.take(now, (wanted, hasSucceeded) => {
      return this.#isNeeded(wanted, hasSucceeded);
    });
    return started.map(({ id, wanted }): NodeDrainCommand => {
      if (wanted.kind === 'node') {
        const { nodeName, write } = wanted;
        const isCordon = write.kind === 'cordon';
        return isCordon ? this.#setting(id, nodeName, write) : this.#command(id, nodeName, write);
      }
      const { name: drain, uid, generation } = this.#site.drain();
      if (wanted.kind === 'delete') return { kind: 'deleteDrain', id, drain, uid, generation };
      return { kind: 'guardDrain', id, drain, uid, isGuarded: wanted.isGuarded };
    });
  }

  /** The node of a write that may have set something, and has ended by now; null: it is none. */
  heard(id: string, outcome: Outcome): string | null {
    const setOn = this.#sent.get(id);
    if (setOn === undefined) return null;
    if (outcome.kind === 'failed') this.#refused.set(setOn, outcome.message);
    else this.#refused.delete(setOn);
    this.#sent.delete(id);
    return setOn;
  }

  /** The `want`ed write that has ended; null: none that is still of use. */
  settle(now: Instant, id: string, outcome: Outcome): ReturnType<DrainWrites['settle']> {
    const ended = this.#writes.settle(now, id, outcome);
    if (!ended) return null;
    const { wrote, isDone } = ended;
    if (wrote.kind === 'node' && wrote.write.kind !== 'undo') return ended;
    const name = wrote.kind === 'node' ? wrote.nodeName : '';
    if (isSetback(outcome)) this.#failed.set(name, outcome.message);
    else this.#failed.delete(name);
    if (isDone && wrote.kind === 'node') this.#undone.add(name);
    return ended;
  }

  nextWake(): Instant | null {
    return this.#writes.nextWake();
  }

  /** Writes the last word on a node that is done with. */
  end(now: Instant, nodeName: string, phase: DrainNodePhase): void {
    if (phase.kind === 'failed' && this.#site.drain().spec.onFailure === 'RollBack') {
      this.want(now, nodeName, { kind: 'undo' });
    } else if (phase.kind === 'failed' && phase.why === 'ForeignEviction') {
      this.want(now, nodeName, { kind: 'untaint' });
    } else if (phase.kind !== 'vanished') {
      this.want(now, nodeName, { kind: 'end', isDrained: phase.kind === 'drained' });
    }
  }

  /** Another program evicts for the taint and asks no budgets, until the taint is gone. */
  takeTaintsBack(now: Instant): void {
    for (const { name } of this.#site.machine.nodes()) {
      if (this.isOn(name)) this.want(now, name, { kind: 'untaint' });
    }
  }

  /**
   * Every node that shows a mark of ours is taken back, and every one that may have got one that is
   * not seen yet. True when nothing is left.
   */
  undo(now: Instant): boolean {
    if (this.#sent.size > 0) return false;
    const begun = this.#site.machine.nodes().filter(({ phase }) => phase.kind !== 'pending');
    const written = new Set([...begun.map(({ name }) => name), ...this.#set]);
    const open = [...written].filter((name) => !this.#undone.has(name));
    const nodes = Array.from(this.#site.store.nodes());
    const marked = nodes.flatMap(({ name }) => (this.isOn(name) ? name : []));
    for (const name of [...open, ...marked]) this.want(now, name, { kind: 'undo' });
    return open.length === 0 && marked.length === 0;
  }

  /** True if a write that succeeded does not show yet, or one that did not is still of use. */
  #isNeeded(wanted: DrainWrite, hasSucceeded: boolean): boolean {
    const drain = this.#site.drain();
    if (wanted.kind === 'guard') return drain.isGuarded !== wanted.isGuarded;
    if (wanted.kind === 'delete') return !drain.isDeleted;
    const { nodeName, write } = wanted;
    if (write.kind !== 'undo') return !hasSucceeded && !drain.isDeleted;
    // A mark on a node that has begun again is a new mark.
    if (!drain.isDeleted && this.#site.machine.isBegun(nodeName)) return false;
    return !hasSucceeded || this.isOn(nodeName);
  }

  /** Until the write is answered it is unknown whether there is something to undo. */
  #setting(id: string, nodeName: string, write: NodeDrainWrite): NodeDrainCommand {
    this.#sent.set(id, nodeName);
    this.#set.add(nodeName);
    this.#undone.delete(nodeName);
    return this.#command(id, nodeName, write);
  }

  #command(id: string, nodeName: string, write: NodeDrainWrite): NodeDrainCommand {
    const { name: drain, uid, spec } = this.#site.drain();
    const taint = { ...spec.taint, timeAdded: null };
    return { kind: 'writeDrainNode', id, nodeName, drain, uid, taint, write };
  }
}

/** The largest number of requests at one time. */
const writesMax = 20;
const retry = { retryWaitMsMin: 200, retryWaitMsMax: 10_000, confirmationWaitMs: 5_000 };

/** A write that a drain wants. */
type DrainWrite =
  /** Keep the object until it is undone, or let it go. */
  | { readonly kind: 'guard'; readonly isGuarded: boolean }
  | { readonly kind: 'delete' }
  | { readonly kind: 'node'; readonly nodeName: string; readonly write: NodeDrainWrite };

/** A write to send now. */
interface StartedWrite {
  readonly id: string;
  readonly wanted: DrainWrite;
}

/** Writes on nodes and on the object: the last one wanted of each counts, and is tried until it succeeds. */
export class DrainWrites {
  readonly #keyed: KeyedWrites;
  readonly #wanted = new Map<string, DrainWrite>();
  /** By the ids of requests under way. */
  readonly #sent = new Map<string, DrainWrite>();

  constructor(prefix: string) {
    this.#keyed = new KeyedWrites({ ...retry, prefix, max: writesMax });
  }

  want(now: Instant, wanted: DrainWrite): void {
    const key = keyOf(wanted);
    const before = this.#wanted.get(key);
    if (before && isSame(before, wanted)) return;
    this.#wanted.set(key, wanted);
    // A write under way is answered first.
    if (this.#keyed.isUnderWay(key)) return;
    this.#keyed.forget(key);
    this.#keyed.notice(now, key);
  }

  /** Forgets the write wanted of a node; one that is under way is still answered. */
  forget(nodeName: string): void {
    if (this.#keyed.isUnderWay(nodeName)) this.#wanted.delete(nodeName);
    else this.#drop(nodeName);
  }

  /** True if what the drain has set on a node has to be taken back, and is not yet. */
  isUndoing(nodeName: string): boolean {
    const wanted = this.#wanted.get(nodeName);
    const isUndo = wanted?.kind === 'node' && wanted.write.kind === 'undo';
    return isUndo && this.#keyed.failures(nodeName) !== 0;
  }

  /** Writes that are due; `isNeeded`: whether one that has succeeded, or has not yet, is of use. */
  take(
    now: Instant,
    isNeeded: (wanted: DrainWrite, hasSucceeded: boolean) => boolean,
  ): readonly StartedWrite[] {
    // Writes begin one after the other: each takes a place.
    const begun = Array.from(this.#keyed.takeDue(now), (key) => {
      const wanted = this.#wanted.get(key);
      if (!wanted || !isNeeded(wanted, this.#keyed.failures(key) === 0)) {
        this.#drop(key);
        return [];
      }
      const id = this.#keyed.begin(key);
      this.#sent.set(id, wanted);
      return [{ id, wanted }];
    });
    return begun.flat();
  }

  /** Takes a result; returns the write, or null for a result of others. */
  settle(
    now: Instant,
    id: string,
    outcome: Outcome,
  ): { readonly wrote: DrainWrite; readonly isDone: boolean } | null {
    const wrote = this.#sent.get(id);
    if (!wrote) return null;
    this.#sent.delete(id);
    const ended = this.#keyed.settle(now, id, outcome);
    if (!ended) return null;
    const { key, failures } = ended;
    const isDone = failures === 0;
    const wanted = this.#wanted.get(key);
    // The same may be wanted again, of another node of the name.
    if (wanted && wanted !== wrote) {
      this.#keyed.forget(key);
      this.#keyed.notice(now, key);
    } else if (outcome.kind === 'changed') {
      // Another drain has the node by now: there is nothing of ours to write.
      this.#drop(key);
    }
    return { wrote, isDone };
  }

  nextWake(): Instant | null {
    return this.#keyed.nextWake();
  }

  #drop(key: string): void {
    this.#wanted.delete(key);
    this.#keyed.forget(key);
  }
}

/** No node has an empty name. */
function keyOf(wanted: DrainWrite): string {
  return wanted.kind === 'node' ? wanted.nodeName : '';
}

function isSame(one: DrainWrite, other: DrainWrite): boolean {
  if (one.kind === 'node' && other.kind === 'node') return one.write.kind === other.write.kind;
  const isGuard = one.kind === 'guard' && other.kind === 'guard';
  return isGuard ? one.isGuarded === other.isGuarded : one.kind === other.kind;
}

/** The surroundings of cordons at the start. */
interface CordonSite {
  readonly machine: DrainView;
  readonly node: (name: string) => Node | null;
  /** True if the node shows something of the drain. */
  readonly isMarked: (name: string) => boolean;
  /** True if the drain has one node only: it is cordoned with its taint. */
  readonly isAlone: () => boolean;
  readonly want: (now: Instant, name: string) => void;
  /**
   * True if a person looks on: each node is asked for a cordon, one after the other, regardless of
   * its state. A node that refuses is cordoned with its taint.
   */
  readonly isOfProgram: boolean;
}

/**
 * Pods that leave the first node must not land on a node that is drained next: they would be
 * evicted twice. So no node begins before the others are cordoned; a cordon that is refused, or
 * that takes more than a minute, is not waited for.
 */
export class StartCordons {
  readonly #site: CordonSite;
  /** Nodes that were cordoned here: a node that others uncordon is not cordoned again. */
  readonly #nodes = new Set<string>();
  /** Nodes whose cordon is not on yet, and since when it is wanted. */
  readonly #open = new Map<string, Instant>();
  /** Why the last try failed. */
  readonly #failed = new Map<string, string>();

  constructor(site: CordonSite) {
    this.#site = site;
  }

  /** Cordons what waits for its turn, once; whether there was anything. `holds`: what keeps nodes from it. */
  begin(now: Instant, holds: ReadonlyMap<string, DrainHold>): boolean {
    let hasBegun = false;
    for (const { name, phase } of this.#site.machine.nodes()) {
      const node = phase.kind === 'pending' ? this.#site.node(name) : null;
      if (!node || this.#nodes.has(name)) continue;
      const isSeenTo = node.unschedulable === true || this.#site.isMarked(name);
      if (isSeenTo && !this.#site.isOfProgram) continue;
      // A cordon set before another drain is done is recorded as that drain's. Where others
      // evict, no node begins.
      const reason = holds.get(name)?.reason ?? '';
      if (['AnotherDrain', 'OtherEvictors'].includes(reason)) continue;
      this.#nodes.add(name);
      if (!this.#site.isOfProgram || this.#open.size === 0) this.#site.want(now, name);
      this.#open.set(name, now);
      hasBegun = true;
    }
    return hasBegun;
  }

  /** Takes the outcome of a try to cordon the node; true if the next try is waited for. */
  settle(now: Instant, name: string, outcome: Outcome): boolean {
    const since = this.#open.get(name);
    const isWaitedFor = since !== undefined && this.#helps(outcome) && now - since < heldUpMs;
    if (isWaitedFor && isSetback(outcome)) this.#failed.set(name, outcome.message);
    else this.#over(name);
    const [next] = this.#open.keys();
    if (this.#site.isOfProgram && !isWaitedFor && next !== undefined) this.#site.want(now, next);
    return isWaitedFor;
  }

  /** True if another try may cordon the node. */
  #helps(outcome: Outcome): boolean {
    if (!isSetback(outcome)) return false;
    const { code, verdict } = blockerOf(outcome);
    return this.#site.isOfProgram ? code === 'Unreachable' : verdict !== 'never';
  }

  /** The node may be cordoned again. */
  forget(name: string): void {
    this.#nodes.delete(name);
    this.#over(name);
  }

  /** Why the turn of no node comes yet; not worth telling while nothing has failed. */
  get hold(): DrainHold | null {
    if (this.#open.size === 0) return null;
    if (this.#site.isAlone() && !this.#site.isOfProgram) return null;
    const [failed] = this.#failed;
    const message = failed ? `node ${failed[0]} must be cordoned first: ${failed[1]}` : '';
    return { reason: 'NotCordoned', message };
  }

  #over(name: string): void {
    this.#open.delete(name);
    this.#failed.delete(name);
  }
}

/** The surroundings of roll backs. */
interface RollBackSite {
  /** `rollBack`: takes back that nodes have begun which still have pods, and names them. */
  readonly machine: DrainView & { rollBack(): readonly string[] };
  /** True if the node shows something of the drain. */
  readonly isMarked: (nodeName: string) => boolean;
  /** Forgets how far the node has come. */
  readonly forget: (nodeName: string) => void;
}

/**
 * Outside of the windows no node is tainted or cordoned that still has pods. A node that waits for
 * steps after its pods is left to them. A node does not begin again before it shows nothing of the
 * drain.
 */
export class RollBacks {
  readonly #site: RollBackSite;
  /** Nodes that are taken back, and whether that was written. */
  readonly #nodes = new Map<string, boolean>();

  constructor(site: RollBackSite) {
    this.#site = site;
  }

  /**
   * All windows are closed, or a gate is: an earlier leader may have begun to take nodes back too.
   * True if there were any.
   */
  begin(): boolean {
    let hasBegun = false;
    const { machine, isMarked, forget } = this.#site;
    const begun = new Set(machine.rollBack());
    for (const { name, phase } of machine.nodes()) {
      const isLeft = phase.kind === 'pending' && isMarked(name) && !this.#nodes.has(name);
      if (!begun.has(name) && !isLeft) continue;
      forget(name);
      this.#nodes.set(name, false);
      hasBegun = true;
    }
    return hasBegun;
  }

  /** The nodes that have still to be taken back. */
  open(): readonly string[] {
    for (const [name, isWritten] of this.#nodes) {
      if (isWritten && !this.#site.isMarked(name)) this.#nodes.delete(name);
    }
    return [...this.#nodes.keys()];
  }

  written(name: string): void {
    if (this.#nodes.has(name)) this.#nodes.set(name, true);
  }

  /** True if the node is still to be taken back. */
  has(name: string): boolean {
    return this.#nodes.has(name);
  }
}
