// What a NodeDrain sets on nodes, and takes back: taint, cordon and mark; and the finalizer of its object.
import { isSetback, type Outcome } from '../../attempt/outcome.ts';
import type { Instant } from '../../kernel/time.ts';

import type { NodeDrain } from '../../policy/node-drain.ts';
import type { StoreView } from '../../store.ts';
import type { DrainMachine } from '../machine.ts';
import type { DrainNodePhase } from '../state.ts';
import type { NodeDrainCommand, NodeDrainWrite } from './command.ts';
import type { DrainHold } from './state.ts';
import { type DrainWrite, DrainWrites } from './writes.ts';

/** Writes by which nodes have got something of a drain, or may still get it. */
export interface SettingWrites {
  /** Those under way: their nodes by the ids. */
  readonly sent: ReadonlyMap<string, string>;
  /** The nodes of all of them, but for those that were undone since. */
  readonly nodes: ReadonlySet<string>;
}

/** What it goes by. */
export interface MarkSite {
  readonly store: Pick<StoreView, 'node' | 'nodes'>;
  readonly machine: Pick<DrainMachine, 'nodes' | 'isBegun'>;
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

  /** Why nothing begins, and nothing goes on: the object is not guarded, and that was refused. */
  get hold(): DrainHold | null {
    const { isDeleted, isGuarded } = this.#site.drain();
    const why = this.#failed.get('');
    if (isDeleted || isGuarded || why === undefined) return null;
    return { reason: 'NotGuarded', message: `its finalizer is to be set first: ${why}` };
  }

  /** What cannot be written or taken back, for people. */
  get remarks(): readonly string[] {
    const begun = [...this.#refused].filter(([name]) => this.#site.machine.isBegun(name));
    return [
      ...begun.map(([name, why]) => `node ${name} could not be written, trying again: ${why}`),
      ...this.#notUndone(),
    ];
  }

  #notUndone(): readonly string[] {
    return Array.from(this.#failed).flatMap(([name, why]) => {
      if (this.#writes.isUndoing(name)) return [`node ${name} is to be undone: ${why}`];
      const { isDeleted, isGuarded } = this.#site.drain();
      if (name !== '' || !(isDeleted || isGuarded)) return [];
      const what = isDeleted ? 'its finalizer is to be taken off' : 'it is to be deleted';
      return [`${what}: ${why}`];
    });
  }

  isOn(nodeName: string): boolean {
    const { drainMarks = [] } = this.#site.store.node(nodeName) ?? {};
    return drainMarks.some(({ id }) => id === this.#site.drain().name);
  }

  /** Whether something of the drain is being taken off the node. */
  isUndoing(nodeName: string): boolean {
    return this.#writes.isUndoing(nodeName);
  }

  /** Until it is written, or of no use any more. */
  want(now: Instant, nodeName: string, write: NodeDrainWrite): void {
    this.#writes.want(now, { kind: 'node', nodeName, write });
  }

  /** The node is another one by now: what was to be written on it is of no use. */
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

  /** What has ended of `want`ed writes; null: nothing that is still of use. */
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

  /** What is written on a node that is done with. */
  end(now: Instant, nodeName: string, phase: DrainNodePhase): void {
    if (phase.kind === 'failed' && this.#site.drain().spec.onFailure === 'RollBack') {
      this.want(now, nodeName, { kind: 'undo' });
    } else if (phase.kind === 'failed' && phase.why === 'ForeignEviction') {
      this.want(now, nodeName, { kind: 'untaint' });
    } else if (phase.kind !== 'vanished') {
      this.want(now, nodeName, { kind: 'end', isDrained: phase.kind === 'drained' });
    }
  }

  /** Somebody else evicts for the taint and asks no budgets: until it is gone. */
  takeTaintsBack(now: Instant): void {
    for (const { name } of this.#site.machine.nodes()) {
      if (this.isOn(name)) this.want(now, name, { kind: 'untaint' });
    }
  }

  /**
   * Every node that shows a mark of ours is taken back, and every one that may have got one that is not
   * seen yet. Whether nothing is left.
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

  /** Whether a write that succeeded does not show yet, or one that did not is still of use. */
  #isNeeded(wanted: DrainWrite, hasSucceeded: boolean): boolean {
    const drain = this.#site.drain();
    if (wanted.kind === 'guard') return drain.isGuarded !== wanted.isGuarded;
    if (wanted.kind === 'delete') return !drain.isDeleted;
    const { nodeName, write } = wanted;
    if (write.kind !== 'undo') return !hasSucceeded && !drain.isDeleted;
    // A mark on a node that has begun anew is a new one.
    if (!drain.isDeleted && this.#site.machine.isBegun(nodeName)) return false;
    return !hasSucceeded || this.isOn(nodeName);
  }

  /** Until it is answered nobody knows whether there is something to undo. */
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
