// A drain that goes by what a NodeDrain says, without the object: for a program that runs it once.

import type { Event } from '../../event.ts';
import { earliest, type Instant } from '../../kernel/time.ts';
import type { Node } from '../../model/node.ts';
import { type OwnPod, OwnReplicas } from '../../own-replicas.ts';
import type { NodeDrain } from '../../policy/node-drain.ts';
import { type Change, Store, type StoreView } from '../../store.ts';
import type { RenewMark } from '../claims.ts';
import { type DrainConfig, resolveDrainConfig } from '../config.ts';
import { DrainMachine } from '../machine.ts';
import type { TaintNode } from '../state.ts';
import type { NodeDrainCommand } from './command.ts';
import { DrainHolds } from './node-holds.ts';
import { DrainGates } from './pod-gates.ts';
import { drainConfigOf } from './settings.ts';
import { inWaves, waveOf } from './waves.ts';
import { Workloads } from './workloads.ts';

/** What it asks for: what NodeDrains do, with the taints and marks of its nodes as the machine has them. */
export type SoloDrainCommand = NodeDrainCommand | TaintNode | RenewMark;

/** The settings for these nodes, wave after wave; `own` are those of the program that runs it. */
export function soloDrainConfig(
  drain: NodeDrain,
  nodes: readonly Node[],
  own: Partial<Omit<DrainConfig, 'targets'>>,
): DrainConfig {
  const targets = inWaves(drain, nodes).map((node) => {
    return { name: node.name, zone: node.zone ?? '', wave: waveOf(drain, node) };
  });
  return resolveDrainConfig({ ...drainConfigOf(drain, new Set()), ...own, targets });
}

/** Whether pods of other nodes matter too: what a workload has elsewhere. */
export function looksAtAllPods({ spec: { limits, pods } }: NodeDrain): boolean {
  return limits.maxUnavailable !== undefined || pods.singleReplicas === 'RolloutRestart';
}

/** The drain machine with what a NodeDrain waits for: windows, gates, steps of others, workloads. */
export class SoloDrain {
  readonly machine: DrainMachine;
  readonly #drain: NodeDrain;
  readonly #names: ReadonlySet<string>;
  readonly #store: Store = new Store();
  readonly #workloads: Workloads;
  readonly #replicas: OwnReplicas;
  readonly #gates: DrainGates;
  readonly #holds: DrainHolds;
  #actAt: Instant | null = null;

  /** `ownPod`: the pod of the taintmgr-controller that leads, whose last replica stays; null: there is none. */
  constructor(drain: NodeDrain, config: DrainConfig, ownPod: OwnPod | null = null) {
    this.#drain = drain;
    this.#names = new Set(config.targets.map(({ name }) => name));
    const store: StoreView = this.#store;
    this.#workloads = new Workloads(store);
    this.#replicas = new OwnReplicas(store, ownPod);
    this.#gates = new DrainGates(Number.NEGATIVE_INFINITY, drain, {
      store,
      workloads: this.#workloads,
      replicas: this.#replicas,
      idOf: (id) => `solo/${id}`,
      nodes: () => this.#begunNodes(),
      isGoing: (uid) => this.machine.isGoing(uid),
    });
    this.machine = new DrainMachine(config, this.#gates);
    // Who begins it has looked for other drains, and does not wait for somebody to take pods away.
    const surroundings = { store, holdOf: () => null, endsRefused: true };
    this.#holds = new DrainHolds(drain, 'solo/', this.machine, surroundings);
  }

  /** What it waits for, in words: by node, and for all of them ('') while none begins. */
  holds(): ReadonlyMap<string, string> {
    const { closed } = this.#holds;
    const held = new Map(Array.from(this.#holds.all, ([name, { message }]) => [name, message]));
    if (closed === null) return held;
    const others = [...held].filter(([, message]) => message !== closed.message);
    return new Map([['', closed.message], ...others]);
  }

  /** Takes an event; the commands that it leads to come with a tick. `now` never goes back. */
  handle(now: Instant, event: Event): readonly SoloDrainCommand[] {
    if (event.kind === 'tick') return this.#act(now);
    const change = this.#store.apply(now, event);
    const isMoved = this.#followReplicas(now, event, change ? [change] : []);
    const hasRoom = change !== null && this.#workloads.follow(now, [change]);
    if (isMoved || hasRoom) this.machine.recheck(now);
    this.#actAt = now;
    if (event.kind === 'podUpsert' && !this.#names.has(event.pod.nodeName)) return [];
    if (event.kind === 'nodeUpsert' && !this.#names.has(event.node.name)) return [];
    if (event.kind === 'nodeDelete' && !this.#names.has(event.name)) return [];
    if (event.kind === 'result' && this.#isAnswered(now, event)) return [];
    if (event.kind === 'evictionRequests') this.#gates.hear(event);
    return this.machine.handle(now, event);
  }

  /** The earliest instant at which a tick could yield something; null: only an event can. */
  nextWake(): Instant | null {
    const { machine } = this;
    if (!machine.synced || machine.finished) return machine.nextWake();
    const { until } = this.#drain.spec;
    return earliest([
      this.#actAt,
      machine.nextWake(),
      this.#holds.nextWake(),
      this.#gates.nextWake(),
      this.#workloads.nextWake(),
      this.#replicas.nextWake(),
      until === undefined ? null : this.#store.clock.when(until),
    ]);
  }

  #isAnswered(now: Instant, { id, outcome }: Extract<Event, { kind: 'result' }>): boolean {
    return this.#holds.answered(now, id, outcome) || this.#gates.settle(now, id, outcome);
  }

  /** Whether another replica of ours may be the last one that works. */
  #followReplicas(now: Instant, event: Event, changes: readonly Change[]): boolean {
    const { version } = this.#replicas;
    this.#replicas.follow(now, event, changes);
    return this.#replicas.version !== version;
  }

  #act(now: Instant): readonly SoloDrainCommand[] {
    const { machine } = this;
    this.#actAt = null;
    if (!machine.synced || machine.finished) return machine.handle(now, { kind: 'tick' });
    const { until } = this.#drain.spec;
    if (until !== undefined && now >= this.#store.clock.when(until)) machine.giveUp(now);
    const isMoved = this.#followReplicas(now, { kind: 'tick' }, []);
    if (this.#workloads.follow(now, []) || isMoved) machine.recheck(now);
    this.#holds.look(now);
    const commands = machine.handle(now, { kind: 'tick' });
    return [...this.#holds.ask(now), ...commands, ...this.#gates.take(now)];
  }

  #begunNodes(): readonly string[] {
    const nodes = this.machine.nodes().filter(({ phase }) => phase.kind !== 'pending');
    return nodes.map(({ name }) => name);
  }
}
