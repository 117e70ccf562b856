import { type ApiServer, ServedCluster } from '@taintmgr/api-server';
import {
  Checkers,
  LifecycleCheckers,
  NodeDrainCheckers,
  PressureChecker,
  TakeoverCheckers,
  type Violation,
} from '@taintmgr/oracle';
import { namespace, VirtualClock } from '@taintmgr/sim-cluster';
import type { Controller } from './controller.ts';
import { Drains } from './drain-script.ts';
import { Draw } from './draw.ts';
import type { Troubles } from './faults.ts';
import { installKinds } from './own-kinds.ts';
import { actionsOf, type Cast, type Plot, plots, type StoryName } from './plots.ts';
import { pressureTerms } from './pressure-script.ts';
import type { Sabotage } from './sabotage.ts';
import { type Actions, pause } from './script.ts';
import { type Outcome, Stage, start } from './stage.ts';
import { Strangers } from './stranger-script.ts';

const upMs = 30_000;
/** A stalled watch is found out after 150 s of silence; then come waits and lists. */
const recoveryMs = 300_000;
/** Whoever begins anew has no watches that stall. */
const lullMs = 100_000;

/** A cluster, controllers and everything that may happen to them, all drawn from one seed. */
export class Story {
  readonly cluster: ServedCluster;
  readonly stage: Stage;
  readonly cast: Cast;
  /** The names of all machines, whether they have a Node or not. */
  readonly nodeNames: string[];
  /** What drains nodes beside the controllers. */
  readonly drains: Drains;
  readonly sabotage: Sabotage;
  readonly #plot: Plot;
  readonly #actions: Actions;
  readonly #draw: Draw;
  readonly #evictions: Checkers | null;
  readonly #lifecycle: LifecycleCheckers | null;
  readonly #pressure: PressureChecker | null;
  readonly #takeover: TakeoverCheckers | null;
  readonly #nodeDrains: NodeDrainCheckers | null;
  readonly #others: Violation[] = [];

  constructor(name: StoryName, seed: number, sabotage: Sabotage = {}) {
    this.#plot = plots[name];
    this.#actions = actionsOf(name, seed);
    const { purpose } = this.#plot;
    this.#draw = new Draw(seed, purpose);
    this.cast = this.#plot.cast(new Draw(seed, purpose + 1));
    const { topology, evictions, lifecycle } = this.cast;
    this.nodeNames = topology.zones.flatMap((zone) =>
      Array.from({ length: topology.nodesPerZone }, (_, index) => `${zone}-${index + 1}`),
    );
    const clock = new VirtualClock(start);
    // Somebody else watches over nodes: the controller, or kube-controller-manager.
    const without = ['conditionTaints'] as const;
    this.cluster = new ServedCluster({ clock, seed, topology, without });
    const { cluster, cast } = this;
    const { api } = cluster;
    this.drains = new Drains(api, clock);
    this.#evictions = evictions && new Checkers(api, evictions);
    this.#lifecycle =
      lifecycle && new LifecycleCheckers(api, lifecycle, this.#evictions?.apiHistory);
    this.#nodeDrains = cast.nodeDrains ? new NodeDrainCheckers(api) : null;
    const judge = this.#evictions ?? this.#lifecycle ?? this.#nodeDrains;
    if (!judge) throw new Error('nobody judges this story');
    const { apiHistory } = judge;
    this.#pressure = cast.pressure && new PressureChecker(api, pressureTerms);
    const holds = evictions?.holdsFullDisruption;
    this.#takeover = cast.takeover ? new TakeoverCheckers(api, apiHistory, holds) : null;
    this.sabotage = sabotage;
    this.stage = new Stage({
      ...{ seed, clock, cluster, apiHistory, cast, sabotage },
      purpose: purpose + 2,
      pauses: this.#evictions?.pauses ?? null,
      pressure: this.#pressure,
      takeover: this.#takeover,
    });
  }

  get api(): ApiServer {
    return this.cluster.api;
  }

  get controllers(): readonly Controller[] {
    return this.stage.controllers;
  }

  get troubles(): Troubles {
    return this.stage.troubles;
  }

  readonly now = (): number => this.stage.now();

  /** Lets the whole story happen. */
  run(): Outcome {
    const { stage } = this;
    this.cluster.start();
    if (this.cast.evictions?.clusterPolicies || this.cast.nodeDrains) installKinds(this.api);
    stage.agent?.start();
    if (!this.cast.takeover) stage.kubeControllerManager?.start(0);
    this.api.create('namespaces', namespace('lab'));
    const { others } = this.cast;
    if (others) this.stage.strangers = new Strangers(this, others === 'nobody');
    const isEarly = this.#draw.chance(0.5);
    if (isEarly) this.#startSome();
    stage.passUntil(start + upMs);
    stage.say('the cluster is up');
    if (!isEarly) this.#startSome();
    this.#plot.begin?.(this, this.#draw);
    const count = this.#draw.weighted([
      [6, this.#draw.between(4, 16)],
      [3, this.#draw.between(16, 40)],
      [1, this.#draw.between(40, 100)],
    ]);
    for (let done = 0; done < count && this.#violations.length === 0; done++) {
      stage.passUntil(this.now() + pause(this.#draw));
      stage.attempt(() => this.#draw.weighted(this.#actions)(this, this.#draw));
    }
    if (this.#violations.length === 0) this.rest(this.#draw);
    if (this.#violations.length === 0) {
      const since = this.#plot.end?.(this, this.#draw) ?? this.now();
      this.#takeover?.atGone(since);
      this.#nodeDrains?.atGone();
    }
    this.#evictions?.atEnd();
    this.#lifecycle?.atEnd();
    return stage.outcome(this.#violations);
  }

  /** All trouble ends; after a long time nothing may be left undone. Kubelets may stay as they are. */
  rest(draw: Draw): string {
    const { stage } = this;
    stage.calm();
    this.drains.killAll();
    if (!this.#lifecycle || draw.chance(0.7)) {
      for (const name of this.nodeNames) this.cluster.node(name).resume();
    }
    for (const name of this.nodeNames) this.cluster.node(name).setStatsFault(null);
    this.#plot.calm?.(this);
    const calmSince = this.now();
    stage.passUntil(calmSince + recoveryMs);
    const recoveredAt = this.now();
    stage.passUntil(recoveredAt + draw.weighted(this.#plot.restMs));
    if (this.cast.others === 'unseen') this.#judgeUnseen();
    else this.#evictions?.atRest(calmSince);
    this.#lifecycle?.atRest(recoveredAt);
    this.#pressure?.atRest(calmSince);
    this.#takeover?.atCalm(calmSince);
    this.#nodeDrains?.atRest();
    return 'a time of rest is over';
  }

  /** All trouble ends, but what people hold stays held; whoever is held is so for a reason. */
  lull(): void {
    const calmSince = this.now();
    this.stage.passUntil(calmSince + lullMs);
    this.#takeover?.atCalm(calmSince);
  }

  /** Pods of all namespaces but one have gone in time. */
  judgeBeside(calmSince: number, namespace: string, withinMs: number): void {
    if (this.cast.others !== 'unseen')
      this.#evictions?.atRestBeside(calmSince, namespace, withinMs);
  }

  /** Another one evicts that cannot be seen: a controller that cannot know does nothing. */
  #judgeUnseen(): void {
    const [removal] = this.stage.removals;
    if (removal === undefined) return;
    const invariant = 'acts beside kube-controller-manager';
    this.#others.push({ invariant, at: this.now(), evidence: `asked at ${removal.sentAt}` });
  }

  #startSome(): void {
    for (const one of this.controllers) if (this.#draw.chance(0.8)) this.stage.start(one);
  }

  get #violations(): readonly Violation[] {
    if (this.#others.length > 0) return this.#others;
    const judges = [this.#evictions, this.#lifecycle, this.#pressure, this.#takeover];
    return [...judges, this.#nodeDrains].flatMap((judge) => judge?.violations ?? []);
  }
}

/** Runs one seed; what is thrown on the way counts as a violation too. */
export function runSeed(name: StoryName, seed: number, sabotage: Sabotage = {}): Outcome {
  const story = new Story(name, seed, sabotage);
  try {
    return story.run();
  } catch (error) {
    const evidence = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const violation = { invariant: 'nothing is thrown', at: story.now(), evidence };
    return { violations: [violation], transcript: story.stage.transcript, removals: 0 };
  }
}
