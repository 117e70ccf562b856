import {
  ApiError,
  type ApiServer,
  Cluster,
  deployment,
  LifecycleCheckers,
  namespace,
  VirtualClock,
} from '@taintmgr/sim-cluster';
import { Controller } from './controller.ts';
import { Draw } from './draw.ts';
import { Troubles } from './faults.ts';
import { Network } from './network.ts';
import { drawLifecycle } from './node-config.ts';
import { actOnNodes } from './node-script.ts';
import type { Sabotage } from './sabotage.ts';
import { pause } from './script.ts';
import { Transcript } from './transcript.ts';
import type { Outcome } from './world.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
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
  readonly controller: Controller;
  readonly troubles: Troubles;
  readonly #clock = new VirtualClock(start);
  readonly #draw: Draw;
  readonly #checkers: LifecycleCheckers;
  readonly #transcript: Transcript;

  constructor(seed: number, sabotage: Sabotage = {}) {
    const clock = this.#clock;
    this.#draw = new Draw(seed, 11);
    const { config, terms } = drawLifecycle(new Draw(seed, 12));
    this.zones = ['a', 'b', 'c'].slice(0, this.#draw.between(1, 3));
    const nodesPerZone = this.#draw.between(1, 6);
    const region = 'r';
    const workloads = [deployment('shop', 'web', { replicas: nodesPerZone * 2 })];
    const topology = { region, zones: this.zones, nodesPerZone, workloads, budgets: [] };
    this.nodeNames = this.zones.flatMap((zone) =>
      Array.from({ length: nodesPerZone }, (_, index) => `${zone}-${index + 1}`),
    );
    this.cluster = new Cluster({ clock, seed, topology, without: ['nodeLifecycleStandIn'] });
    this.#checkers = new LifecycleCheckers(this.cluster.api, terms);
    const { witness } = this.#checkers;
    this.#transcript = new Transcript(this.cluster.api, witness, start);
    this.#transcript.say(`config ${JSON.stringify(config)}, ${nodesPerZone} nodes a zone`);
    const quiet = sabotage.trouble ?? 0;
    const network = new Network(this.cluster.exchange, clock, witness, new Draw(seed, 13), quiet);
    this.troubles = new Troubles(this.cluster.api, network, new Draw(seed, 14));
    this.controller = new Controller({
      clock,
      network,
      witness,
      draw: new Draw(seed, 15),
      config,
      sabotage,
      onNotice: (notice) => this.#transcript.notice(notice),
    });
  }

  get api(): ApiServer {
    return this.cluster.api;
  }

  get transcript(): readonly string[] {
    return this.#transcript.lines;
  }

  /** Lets the whole story happen. */
  run(): Outcome {
    this.cluster.start();
    this.api.create('namespaces', namespace('lab'));
    if (this.#draw.chance(0.7)) this.controller.start();
    this.#passUntil(start + upMs);
    this.#transcript.say('the cluster is up');
    const count = this.#draw.between(actionsMin, actionsMax);
    for (let done = 0; done < count && !this.#isBroken; done++) {
      this.#passUntil(this.now() + pause(this.#draw));
      this.#attempt();
    }
    if (!this.#isBroken) this.rest(this.#draw.chance(0.7));
    this.#checkers.atEnd();
    const { violations, witness } = this.#checkers;
    for (const { at, invariant, evidence } of violations) {
      this.#transcript.say(`VIOLATED ${invariant}: ${evidence}`, at);
    }
    const removals = witness.calls.length;
    return { violations, removals, transcript: this.#transcript.lines };
  }

  readonly now = (): number => this.#clock.now();

  /** All trouble ends; after a long time nothing may be left undone. Kubelets may stay as they are. */
  rest(everybodyWorks: boolean): string {
    this.#transcript.say('all trouble ends');
    this.troubles.end();
    if (everybodyWorks) for (const name of this.nodeNames) this.cluster.node(name).resume();
    if (this.controller.state === 'frozen') this.controller.thaw(false);
    if (this.controller.state === 'down') this.controller.start();
    this.#passUntil(this.now() + recoveryMs);
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

  /** What the API refuses is not done. */
  #attempt(): void {
    try {
      this.#transcript.say(actOnNodes(this, this.#draw));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#transcript.say(`refused: ${error.message}`);
    }
  }
}

/** Runs one seed; what is thrown on the way counts as a violation too. */
export function runNodeSeed(seed: number, sabotage: Sabotage = {}): Outcome {
  const story = new NodeStory(seed, sabotage);
  try {
    return story.run();
  } catch (error) {
    const evidence = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const violation = { invariant: 'nothing is thrown', at: story.now(), evidence };
    return { violations: [violation], transcript: story.transcript, removals: 0 };
  }
}
