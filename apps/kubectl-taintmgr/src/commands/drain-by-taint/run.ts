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
import type { CordonAndTaint, NodeChanges } from '@taintmgr/k8s-adapter/drain';
import type { Connection } from '../../cli/connection.ts';
import { fieldManager } from '../../cluster/change-node.ts';
import { type DrainResult, resultOf } from './outcome.ts';
import type { DrainPolicies } from './policies.ts';
import type { DrainSight, Progress } from './progress.ts';

export interface DrainRunOptions {
  /** The NodeDrain that is asked for, and its settings in this cluster. */
  readonly drain: NodeDrain;
  readonly config: SoloDrainConfig;
  readonly wanted: CordonAndTaint;
  /** The changes to nodes by name, those before the run included. */
  readonly changes: Map<string, NodeChanges>;
  readonly podSelector: string | undefined;
  readonly policies: DrainPolicies;
  /** The pod of the leader of taintmgr-controller, where its replicas may be among the pods; null: none is. */
  readonly ownPod: Config['ownPod'];
  readonly interrupt: AbortSignal;
  /** Hears what came of a write on a node. */
  readonly onWritten: (notice: NodeWritten) => void;
}

/** A write on a node that has ended. */
export type NodeWritten = Extract<Notice, { kind: 'drainWriteFinished' }> & {
  readonly command: WriteDrainNode;
};

/** The end of a drain, and the state that it came to. */
export interface DrainEnd {
  readonly result: DrainResult;
  /** The refusal of the API server that ended the drain; null: none did. */
  readonly refusal: string | null;
  readonly machine: DrainSight;
}

const showEveryMs = 1000;

/**
 * Carries a drain out, until it is finished, Ctrl-C comes, or the API server refuses to show nodes
 * and pods.
 */
export async function runDrain(
  { transport }: Connection,
  options: DrainRunOptions,
  progress: Progress,
): Promise<DrainEnd> {
  const { interrupt } = options;
  const stop = new AbortController();
  const run = new DrainRun(options, progress, () => stop.abort());
  const onInterrupt = (): void => run.end('Interrupted');
  interrupt.addEventListener('abort', onInterrupt, { once: true });
  if (interrupt.aborted) onInterrupt();
  const loop = new Loop({ machine: run, ...loopOptions(options) });
  let unfollow = (): void => {};
  const ticker = setInterval(() => run.showCounts(Date.now()), showEveryMs);
  try {
    const onNotice = (notice: Notice): void => run.notice(notice);
    const onStart = (feed: (event: Event) => void): void => {
      unfollow = options.policies.follow(feed, (why) => progress.policiesRefused(why));
    };
    await drive({ loop, transport, signal: stop.signal, onNotice, onStart });
  } finally {
    clearInterval(ticker);
    unfollow();
    interrupt.removeEventListener('abort', onInterrupt);
    progress.close();
  }
  return run.ending();
}

function loopOptions({
  config,
  drain,
  wanted,
  podSelector,
  ownPod,
}: DrainRunOptions): Omit<LoopOptions, 'machine'> {
  // Another replica, and whether its node is ready, is anywhere.
  const takesNodes = ownPod !== null;
  const takesAll = takesNodes || looksAtAllPods(drain);
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

/** The engine with one NodeDrain, whose progress is reported. */
class DrainRun implements Machine {
  readonly #engine: ReturnType<typeof createEngine>;
  readonly #options: DrainRunOptions;
  readonly #progress: Progress;
  readonly #stop: () => void;
  /** The run gives up where nodes and pods are not known by then; null: it never does. */
  readonly #syncBy: Instant | null;
  /** Events that come before all others: the NodeDrain and the policies. */
  readonly #first: Event[];
  /** Writes on nodes under way: their ids. */
  readonly #writes = new Set<string>();
  #result: DrainResult | null = null;
  #refusal: string | null = null;

  constructor(options: DrainRunOptions, progress: Progress, stop: () => void) {
    const { config, ownPod, policies } = options;
    this.#options = options;
    this.#engine = createEngine({
      ...{ taintEviction: false, nodeDrains: true, drainProgram: config, ownPod },
      comparisonOperators: config.comparisonOperators,
    });
    this.#first = [{ kind: 'nodeDrainUpsert', drain: carriedOut(options) }, ...policies.events];
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
    return this.#engine.drain(this.#options.wanted.id);
  }

  #note(note: DrainNote): void {
    if (this.drain) this.#progress.note(note, this.drain.machine);
  }

  /** A write on a node, by what was done there before the drain began. */
  #asOurs(command: Command): Command {
    if (command.kind !== 'writeDrainNode') return command;
    this.#writes.add(command.id);
    const { write } = command;
    const before = this.#options.changes.get(command.nodeName);
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
    if (isOnNode(notice)) this.#options.onWritten(notice);
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
    const machine = this.drain?.machine ?? unseen(this.#options.config);
    return { result: this.#result ?? resultOf(machine), refusal: this.#refusal, machine };
  }
}

function isOnNode(notice: Notice): notice is NodeWritten {
  return notice.kind === 'drainWriteFinished' && notice.command.kind === 'writeDrainNode';
}

/** The NodeDrain for the engine: under the name of its marks, for these nodes, with no object to guard. */
function carriedOut({ drain, config, wanted }: DrainRunOptions): NodeDrain {
  const { nodeSelector: _, ...spec } = config.spec;
  return {
    ...{ ...drain, name: wanted.id, uid: wanted.run, isGuarded: true },
    spec: {
      ...{ ...spec, nodes: config.targets.map(({ name }) => name) },
      // All nodes are cordoned by now that are to be at the start; what failed is taken back at the end.
      ...{ cordon: wanted.cordon ? 'AtTurn' : 'Never', onFailure: 'KeepTaint' },
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
