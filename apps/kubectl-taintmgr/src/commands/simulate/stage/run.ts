import type { Config } from '@taintmgr/core';
import { formatDuration, type Instant, type Millis } from '@taintmgr/core/time';
import type { PolicyObject } from '@taintmgr/k8s-adapter/kinds';
import { FaultyFile } from '@taintmgr/k8s-adapter/manifests';
import type { Cluster } from '@taintmgr/sim-cluster';
import { type Recording, RunRecorder, unplacedMessage } from '../record/recorder.ts';
import type { Script } from '../script/script.ts';
import type { ClusterSource } from '../source/source.ts';
import type { Assumption, PodTimes } from '../times/pod-times.ts';
import { Agents } from './agents.ts';
import { Beginning, type Begun } from './beginning.ts';
import { engineConfig } from './engine-config.ts';
import { thereAre } from './meant.ts';
import { Play, type PlayedEvent } from './play.ts';
import { Stage } from './stage.ts';

/** Whose rules the controller follows. */
export type Semantics = Config['semantics'];

export interface RunOptions {
  readonly source: ClusterSource;
  readonly script: Script;
  readonly seed: number;
  readonly until: Millis;
  readonly semantics: Semantics;
  /** Of the files of --policy. */
  readonly policies: readonly PolicyObject[];
  /** Looks at what there is before anything happens; what it throws ends the run. */
  readonly onStart?: (run: Run) => void;
  /** The one that it has in common with others; left out: one of its own. */
  readonly beginning?: Beginning;
}

/** One run of a simulation from beginning to end. */
export interface Run {
  readonly semantics: Semantics;
  readonly startsAt: number;
  /** How long pods were taken to need. */
  readonly assumptions: readonly Assumption[];
  readonly playedEvents: readonly PlayedEvent[];
  readonly recording: Recording;
}

const idleMsMax = 600_000;
const idleLookMs = 1_000;
/** Of a run, so much is played in one piece. */
const pieceMs: Millis = 10_000;

/** Plays the script in the cluster with the real engine. Throws FaultyFile. */
export function simulate(options: RunOptions): Run {
  return finished(played(options));
}

/**
 * The same piece by piece: whoever drives it can do something else in between. Yields how far it is;
 * null: the cluster is still coming to rest. Throws FaultyFile.
 */
export function* played(options: RunOptions): Generator<Millis | null, Run> {
  const simulation = yield* atRest(options);
  options.onStart?.(simulation.result());
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
      // kube-controller-manager has no replica here to keep.
      ...(semantics === 'upstream-1.36' && { ownPod: null }),
    },
    policies,
    upstreamSince: source.upstreamSince,
    restarts: script.events.some(({ action }) => action.restarts),
    pressure: pressureAs(semantics, script),
    onNotice: (notice) => recorders[0]?.notice(notice),
  });
  cluster.start();
  if (source.bringToRest) yield* comeToRest(source, { clock, cluster, times }, agents);
  const simulation = new Simulation(options, { cluster, agents, times });
  recorders.push(simulation.recorder);
  if (!source.bringToRest) agents.start();
  return simulation;
}

interface Rested {
  readonly cluster: Cluster;
  readonly agents: Agents;
  readonly times: PodTimes;
}

/** A cluster that is at rest, and the script on its way through it. */
export class Simulation {
  readonly recorder: RunRecorder;
  readonly #semantics: Semantics;
  readonly #agents: Agents;
  readonly #startsAt: Instant;
  readonly #assumptions: readonly Assumption[];
  readonly #play: Play;

  constructor({ script, semantics }: RunOptions, { cluster, agents, times }: Rested) {
    const { controller } = agents;
    this.#startsAt = cluster.api.clock.now();
    this.#assumptions = assumptionsOf(cluster, script, times);
    const recorder = new RunRecorder({ api: cluster.api, controller, semantics, times });
    const stage = new Stage(cluster, controller, {
      onMachine: (node, runs) => recorder.noteMachine(node, runs),
      onDrainAttempt: (pod, outcome) => recorder.noteDrainAttempt(pod, outcome),
    });
    this.#play = new Play(stage, script);
    [this.recorder, this.#agents, this.#semantics] = [recorder, agents, semantics];
  }

  /** What happens up to so long after the beginning. Throws FaultyFile. */
  runUntil(after: Millis): void {
    this.#agents.runUntil(this.#startsAt + after);
  }

  /** What has happened so far; a run that goes on adds to it. */
  result(): Run {
    return {
      semantics: this.#semantics,
      startsAt: this.#startsAt,
      assumptions: this.#assumptions,
      playedEvents: this.#play.playedEvents,
      recording: this.recorder.recording(),
    };
  }
}

const timed = ['deployments', 'statefulsets', 'daemonsets', 'replicasets'];

/** What is assumed of the workloads that are there. Throws FaultyFile where the script means another. */
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

/** Lets a cluster that is made up come to rest with ours in it, which look at it for the first time. */
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
