import {
  type Command,
  createEngine,
  type Engine,
  type Event,
  type Outcome,
  type Pod,
} from '@taintmgr/core';
import { type DrainMachine, resolveDrainConfig } from '@taintmgr/core/drain';
import {
  type EvictionPause,
  type NodeDrain,
  type NodeDrainSpec,
  plainDrainSpec,
} from '@taintmgr/core/policy';
import { Progress } from '../../src/commands/drain-by-taint/progress.ts';
import { CapturedOutput } from './captured-output.ts';
import { node, now, pod, taint } from './values.ts';

const maintenance = taint('maintenance=kernel:NoExecute');
export const refusal = 'The disruption budget web needs 2 healthy pods and has 2 currently';
export const blocked: Outcome = { kind: 'blocked', message: refusal, retryAfter: null };

const noStatus = {
  ...{ known: [], podsLeft: [], podsGoneBefore: 0, knowsAll: true, volumeWaits: [] },
  ...{ notReplaced: [], startedAt: null, observedGeneration: null, observedSelector: null },
};

/** A spec of which parts are left out, and what the command line says beside it. */
interface Asked extends Partial<NodeDrainSpec> {
  readonly once?: boolean;
  readonly leaving?: ReadonlySet<string>;
}

/** A drain that has begun, whose requests a test answers. */
export class Drain {
  readonly output: CapturedOutput;
  readonly progress: Progress;
  readonly #engine: Engine;
  readonly #ids = new Map<string, string>();

  constructor(pods: readonly Pod[], asked: Asked = {}, isWatched = false) {
    const { once = false, leaving = new Set(), ...parts } = asked;
    const names = [...new Set(pods.map(({ nodeName }) => nodeName))];
    const { key, value } = maintenance;
    const spec: NodeDrainSpec = {
      ...{ ...plainDrainSpec, taint: { key, value, effect: 'NoExecute' }, nodes: names },
      limits: { ...plainDrainSpec.limits, nodesAtOnce: 0, heldUpNodes: 0 },
      ...parts,
    };
    const drainProgram = resolveDrainConfig({ spec, once, leaving });
    this.#engine = createEngine({ taintEviction: false, nodeDrains: true, drainProgram });
    this.output = new CapturedOutput(isWatched);
    const { output } = this;
    const live = isWatched
      ? { show: (text: string) => output.shown.push(text), clear: () => {} }
      : null;
    this.progress = new Progress({ output, say: output.out, live }, now);
    const drain: NodeDrain = {
      ...{ name: 'd', uid: 'u', generation: 1, created: null, isDeleted: false, isGuarded: true },
      ...{ spec, ...noStatus, isOver: false },
    };
    this.feed({ kind: 'nodeDrainUpsert', drain });
    const tainted = { ...spec.taint, timeAdded: now };
    for (const name of names) {
      const one = { ...node(name, tainted), zone: `zone-${name}`, unschedulable: true };
      this.feed({ kind: 'nodeUpsert', node: one });
    }
    for (const one of pods) this.feed({ kind: 'podUpsert', pod: one });
    this.feed({ kind: 'synced' });
  }

  get machine(): DrainMachine {
    const { machine } = this.#engine.drain('d') ?? {};
    if (!machine) throw new Error('the drain begins once nodes and pods are known');
    return machine;
  }

  feed(event: Event, at: number = now): void {
    const events: Event[] = [event, { kind: 'tick' }, { kind: 'tick' }];
    for (const each of events) {
      for (const command of this.#engine.handle(at, each)) {
        this.#remember(command);
        // The cluster has no EvictionRequests.
        if (command.kind !== 'readEvictionRequests') continue;
        const { id, drain } = command;
        events.push({ kind: 'evictionRequests', drain, isServed: false, requests: [] });
        events.push({ kind: 'result', id, outcome: { kind: 'done' } }, { kind: 'tick' });
      }
    }
    const notes = this.#engine.drain('d')?.takeNotes(at) ?? [];
    for (const note of notes) this.progress.note(note, this.machine);
  }

  answer(name: string, outcome: Outcome, at: number = now): void {
    this.feed({ kind: 'result', id: this.#ids.get(name) ?? 'unknown', outcome }, at);
  }

  gone(one: Pod, at: number = now): void {
    this.feed({ kind: 'podDelete', uid: one.uid }, at);
  }

  #remember(command: Command): void {
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
