import type { Event, Outcome, Pod } from '@taintmgr/core';
import {
  type DrainCommand,
  type DrainConfig,
  type DrainMachine,
  resolveDrainConfig,
  StandaloneDrain,
} from '@taintmgr/core/drain';
import type { EvictionPause } from '@taintmgr/core/policy';
import { Progress } from '../../src/commands/drain-by-taint/progress.ts';
import { CapturedOutput } from './captured-output.ts';
import { node, now, pod, taint } from './values.ts';

export const maintenance = taint('maintenance=kernel:NoExecute');
export const refusal = 'The disruption budget web needs 2 healthy pods and has 2 currently';
export const blocked: Outcome = { kind: 'blocked', message: refusal, retryAfter: null };

/** A drain that has begun, whose requests a test answers. */
export class Drain {
  readonly machine: DrainMachine;
  readonly #alone: StandaloneDrain;
  readonly output: CapturedOutput;
  readonly progress: Progress;
  readonly #ids = new Map<string, string>();

  constructor(
    pods: readonly Pod[],
    options: Partial<DrainConfig> = {},
    isWatched = false,
    gate?: ConstructorParameters<typeof StandaloneDrain>[1],
  ) {
    const names = [...new Set(pods.map(({ nodeName }) => nodeName))];
    const targets = names.map((name) => ({ name, zone: '' }));
    this.#alone = new StandaloneDrain(
      resolveDrainConfig({ taint: maintenance, targets, nodesAtOnceMax: 0, ...options }),
      gate,
    );
    this.machine = this.#alone.machine;
    this.output = new CapturedOutput(isWatched);
    const { output } = this;
    const live = isWatched
      ? { show: (text: string) => output.shown.push(text), clear: () => {} }
      : null;
    this.progress = new Progress({ output, say: output.out, live }, now);
    const tainted = { ...(options.taint ?? maintenance), timeAdded: now };
    for (const name of names) this.feed({ kind: 'nodeUpsert', node: node(name, tainted) });
    for (const one of pods) this.feed({ kind: 'podUpsert', pod: one });
    this.feed({ kind: 'synced' });
  }

  feed(event: Event, at: number = now): void {
    for (const each of [event, { kind: 'tick' } as const, { kind: 'tick' } as const]) {
      for (const command of this.#alone.handle(at, each)) this.#remember(command);
    }
    for (const note of this.machine.takeNotes()) this.progress.note(note, this.machine);
  }

  answer(name: string, outcome: Outcome, at: number = now): void {
    this.feed({ kind: 'result', id: this.#ids.get(name) ?? 'unknown', outcome }, at);
  }

  gone(one: Pod, at: number = now): void {
    this.feed({ kind: 'podDelete', uid: one.uid }, at);
  }

  #remember(command: DrainCommand): void {
    if ('id' in command && 'pod' in command) this.#ids.set(command.pod.name, command.id);
  }
}

export const web = pod('web-0');
export const db = pod('db-0');
export const night: EvictionPause = {
  ...{ name: 'night', uid: '', reason: '', until: null, since: now },
  ...{ readiness: false, deadlines: true },
  scope: { zones: [], nodes: null, taintKeys: [], namespaces: ['shop'] },
};
