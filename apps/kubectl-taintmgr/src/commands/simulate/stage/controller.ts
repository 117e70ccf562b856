// Our controller in a simulation: it can be stopped and started again, and is told of pauses.
import {
  type Config,
  createEngine,
  type Engine,
  type Event,
  type Explanation,
  type Subject,
} from '@taintmgr/core';
import type { ZoneStatus } from '@taintmgr/core/lifecycle';
import type { Instant, Millis } from '@taintmgr/core/time';
import { Loop, type Notice, VirtualDriver } from '@taintmgr/k8s-adapter';
import type { PolicyObject } from '@taintmgr/k8s-adapter/kinds';
import { policyEvent } from '@taintmgr/k8s-adapter/manifests';
import type { Cluster, Random, VirtualClock } from '@taintmgr/sim-cluster';

export interface ControllerOptions {
  readonly cluster: Cluster;
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly config: Partial<Config>;
  readonly policies: readonly PolicyObject[];
  /** Under `upstream-1.36`: since when it has been at it; null: it begins now. */
  readonly upstreamSince: Instant | null;
  /** Whether it is stopped at some time, so that what limits count has to be written down. */
  readonly restarts: boolean;
  readonly onNotice: (notice: Notice) => void;
}

/** One process of it. */
interface Process {
  readonly engine: Engine;
  readonly loop: Loop;
  readonly driver: VirtualDriver;
  /** How far its clock was ahead when it began: its own time is by that. */
  readonly aheadMs: Millis;
}

/** Where a controller keeps what its limits have counted. */
const limitsLease = { namespace: 'kube-system', name: 'taintmgr-limits' };

/** The controller, of which one process at a time acts. */
export class Controller {
  readonly #options: ControllerOptions;
  #policies: readonly PolicyObject[];
  #process: Process;
  /** Those that were stopped and have requests under way. */
  #ending: readonly Process[] = [];
  #aheadMs: Millis = 0;
  #isStopped = false;

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#policies = options.policies;
    this.#process = this.#make();
    const { upstreamSince: since, clock, config } = options;
    if (since !== null && config.semantics === 'upstream-1.36') {
      this.#process.engine.handle(clock.now(), { kind: 'leadership', held: true, since });
    }
    // The engine hears of them at once, by a shorter way than over writes, watches and readers.
    options.cluster.reportRenewals((nodeName, renewedAt) => {
      const { loop, driver } = this.#process;
      if (this.#isStopped || !loop.synced || loop.cutOffSince !== null) return false;
      const lease = { nodeName, renewedAt };
      driver.hear({ kind: 'leaseUpsert', lease });
      return true;
    });
  }

  /** All that has to be driven: what works, and what comes to its end. */
  get processes(): readonly Process[] {
    this.#ending = this.#ending.filter(({ loop }) => !loop.closed);
    return this.#isStopped ? this.#ending : [...this.#ending, this.#process];
  }

  /** Whether there are pauses. */
  get hasPauses(): boolean {
    return this.#policies.some(({ kind }) => kind === 'EvictionPause');
  }

  /** What it says of a node or pod now; null also while it is stopped. */
  explain(subject: Subject): Explanation {
    return this.#isStopped ? null : this.#process.engine.explain(this.#now, subject);
  }

  /** How zones are doing, as far as it knows. */
  zones(): readonly ZoneStatus[] {
    return this.#isStopped ? [] : this.#process.engine.zones(this.#now);
  }

  start(): void {
    this.#process.driver.feed({ kind: 'start' });
  }

  /** It is gone; what it had sent comes to its end. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#options.cluster.writeRenewals();
    this.#process.driver.feed({ kind: 'stop' });
    this.#ending = [...this.#ending, this.#process];
  }

  /** Another process begins, which knows what is in the cluster and nothing else. */
  restart(): void {
    if (!this.#isStopped) return;
    this.#process = this.#make();
    this.#isStopped = false;
    this.start();
  }

  /** Puts a policy or a pause in force. */
  apply(object: PolicyObject): void {
    this.#policies = [...this.#policies.filter((one) => !isSame(one, object)), object];
    const event = policyEvent(object);
    if (event) this.#hear(event);
  }

  /** Takes a pause away; false: there is none of that name. */
  endPause(name: string): boolean {
    const left = this.#policies.filter((one) => {
      return one.kind !== 'EvictionPause' || one.value.name !== name;
    });
    if (left.length === this.#policies.length) return false;
    this.#policies = left;
    this.#hear({ kind: 'pauseDelete', name });
    return true;
  }

  /** Limits that have tripped go on: those of these names, or (null) all. */
  resume(limits: readonly string[] | null): void {
    this.#hear({ kind: 'resumeEvictions', ...(limits && { limits }) });
  }

  /** Somebody sets the clock of its machine. */
  stepClock(byMs: Millis): void {
    this.#aheadMs += byMs;
  }

  #hear(event: Event): void {
    if (!this.#isStopped) this.#process.driver.feed({ kind: 'event', event });
  }

  get #now(): Instant {
    return this.#options.clock.now() + this.#process.aheadMs;
  }

  #make(): Process {
    const { cluster, clock, random, config, restarts, onNotice } = this.#options;
    const keeps = restarts && config.semantics !== 'upstream-1.36';
    const engine = createEngine({ lifecycle: {}, ...(keeps && { keepLimits: true }), ...config });
    const loop = new Loop({
      machine: engine,
      random,
      policies: this.#policies,
      leases: true,
      ...(keeps && { limitsLease }),
      // Nothing is under way between this API server and the engine: what was heard is what there is.
      viewAgeMsMax: Number.POSITIVE_INFINITY,
      daemonSets: config.lifecycle?.enforcement === 'pods',
    });
    const clocks = { monotonic: () => clock.now(), wall: () => clock.now() + this.#aheadMs };
    const { exchange } = cluster;
    const driver = new VirtualDriver({ loop, exchange, clock, onNotice, clocks, values: true });
    return { engine, loop, driver, aheadMs: this.#aheadMs };
  }
}

function isSame(one: PolicyObject, other: PolicyObject): boolean {
  return one.kind === other.kind && one.value.name === other.value.name;
}
