// The nodes of a drain: their turns, their phases, and how each ends.
import { blockerOf } from '../attempt/blocker.ts';
import { isSetback, type Outcome } from '../attempt/outcome.ts';
import { earliest, type Instant, type Millis } from '../kernel/time.ts';
import { poolLimit } from '../policy/condition-rule.ts';
import type { DrainConfig, NodeDrainSpec } from '../policy/node-drain.ts';
import { NodeTaints, type RenewMark } from './node-taints.ts';
import {
  type DrainFailure,
  type DrainNode,
  type DrainNodePhase,
  type DrainNote,
  type DrainPods,
  type DrainTarget,
  failed,
  givenUpOn,
  isBegun,
  isDone,
  isEnded,
  lateEndOf,
  type Refusal,
  type TaintNode,
  type Wave,
} from './state.ts';

const createdAgain =
  'the node was deleted and created again, and pods of the drain are still on it';

/** Acts that must not happen on these nodes for now. */
export interface NodeHolds {
  /** Nodes whose turn does not come. */
  readonly turns: ReadonlySet<string>;
  /** Nodes of which no pod is sent away. */
  readonly pods: ReadonlySet<string>;
  /** Nodes that are not done, though all of their pods are. */
  readonly ends: ReadonlySet<string>;
  /** Nodes that have failed: a step of others was not done in time, in words. */
  readonly late: ReadonlyMap<string, string>;
}

/**
 * The target nodes: whose turn it is, and how each ends. A node is tainted exactly when its turn
 * comes: until then neither we nor other controllers evict its pods for it.
 */
export class DrainNodes {
  readonly #config: DrainConfig;
  readonly #note: (note: DrainNote) => void;
  #isPaused = false;
  #held: NodeHolds = { turns: new Set(), pods: new Set(), ends: new Set(), late: new Map() };
  readonly #phases = new NodePhases();
  /** The phase of each node. */
  readonly phases: NodePhasesView = this.#phases;
  readonly #taints: NodeTaints;
  /** Nodes of which pods had gone before this run. */
  readonly #worked = new Set<string>();
  #isTakenOver = false;
  /** The first node where everything was denied, as it would be on the next; null: none was. */
  #denied: string | null = null;

  constructor(config: DrainConfig, note: (note: DrainNote) => void) {
    this.#config = config;
    this.#note = note;
    this.#taints = new NodeTaints(config);
  }

  /** The time for one node, from when its turn came; null: without limit, as with `--timeout=0`. */
  get #timeoutMs(): Millis | null {
    return this.#config.spec.timeouts.node || null;
  }

  /**
   * Adds a node, or another by the name of one. A node that an earlier run began continues at
   * `now`.
   */
  add(target: DrainTarget, now: Instant): void {
    const { name, phase, hasWorked = false } = target;
    this.#taints.add(name);
    this.#phases.add(target);
    if (hasWorked) this.#worked.add(name);
    else this.#worked.delete(name);
    if (phase?.kind === 'failed' && phase.why === 'Denied') this.#noteDenied(name);
    if (phase?.kind !== 'tainting') return;
    this.#taints.foundTainted(name);
    this.#taint(name, phase.since, now);
  }

  /** Turns come in this order; those of nodes that are not named last. */
  order(names: readonly string[]): void {
    this.#phases.order(names);
  }

  remove(name: string): void {
    this.#taints.remove(name);
    this.#phases.remove(name);
    this.#worked.delete(name);
  }

  /** Acts that must not happen on these nodes for now. */
  hold(now: Instant, held: NodeHolds): void {
    this.#held = held;
    for (const [name, message] of held.late) {
      if (!this.#phases.isEnded(name)) this.#end(name, failed('StepTimedOut', now, message));
    }
  }

  /** While it is, the turn of none comes, and no pod goes. */
  pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
  }

  /** True if another run continues this drain. */
  get isTakenOver(): boolean {
    return this.#isTakenOver;
  }

  isTainted(name: string): boolean {
    return this.#taints.isTainted(name);
  }

  /**
   * Nodes that have begun and still have pods are as before their turn; everything written on them
   * belongs to others.
   */
  rollBack(pods: DrainPods): readonly string[] {
    const begun = [...this.#phases.names()].filter((name) => {
      return this.#phases.isBegun(name) && pods.on(name).some(({ state }) => !isDone(state));
    });
    for (const name of begun) {
      this.#taints.forget(name);
      this.#phases.set(name, { kind: 'pending' });
    }
    return begun;
  }

  /** True if its pods may be evicted now. */
  mayEvict(now: Instant, name: string): boolean {
    if (this.#isPaused || !this.#phases.isDraining(name) || this.#held.pods.has(name)) return false;
    return this.#taints.mayEvict(now, name);
  }

  /** The node is there, with the taint or without, and with the mark of a drain by it or without. */
  seen(now: Instant, name: string, isTainted: boolean, isMarked: boolean): void {
    if (!this.#phases.has(name) || this.#phases.isEnded(name)) return;
    this.#taints.see(name, isTainted);
    const phase = this.#phases.of(name);
    // Taint and mark came with one write: an old mark has an old taint beside it.
    const isOurs = phase.kind === 'tainting' && !this.#taints.wasTainted(name);
    if (isOurs && isTainted && isMarked) this.#taints.marked(now, name);
    this.#drainIfReady(name);
    if (!isTainted && phase.kind === 'draining') this.#end(name, failed('TaintRemoved', now));
  }

  /**
   * The node is there, as its pods are known. Pods of a node that was gone before are not deleted:
   * they run on.
   */
  isThere(now: Instant, name: string, pods: DrainPods): void {
    if (this.#phases.of(name).kind !== 'vanished') return;
    const isLeft = pods.on(name).some(({ state }) => {
      return !isDone(state) && state.kind !== 'terminating';
    });
    if (isLeft) this.#end(name, failed('TaintRemoved', now, createdAgain));
  }

  vanished(now: Instant, name: string): void {
    if (this.#phases.has(name) && !this.#phases.isEnded(name))
      this.#end(name, { kind: 'vanished', at: now });
  }

  /** Everything there is has been seen: a node that was not is gone. */
  synced(now: Instant): void {
    for (const name of this.#taints.unseen) this.vanished(now, name);
  }

  /**
   * Begins with the nodes whose turn has come; the requests that put the taint on them. `heldUp`: those
   * on which nothing is left but pods that are held up. `refusalOn`: why a node must not begin, in words.
   */
  begin(
    now: Instant,
    heldUp: ReadonlySet<string>,
    refusalOn: (name: string) => string | null,
  ): readonly (TaintNode | RenewMark)[] {
    for (const name of this.#taints.due(now, this.#phases.names())) {
      if (this.#taints.hasNotCome(name)) this.#end(name, failed('TaintRemoved', now));
    }
    for (const { name } of this.#takeTurns(now, heldUp, refusalOn)) {
      if (this.isTainted(name)) this.#taints.foundTainted(name);
      this.#taint(name, now, now);
      this.#drainIfReady(name);
    }
    return this.#taints.begin(now, this.#taints.due(now, this.#phases.names()));
  }

  /** The outcome of a request to put the taint on, or to show that we are at work. */
  answered(now: Instant, id: string, outcome: Outcome): void {
    const answered = this.#taints.answered(now, id, outcome);
    if (!answered) return;
    const { name, isTaint } = answered;
    if (outcome.kind === 'changed' && outcome.takenOver && !this.#config.isUnattended) {
      // Two runs beside each other would have more nodes under way than either may.
      this.#isTakenOver = true;
      this.stop(now, 'AnotherDrain', outcome.message);
    } else if (outcome.kind === 'changed') {
      this.#end(name, failed('AnotherDrain', now, outcome.message));
    } else if (isSetback(outcome)) {
      const blocker = blockerOf(outcome);
      const isFinal = blocker.verdict === 'never' && (isTaint || !this.#config.isUnattended);
      const { message } = blocker;
      if (isFinal) this.#endRefused(now, name, { why: 'Denied', message, hasWorked: false });
      else if (isTaint) this.#note({ kind: 'nodeSetBack', node: name, blocker });
    } else if (outcome.kind === 'done') {
      // The watch shows a node that is gone.
      this.#taints.marked(now, name);
      this.#drainIfReady(name);
    }
  }

  /** Ends all nodes that are not done with: nothing more is begun. */
  stop(now: Instant, why: DrainFailure, message: string | null = null): void {
    for (const { name, phase } of this.#phases.list()) {
      if (!isEnded(phase)) this.#end(name, failed(why, now, message));
    }
  }

  /** Ends the nodes whose time is over; true when there were any. */
  expire(now: Instant, pods: DrainPods): boolean {
    const late = this.#phases.timeouts(this.#timeoutMs).filter(({ at }) => at <= now);
    for (const { name } of late) {
      this.#end(name, lateEndOf(now, pods.on(name)));
    }
    return late.length > 0;
  }

  /** Ends the nodes whose pods are all done; whether there were any. */
  end(now: Instant, pods: DrainPods): boolean {
    let hasEnded = false;
    for (const { name, phase } of this.#phases.list()) {
      const here = pods.on(name);
      if (phase.kind !== 'draining' || !here.every(({ state }) => isDone(state))) continue;
      if (this.#held.ends.has(name) || this.#taints.isLapsed(now, name)) continue;
      const givenUp = givenUpOn(here);
      if (!givenUp) this.#end(name, { kind: 'drained', since: phase.since, at: now });
      else this.#endRefused(now, name, { ...givenUp, message: null });
      hasEnded = true;
    }
    return hasEnded;
  }

  /**
   * The time at which the next node is out of time, or its taint is due for a look; null: never.
   */
  nextWake(): Instant | null {
    return earliest([
      this.#taints.nextWake(),
      ...this.#phases.timeouts(this.#timeoutMs).map(({ at }) => at),
    ]);
  }

  /** The nodes whose turn has come; of one that must not begin the turn is over at once. */
  #takeTurns(
    now: Instant,
    heldUp: ReadonlySet<string>,
    refusalOn: (name: string) => string | null,
  ): readonly DrainNode[] {
    const held = { waiting: this.#held.turns, heldUp };
    for (;;) {
      const nodes = this.#phases.list();
      const denied = this.#denied;
      const why = denied === null ? null : `not begun: nothing was allowed on node ${denied}`;
      const pending = nodes.filter(({ phase }) => phase.kind === 'pending');
      const leaves = denied === null ? nodesToLeave(nodes) : pending;
      for (const { name } of leaves) this.#end(name, failed('NotBegun', now, why));
      const begins =
        this.#isPaused || this.#isLapsed(now)
          ? []
          : nodesToBegin(this.#phases.list(), this.#config.spec.limits, held);
      const refusals = begins.map(({ name }) => ({ name, message: refusalOn(name) }));
      const refused = refusals.filter(({ message }) => message !== null);
      if (refused.length === 0) return begins;
      for (const { name, message } of refused) this.#end(name, failed('PodsRefused', now, message));
    }
  }

  /** True if another run may have gone on with this drain: until that is known none begins, and none is done. */
  #isLapsed(now: Instant): boolean {
    return [...this.#phases.names()].some((name) => this.#taints.isLapsed(now, name));
  }

  #taint(name: string, since: Instant, now: Instant): void {
    this.#phases.set(name, { kind: 'tainting', since });
    this.#taints.want(now, name);
  }

  /** Its pods go once the taint is there and, where nodes are marked, the mark. */
  #drainIfReady(name: string): void {
    const phase = this.#phases.of(name);
    if (phase.kind !== 'tainting' || !this.#taints.isReady(name)) return;
    this.#taints.settle(name);
    this.#phases.set(name, { kind: 'draining', since: phase.since });
    this.#note({ kind: 'nodeBegun', node: name, wasTainted: this.#taints.wasTainted(name) });
  }

  #endRefused(now: Instant, name: string, { why, message, hasWorked }: Refusal): void {
    if (why === 'Denied' && !hasWorked) this.#noteDenied(name);
    this.#end(name, failed(why, now, message));
  }

  #noteDenied(name: string): void {
    if (this.#config.isUnattended && !this.#worked.has(name)) this.#denied ??= name;
  }

  #end(name: string, phase: DrainNodePhase): void {
    this.#taints.end(name);
    this.#phases.set(name, phase);
    this.#note({ kind: 'nodeEnded', node: name, phase });
  }
}

const oneWave: Wave = { name: '', nodesAtOnceMax: null };

/** The nodes, the order of their turns, and the phase of each. */
class NodePhases {
  /** Of each target, in their order. */
  readonly #places = new Map<string, Pick<DrainNode, 'zone' | 'wave'>>();
  readonly #phases = new Map<string, DrainNodePhase>();

  /** Adds a node, or another by the name of one. */
  add({ name, zone, wave = oneWave, phase = { kind: 'pending' } }: DrainTarget): void {
    this.#places.set(name, { zone, wave });
    this.#phases.set(name, phase);
  }

  /** Turns come in this order; those of nodes that are not named last. */
  order(names: readonly string[]): void {
    const before = new Map(this.#places);
    this.#places.clear();
    for (const name of [...names, ...before.keys()]) {
      const place = before.get(name);
      if (place) this.#places.set(name, place);
    }
  }

  remove(name: string): void {
    this.#places.delete(name);
    this.#phases.delete(name);
  }

  set(name: string, phase: DrainNodePhase): void {
    this.#phases.set(name, phase);
  }

  list(): readonly DrainNode[] {
    return Array.from(this.#places, ([name, at]) => ({ name, ...at, phase: this.of(name) }));
  }

  /** In the order in which they were added. */
  names(): Iterable<string> {
    return this.#phases.keys();
  }

  of(name: string): DrainNodePhase {
    return this.#phases.get(name) ?? { kind: 'pending' };
  }

  has(name: string): boolean {
    return this.#phases.has(name);
  }

  get allEnded(): boolean {
    return [...this.#phases.values()].every(isEnded);
  }

  isEnded(name: string): boolean {
    return isEnded(this.of(name));
  }

  isPending(name: string): boolean {
    return this.of(name).kind === 'pending';
  }

  isBegun(name: string): boolean {
    return isBegun(this.of(name));
  }

  isDraining(name: string): boolean {
    return this.of(name).kind === 'draining';
  }

  /** When a node's turn came; null: it has not come. */
  begunAt(name: string): Instant | null {
    const phase = this.of(name);
    return phase.kind === 'draining' ? phase.since : null;
  }

  /** The time at which each node that has begun is out of time, with this limit; null: never. */
  timeouts(
    nodeTimeoutMs: Millis | null,
  ): readonly { readonly name: string; readonly at: Instant }[] {
    if (nodeTimeoutMs === null) return [];
    return [...this.#phases].flatMap(([name, phase]) =>
      phase.kind === 'tainting' || phase.kind === 'draining'
        ? [{ name, at: phase.since + nodeTimeoutMs }]
        : [],
    );
  }
}

/** Without the methods that change them. */
type NodePhasesView = Omit<NodePhases, 'add' | 'order' | 'remove' | 'set'>;

/** Nodes whose turn does not come for now, and those that are begun and held up. */
interface HeldNodes {
  readonly waiting: ReadonlySet<string>;
  readonly heldUp: ReadonlySet<string>;
}

const noneHeld: HeldNodes = { waiting: new Set(), heldUp: new Set() };

/** The nodes whose turn has come, in their order. */
function nodesToBegin(
  nodes: readonly DrainNode[],
  limits: NodeDrainSpec['limits'],
  { waiting, heldUp }: HeldNodes = noneHeld,
): readonly DrainNode[] {
  const wave = currentWave(nodes);
  if (wave === null) return [];
  const inWave = nodes.filter((node) => node.wave.name === wave.name);
  const active = inWave.filter(({ phase }) => isBegun(phase));
  const isHeldUp = active.filter(({ name }) => heldUp.has(name)).length;
  const spared = Math.min(isHeldUp, limits.heldUpNodes);
  const limit = wave.nodesAtOnceMax ?? limits.nodesAtOnce;
  const room = atOnceMax(limit, inWave.length) - (active.length - spared);
  return inWave
    .filter(({ name, phase }) => phase.kind === 'pending' && !waiting.has(name))
    .slice(0, Math.max(0, room));
}

/** The nodes that must not begin, because an earlier wave failed. */
function nodesToLeave(nodes: readonly DrainNode[]): readonly DrainNode[] {
  // A node that never existed says nothing about a wave.
  const failed = nodes.find(({ phase }) => phase.kind === 'failed' && phase.why !== 'NotFound');
  if (!failed) return [];
  return nodes.filter(
    ({ wave, phase }) => wave.name !== failed.wave.name && phase.kind === 'pending',
  );
}

/** The first wave, in the order of first nodes, that is not done with; null: all are. */
export function currentWave(nodes: readonly DrainNode[]): Wave | null {
  return nodes.find((node) => isWaveOpen(nodes, node.wave.name))?.wave ?? null;
}

function isWaveOpen(nodes: readonly DrainNode[], name: string): boolean {
  return nodes.some(({ wave, phase }) => wave.name === name && !isEnded(phase));
}

/** A part is one of the nodes of the wave, rounded down, and at least one node. */
function atOnceMax(limit: NodeDrainSpec['limits']['nodesAtOnce'], size: number): number {
  if (limit === 0) return size;
  return Math.max(1, poolLimit(limit, size) ?? 1);
}
