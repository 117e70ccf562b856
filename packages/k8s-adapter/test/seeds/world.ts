import {
  ApiError,
  type ApiServer,
  Checkers,
  Cluster,
  namespace,
  type Violation,
  VirtualClock,
} from '@taintmgr/sim-cluster';
import { drawConfig } from './config.ts';
import { Controller } from './controller.ts';
import { Draw } from './draw.ts';
import { Troubles } from './faults.ts';
import { Network } from './network.ts';
import type { Sabotage } from './sabotage.ts';
import { act, pause } from './script.ts';
import { topology } from './topology.ts';
import { Transcript } from './transcript.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
const upMs = 30_000;
/** Longer than the time to recover and any toleration that the script draws. */
const restMs = 700_000;
const actionsMin = 10;
const actionsMax = 60;
/** A node without a heartbeat for so long is tainted as unreachable. */
const nodeMonitorGraceMs = 40_000;

/** What came of a seed. */
export interface Outcome {
  readonly violations: readonly Violation[];
  readonly transcript: readonly string[];
  /** How many pods the controller asked to remove. */
  readonly removals: number;
}

/** A cluster, a controller and everything that may happen to them, all drawn from one seed. */
export class World {
  readonly #clock = new VirtualClock(start);
  readonly #draw: Draw;
  readonly #checkers: Checkers;
  readonly #transcript: Transcript;
  readonly cluster: Cluster;
  readonly controller: Controller;
  readonly troubles: Troubles;

  constructor(seed: number, sabotage: Sabotage = {}) {
    const clock = this.#clock;
    this.#draw = new Draw(seed, 1);
    const { config, terms } = drawConfig(new Draw(seed, 2));
    this.cluster = new Cluster({ clock, seed, topology, nodeMonitorGraceMs });
    this.#checkers = new Checkers(this.cluster.api, terms);
    const { witness } = this.#checkers;
    this.#transcript = new Transcript(this.cluster.api, witness, start);
    this.#transcript.say(`config ${JSON.stringify(config)}`);
    const network = new Network(
      this.cluster.exchange,
      clock,
      witness,
      new Draw(seed, 3),
      sabotage.trouble ?? 0,
    );
    this.troubles = new Troubles(this.cluster.api, network, new Draw(seed, 4));
    this.controller = new Controller({
      clock,
      network,
      witness,
      draw: new Draw(seed, 5),
      config,
      sabotage,
      onNotice: (notice) => this.#transcript.notice(notice),
    });
  }

  get api(): ApiServer {
    return this.cluster.api;
  }

  /** What happened so far, line by line. */
  get transcript(): readonly string[] {
    return this.#transcript.lines;
  }

  readonly now = (): number => this.#clock.now();

  get nodeNames(): readonly string[] {
    const { zones, nodesPerZone } = topology;
    return zones.flatMap((zone) =>
      Array.from({ length: nodesPerZone }, (_, index) => `${zone}-${index + 1}`),
    );
  }

  /** Lets the whole story happen. */
  run(): Outcome {
    this.cluster.start();
    this.api.create('namespaces', namespace('lab'));
    this.#passUntil(start + upMs);
    this.#transcript.say('the cluster is up');
    if (this.#draw.chance(0.8)) this.controller.start();
    const count = this.#draw.between(actionsMin, actionsMax);
    for (let done = 0; done < count && !this.#isBroken; done++) {
      this.#passUntil(this.now() + pause(this.#draw));
      this.#attempt();
    }
    if (!this.#isBroken) this.rest();
    this.#checkers.atEnd();
    const { violations, witness } = this.#checkers;
    for (const { at, invariant, evidence } of violations) {
      this.#transcript.say(`VIOLATED ${invariant}: ${evidence}`, at);
    }
    const removals = witness.calls.filter(
      ({ kind }) => kind === 'deletePod' || kind === 'evictPod',
    ).length;
    return { violations, removals, transcript: this.#transcript.lines };
  }

  /** All trouble ends, everybody works, and after a long time nothing may be left undone. */
  rest(): string {
    this.#transcript.say('all trouble ends');
    this.troubles.end();
    for (const name of this.nodeNames) {
      if (!this.cluster.node(name).isRunning) this.cluster.node(name).resume();
    }
    // One that stands still goes on; one that was asked to stop has to be started again.
    if (this.controller.state === 'frozen') this.controller.thaw(false);
    if (this.controller.state === 'down' || this.controller.isStopped) {
      if (this.controller.state !== 'down') this.controller.crash();
      this.controller.start();
    }
    const calmSince = this.now();
    this.#passUntil(calmSince + restMs);
    this.#checkers.atRest(calmSince);
    return 'a time of rest is over';
  }

  get #isBroken(): boolean {
    return this.#checkers.violations.length > 0;
  }

  #passUntil(instant: number): void {
    this.controller.runUntil(instant);
  }

  /** What the API refuses, as when a pod of that name is there already, is not done. */
  #attempt(): void {
    try {
      this.#transcript.say(act(this, this.#draw));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#transcript.say(`refused: ${error.message}`);
    }
  }
}

/** Runs one seed; what is thrown on the way counts as a violation too. */
export function runSeed(seed: number, sabotage: Sabotage = {}): Outcome {
  const world = new World(seed, sabotage);
  try {
    return world.run();
  } catch (error) {
    const evidence = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const violation = { invariant: 'nothing is thrown', at: world.now(), evidence };
    return { violations: [violation], transcript: world.transcript, removals: 0 };
  }
}
