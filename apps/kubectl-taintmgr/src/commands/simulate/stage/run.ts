import type { Config } from '@taintmgr/core';
import type { PolicyObject } from '@taintmgr/core/policy';
import { formatDuration, type Millis } from '@taintmgr/core/time';
import { didYouMean, FaultyFile, type Field } from '@taintmgr/k8s-adapter/manifests';
import { ApiError, type Cluster, VirtualClock } from '@taintmgr/sim-cluster';
import { type Recording, RunRecorder, unplacedMessage } from '../record/recorder.ts';
import type { Script, ScriptEvent } from '../script/script.ts';
import { type Targets, targetsOf, targetsText } from '../script/targets.ts';
import type { ClusterSource } from '../source/source.ts';
import { type Assumption, PodTimes } from '../times/pod-times.ts';
import { Agents } from './agents.ts';
import { Stage, StageFault } from './stage.ts';

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
}

/** Something of the script that was done. */
export interface PlayedEvent {
  readonly at: number;
  readonly text: string;
  /** The line of the script. */
  readonly line: number;
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

/** Plays the script in the cluster with the real engine. Throws FaultyFile. */
export function simulate(options: RunOptions): Run {
  const { source, script, policies, seed, until, semantics } = options;
  const clock = new VirtualClock(source.startsAt);
  const times = new PodTimes(script.times, source.observed);
  const cluster = source.make(clock, seed, times);
  let recorder: RunRecorder | null = null;
  const agents = new Agents({
    cluster,
    clock,
    seed,
    config: { ...script.engine, semantics },
    policies,
    pressure: pressureAs(semantics, script),
    onNotice: (notice) => recorder?.notice(notice),
  });
  cluster.start();
  if (source.isNew) {
    agents.start();
    runUntilIdle(source, cluster, agents);
  }
  const startsAt = clock.now();
  const assumptions = assumptionsOf(cluster, script, times);
  const recording = new RunRecorder({
    ...{ api: cluster.api, engine: agents.engine, semantics, times },
    hasPauses: () => policies.some(({ kind }) => kind === 'EvictionPause'),
  });
  recorder = recording;
  const stage = new Stage(cluster, (node, runs) => recording.noteMachine(node, runs));
  const play = new Play(stage, script);
  if (!source.isNew) agents.start();
  agents.runUntil(startsAt + until);
  const { playedEvents } = play;
  return { semantics, startsAt, assumptions, playedEvents, recording: recording.recording() };
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
    const meant = didYouMean(name, names) || ';';
    return [
      field.fault(`there is no workload ${name}${meant} there are ${names.join(', ')}`).message,
    ];
  });
  if (faults.length > 0) throw new FaultyFile(faults);
  return workloads.map((workload) => times.assumed(workload));
}

/** In a cluster of kube-controller-manager kubelets see to it, in their way. */
function pressureAs(semantics: Semantics, { pressure }: Script): Script['pressure'] {
  if (!pressure || semantics === 'precise') return pressure;
  return { ...pressure, semantics: 'kubelet-1.36' };
}

/** Lets a cluster that is made up come to rest. */
function runUntilIdle({ name }: ClusterSource, cluster: Cluster, agents: Agents): void {
  const { clock } = cluster.api;
  const latest = clock.now() + idleMsMax;
  while (clock.now() < latest) {
    agents.runUntil(clock.now() + idleLookMs);
    if (cluster.isIdle()) return;
  }
  const waiting = cluster.api.list('pods').find((pod) => unplacedMessage(pod) !== null);
  const message = waiting ? unplacedMessage(waiting) : null;
  const why = waiting
    ? `pod ${waiting.metadata.namespace}/${waiting.metadata.name}: ${message}`
    : 'something does not get ready';
  throw new FaultyFile([`${name}: not at rest after ${formatDuration(idleMsMax)}: ${why}`]);
}

/** The events of a script on their way. */
class Play {
  readonly playedEvents: PlayedEvent[] = [];
  readonly #stage: Stage;
  readonly #startsAt: number;

  /** Throws FaultyFile for events about what is not there. */
  constructor(stage: Stage, { events }: Script) {
    this.#stage = stage;
    const { clock } = stage.cluster.api;
    this.#startsAt = clock.now();
    const faults = new Set(events.flatMap((event) => unmeant(event, stage.cluster, events)));
    if (faults.size > 0) throw new FaultyFile([...faults]);
    for (const event of events) clock.after(event.at, () => this.#begin(event));
  }

  #begin({ field, action, lasts, stagger }: ScriptEvent): void {
    const { targets, apply, undo } = action;
    const { cluster } = this.#stage;
    const names = targets ? targetsOf(targets, cluster) : [''];
    if (names.length === 0) throw new FaultyFile([nobody(field, targets)]);
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

  /** What the cluster refuses ends the simulation: what would follow is not what was asked for. */
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

/** The faults of an event that names nodes which are not there and never will be. */
function unmeant(
  { field, action: { targets } }: ScriptEvent,
  cluster: Cluster,
  events: readonly ScriptEvent[],
): readonly string[] {
  if (!targets) return [];
  const added = events.flatMap(({ action }) => action.adds ?? []);
  if (targets.kind !== 'names') {
    const found = targetsOf(targets, cluster).length + added.length;
    return found > 0 ? [] : [nobody(field, targets)];
  }
  const { api } = cluster;
  const isThere = (name: string): boolean =>
    api.get('nodes', '', name) !== null || added.some(({ metadata }) => metadata.name === name);
  return targets.names
    .filter((name) => !isThere(name))
    .map((name) => field.fault(`there is no node ${name}`).message);
}

function nobody(field: Field, targets: Targets | null): string {
  return field.fault(`no node is meant by ${targets ? targetsText(targets) : 'it'}`).message;
}
