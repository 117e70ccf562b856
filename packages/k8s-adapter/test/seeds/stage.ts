import type { ApiServer } from '@taintmgr/api-server';
import type { EvictionPause } from '@taintmgr/core/policy';
import type {
  ApiHistory,
  Checkers,
  PauseScope,
  PressureChecker,
  TakeoverCheckers,
  Violation,
} from '@taintmgr/oracle';
import { ApiError, type Exchange, type VirtualClock } from '@taintmgr/sim-cluster';
import type { Notice } from '../../src/controller/engine-loop.ts';
import { MachineClock } from '../world/machine-clock.ts';
import { Agent } from './agent.ts';
import { Controller, type ControllerOptions, limitsLease } from './controller.ts';
import { Draw } from './draw.ts';
import { Troubles } from './faults.ts';
import { KubeControllerManager } from './kube-controller-manager.ts';
import { Network } from './network.ts';
import { deletePolicies } from './own-kinds.ts';
import type { Cast } from './plots.ts';
import type { Sabotage } from './sabotage.ts';
import type { Strangers } from './stranger-script.ts';
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
  readonly seed: number;
  /** The number of the first draw that is free. */
  readonly purpose: number;
  readonly clock: VirtualClock;
  readonly cluster: { readonly api: ApiServer; readonly exchange: Exchange };
  readonly apiHistory: ApiHistory;
  readonly pauses: Checkers['pauses'] | null;
  /** Of the node pressure agent; null: there is none. */
  readonly pressure: PressureChecker | null;
  /** Of who decides beside kube-controller-manager; null: nobody has to. */
  readonly takeover: TakeoverCheckers | null;
  readonly cast: Cast;
  readonly sabotage: Sabotage;
}

/** What every story needs: controllers, lines to the cluster, trouble, and someone to write. */
export class Stage {
  readonly controllers: readonly Controller[];
  readonly troubles: Troubles;
  /** Watches what nodes run out of; null: nobody does. */
  readonly agent: Agent | null;
  /** Of kube-controller-manager; null: there is none. */
  readonly kubeControllerManager: KubeControllerManager | null;
  /** Whom the controllers find beside themselves; null: they do not ask. */
  strangers: Strangers | null = null;
  readonly #clock: VirtualClock;
  readonly #api: ApiServer;
  readonly #apiHistory: ApiHistory;
  readonly #pauses: StageOptions['pauses'];
  readonly #paused = new Map<string, EvictionPause>();
  readonly #transcript: Transcript;
  readonly #hasPolicies: boolean;
  /** Whether the controllers act for nobody, as another one does. */
  #standsBy: boolean;

  constructor(options: StageOptions) {
    const { seed, purpose, clock, cluster, apiHistory, pauses, cast, sabotage } = options;
    this.#clock = clock;
    this.#api = cluster.api;
    this.#apiHistory = apiHistory;
    this.#pauses = pauses;
    this.#transcript = new Transcript(cluster.api, apiHistory, start);
    const { config, replicas } = cast;
    this.#standsBy = cast.others !== undefined;
    this.#hasPolicies = cast.evictions?.clusterPolicies === true;
    this.say(`config ${JSON.stringify(config)}`);
    const lines = Array.from({ length: replicas }, (_, index) => {
      const replica = index === 0 ? apiHistory.first : apiHistory.replica();
      const draw = new Draw(seed, purpose + 2 + 2 * index);
      const api = cluster.exchange;
      const quiet = sabotage.trouble ?? 0;
      return { replica, network: new Network({ api, clock, apiHistory, replica, draw, quiet }) };
    });
    const onNotice: ControllerOptions['onNotice'] = (notice) => this.#transcript.notice(notice);
    this.controllers = lines.map((line, index) => {
      const takeover = cast.takeover === true;
      const identity = replicas > 1 || takeover ? `replica-${index + 1}` : null;
      const draw = new Draw(seed, purpose + 3 + 2 * index);
      const machine = new MachineClock(clock);
      const who = { draw, identity, machine };
      const nodeDrains = cast.nodeDrains === true;
      const clusterPolicies = nodeDrains || cast.evictions?.clusterPolicies === true;
      const own = cast.evictions?.own ?? null;
      const told = { config, clusterPolicies, takeover, nodeDrains, own, sabotage };
      return new Controller({ ...line, ...who, ...told, clock, onNotice });
    });
    const networks = lines.map(({ network }) => network);
    this.troubles = new Troubles(cluster.api, networks, new Draw(seed, purpose));
    const { random } = new Draw(seed, purpose + 1);
    const exchange = apiHistory.bystander(
      options.pressure?.line(cluster.exchange) ?? cluster.exchange,
    );
    const agent = { ...cast.pressure, ...sabotage.agent };
    this.agent = cast.pressure && new Agent({ config: agent, clock, random, exchange });
    const upstream = apiHistory.bystander(
      options.takeover?.line(cluster.exchange) ?? cluster.exchange,
    );
    const onUpstream = (notice: Notice): void =>
      this.#transcript.notice(notice, 'kube-controller-manager: ');
    const evicts = cast.takeover === true;
    this.kubeControllerManager = cast.lifecycle
      ? null
      : new KubeControllerManager({
          ...{ clock, random, exchange: upstream, onNotice: onUpstream },
          ...(evicts ? {} : { taintEviction: false, nodes: { nodeMonitorGracePeriodMs: 40_000 } }),
        });
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

  /** Everybody does what is due up to then at its own instant. */
  passUntil(instant: number): void {
    const everybody = [
      this.strangers,
      ...this.controllers,
      this.agent,
      this.kubeControllerManager,
    ].filter((one) => one !== null);
    const [only, another] = everybody;
    if (only && !another) {
      only.runUntil(instant);
      return;
    }
    for (;;) {
      const wakes = [this.#clock, ...everybody].flatMap((one) => one.nextWake() ?? []);
      const next = Math.max(this.now(), Math.min(...wakes));
      if (next > instant) break;
      for (const one of everybody) one.runUntil(next);
    }
    this.#clock.advanceTo(instant);
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

  /** Tells every controller to let deadlines stand still, now and when it starts anew. */
  pauseDeadlines(scope: PauseScope): void {
    const pause = pauseOf(scope, this.now());
    if (this.#paused.has(pause.name)) return;
    this.#paused.set(pause.name, pause);
    this.#pauses?.begin(scope, this.now());
    for (const one of this.controllers) one.tell({ kind: 'pauseUpsert', pause });
  }

  /** Lets all deadlines go on, and what a limit has stopped. */
  resumeDeadlines(): void {
    for (const name of this.#paused.keys()) {
      this.#paused.delete(name);
      this.#pauses?.end(JSON.parse(name), this.now());
      for (const one of this.controllers) one.tell({ kind: 'pauseDelete', name });
    }
    this.#resumeEvictions();
  }

  /** As `kubectl taintmgr resume` does: the leader finds it there, now or when it starts anew. */
  #resumeEvictions(): void {
    const lease = this.#api.get('leases', limitsLease.namespace, limitsLease.name);
    if (!lease) return;
    const { metadata } = lease;
    const asked = { 'taintmgr.dev/resume-limits': '{"limits":[],"by":"somebody"}' };
    const annotations = { ...metadata.annotations, ...asked };
    this.#api.update('leases', { ...lease, metadata: { ...metadata, annotations } });
  }

  /** All controllers stand by for another one, or act again. */
  standBy(isBy: boolean): void {
    if (isBy === this.#standsBy) return;
    this.#standsBy = isBy;
    this.say(isBy ? 'standing by' : 'acting');
    for (const one of this.controllers) {
      if (!isBy) this.start(one);
      else if (one.state !== 'down') one.crash();
    }
  }

  /** Starts a controller, unless it stands by; it is told what stands still. */
  start(controller: Controller): void {
    if (this.#standsBy) return;
    controller.start();
    for (const pause of this.#paused.values()) controller.tell({ kind: 'pauseUpsert', pause });
  }

  /** All trouble ends, and the controllers work. */
  calm(): void {
    this.say('all trouble ends');
    this.troubles.end();
    if (this.#hasPolicies) deletePolicies(this.#api);
    for (const controller of this.controllers) {
      // One that stands still goes on; one that was asked to stop has to be started again.
      if (controller.state === 'frozen') controller.thaw(false);
      if (controller.state === 'running' && !controller.isStopped) continue;
      if (controller.state !== 'down') controller.crash();
      this.start(controller);
    }
    this.resumeDeadlines();
  }

  /** What came of it; each violation is put into the transcript. */
  outcome(violations: readonly Violation[]): Outcome {
    for (const { at, invariant, evidence } of violations) {
      this.#transcript.say(`VIOLATED ${invariant}: ${evidence}`, at);
    }
    return { violations, removals: this.removals.length, transcript: this.transcript };
  }

  /** What the controllers asked for to remove pods. */
  get removals(): ApiHistory['calls']['all'] {
    return this.#apiHistory.calls.all.filter(
      ({ kind }) => kind === 'deletePod' || kind === 'evictPod',
    );
  }
}

/** The pause that the cluster would have for this, made at `since`. */
function pauseOf(scope: PauseScope, since: number): EvictionPause {
  const nodes =
    scope.kind === 'all' ? null : { matchLabels: { 'kubernetes.io/hostname': scope.name } };
  return {
    name: JSON.stringify(scope),
    uid: '',
    scope: { zones: [], nodes, taintKeys: [], namespaces: [] },
    readiness: false,
    deadlines: true,
    reason: 'a seed',
    until: null,
    since,
  };
}
