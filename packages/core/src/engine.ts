import type { Command } from './command.ts';
import { type Config, resolveConfig } from './config.ts';
import {
  type Counts,
  countsOf,
  type LastReplica,
  lastReplicaOf,
  type PolicyCounts,
  policyCountsOf,
} from './counts.ts';
import { SimulatedUpstream } from './differences/simulated-upstream.ts';
import type { DrainMachine } from './drain/drain-machine.ts';
import { NodeDrains } from './drain/node-drains.ts';
import type { DrainNote } from './drain/state.ts';
import { checkEvent, type Event } from './event.ts';
import { type EvictionMachine, PreciseEvictionMachine } from './eviction/machine.ts';
import { type TakeoverCounts, TakeoverMachine } from './eviction/takeover.ts';
import { UpstreamEvictionMachine } from './eviction/upstream/machine.ts';
import { type Explanation, explain, type Subject } from './explain.ts';
import { assert } from './kernel/checks.ts';
import { askerOf } from './kernel/inflight.ts';
import { earlier, type Instant, notBefore } from './kernel/time.ts';
import { resolveLifecycleConfig } from './lifecycle/config.ts';
import { type LifecycleMachine, PreciseLifecycleMachine } from './lifecycle/machine.ts';
import { isSameHold, readinessHold } from './lifecycle/readiness.ts';
import type { ReadinessHold, ZoneStatus } from './lifecycle/reason.ts';
import { UpstreamLifecycleMachine } from './lifecycle/upstream/machine.ts';
import { zoneHold } from './lifecycle/zone-holds.ts';
import { hasSameLabels, type Node } from './model/node.ts';
import { OwnReplicas } from './own-replicas.ts';
import type { LimitStatus } from './policy/limit.ts';
import { type Change, type KnownPause, type Machine, Store } from './store.ts';

/**
 * The eviction engine: events in, commands out. The engine does no I/O, reads no clock and never
 * waits; its caller reports events to it and carries out its commands. The same events at the same
 * instants give the same commands.
 */
export interface Engine {
  /**
   * Takes one event. `now` must not go backwards (throws). Commands come in the order in which to
   * start them. Commands that change the cluster come with a tick only: after an event nextWake()
   * says when, which may be at once. With semantics `upstream-1.36` they come with any event, as
   * kube-controller-manager waits for nothing.
   */
  handle(now: Instant, event: Event): readonly Command[];
  /**
   * Takes an event that does no more than inform, as most renewals of leases do: no command comes
   * of it, and nextWake() stays as it is. False: that is not certain, and `handle` has to take it.
   * Asked while no tick is due.
   */
  hear(now: Instant, event: Event): boolean;
  /**
   * The earliest instant at which a tick could yield a command, never before that of the last event; null: only
   * an event can.
   */
  nextWake(): Instant | null;
  /**
   * Why and when; reads only, with the functions that decide, whatever `now` is. The state is as of
   * the last event: a pause whose time is over holds pods until the tick at its end, for which
   * nextWake() asks.
   */
  explain(now: Instant, subject: Subject): Explanation;
  /** The state of the zones, by name; empty without the node lifecycle machine. */
  zones(now: Instant): readonly ZoneStatus[];
  /** The limits that have tripped, those in whose window pods were evicted, and rates in use. */
  limits(now: Instant): readonly LimitStatus[];
  /** The numbers of nodes and pods, and the progress of evictions. */
  counts(): Counts;
  /**
   * The replica of taintmgr that would leave, and stays as the last one that is ready; null: there
   * is none.
   */
  lastReplica(): LastReplica | null;
  /** The nodes that are known. */
  nodes(): readonly Node[];
  /** The names of nodes whose pods may have to go: for taints of theirs, or of devices that their pods use. */
  nodesOfTaints(): readonly string[];
  /** The counts of the policies, taint rules and pauses of the cluster and of files. */
  policyCounts(now: Instant): PolicyCounts;
  /** The pauses that are there, by their names; those that are over hold nothing any more. */
  pauses(): readonly KnownPause[];
  /** The state of takeover; null: we decide about all pods. */
  takeover(): TakeoverStatus | null;
  /** The NodeDrain of this name as it is carried out here; null: it is not. */
  drain(name: string): CarriedDrain | null;
}

/** A NodeDrain that is carried out, for a program that shows its progress. */
export interface CarriedDrain {
  /** The machine that drains its nodes. */
  readonly machine: DrainMachine;
  /** The waits in words: by node, and for all nodes ('') while none begins. */
  holds(): ReadonlyMap<string, string>;
  /** Notes of all that happened since the last call; empty without `drainProgram`. */
  takeNotes(now: Instant): readonly DrainNote[];
  /** The earliest instant at which a tick could yield a command; null: only an event can. */
  nextWake(): Instant | null;
}

/** The state of takeover. */
export interface TakeoverStatus extends TakeoverCounts {
  /** The pods that kube-controller-manager is not to mark not ready; null: none. */
  readonly readinessHold: ReadinessHold | null;
}

/**
 * A new engine that knows nothing yet: report objects with `handle`, and then the event `synced`.
 * Throws RangeError for an option that is not allowed.
 */
export function createEngine(options: Partial<Config> = {}): Engine {
  const store = new Store();
  const config = resolveConfig(options);
  const replicas = new OwnReplicas(store, config.ownPod);
  const eviction = evictionMachine(store, config, replicas);
  const takeover = config.takeover ? new TakeoverMachine(store, eviction, config) : null;
  const lifecycle = lifecycleMachine(store, config, replicas);
  const drains = config.nodeDrains ? new NodeDrains(store, config, replicas) : null;
  const simulated = config.compare ? new SimulatedUpstream(store, config) : null;
  const machines = [eviction, lifecycle, takeover, drains];
  const known = { store, machine: eviction, lifecycle };
  const owners = ownersOf(machines);
  const holdAt = (now: Instant): ReadinessHold | null =>
    readinessHold(store, lifecycle?.zones(now) ?? []);
  let hold: ReadinessHold | null = null;
  const noteHold = (now: Instant): readonly Command[] => {
    const before = hold;
    hold = holdAt(now);
    if (isSameHold(before, hold)) return [];
    return [{ kind: 'report', report: { kind: 'readinessHold', hold } }];
  };
  const followPauses = (now: Instant, nodes: readonly Command[]): readonly Command[] =>
    nodes
      .flatMap((command) => pauseOf(store.clock.wall(now), command))
      .flatMap((pause) => {
        const changes = changesOf(nothing, store.apply(now, pause));
        const drained = drains?.handle(now, pause, changes) ?? nothing;
        return [...eviction.handle(now, pause, changes), ...drained];
      });
  let latest = Number.NEGATIVE_INFINITY;
  return {
    handle(now, event) {
      assert(now >= latest, `time goes forward: ${now} after ${latest}`);
      checkEvent(event);
      latest = now;
      const changes = changesOf(store.endPauses(now), store.apply(now, event));
      replicas.follow(now, event, changes);
      simulated?.handle(now, event, changes);
      const owner = changes.length === 0 ? ownerOf(event, owners) : null;
      const nodes = answersOf(lifecycle, owner, now, event, changes);
      const pauses = nodes.length === 0 ? nothing : followPauses(now, nodes);
      const drained = answersOf(drains, owner, now, event, changes);
      if (event.kind === 'leadership' && !config.taintEviction) return [...nodes, ...drained];
      const evictions = answersOf(eviction, owner, now, event, changes);
      const spared = answersOf(takeover, owner, now, event, changes);
      const hold = takeover && mayMoveHold(changes, nodes) ? noteHold(now) : [];
      if (nodes.length === 0 && pauses.length === 0 && drained.length === 0) {
        if (spared.length === 0 && hold.length === 0) return evictions;
      }
      return [...nodes, ...pauses, ...evictions, ...drained, ...spared, ...hold];
    },
    hear(now, event) {
      if (event.kind !== 'leaseUpsert' || now < latest) return false;
      if (takeover || simulated) return false;
      if (!lifecycle?.hearLease?.(now, event.lease)) return false;
      latest = now;
      store.apply(now, event);
      return true;
    },
    nextWake() {
      let wake = earlier(store.nextPauseEnd(), replicas.nextWake());
      for (const machine of machines) if (machine) wake = earlier(wake, machine.nextWake());
      return notBefore(latest, wake);
    },
    explain: (now, subject) => explain(now, subject, { ...known, simulated }),
    zones: (now) => lifecycle?.zones(now) ?? [],
    limits: (now) => eviction.limits(now),
    counts: () => countsOf(store, eviction, replicas),
    lastReplica: () => lastReplicaOf(replicas, eviction),
    nodes: () => [...store.nodes()],
    nodesOfTaints: () => eviction.nodesOfTaints(),
    drain: (name) => drains?.run(name) ?? null,
    takeover: () => takeover && { ...takeover.counts(), readinessHold: hold },
    policyCounts: (now) => policyCountsOf(now, { ...known, drains, evicts: config.taintEviction }),
    pauses: () => pausesIn(store),
  };
}

type Owner = Machine<Command>;

/** Asks for nothing, and takes results without an owner. */
const nobody: Owner = { askers: [], handle: () => nothing, nextWake: () => null };

function ownersOf(machines: readonly (Owner | null)[]): ReadonlyMap<string, Owner> {
  return new Map(
    machines.flatMap((one) => (one ? one.askers.map((asker) => [asker, one] as const) : [])),
  );
}

/** The machine that has asked for a result; null: none has. */
function ownerOf(event: Event, owners: ReadonlyMap<string, Owner>): Owner | null {
  return event.kind === 'result' ? (owners.get(askerOf(event.id)) ?? nobody) : null;
}

/** The answer of a machine to an event; it hears of no results that another one (`owner`) has asked for. */
function answersOf<C extends Command>(
  machine: Machine<C> | null,
  owner: Owner | null,
  now: Instant,
  event: Event,
  changes: readonly Change[],
): readonly C[] {
  const hears = machine !== null && (owner === null || owner === machine);
  return hears ? machine.handle(now, event, changes) : nothing;
}

function pausesIn(store: Store): readonly KnownPause[] {
  return Array.from(store.pauses())
    .filter(({ pause }) => pause.zone === undefined)
    .sort((a, b) => (a.pause.name < b.pause.name ? -1 : 1));
}

/** True when the set of pods that must not be marked not ready may have changed. */
function mayMoveHold(changes: readonly Change[], commands: readonly Command[]): boolean {
  const isMoved = ({ kind }: Change): boolean => kind === 'pause' || kind === 'pauseEnd';
  const isNode = (change: Change): boolean =>
    change.kind === 'node' &&
    (change.node?.uid !== change.previous?.uid || !hasSameLabels(change.node, change.previous));
  const isHold = (command: Command): boolean =>
    command.kind === 'report' && command.report.kind === 'zoneHold';
  return changes.some((change) => isMoved(change) || isNode(change)) || commands.some(isHold);
}

/** Where another program evicts, the machine still follows, for explanations, and never leads. */
function evictionMachine(store: Store, config: Config, replicas: OwnReplicas): EvictionMachine {
  const followed = config.taintEviction ? config : { ...config, leader: false };
  return config.semantics === 'precise'
    ? new PreciseEvictionMachine(store, followed, replicas)
    : new UpstreamEvictionMachine(store, followed, replicas);
}

function lifecycleMachine(
  store: Store,
  config: Config,
  replicas: OwnReplicas,
): LifecycleMachine | null {
  if (!config.lifecycle) return null;
  const { semantics, leader } = config;
  const lifecycle = resolveLifecycleConfig(config.lifecycle);
  return semantics === 'precise'
    ? new PreciseLifecycleMachine(store, lifecycle, leader)
    : new UpstreamLifecycleMachine(store, lifecycle, leader, replicas);
}

/** The one thing a machine tells the other past the API: a zone's deadlines stand still, or go on. */
function pauseOf(wall: Instant, command: Command): readonly Event[] {
  if (command.kind !== 'report' || command.report.kind !== 'zoneHold') return [];
  const { zone, deadlines } = command.report;
  const pause = zoneHold(zone, wall);
  if (deadlines === null) return [];
  return deadlines === 'resume'
    ? [{ kind: 'pauseDelete', name: pause.name }]
    : [{ kind: 'pauseUpsert', pause }];
}

const nothing: readonly never[] = [];

/** Most events say one thing or nothing, and no pause ends with them. */
function changesOf(ended: readonly Change[], change: Change | null): readonly Change[] {
  if (change === null) return ended;
  return ended.length === 0 ? [change] : [...ended, change];
}
