import type { Config } from '@taintmgr/core';
import { formatDuration, type Millis } from '@taintmgr/core/time';
import { ApiError, type Cluster, VirtualClock } from '@taintmgr/sim-cluster';
import { FaultyFile, type Field } from '../input/positioned.ts';
import { Recorder, type Recording, unplacedMessage } from '../record/recorder.ts';
import type { Script, ScriptEvent } from '../script/script.ts';
import { type Targets, targetsOf, targetsText } from '../script/targets.ts';
import type { Source } from '../source/source.ts';
import { Agents } from './agents.ts';
import { Stage, StageFault } from './stage.ts';

/** Whose rules the controller follows. */
export type Semantics = Config['semantics'];

export interface RunOptions {
  readonly source: Source;
  readonly script: Script;
  readonly seed: number;
  readonly until: Millis;
  readonly semantics: Semantics;
}

/** Something of the script that was done. */
interface Happening {
  readonly at: number;
  readonly text: string;
  /** The line of the script. */
  readonly line: number;
}

/** One run of a simulation from beginning to end. */
export interface Run {
  readonly semantics: Semantics;
  readonly startsAt: number;
  readonly happenings: readonly Happening[];
  readonly recording: Recording;
}

const settleMsMax = 600_000;
const settleLookMs = 1_000;

/** Plays the script in the cluster with the real engine. Throws FaultyFile. */
export function simulate({ source, script, seed, until, semantics }: RunOptions): Run {
  const clock = new VirtualClock(source.startsAt);
  const cluster = source.make(clock, seed);
  let recorder: Recorder | null = null;
  const agents = new Agents({
    cluster,
    clock,
    seed,
    config: { ...script.engine, semantics },
    pressure: pressureAs(semantics, script),
    onNotice: (notice) => recorder?.notice(notice),
  });
  cluster.start();
  if (source.isNew) {
    agents.start();
    settle(source, cluster, agents);
  }
  const startsAt = clock.now();
  recorder = new Recorder(cluster.api, agents.engine, semantics);
  const play = new Play(new Stage(cluster), script);
  if (!source.isNew) agents.start();
  agents.runUntil(startsAt + until);
  return { semantics, startsAt, happenings: play.happenings, recording: recorder.recording() };
}

/** In a cluster of kube-controller-manager kubelets see to it, in their way. */
function pressureAs(semantics: Semantics, { pressure }: Script): Script['pressure'] {
  if (!pressure || semantics === 'precise') return pressure;
  return { ...pressure, semantics: 'kubelet-1.36' };
}

/** Lets a cluster that is made up come to rest. */
function settle({ name }: Source, cluster: Cluster, agents: Agents): void {
  const { clock } = cluster.api;
  const latest = clock.now() + settleMsMax;
  while (clock.now() < latest) {
    agents.runUntil(clock.now() + settleLookMs);
    if (cluster.isIdle()) return;
  }
  const waiting = cluster.api.list('pods').find((pod) => unplacedMessage(pod) !== null);
  const message = waiting ? unplacedMessage(waiting) : null;
  const why = waiting
    ? `pod ${waiting.metadata.namespace}/${waiting.metadata.name}: ${message}`
    : 'something does not get ready';
  throw new FaultyFile([`${name}: not at rest after ${formatDuration(settleMsMax)}: ${why}`]);
}

/** The events of a script on their way. */
class Play {
  readonly happenings: Happening[] = [];
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

  #begin({ field, deed, lasts, stagger }: ScriptEvent): void {
    const { targets, apply, undo } = deed;
    const { cluster } = this.#stage;
    const names = targets ? targetsOf(targets, cluster) : [''];
    if (names.length === 0) throw new FaultyFile([nobody(field, targets)]);
    const { clock } = cluster.api;
    for (const [index, name] of names.entries()) {
      const act = (): void => this.#do(field, () => apply(this.#stage, name));
      const end = (): void => this.#do(field, () => undo?.apply(this.#stage, name));
      const one = stagger > 0 && names.length > 1 ? ` (${name})` : '';
      const tell = (text: string): void => this.#tell(field, `${text}${one}`);
      const isTold = one !== '' || index === 0;
      const begin = (): void => {
        act();
        if (isTold) tell(deed.text);
      };
      if (index * stagger === 0) begin();
      else clock.after(index * stagger, begin);
      if (lasts === null || !undo) continue;
      clock.after(index * stagger + lasts, () => {
        end();
        if (isTold) tell(undo.text);
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

  #tell(field: Field, text: string): void {
    this.happenings.push({ at: this.#now, text, line: field.line });
  }

  get #now(): number {
    return (this.#stage.cluster.api.clock.now() - this.#startsAt) / 1000;
  }
}

/** The faults of an event that names nodes which are not there and never will be. */
function unmeant(
  { field, deed: { targets } }: ScriptEvent,
  cluster: Cluster,
  events: readonly ScriptEvent[],
): readonly string[] {
  if (!targets) return [];
  const added = events.flatMap(({ deed }) => deed.adds ?? []);
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
