import type { Instant } from '../kernel/time.ts';
import type { Node } from '../model/node.ts';
import { selects } from '../model/selector.ts';
import type { MatchOptions } from '../model/toleration.ts';
import {
  type DrainConfig,
  type DrainWave,
  type KnownDrainNode,
  type NodeDrain,
  resolveDrainConfig,
} from '../policy/node-drain.ts';
import type { StoreView } from '../store.ts';
import { isPlannedByOthers } from './drain-conditions.ts';
import type { DrainMachine } from './drain-machine.ts';
import type { DrainMarks, StartCordons } from './marks.ts';
import type { DrainHolds } from './node-holds.ts';
import { carriesTaint } from './pod-filters.ts';
import {
  type DrainFailure,
  type DrainNodePhase,
  type DrainTarget,
  isEnded,
  type Wave,
} from './state.ts';

/** The number of missing nodes that are shown of a drain that takes later ones. */
const goneMax = 100;

/** The parts of a run that hear of its nodes. */
interface TargetSite {
  readonly store: StoreView;
  readonly machine: DrainMachine;
  readonly holds: DrainHolds;
  readonly cordons: StartCordons | null;
  readonly marks: DrainMarks;
  readonly drain: () => NodeDrain;
  /** True if a program runs it: its nodes were there, and marks on others are those of an earlier run. */
  readonly isOfProgram: boolean;
  readonly hasBegun: () => boolean;
  /** True where pods of the node had gone before. */
  readonly hasWorked: (name: string) => boolean;
  /** A missing node is no longer one of its targets. */
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

  /** True if there is one node only. */
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
    // Nodes may come and go for years: the last ones are shown, and finished ones no longer count.
    const ended = machine.nodes().filter((one) => this.#uids.get(one.name) === '');
    const gone = ended.filter(({ phase }) => phase.kind === 'vanished').slice(0, -goneMax);
    const done = ended.filter(({ phase }) => phase.kind === 'drained' || phase.kind === 'failed');
    for (const one of [...gone, ...done]) {
      forget(one.name);
      this.#drop(one.name);
    }
  }

  /** `known`: how far an earlier run came with it; null: it begins again. */
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

  /** True if it was found by the selector of a drain that has not begun. */
  #isStillOut(name: string): boolean {
    const { machine, drain, hasBegun } = this.#site;
    return drain().spec.nodeSelector !== undefined && !hasBegun() && machine.isPending(name);
  }

  #drop(name: string): void {
    this.#uids.delete(name);
    this.#site.machine.remove(name);
    this.#forget(name);
  }

  /** The node is no target of ours, or another one by now. */
  #forget(name: string): void {
    const { holds, cordons, marks } = this.#site;
    holds.forget(name);
    cordons?.forget(name);
    marks.forget(name);
  }
}

/** Our name in metadata.managedFields. */
const fieldManager = 'taintmgr-controller';
/** As many as spec.nodes and status.nodeStates may have: the next leader knows no others. */
export const nodesMax = 1000;

const byController = {
  leavesDaemonSets: true,
  marksNodes: true,
  partners: [fieldManager],
  fieldManager,
};

/** The settings of a controller, which carries out what a NodeDrain says; `leaving`: pods on their way out. */
export function drainConfigOf(
  { spec }: NodeDrain,
  leaving: ReadonlySet<string>,
  { comparisonOperators }: MatchOptions,
): DrainConfig {
  const own = { leaving, comparisonOperators, isUnattended: true };
  return resolveDrainConfig({ ...byController, spec, ...own });
}

/** The settings of a program that drains these nodes, wave after wave; `own` are those that it says itself. */
export function soloDrainConfig(
  drain: NodeDrain,
  nodes: readonly Node[],
  own: Partial<DrainConfig>,
): SoloDrainConfig {
  const targets = inWaves(drain, nodes).map((node) => {
    return { name: node.name, zone: node.zone ?? '', wave: waveOf(drain, node) };
  });
  return { ...resolveDrainConfig({ ...byController, spec: drain.spec, ...own }), targets };
}

/** A drain and its nodes, in the order in which they are drained. */
export interface SoloDrainConfig extends DrainConfig {
  /** The nodes, in their order. */
  readonly targets: readonly DrainTarget[];
}

/** True if pods of other nodes matter too: what a workload has elsewhere. */
export function looksAtAllPods({ spec: { limits, pods } }: NodeDrain): boolean {
  return limits.maxUnavailable !== undefined || pods.singleReplicas === 'RolloutRestart';
}

/**
 * The nodes that a drain is for, as they are known: in their order, those of a selector by name. A
 * drain that has begun is for the nodes with which it began, regardless of their labels now.
 */
export function nodesOf(
  drain: NodeDrain,
  begunWith: ReadonlySet<string>,
  store: StoreView,
): readonly Node[] {
  const { spec, knowsAll } = drain;
  const { nodes, laterNodes } = spec;
  if (nodes)
    return inWaves(
      drain,
      nodes.flatMap((name) => store.node(name) ?? []),
    );
  const takesOthers = laterNodes === 'Drain' || begunWith.size === 0 || !knowsAll;
  const meant = Array.from(store.nodes()).filter((node) => {
    if (begunWith.has(node.name)) return true;
    return takesOthers && isMeant(drain, node);
  });
  return inWaves(
    drain,
    meant.sort((a, b) => (a.name < b.name ? -1 : 1)),
  );
}

/**
 * True if the selector matches the node, and its maintenance is planned by others where that is
 * required.
 */
function isMeant({ spec }: NodeDrain, node: Node): boolean {
  const { nodeSelector, maintenancePlanned } = spec;
  if (!nodeSelector || !selects(nodeSelector, node.labels ?? {})) return false;
  return maintenancePlanned === 'Ignore' || isPlannedByOthers(node);
}

/** The nodes of a selector that a drain began with, as its status has them; none: it has not begun. */
export function begunWith(drain: NodeDrain): ReadonlySet<string> {
  const { startedAt, generation, observedGeneration, observedSelector, known } = drain;
  // Statuses of earlier versions do not say the selector.
  const isSame =
    observedSelector === null
      ? observedGeneration === generation
      : observedSelector === selectorText(drain);
  return new Set(startedAt !== null && isSame ? known.map(({ name }) => name) : []);
}

/** Its selector as its status says it; null: it names its nodes. */
export function selectorText({ spec: { nodeSelector } }: NodeDrain): string | null {
  return nodeSelector ? JSON.stringify(nodeSelector) : null;
}

/** Nodes that it names and that are not there: either they are gone, or there never were any. */
function missingTargets(
  now: Instant,
  drain: NodeDrain,
  begunWith: ReadonlySet<string>,
  store: StoreView,
): readonly DrainTarget[] {
  return [...new Set(drain.spec.nodes ?? begunWith)].flatMap((name): readonly DrainTarget[] => {
    if (store.node(name)) return [];
    const known = knownOf(drain, name);
    const wasThere = known !== null && known.reason !== 'NotFound';
    const phase: DrainNodePhase = wasThere
      ? { kind: 'vanished', at: known.endedAt === null ? now : store.clock.when(known.endedAt) }
      : { kind: 'failed', why: 'NotFound', at: now, message: 'there is no such node' };
    return [{ name, zone: '', phase }];
  });
}

/** The node as an earlier run left it; null: unknown. */
function knownOf({ known }: NodeDrain, nodeName: string): KnownDrainNode | null {
  return known.find(({ name }) => name === nodeName) ?? null;
}

/** A node as a target, from where an earlier run came with it; null: it begins again. */
function targetOf(
  now: Instant,
  drain: NodeDrain,
  node: Node,
  known: KnownDrainNode | null,
  when: (wall: Instant) => Instant,
): DrainTarget {
  const phase = known && nodePhase(now, drain, node, known, when);
  const { name, zone = '' } = node;
  return { name, zone, wave: waveOf(drain, node), ...(phase && { phase }) };
}

/**
 * The phase of a node by what is known of it and what it shows. A failure of an earlier generation
 * of the drain is tried again.
 */
function nodePhase(
  now: Instant,
  drain: NodeDrain,
  node: Node,
  known: KnownDrainNode,
  when: (wall: Instant) => Instant,
): DrainNodePhase | null {
  const isTainted = carriesTaint(node, drain.spec.taint);
  if (isAnother(node, known)) {
    if (drain.spec.laterNodes === 'Drain' && isMeant(drain, node)) return null;
    if (known.endedAt === null && !isTainted) return { kind: 'vanished', at: now };
  }
  if (known.phase === 'Draining' && !isTainted) {
    // A roll back takes taint and mark at once.
    const isMarked = node.drainMarks?.some(({ id }) => id === drain.name) === true;
    if (drain.spec.whileClosed === 'RollBack' && !isMarked) return null;
    return { kind: 'failed', why: 'TaintRemoved', at: now, message: null };
  }
  return phaseOf(known, drain.observedGeneration === drain.generation, when);
}

/** True if it has only the name of the known node: that one is gone. */
function isAnother({ createdAt }: Node, { phase, startedAt, endedAt }: KnownDrainNode): boolean {
  const since = endedAt ?? startedAt;
  return phase === 'Gone' || (createdAt != null && since !== null && createdAt > since);
}

function phaseOf(
  { phase, reason, message, startedAt, endedAt }: KnownDrainNode,
  isSameSpec: boolean,
  when: (wall: Instant) => Instant,
): DrainNodePhase | null {
  const since = startedAt === null ? null : when(startedAt);
  const at = endedAt === null ? null : when(endedAt);
  if ((phase === 'Draining' || phase === 'Tainting') && since !== null) {
    return { kind: 'tainting', since };
  }
  if (phase === 'Drained' && at !== null) return { kind: 'drained', since: since ?? at, at };
  if (phase === 'Gone' && at !== null) return { kind: 'vanished', at };
  const why = failures.find((one) => one === reason);
  if (phase === 'Failed' && isSameSpec && at !== null && why) {
    return { kind: 'failed', why, at, message: message || null };
  }
  return null;
}

const failures: readonly DrainFailure[] = [
  'AnotherDrain',
  'Blocked',
  'Denied',
  'ForeignEviction',
  'NotBegun',
  'NotFound',
  'PodsRefused',
  'StepTimedOut',
  'TaintRemoved',
  'TimedOut',
];

/** The first wave that selects the node, or that of the others; of its zone, where zones come in turn. */
function waveOf(
  { spec: { waves = [], order } }: NodeDrain,
  { labels = {}, zone = '' }: Pick<Node, 'labels' | 'zone'>,
): Wave {
  const wave = waves.find(({ nodeSelector }) => selects(nodeSelector, labels));
  const name = wave?.name ?? (waves.length === 0 ? '' : othersName(waves));
  const parts = [name, order === 'ByZone' ? zone : ''].filter((part) => part !== '');
  return { name: parts.join(' in '), nodesAtOnceMax: wave?.nodesAtOnce ?? null };
}

/** A name for the nodes that no wave selects: no wave has that name. */
function othersName(waves: readonly DrainWave[]): string {
  let others = 'the others';
  while (waves.some(({ name }) => name === others)) others = `all ${others}`;
  return others;
}

/** The same nodes, wave after wave, each as they come. */
function inWaves({ spec: { waves = [] } }: NodeDrain, nodes: readonly Node[]): readonly Node[] {
  const place = ({ labels = {} }: Node): number => {
    const at = waves.findIndex((wave) => selects(wave.nodeSelector, labels));
    return at < 0 ? waves.length : at;
  };
  return waves.length === 0 ? nodes : nodes.toSorted((a, b) => place(a) - place(b));
}
