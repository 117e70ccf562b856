// Carries a drain out: the engine with this one NodeDrain, behind the controller's own loop.
import { type Command, type Config, createEngine, type Event } from '@taintmgr/core';
import {
  type DoneBefore,
  type DrainNote,
  looksAtAllPods,
  type SoloDrainConfig,
  type WriteDrainNode,
} from '@taintmgr/core/drain';
import type { NodeDrain } from '@taintmgr/core/policy';
import type { Instant } from '@taintmgr/core/time';
import { drive, Loop, type LoopOptions, type Machine, type Notice } from '@taintmgr/k8s-adapter';
import type { NodeChanges } from '@taintmgr/k8s-adapter/drain';
import { fieldManager } from '../../cluster/change-node.ts';
import { printable } from '../../render/printable.ts';
import { changeText, type Drain } from './drain.ts';
import { type DrainResult, resultOf } from './outcome.ts';
import type { DrainSight, Progress } from './progress.ts';
import { keptText } from './stop.ts';

/** A write on a node that has ended. */
type NodeWritten = Extract<Notice, { kind: 'drainWriteFinished' }> & {
  readonly command: WriteDrainNode;
};

/** The end of a drain, and the state that it came to. */
export interface DrainEnd {
  readonly result: DrainResult;
  /** The refusal of the API server that ended the drain; null: none did. */
  readonly refusal: string | null;
  readonly machine: DrainSight;
  /** The changes to nodes by name. */
  readonly changes: ReadonlyMap<string, NodeChanges>;
}

const showEveryMs = 1000;

/**
 * Carries a drain out, until it is finished, Ctrl-C comes, or the API server refuses to show nodes
 * and pods.
 */
export async function runDrain(drain: Drain, progress: Progress): Promise<DrainEnd> {
  const { connection, interrupt, policies } = drain;
  const stop = new AbortController();
  const run = new DrainRun(drain, progress, () => stop.abort());
  const onInterrupt = (): void => run.end('Interrupted');
  interrupt.addEventListener('abort', onInterrupt, { once: true });
  if (interrupt.aborted) onInterrupt();
  const loop = new Loop({ machine: run, ...loopOptions(drain) });
  let unfollow = (): void => {};
  const ticker = setInterval(() => run.showCounts(Date.now()), showEveryMs);
  try {
    const onNotice = (notice: Notice): void => run.notice(notice);
    const onStart = (feed: (event: Event) => void): void => {
      unfollow = policies.follow(feed, (why) => progress.policiesRefused(why));
    };
    await drive({ loop, transport: connection.transport, signal: stop.signal, onNotice, onStart });
  } finally {
    clearInterval(ticker);
    unfollow();
    interrupt.removeEventListener('abort', onInterrupt);
    progress.close();
  }
  return run.ending();
}

function loopOptions({ config, settings, wanted, survey }: Drain): Omit<LoopOptions, 'machine'> {
  const { podSelector } = settings.flags;
  // Another replica, and whether its node is ready, is anywhere.
  const takesNodes = ownPodAmong(survey) !== null;
  const takesAll = takesNodes || looksAtAllPods(settings.drain);
  const names = new Set(config.targets.map(({ name }) => name));
  const [only] = names;
  const isOne = names.size === 1;
  return {
    random: Math.random,
    component: fieldManager,
    drainer: { fieldManager, by: wanted.by },
    ...(isOne && !takesNodes && { nodes: { fieldSelector: `metadata.name=${only}` } }),
    pods: {
      ...(isOne && !takesAll && { fieldSelector: `spec.nodeName=${only}` }),
      ...(podSelector !== undefined && { labelSelector: podSelector }),
    },
    acceptsNode: ({ name }) => takesNodes || names.has(name),
    acceptsPod: ({ nodeName }) => takesAll || names.has(nodeName),
  };
}

/** The leader of taintmgr-controller, which keeps its last replica; null: none of these pods may be one. */
function ownPodAmong({ evictor: { ownPod }, pods }: Drain['survey']): Config['ownPod'] {
  const isAmong = pods.some(({ pod }) => pod.namespace === ownPod?.namespace);
  return ownPod && isAmong ? ownPod : null;
}

/** The engine with one NodeDrain, whose progress is reported. */
class DrainRun implements Machine {
  readonly #engine: ReturnType<typeof createEngine>;
  readonly #drain: Drain;
  readonly #progress: Progress;
  readonly #stop: () => void;
  /** The run gives up where nodes and pods are not known by then; null: it never does. */
  readonly #syncBy: Instant | null;
  /** Events that come before all others: the NodeDrain and the policies. */
  readonly #first: Event[];
  /** Writes on nodes under way: their ids. */
  readonly #writes = new Set<string>();
  readonly #changes = new Map<string, NodeChanges>();
  #result: DrainResult | null = null;
  #refusal: string | null = null;

  constructor(drain: Drain, progress: Progress, stop: () => void) {
    const { config, policies } = drain;
    const ownPod = ownPodAmong(drain.survey);
    this.#drain = drain;
    this.#engine = createEngine({
      ...{ taintEviction: false, nodeDrains: true, drainProgram: config, ownPod },
      comparisonOperators: config.comparisonOperators,
    });
    this.#first = [{ kind: 'nodeDrainUpsert', drain: carriedOut(drain) }, ...policies.events];
    this.#progress = progress;
    this.#stop = stop;
    const { node: timeoutMs = 0 } = config.spec.timeouts;
    this.#syncBy = timeoutMs === 0 ? null : Date.now() + timeoutMs;
  }

  handle(now: Instant, event: Event): readonly Command[] {
    for (const first of this.#first.splice(0)) this.#engine.handle(now, first);
    if (event.kind === 'result') this.#writes.delete(event.id);
    const commands = this.#engine.handle(now, event).map((one) => this.#asOurs(one));
    const { drain } = this;
    if (!drain) {
      if (this.#syncBy !== null && now >= this.#syncBy) this.end('TimedOut');
      return commands;
    }
    if (event.kind === 'tick') this.#progress.holds(drain.holds(), drain.machine);
    for (const note of drain.takeNotes(now)) this.#note(note);
    this.showCounts(now);
    const isOver = drain.machine.finished && this.#writes.size === 0;
    // Writes that are due, such as the last word on a node, are tried once.
    if (isOver && (drain.nextWake() ?? Number.POSITIVE_INFINITY) > now) {
      this.end(resultOf(drain.machine));
    }
    return commands;
  }

  /** The drain, once nodes and pods are known. */
  get drain(): ReturnType<ReturnType<typeof createEngine>['drain']> {
    return this.#engine.drain(this.#drain.wanted.id);
  }

  #note(note: DrainNote): void {
    if (this.drain) this.#progress.note(note, this.drain.machine);
  }

  /** A write on a node, by what was done there before the drain began. */
  #asOurs(command: Command): Command {
    if (command.kind !== 'writeDrainNode') return command;
    this.#writes.add(command.id);
    const { write } = command;
    const before = this.#changes.get(command.nodeName);
    if (write.kind !== 'taint' || !before) return command;
    const done: DoneBefore = before.id === null ? 'cordoned' : 'marked';
    return { ...command, write: { ...write, before: done } };
  }

  nextWake(): Instant | null {
    return this.drain ? this.#engine.nextWake() : this.#syncBy;
  }

  /** The first reason to end counts. */
  end(result: DrainResult): void {
    this.#result ??= result;
    this.#stop();
  }

  showCounts(now: Instant): void {
    if (this.#result === null && this.drain) this.#progress.showCounts(now, this.drain.machine);
  }

  notice(notice: Notice): void {
    if (isOnNode(notice)) this.#written(notice);
    if (notice.kind === 'watching') this.#progress.reconnected();
    if (notice.kind !== 'reconnecting') return;
    const { message, status } = notice.failure;
    this.#progress.disconnected(message);
    if (status !== 401 && status !== 403) return;
    // Rights do not come by waiting: without them the drain ends.
    this.#refusal ??= message;
    this.end('Failed');
  }

  ending(): DrainEnd {
    const machine = this.drain?.machine ?? unseen(this.#drain.config);
    const result = this.#result ?? resultOf(machine);
    return { result, refusal: this.#refusal, machine, changes: this.#changes };
  }

  /** Says what was written on a node, and keeps what has changed there. */
  #written({ command: { nodeName, write }, outcome, written }: NodeWritten): void {
    const { wanted } = this.#drain;
    const earlier = this.#changes.get(nodeName);
    const isDone = outcome.kind === 'done';
    const { cordoned = false, tainted = false, id = null, untainted = false } = written;
    const changes = { cordoned: cordoned || earlier?.cordoned === true, tainted, id };
    if (write.kind === 'cordon' || write.kind === 'taint') {
      if (isDone && wanted.cordon && !earlier) {
        this.#progress.say(changeText(nodeName, 'cordoned', changes));
      }
      if (isDone) this.#changes.set(nodeName, changes);
    }
    if (write.kind === 'cordon' && outcome.kind === 'failed' && outcome.status !== null) {
      const why = printable(outcome.message);
      const then = 'could not be cordoned, it is tried again at its turn';
      this.#progress.warn(`node ${nodeName} ${then}: ${why}`);
    }
    if (write.kind !== 'untaint') return;
    if ('message' in outcome) {
      this.#progress.warn(keptText(nodeName, wanted.taint, outcome.message));
    }
    if (!isDone || !untainted) return;
    this.#progress.say(`node/${nodeName} untainted`);
    if (earlier) this.#changes.set(nodeName, { ...earlier, tainted: false });
  }
}

function isOnNode(notice: Notice): notice is NodeWritten {
  return notice.kind === 'drainWriteFinished' && notice.command.kind === 'writeDrainNode';
}

/** The NodeDrain for the engine: under the name of its marks, for these nodes, with no object to guard. */
function carriedOut({ settings, config, wanted }: Drain): NodeDrain {
  const { nodeSelector: _, ...spec } = config.spec;
  const { windows = [], gates = [] } = spec;
  // No node is cordoned while a window or a gate may keep it from its turn.
  const cordonsLater = spec.cordon === 'AtStart' && windows.length + gates.length > 0;
  return {
    ...{ ...settings.drain, name: wanted.id, uid: wanted.run, isGuarded: true },
    spec: {
      ...{ ...spec, nodes: config.targets.map(({ name }) => name) },
      ...(cordonsLater && { cordon: 'AtTurn' }),
      // What failed is taken back at the end.
      onFailure: 'KeepTaint',
    },
  };
}

/** The drain of which nothing is known yet but its nodes. */
export function unseen({ targets }: Pick<SoloDrainConfig, 'targets'>): DrainSight {
  const wave = { name: '', nodesAtOnceMax: null };
  return {
    synced: false,
    stop: null,
    isTakenOver: false,
    pods: () => [],
    staying: () => [],
    nodes: () => targets.map((one) => ({ wave, ...one, phase: { kind: 'pending' } })),
  };
}
