// Runs a simulation: plays a script on a stage, and records what happens.
import type { Config } from '@taintmgr/core';
import type { LifecycleConfig } from '@taintmgr/core/lifecycle';
import { createPressureMachine, type PressureConfig } from '@taintmgr/core/pressure';
import { earliest, formatDuration, type Instant, type Millis } from '@taintmgr/core/time';
import {
  PressureLoop,
  type PressureNotice,
  type UpstreamDeviceHeard,
  UpstreamDeviceLoop,
  type UpstreamDeviceNotice,
  VirtualDriver,
} from '@taintmgr/k8s-adapter';
import { choicesText } from '@taintmgr/k8s-adapter/command-line';
import type { PolicyObject } from '@taintmgr/k8s-adapter/kinds';
import { didYouMean, FaultyFile, type Field } from '@taintmgr/k8s-adapter/manifests';
import { zoneNames } from '@taintmgr/k8s-adapter/survey';
import type { Assumption, PlayedEvent, Recording, Rollout } from '@taintmgr/page';
import {
  ApiError,
  type Cluster,
  type KubeObject,
  type Random,
  type RestingCluster,
  seededRandom,
  VirtualClock,
} from '@taintmgr/sim-cluster';
import { RunRecorder, unplacedMessage } from '../result/recorder.ts';
import { type About, type Targets, targetsOf, targetsText } from '../script/actions.ts';
import type { Script, ScriptEvent } from '../script/script.ts';
import type { ClusterSource } from '../source/source.ts';
import { type Unknowns, withUnplaced } from '../source/unknowns.ts';
import { PodTimes } from '../times/pod-times.ts';
import { Autoscaler, type NodePool } from './autoscaler.ts';
import { type ManagerSettings, managerDefaults } from './manager-flags.ts';
import { Controller, type ControllerOptions, devicePaths, Stage, StageFault } from './stage.ts';

/** The rules that the controller follows. */
export type Semantics = Config['semantics'];

export interface RunOptions {
  readonly source: ClusterSource;
  readonly script: Script;
  readonly seed: number;
  readonly until: Millis;
  readonly semantics: Semantics;
  /** Of the files of --policy. */
  readonly policies: readonly PolicyObject[];
  /** Looks at the cluster before anything happens; an error that it throws ends the run. */
  readonly onStart?: (run: Run, api: Cluster['api']) => void;
  /** True: events that `Simulation.play` gets may stop the controller; left out: no. */
  readonly restarts?: true;
  /** The beginning that it shares with others; left out: a separate one. */
  readonly beginning?: Beginning;
  /** The rollout that runs before events may happen; left out: none. */
  readonly rollout?: RolloutStep;
}

/** Plays a cluster that begins until events may; `runUntil` moves its time, and that of who acts in it. */
export type RolloutStep = (
  cluster: Cluster,
  runUntil: (instant: Instant) => void,
) => Generator<null, Rollout>;

/** One run of a simulation from beginning to end. */
export interface Run {
  readonly semantics: Semantics;
  readonly startsAt: number;
  /** The time that pods were assumed to need. */
  readonly assumptions: readonly Assumption[];
  readonly playedEvents: readonly PlayedEvent[];
  readonly recording: Recording;
  /** The unsimulated parts that decided about workloads. */
  readonly unknowns: Unknowns;
  /** Left out: no manifests were laid over the cluster. */
  readonly rollout?: Rollout;
}

const idleMsMax = 600_000;
const idleLookMs = 1_000;
/** The simulated time that is played in one piece. */
const pieceMs: Millis = 10_000;

/** Plays the script in the cluster with the real engine. Throws FaultyFile. */
export function simulate(options: RunOptions): Run {
  return finished(played(options));
}

/**
 * Plays the same piece by piece: the caller can do other work in between. Yields how far it is; null: the
 * cluster is still coming to rest. Throws FaultyFile.
 */
export function* played(options: RunOptions): Generator<Millis | null, Run> {
  const simulation = yield* atRest(options);
  options.onStart?.(simulation.result(), simulation.api);
  for (let after = 0; after < options.until; ) {
    after = Math.min(options.until, after + pieceMs);
    simulation.runUntil(after);
    yield after;
  }
  return simulation.result();
}

/** The simulation with its cluster at rest. Throws FaultyFile. */
export function startSimulation(options: RunOptions): Simulation {
  return finished(atRest(options));
}

function finished<T>(work: Generator<unknown, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

function* atRest(options: RunOptions): Generator<null, Simulation> {
  const { source, script, policies, seed, semantics } = options;
  const { beginning = new Beginning({ source, script, seed, runs: 1 }) } = options;
  const { clock, cluster, times } = yield* beginning.next();
  const recorders: RunRecorder[] = [];
  const agents = new Agents({
    cluster,
    clock,
    seed,
    config: {
      ...engineConfig(source.engine ?? {}, script.engine),
      semantics,
      // kube-controller-manager has no replica here to keep, and has other flags.
      ...(semantics === 'upstream-1.36' && { ownPod: null, lifecycle: managerOf(options) }),
    },
    policies,
    upstreamSince: source.upstreamSince,
    restarts: options.restarts ?? script.events.some(({ action }) => action.restarts),
    pressure: pressureAs(semantics, script),
    onNotice: (notice) => recorders[0]?.notice(notice),
  });
  cluster.start();
  if (source.bringToRest) yield* comeToRest(source, { clock, cluster, times }, agents);
  else if (options.rollout) agents.start();
  const runUntil = (instant: Instant): void => agents.runUntil(instant);
  const rollout = options.rollout ? yield* options.rollout(cluster, runUntil) : null;
  const simulation = new Simulation(options, { cluster, agents, times, rollout });
  recorders.push(simulation.recorder);
  if (!source.bringToRest && !options.rollout) agents.start();
  return simulation;
}

/** The node lifecycle of kube-controller-manager; null: the script has switched it off. */
function managerOf({ source, script }: RunOptions): Partial<LifecycleConfig> | null {
  const { lifecycle } = engineConfig(source.engine ?? {}, script.engine);
  return lifecycle === null ? null : { ...lifecycle, ...managerSettings(source, script) };
}

/** The settings by which it is played: those of the script, else as its version comes. */
export function managerSettings(source: ClusterSource, script: Script): ManagerSettings {
  const { lifecycle } = engineConfig(source.engine ?? {}, script.engine);
  return { ...managerDefaults(source.minorVersion), ...lifecycle, ...script.manager };
}

interface Rested {
  readonly cluster: Cluster;
  readonly agents: Agents;
  readonly times: PodTimes;
  readonly rollout: Rollout | null;
}

/** A cluster that is at rest, and the script on its way through it. */
export class Simulation {
  readonly recorder: RunRecorder;
  readonly api: Cluster['api'];
  readonly #source: ClusterSource;
  readonly #hasPools: boolean;
  readonly #semantics: Semantics;
  readonly #agents: Agents;
  readonly #startsAt: Instant;
  readonly #assumptions: readonly Assumption[];
  readonly #play: Play;
  readonly #rollout: Rollout | null;

  constructor(
    { source, script, semantics }: RunOptions,
    { cluster, agents, times, rollout }: Rested,
  ) {
    this.#source = source;
    this.#rollout = rollout;
    this.#hasPools = script.autoscaler.length > 0;
    const { controller } = agents;
    this.#startsAt = cluster.api.clock.now();
    this.#assumptions = assumptionsOf(cluster, script, times);
    const recorder = new RunRecorder({ api: cluster.api, controller, semantics, times });
    const stage = new Stage(cluster, controller, {
      onMachine: (node, runs) => recorder.noteMachine(node, runs),
      onDrainAttempt: (pod, outcome) => recorder.noteDrainAttempt(pod, outcome),
    });
    this.#play = new Play(stage, script);
    new Autoscaler(stage, poolsIn(script, cluster), (pool, name) => this.#play.added(pool, name));
    [this.recorder, this.#agents, this.#semantics] = [recorder, agents, semantics];
    this.api = cluster.api;
  }

  /** Runs the simulation up to this time after the beginning. Throws FaultyFile. */
  runUntil(after: Millis): void {
    this.#agents.runUntil(this.#startsAt + after);
  }

  /** Plays an event now, beside those of the script. Throws FaultyFile. */
  play(event: ScriptEvent): void {
    this.#play.begin(event);
  }

  /** The run until now; playing on adds to it. */
  result(): Run {
    const recording = this.recorder.recording();
    const { unknowns } = this.#source;
    const getsNodes = this.#source.getsNodes && !this.#hasPools;
    return {
      semantics: this.#semantics,
      startsAt: this.#startsAt,
      assumptions: this.#assumptions,
      playedEvents: this.#play.playedEvents,
      recording,
      unknowns: getsNodes ? withUnplaced(unknowns, recording) : unknowns,
      ...(this.#rollout && { rollout: this.#rollout }),
    };
  }
}

const timed = ['deployments', 'statefulsets', 'daemonsets', 'replicasets'];

/** The assumptions about the present workloads. Throws FaultyFile where the script means another. */
function assumptionsOf(
  { api }: Cluster,
  { times: said }: Script,
  times: PodTimes,
): readonly Assumption[] {
  const workloads = timed
    .flatMap((resource) => api.list(resource))
    .filter(({ metadata }) => !metadata.ownerReferences?.some(({ controller }) => controller));
  const names = workloads.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  const faults = Array.from(said).flatMap(([name, { field }]) => {
    if (names.includes(name)) return [];
    return [field.fault(`there is no workload ${name}${thereAre(name, names)}`).message];
  });
  if (faults.length > 0) throw new FaultyFile(faults);
  return workloads.map((workload) => times.assumed(workload));
}

/** In a cluster of kube-controller-manager kubelets see to it, in their way. */
function pressureAs(semantics: Semantics, { pressure }: Script): Script['pressure'] {
  if (!pressure || semantics === 'precise') return pressure;
  return { ...pressure, semantics: 'kubelet-1.36' };
}

/** Settles a made-up cluster with the controllers in it, which look at it for the first time. */
function* comeToRest(
  { name, startsAt }: ClusterSource,
  { clock, cluster }: Begun,
  agents: Agents,
): Generator<null, void> {
  const latest = clock.now() + idleMsMax;
  const sinceLook = (clock.now() - startsAt) % idleLookMs;
  clock.advanceTo(clock.now() + idleLookMs - sinceLook);
  agents.start();
  for (let look = clock.now(); look <= latest; look += idleLookMs) {
    agents.runUntil(look);
    if (cluster.isIdle()) return;
    yield null;
  }
  const waiting = cluster.api.list('pods').find((pod) => unplacedMessage(pod) !== null);
  const message = waiting ? unplacedMessage(waiting) : null;
  const why = waiting
    ? `pod ${waiting.metadata.namespace}/${waiting.metadata.name}: ${message}`
    : 'something does not get ready';
  throw new FaultyFile([`${name}: not at rest after ${formatDuration(idleMsMax)}: ${why}`]);
}

/** The pools of the autoscaler. Throws FaultyFile where the node that a pool is like is not there. */
function poolsIn({ autoscaler }: Script, { api }: Cluster): readonly NodePool[] {
  const names = api.list('nodes').map(({ metadata }) => metadata.name);
  const faults = autoscaler.flatMap(({ field, like }) => {
    if (names.includes(like)) return [];
    return [field.fault(`there is no node ${like}${thereAre(like, names)}`).message];
  });
  if (faults.length > 0) throw new FaultyFile(faults);
  return autoscaler;
}

/** The events of a script on their way. */
class Play {
  readonly playedEvents: PlayedEvent[] = [];
  readonly #stage: Stage;
  readonly #startsAt: number;

  /** Throws FaultyFile for events about missing objects. */
  constructor(stage: Stage, { events }: Script) {
    this.#stage = stage;
    const { clock } = stage.cluster.api;
    this.#startsAt = clock.now();
    const faults = new Set(events.flatMap((event) => unmeant(event, stage.cluster, events)));
    if (faults.size > 0) throw new FaultyFile([...faults]);
    for (const event of events) clock.after(event.at, () => this.begin(event));
  }

  /** The autoscaler has added a node. */
  added({ field }: NodePool, name: string): void {
    this.#note(field, `the autoscaler adds node ${name}`);
  }

  begin({ field, action, lasts, stagger }: ScriptEvent): void {
    const { targets, apply, undo } = action;
    const { cluster } = this.#stage;
    const names = targets ? targetsOf(targets, cluster) : [''];
    if (names.length === 0) throw new FaultyFile([nobody(field, targets, cluster)]);
    const { clock } = cluster.api;
    for (const [index, name] of names.entries()) {
      const act = (): void => this.#do(field, () => apply(this.#stage, name));
      const end = (): void => this.#do(field, () => undo?.apply(this.#stage, name));
      const one = stagger > 0 && names.length > 1 ? ` (${name})` : '';
      const note = (text: string): void => this.#note(field, `${text}${one}`);
      const isNoted = one !== '' || index === 0;
      const begin = (): void => {
        act();
        if (isNoted) note(action.text);
      };
      if (index * stagger === 0) begin();
      else clock.after(index * stagger, begin);
      if (lasts === null || !undo) continue;
      clock.after(index * stagger + lasts, () => {
        end();
        if (isNoted) note(undo.text);
      });
    }
  }

  /** An action that the cluster refuses ends the simulation: the rest would answer another question. */
  #do(field: Field, work: () => void): void {
    try {
      work();
    } catch (error) {
      const isRefusal = error instanceof ApiError || error instanceof StageFault;
      if (!isRefusal) throw error;
      const now = this.#now;
      throw new FaultyFile([
        field.fault(`at ${formatDuration(now * 1000)}: ${error.message}`).message,
      ]);
    }
  }

  #note(field: Field, text: string): void {
    this.playedEvents.push({ at: this.#now, text, line: field.line });
  }

  get #now(): number {
    return (this.#stage.cluster.api.clock.now() - this.#startsAt) / 1000;
  }
}

/** The faults of an event that names an object that does not exist and never will. */
function unmeant(
  { field, action: { targets, about } }: ScriptEvent,
  cluster: Cluster,
  events: readonly ScriptEvent[],
): readonly string[] {
  if (about) return aboutFaults(about, cluster);
  if (!targets) return [];
  const added = events.flatMap(({ action }) => action.adds ?? []);
  if (targets.kind !== 'names') {
    const found = targetsOf(targets, cluster).length + added.length;
    return found > 0 ? [] : [nobody(field, targets, cluster)];
  }
  const nodes = cluster.api.list('nodes').map(({ metadata }) => metadata.name);
  const names = [...nodes, ...added.map(({ metadata }) => metadata.name)];
  return targets.names
    .filter((name) => !names.includes(name))
    .map((name) => field.fault(`there is no node ${name}${thereAre(name, names)}`).message);
}

const aboutResources: Readonly<Record<About['what'], readonly string[]>> = {
  workload: ['deployments', 'statefulsets', 'replicasets', 'daemonsets'],
  'workload that scales': ['deployments', 'statefulsets', 'replicasets'],
  budget: ['poddisruptionbudgets'],
};

/** Returns the faults of an event's subject beside nodes: a workload or a budget. */
function aboutFaults({ field, what, name }: About, { api }: Cluster): readonly string[] {
  const objects = aboutResources[what].flatMap((resource) => api.list(resource));
  const names = objects
    .filter(({ metadata }) => !metadata.ownerReferences?.some(({ controller }) => controller))
    .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  if (names.includes(name)) return [];
  return [field.fault(`there is no ${what} ${name}${thereAre(name, names)}`).message];
}

/** The fault of an event that is about no node. */
function nobody(field: Field, targets: Targets | null, cluster: Cluster): string {
  if (targets?.kind !== 'zone') {
    return field.fault(`no node is meant by ${targets ? targetsText(targets) : 'it'}`).message;
  }
  const zones = zonesOf(cluster, targets.zone);
  const text = `no node is meant by zone ${targets.zone}${thereAre(targets.zone, zones)}`;
  return field.fault(text).message;
}

/** With their regions where the one that is asked for has one. */
function zonesOf({ api }: Cluster, like: string): readonly string[] {
  const zones = api.list('nodes').flatMap(({ metadata }) => {
    return zoneNames(metadata.labels ?? {}).at(like.includes('/') ? 0 : -1) ?? [];
  });
  return [...new Set(zones)].sort();
}

/** `, did you mean zone-a? there are zone-a, zone-b` */
function thereAre(name: string, names: readonly string[]): string {
  return `${didYouMean(name, names) || ';'} there are ${choicesText(names)}`;
}

interface AgentsOptions extends Omit<ControllerOptions, 'random' | 'onNotice' | 'onLead'> {
  readonly seed: number;
  /** Null: no agent watches the resources of nodes. */
  readonly pressure: Partial<PressureConfig> | null;
  readonly onNotice: (
    notice: Parameters<ControllerOptions['onNotice']>[0] | PressureNotice | UpstreamDeviceNotice,
  ) => void;
}

/** A loop that is driven on the shared clock. */
interface Driven {
  readonly driver: {
    feed(input: { readonly kind: 'start' }): void;
    nextWake(): Instant | null;
    runUntil(instant: Instant): void;
  };
}

/** All that acts in the cluster: the controller, and beside it the node pressure agent and who evicts for devices. */
class Agents {
  readonly controller: Controller;
  readonly #clock: VirtualClock;
  readonly #restarts: boolean;
  readonly #agents: readonly Driven[];

  constructor(options: AgentsOptions) {
    const { clock, seed, pressure, restarts } = options;
    this.#clock = clock;
    this.#restarts = restarts;
    const random = seededRandom(seed);
    const { cluster, config } = options;
    const hasDevices = cluster.api.list('resourceslices').length > 0;
    const devices = hasDevices && !config.deviceTaints ? deviceAgent(options, random) : null;
    // Where ours decides about nodes, kube-controller-manager still decides about devices, whatever happens
    // to ours.
    const isTheirs = config.semantics === 'upstream-1.36';
    const onLead = (held: boolean): void => {
      if (isTheirs) devices?.driver.feed({ kind: 'event', event: { kind: 'leadership', held } });
    };
    this.controller = new Controller({ ...options, random, onLead });
    this.#agents = [
      ...(pressure ? [pressureAgent(options, pressure, random)] : []),
      ...(devices ? [devices] : []),
    ];
  }

  start(): void {
    this.controller.start();
    for (const { driver } of this.#agents) driver.feed({ kind: 'start' });
  }

  /** Moves time to `instant`; each loop does its due work on the way at its instant. */
  runUntil(instant: Instant): void {
    const [only, another] = this.#driven;
    // Alone, and never replaced, it goes all the way by itself.
    if (only && !another && !this.#restarts) {
      only.driver.runUntil(instant);
      return;
    }
    for (let next = this.#nextWake(); next !== null && next <= instant; next = this.#nextWake()) {
      const driven = this.#driven;
      if (driven.length === 0) this.#clock.advanceTo(next);
      for (const { driver } of driven) driver.runUntil(next);
    }
    this.#clock.advanceTo(instant);
  }

  /** The loops that run now, which may change at any time. */
  get #driven(): readonly Driven[] {
    return [...this.controller.processes, ...this.#agents];
  }

  #nextWake(): Instant | null {
    const wakes = this.#driven.map(({ driver }) => driver.nextWake());
    const wake = earliest([this.#clock.nextWake(), ...wakes]);
    return wake === null ? null : Math.max(this.#clock.now(), wake);
  }
}

function pressureAgent(
  { cluster, clock, onNotice }: AgentsOptions,
  config: Partial<PressureConfig>,
  random: Random,
): Driven {
  const machine = createPressureMachine(config);
  const loop = new PressureLoop({ machine, random, watches: () => true });
  const { exchange } = cluster;
  return { driver: new VirtualDriver({ loop, exchange, clock, onNotice, values: true }) };
}

/** kube-controller-manager's eviction for taints of devices, beside either controller of nodes. */
function deviceAgent(
  { cluster, clock, onNotice }: AgentsOptions,
  random: Random,
): { readonly driver: VirtualDriver<UpstreamDeviceHeard, UpstreamDeviceNotice> } {
  const isHeeding = heedsRules(cluster, clock.now());
  const paths = isHeeding ? devicePaths : { ...devicePaths, devicetaintrules: null };
  const loop = new UpstreamDeviceLoop({ random, paths });
  const { exchange } = cluster;
  return { driver: new VirtualDriver({ loop, exchange, clock, onNotice, values: true }) };
}

/** kube-controller-manager writes the status of a rule within this time, if at all. */
const statusMsMax: Millis = 10_000;

/** Rules without a status have no effect where they came: Kubernetes up to 1.36 ignores them by default. */
function heedsRules({ api }: Cluster, now: Instant): boolean {
  const rules = api.list('devicetaintrules');
  const isOld = ({ metadata }: KubeObject): boolean =>
    Date.parse(metadata.creationTimestamp ?? '') < now - statusMsMax;
  return !rules.some(isOld) || rules.some(({ status }) => status?.conditions?.length > 0);
}

interface BeginningOptions {
  readonly source: ClusterSource;
  readonly script: Script;
  readonly seed: number;
  /** The number of runs. */
  readonly runs: number;
}

/** A cluster before anything of a script happens in it. */
interface Begun {
  readonly clock: VirtualClock;
  readonly cluster: Cluster;
  readonly times: PodTimes;
}

/** One beginning for all runs: a made-up cluster settles once. */
export class Beginning {
  readonly #options: BeginningOptions;
  #left: number;
  #resting: RestingCluster | null = null;

  constructor(options: BeginningOptions) {
    this.#options = options;
    this.#left = options.runs;
  }

  /** The cluster of another run. Yields while the cluster settles. */
  *next(): Generator<null, Begun> {
    const { source, script, seed } = this.#options;
    const times = new PodTimes(script.times, source.observed);
    this.#resting ??= source.bringToRest ? yield* source.bringToRest(seed, times) : null;
    const resting = this.#resting;
    // After the last run, the resting cluster is no longer needed.
    if (--this.#left === 0) this.#resting = null;
    const clock = new VirtualClock(resting?.at ?? source.startsAt);
    return { clock, cluster: source.make(clock, { seed, times, resting }), times };
  }
}

/**
 * Merges the settings of cluster and script for the engine. A script that sets a part of a group of settings
 * leaves the others of the group as they are in the cluster; `lifecycle: null` switches all of it off.
 */
export function engineConfig(cluster: Partial<Config>, script: Partial<Config>): Partial<Config> {
  const { lifecycle, leave } = script;
  return {
    ...cluster,
    ...script,
    ...(lifecycle && { lifecycle: { ...cluster.lifecycle, ...lifecycle } }),
    ...(leave && { leave: { ...cluster.leave, ...leave } }),
  };
}
