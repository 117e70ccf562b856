// The nodes that a NodeDrain is for, as they come and go.
import type { Instant } from '../../kernel/time.ts';
import type { Node } from '../../model/node.ts';
import type { KnownDrainNode, NodeDrain } from '../../policy/node-drain.ts';
import type { StoreView } from '../../store.ts';
import type { DrainMachine } from '../machine.ts';
import { isEnded } from '../state.ts';
import type { StartCordons } from './cordons.ts';
import type { DrainMarks } from './marks.ts';
import type { DrainHolds } from './node-holds.ts';
import { isMeant, knownOf, missingTargets, targetOf } from './settings.ts';
import { inWaves } from './waves.ts';

/** So many nodes that are gone are shown of a drain that takes later ones. */
const goneMax = 100;

/** What has to hear of them. */
export interface TargetSite {
  readonly store: StoreView;
  readonly machine: DrainMachine;
  readonly holds: DrainHolds;
  readonly cordons: StartCordons;
  readonly marks: DrainMarks;
  readonly drain: () => NodeDrain;
  /** Whether a program runs it: its nodes were there, and marks on others are those of an earlier run. */
  readonly isOfProgram: boolean;
  readonly hasBegun: () => boolean;
  /** True where pods of the node had gone before. */
  readonly hasWorked: (name: string) => boolean;
  /** A node that is gone is none of its targets any more. */
  readonly forget: (name: string) => void;
}

/** Until it has begun, a drain takes the nodes that there are; then those alone, if nothing else is said. */
export class DrainTargets {
  readonly #site: TargetSite;
  /** By name, with their uids; '': it is gone. */
  readonly #uids = new Map<string, string>();

  constructor(site: TargetSite) {
    this.#site = site;
  }

  has(name: string): boolean {
    return this.#uids.has(name);
  }

  /** Whether there is one node only. */
  get isAlone(): boolean {
    return this.#uids.size === 1;
  }

  /** Begins with these nodes, and those that are missing; `begunWith`: the names of an earlier run's. */
  begin(now: Instant, begunWith: ReadonlySet<string>, nodes: readonly Node[]): void {
    const { store, machine, drain, isOfProgram } = this.#site;
    for (const target of missingTargets(now, drain(), begunWith, store)) {
      const { name, zone } = target;
      this.#uids.set(name, '');
      machine.add(now, isOfProgram ? { name, zone } : target);
      for (const pod of store.podsOn(target.name)) machine.handle(now, { kind: 'podUpsert', pod });
    }
    for (const node of nodes) this.#add(now, node, knownOf(drain(), node.name));
    machine.handle(now, { kind: 'synced' });
    for (const node of store.nodes()) this.#releaseStray(now, node.name);
  }

  /** A node as it is now. */
  seen(now: Instant, node: Node): void {
    const { machine, drain, hasBegun } = this.#site;
    const { name, uid } = node;
    const before = this.#uids.get(name);
    const isOpen = drain().spec.laterNodes === 'Drain' || !hasBegun();
    if (before !== uid && isOpen && isMeant(drain(), node)) {
      if (before !== undefined) this.#forget(name);
      this.#add(now, node, before === undefined ? knownOf(drain(), name) : null);
      if (!hasBegun()) this.#order();
    } else if (before === undefined) {
      this.#releaseStray(now, name);
    } else if (this.#isStillOut(name) && !isMeant(drain(), node)) {
      this.#drop(name);
      this.#releaseStray(now, name);
    } else {
      machine.handle(now, { kind: 'nodeUpsert', node });
    }
  }

  /** The node is gone. */
  vanished(now: Instant, name: string): void {
    if (this.#isStillOut(name)) this.#drop(name);
    if (this.#uids.has(name)) this.#uids.set(name, '');
    const { machine, drain, forget } = this.#site;
    machine.handle(now, { kind: 'nodeDelete', name });
    if (drain().spec.laterNodes === 'Leave') return;
    // Nodes may come and go for years: the last ones are shown, and those that are done with count no more.
    const ended = machine.nodes().filter((one) => this.#uids.get(one.name) === '');
    const gone = ended.filter(({ phase }) => phase.kind === 'vanished').slice(0, -goneMax);
    const done = ended.filter(({ phase }) => phase.kind === 'drained' || phase.kind === 'failed');
    for (const one of [...gone, ...done]) {
      forget(one.name);
      this.#drop(one.name);
    }
  }

  /** `known`: how far an earlier run came with it; null: it begins anew. */
  #add(now: Instant, node: Node, known: KnownDrainNode | null): void {
    const { store, machine, holds, marks, drain } = this.#site;
    const hasWorked = known !== null && this.#site.hasWorked(node.name);
    const how = targetOf(now, drain(), node, known, (wall) => store.clock.when(wall));
    const target = { ...how, hasWorked };
    this.#uids.set(node.name, node.uid);
    if (!target.phase) holds.forget(node.name);
    machine.add(now, target);
    machine.handle(now, { kind: 'nodeUpsert', node });
    for (const pod of store.podsOn(node.name)) machine.handle(now, { kind: 'podUpsert', pod });
    if (target.phase && isEnded(target.phase) && marks.isOn(node.name)) {
      marks.end(now, node.name, target.phase);
    }
  }

  /** Before it has begun, nodes have the turns that they would have in a new run, whenever they came. */
  #order(): void {
    const { store, machine, drain } = this.#site;
    const nodes = [...this.#uids.keys()].sort().flatMap((name) => store.node(name) ?? []);
    machine.order(inWaves(drain(), nodes).map(({ name }) => name));
  }

  /** A node that was taken out of the drain has nothing of it any more. */
  #releaseStray(now: Instant, nodeName: string): void {
    const { marks, isOfProgram } = this.#site;
    if (isOfProgram || this.#uids.has(nodeName) || !marks.isOn(nodeName)) return;
    marks.want(now, nodeName, { kind: 'undo' });
  }

  /** Whether it was found by the selector of a drain that has not begun. */
  #isStillOut(name: string): boolean {
    const { machine, drain, hasBegun } = this.#site;
    return drain().spec.nodeSelector !== undefined && !hasBegun() && machine.isPending(name);
  }

  #drop(name: string): void {
    this.#uids.delete(name);
    this.#site.machine.remove(name);
    this.#forget(name);
  }

  /** The node is none of ours, or another one by now. */
  #forget(name: string): void {
    const { holds, cordons, marks } = this.#site;
    holds.forget(name);
    cordons.forget(name);
    marks.forget(name);
  }
}
