import {
  type ApiServer,
  Cluster,
  deployment,
  LifecycleCheckers,
  namespace,
  VirtualClock,
} from '@taintmgr/sim-cluster';
import type { Controller } from './controller.ts';
import { Draw } from './draw.ts';
import type { Troubles } from './faults.ts';
import { drawLifecycle } from './node-config.ts';
import { actOnNodes } from './node-script.ts';
import type { Sabotage } from './sabotage.ts';
import { pause } from './script.ts';
import { drawsOf, type Outcome, Stage, start, tellStory } from './stage.ts';

const upMs = 30_000;
/** A stalled watch is found out after 150 s of silence; then come waits and lists. */
const recoveryMs = 300_000;
/** Longer than the slowest zone takes for its nodes at the rates that are drawn. */
const restMs = 600_000;
const [actionsMin, actionsMax] = [10, 60];

/**
 * A cluster whose nodes nobody watches over but the controller, and everything that may happen to
 * both, drawn from one seed.
 */
export class NodeStory {
  readonly zones: readonly string[];
  readonly nodeNames: readonly string[];
  readonly cluster: Cluster;
  readonly stage: Stage;
  readonly #draw: Draw;
  readonly #checkers: LifecycleCheckers;

  constructor(seed: number, sabotage: Sabotage = {}) {
    const clock = new VirtualClock(start);
    this.#draw = new Draw(seed, 11);
    const { config, terms } = drawLifecycle(new Draw(seed, 12));
    this.zones = ['a', 'b', 'c'].slice(0, this.#draw.between(1, 3));
    const nodesPerZone = this.#draw.between(1, 6);
    const workloads = [deployment('shop', 'web', { replicas: nodesPerZone * 2 })];
    const { zones } = this;
    const topology = { region: 'r', zones, nodesPerZone, workloads, budgets: [] };
    this.nodeNames = zones.flatMap((zone) =>
      Array.from({ length: nodesPerZone }, (_, index) => `${zone}-${index + 1}`),
    );
    this.cluster = new Cluster({ clock, seed, topology, without: ['nodeLifecycleStandIn'] });
    this.#checkers = new LifecycleCheckers(this.cluster.api, terms);
    const { cluster } = this;
    const { witness } = this.#checkers;
    const draws = drawsOf(seed, 13);
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

  /** Lets the whole story happen. */
  run(): Outcome {
    const { stage } = this;
    this.cluster.start();
    this.api.create('namespaces', namespace('lab'));
    if (this.#draw.chance(0.7)) this.controller.start();
    stage.passUntil(start + upMs);
    stage.say('the cluster is up');
    const count = this.#draw.between(actionsMin, actionsMax);
    for (let done = 0; done < count && !this.#isBroken; done++) {
      stage.passUntil(stage.now() + pause(this.#draw));
      stage.attempt(() => actOnNodes(this, this.#draw));
    }
    if (!this.#isBroken) this.rest(this.#draw.chance(0.7));
    this.#checkers.atEnd();
    return stage.outcome(this.#checkers.violations);
  }

  /** All trouble ends; after a long time nothing may be left undone. Kubelets may stay as they are. */
  rest(everybodyWorks: boolean): string {
    this.stage.calm();
    if (everybodyWorks) for (const name of this.nodeNames) this.cluster.node(name).resume();
    this.stage.passUntil(this.stage.now() + recoveryMs);
    const calmSince = this.stage.now();
    this.stage.passUntil(calmSince + restMs);
    this.#checkers.atRest(calmSince);
    return 'a time of rest is over';
  }

  get #isBroken(): boolean {
    return this.#checkers.violations.length > 0;
  }
}

/** Runs one seed; what is thrown on the way counts as a violation too. */
export function runNodeSeed(seed: number, sabotage: Sabotage = {}): Outcome {
  return tellStory(new NodeStory(seed, sabotage));
}
