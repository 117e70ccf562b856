import {
  ApiError,
  type Cluster,
  type Violation,
  type VirtualClock,
  type Witness,
} from '@taintmgr/sim-cluster';
import { Controller, type ControllerOptions } from './controller.ts';
import { Draw } from './draw.ts';
import { Troubles } from './faults.ts';
import { Network } from './network.ts';
import type { Sabotage } from './sabotage.ts';
import { Transcript } from './transcript.ts';

/** When every story begins. */
export const start: number = Date.parse('2026-01-01T00:00:00Z');

/** What came of a seed. */
export interface Outcome {
  readonly violations: readonly Violation[];
  readonly transcript: readonly string[];
  /** How many pods the controller asked to remove. */
  readonly removals: number;
}

export interface StageOptions {
  readonly clock: VirtualClock;
  readonly cluster: Cluster;
  readonly witness: Witness;
  readonly config: ControllerOptions['config'];
  readonly sabotage: Sabotage;
  /** Draws for the network, the troubles and the controller, so that each has its own. */
  readonly draws: readonly [network: Draw, troubles: Draw, controller: Draw];
}

/** What every story needs: a controller, a line to the cluster, trouble, and someone to write. */
export class Stage {
  readonly controller: Controller;
  readonly troubles: Troubles;
  readonly #clock: VirtualClock;
  readonly #witness: Witness;
  readonly #transcript: Transcript;

  constructor({ clock, cluster, witness, config, sabotage, draws }: StageOptions) {
    this.#clock = clock;
    this.#witness = witness;
    this.#transcript = new Transcript(cluster.api, witness, start);
    this.say(`config ${JSON.stringify(config)}`);
    const [networkDraw, troublesDraw, draw] = draws;
    const quiet = sabotage.trouble ?? 0;
    const network = new Network(cluster.exchange, clock, witness, networkDraw, quiet);
    this.troubles = new Troubles(cluster.api, network, troublesDraw);
    const onNotice: ControllerOptions['onNotice'] = (notice) => this.#transcript.notice(notice);
    this.controller = new Controller({ clock, network, witness, draw, config, sabotage, onNotice });
  }

  /** What happened so far, line by line. */
  get transcript(): readonly string[] {
    return this.#transcript.lines;
  }

  now(): number {
    return this.#clock.now();
  }

  say(text: string): void {
    this.#transcript.say(text);
  }

  passUntil(instant: number): void {
    this.controller.runUntil(instant);
  }

  /** What the API refuses, as when a pod of that name is there already, is not done. */
  attempt(act: () => string): void {
    try {
      this.say(act());
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.say(`refused: ${error.message}`);
    }
  }

  /** All trouble ends, and the controller works. */
  calm(): void {
    this.say('all trouble ends');
    this.troubles.end();
    // One that stands still goes on; one that was asked to stop has to be started again.
    if (this.controller.state === 'frozen') this.controller.thaw(false);
    if (this.controller.state === 'down' || this.controller.isStopped) {
      if (this.controller.state !== 'down') this.controller.crash();
      this.controller.start();
    }
  }

  /** What came of it; each violation is put into the transcript. */
  outcome(violations: readonly Violation[]): Outcome {
    for (const { at, invariant, evidence } of violations) {
      this.#transcript.say(`VIOLATED ${invariant}: ${evidence}`, at);
    }
    const removals = this.#witness.calls.filter(
      ({ kind }) => kind === 'deletePod' || kind === 'evictPod',
    ).length;
    return { violations, removals, transcript: this.transcript };
  }
}

/** Tells a story to its end; what is thrown on the way counts as a violation too. */
export function tellStory(story: { readonly stage: Stage; run(): Outcome }): Outcome {
  try {
    return story.run();
  } catch (error) {
    const evidence = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const violation = { invariant: 'nothing is thrown', at: story.stage.now(), evidence };
    return { violations: [violation], transcript: story.stage.transcript, removals: 0 };
  }
}

/** Three draws of their own from a seed. */
export function drawsOf(seed: number, from: number): StageOptions['draws'] {
  return [new Draw(seed, from), new Draw(seed, from + 1), new Draw(seed, from + 2)];
}
