// Plays the events of a script in a simulated cluster, each at its time.
import { formatDuration } from '@taintmgr/core/time';
import { FaultyFile, type Field } from '@taintmgr/k8s-adapter/manifests';
import { ApiError } from '@taintmgr/sim-cluster';
import type { Script, ScriptEvent } from '../script/script.ts';
import { targetsOf } from '../script/targets.ts';
import { nobody, unmeant } from './meant.ts';
import { type Stage, StageFault } from './stage.ts';

/** Something of the script that was done. */
export interface PlayedEvent {
  readonly at: number;
  readonly text: string;
  /** The line of the script. */
  readonly line: number;
}

/** The events of a script on their way. */
export class Play {
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
