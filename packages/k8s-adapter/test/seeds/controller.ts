import { allPodsNeeds, createEngine, type Event } from '@taintmgr/core';
import type { OwnPod, Replica } from '@taintmgr/oracle';
import type { Exchange, VirtualClock } from '@taintmgr/sim-cluster';
import type { ElectionTiming } from '../../src/controller/election/election.ts';
import { Loop, type Notice } from '../../src/controller/engine-loop.ts';
import { VirtualDriver } from '../../src/driver/virtual.ts';
import type { MachineClock } from '../world/machine-clock.ts';
import type { SeedConfig } from './config.ts';
import type { Draw } from './draw.ts';
import type { Network } from './network.ts';
import { drainingNodes } from './node-drain-controller.ts';
import type { Sabotage } from './sabotage.ts';
import { ourLine, takingOver } from './takeover-controller.ts';
import { asProgram, inTurn, ourAgent } from './users.ts';

/** What a controller is made with each time it starts. */
export interface ControllerOptions {
  readonly clock: VirtualClock;
  readonly network: Network;
  readonly replica: Replica;
  readonly draw: Draw;
  /** Of its machine, which outlives it. */
  readonly machine: MachineClock;
  /** Its name in the election; null: there is none. */
  readonly identity: string | null;
  readonly config: SeedConfig;
  /** Whether it follows the policies of the cluster. */
  readonly clusterPolicies: boolean;
  /** Whether it decides beside a kube-controller-manager. */
  readonly takeover: boolean;
  /** Whether it carries out NodeDrains. */
  readonly nodeDrains: boolean;
  /** The pod in which it runs when it starts; null: in none. */
  readonly own: OwnPod | null;
  readonly sabotage: Sabotage;
  readonly onNotice: (notice: Notice) => void;
}

/** So narrow that streams of single nodes begin and end, and all pods are read now and then. */
const narrow = {
  mode: 'tainted-nodes',
  nodesMax: 2,
  lingerMs: 20_000,
  calmMs: 10_000,
} as const;
/** Where what limits have counted is kept. */
export const limitsLease = { namespace: 'kube-system', name: 'taintmgr-controller-limits' };
/** Which lease elects. */
export const lease = { namespace: 'kube-system', name: 'taintmgr-controller' };

/**
 * The whole controller, which can crash and start anew: then nothing is carried over but what stands
 * in the API. It can also stand still for a while, as a process that gets no processor.
 */
export class Controller {
  readonly #options: ControllerOptions;
  #loop: Loop | null = null;
  #driver: VirtualDriver | null = null;
  #starts = 0;
  #frozen = false;
  #stopped = false;

  constructor(options: ControllerOptions) {
    this.#options = options;
  }

  get state(): 'down' | 'running' | 'frozen' {
    if (!this.#driver) return 'down';
    return this.#frozen ? 'frozen' : 'running';
  }

  /** Whether it was asked to stop and begins nothing new. */
  get isStopped(): boolean {
    return this.#stopped;
  }

  start(): void {
    this.#stopped = false;
    this.#starts += 1;
    const { clock, network, replica, draw, machine, config, sabotage, onNotice } = this.#options;
    replica.beginRun();
    const { namespace = '', name = null } = this.#options.own ?? {};
    const inPod = { ...config, ...(name !== null && { ownPod: { namespace, name } }) };
    const { policies = [], ...told } = sabotage.config?.(inPod) ?? inPod;
    const engine = createEngine(told);
    const identity = this.#identity();
    const { viewAgeMsMax } = sabotage;
    this.#loop = new Loop({
      machine: sabotage.machine?.(engine) ?? engine,
      random: draw.random,
      leases: config.lifecycle != null,
      policies: policies.map((value) => ({ kind: 'EvictionPolicy', value })),
      clusterPolicies: this.#options.clusterPolicies && sabotage.clusterPolicies !== false,
      streamLists: draw.chance(0.7),
      limitsLease,
      ...(identity !== null && { election: { lease, identity, ...this.#timing() } }),
      ...(this.#options.takeover &&
        takingOver(engine, identity ?? '', () => this.#loop?.policies ?? null, sabotage.takeover)),
      ...(this.#options.nodeDrains && drainingNodes(engine, identity ?? 'one')),
      ...this.#podWatch(),
      ownPod: told.ownPod ?? null,
      ...(viewAgeMsMax !== undefined && { viewAgeMsMax }),
    });
    const line = this.#options.takeover
      ? ourLine(inTurn(network.exchange, clock, this.#beginLife()), sabotage.takeover)
      : asProgram(network.exchange, ourAgent);
    const exchange = sabotage.dates === false ? undated(line) : line;
    const clocks = sabotage.clocks?.(machine) ?? machine;
    this.#driver = new VirtualDriver({ loop: this.#loop, clock, exchange, onNotice, clocks });
    this.#driver.feed({ kind: 'start' });
    const others = { kind: 'nobody', text: '', advice: '' } as const;
    if (this.#options.nodeDrains) this.tell({ kind: 'otherEvictors', others });
  }

  /** Answers whether this life is over. */
  #beginLife(): () => boolean {
    const life = this.#starts;
    return () => this.#driver === null || this.#starts !== life;
  }

  /** In stories of takeover most requests would be of elections. */
  #timing(): { readonly timing?: ElectionTiming } {
    return this.#options.takeover
      ? { timing: { lease: 15_000, renewDeadline: 10_000, retry: 4_000 } }
      : {};
  }

  /** Every other start reads the pods of tainted nodes only, where that is allowed. */
  #podWatch(): { readonly podWatch?: typeof narrow } {
    const isItsTurn = this.#starts % 2 === 0;
    return isItsTurn && allPodsNeeds(this.#options.config).length === 0 ? { podWatch: narrow } : {};
  }

  /** Each start has a name of its own; null: there is no election. */
  #identity(): string | null {
    const { identity, sabotage } = this.#options;
    return identity === null || sabotage.election === false ? null : `${identity}-${this.#starts}`;
  }

  /** Tells it something from elsewhere; one that is down does not hear it. */
  tell(event: Event): void {
    this.#driver?.feed({ kind: 'event', event });
  }

  /** Without a word, in the middle of whatever it does. */
  crash(): void {
    this.#options.network.disconnect();
    this.#options.replica.blind();
    this.#options.machine.resume();
    this.#driver = null;
    this.#frozen = false;
  }

  /** As on a signal: it begins nothing new. */
  stop(): void {
    this.#stopped = true;
    this.#driver?.feed({ kind: 'stop' });
  }

  freeze(): void {
    this.#frozen = true;
    this.#options.network.holdBack();
  }

  /** Its whole machine stands still, and does not count the time. */
  suspend(): void {
    this.freeze();
    this.#options.machine.suspend();
  }

  /** Somebody sets the wall clock of its machine. */
  setClock(by: number): void {
    this.#options.machine.set(by);
  }

  /** It goes on; its timers may be looked at before the network, or after. */
  thaw(timersFirst: boolean): void {
    this.#frozen = false;
    this.#options.machine.resume();
    if (timersFirst) this.#driver?.feed({ kind: 'tick' });
    this.#options.network.letThrough();
  }

  /** When it has something to do; null: not before it hears something. */
  nextWake(): number | null {
    return this.state === 'running' ? (this.#driver?.nextWake() ?? null) : null;
  }

  /** Time passes. */
  runUntil(instant: number): void {
    if (this.#driver && !this.#frozen) this.#driver.runUntil(instant);
    else this.#options.clock.advanceTo(instant);
  }
}

/** Answers that do not say when they were given. */
function undated(exchange: Exchange): Exchange {
  return (request, sink) =>
    exchange(request, {
      ...sink,
      head: (status, { date: _, ...headers }) => sink.head(status, headers),
    });
}
