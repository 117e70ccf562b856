import { type ApiServer, Checkers, Cluster, namespace, VirtualClock } from '@taintmgr/sim-cluster';
import { drawConfig } from './config.ts';
import type { Controller } from './controller.ts';
import { Draw } from './draw.ts';
import type { Troubles } from './faults.ts';
import type { Sabotage } from './sabotage.ts';
import { act, pause } from './script.ts';
import { drawsOf, type Outcome, Stage, start, tellStory } from './stage.ts';
import { topology } from './topology.ts';

const upMs = 30_000;
/** Longer than the time to recover and any toleration that the script draws. */
const restMs = 700_000;
const actionsMin = 10;
const actionsMax = 60;
/** A node without a heartbeat for so long is tainted as unreachable. */
const nodeMonitorGraceMs = 40_000;

/** A cluster, a controller and everything that may happen to them, all drawn from one seed. */
export class World {
  readonly cluster: Cluster;
  readonly stage: Stage;
  readonly #draw: Draw;
  readonly #checkers: Checkers;

  constructor(seed: number, sabotage: Sabotage = {}) {
    const clock = new VirtualClock(start);
    this.#draw = new Draw(seed, 1);
    const { config, terms } = drawConfig(new Draw(seed, 2));
    this.cluster = new Cluster({ clock, seed, topology, nodeMonitorGraceMs });
    this.#checkers = new Checkers(this.cluster.api, terms);
    const { cluster } = this;
    const { witness } = this.#checkers;
    const draws = drawsOf(seed, 3);
    this.stage = new Stage({ clock, cluster, witness, config, sabotage, draws });
  }

  get api(): ApiServer {
    return this.cluster.api;
  }

  get controller(): Controller {
    return this.stage.controller;
  }

  get troubles(): Troubles {
    return this.stage.troubles;
  }

  readonly now = (): number => this.stage.now();

  get nodeNames(): readonly string[] {
    const { zones, nodesPerZone } = topology;
    return zones.flatMap((zone) =>
      Array.from({ length: nodesPerZone }, (_, index) => `${zone}-${index + 1}`),
    );
  }

  /** Lets the whole story happen. */
  run(): Outcome {
    const { stage } = this;
    this.cluster.start();
    this.api.create('namespaces', namespace('lab'));
    stage.passUntil(start + upMs);
    stage.say('the cluster is up');
    if (this.#draw.chance(0.8)) this.controller.start();
    const count = this.#draw.between(actionsMin, actionsMax);
    for (let done = 0; done < count && !this.#isBroken; done++) {
      stage.passUntil(this.now() + pause(this.#draw));
      stage.attempt(() => act(this, this.#draw));
    }
    if (!this.#isBroken) this.rest();
    this.#checkers.atEnd();
    return stage.outcome(this.#checkers.violations);
  }

  /** All trouble ends, everybody works, and after a long time nothing may be left undone. */
  rest(): string {
    this.stage.calm();
    for (const name of this.nodeNames) {
      if (!this.cluster.node(name).isRunning) this.cluster.node(name).resume();
    }
    const calmSince = this.now();
    this.stage.passUntil(calmSince + restMs);
    this.#checkers.atRest(calmSince);
    return 'a time of rest is over';
  }

  get #isBroken(): boolean {
    return this.#checkers.violations.length > 0;
  }
}

/** Runs one seed; what is thrown on the way counts as a violation too. */
export function runSeed(seed: number, sabotage: Sabotage = {}): Outcome {
  return tellStory(new World(seed, sabotage));
}
