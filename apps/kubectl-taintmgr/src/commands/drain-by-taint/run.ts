// Runs the drain machine against the cluster.
import type { Command, Config, Event } from '@taintmgr/core';
import {
  type DrainConfig,
  type DrainMachine,
  type DrainNote,
  looksAtAllPods,
  SoloDrain,
} from '@taintmgr/core/drain';
import type { NodeDrain } from '@taintmgr/core/policy';
import type { Instant } from '@taintmgr/core/time';
import { drive, Loop, type LoopOptions, type Machine, type Notice } from '@taintmgr/k8s-adapter';
import type { Connection } from '../../cli/connection.ts';
import { type DrainResult, resultOf } from './outcome.ts';
import type { DrainPolicies } from './policies.ts';
import type { Progress } from './progress.ts';
import { Tainter, type TainterOptions } from './tainter.ts';

export interface DrainRunOptions extends Omit<TainterOptions, 'onMistake'> {
  /** What is asked for, and what that comes to here. */
  readonly drain: NodeDrain;
  readonly config: DrainConfig;
  readonly podSelector: string | undefined;
  readonly policies: DrainPolicies;
  /** The pod of the leader of taintmgr-controller, where its replicas may be among the pods; null: none is. */
  readonly ownPod: Config['ownPod'];
}

/** How a drain ended, and how far it came. */
export interface DrainEnd {
  readonly result: DrainResult;
  /** What the API server refused, where that ended it. */
  readonly refusal: string | null;
  readonly machine: DrainMachine;
}

const showEveryMs = 1000;

/**
 * Carries a drain out, until it is finished, Ctrl-C comes, or the API server refuses to show nodes
 * and pods. It is the controller's own loop around another machine, narrowed to these nodes.
 */
export async function runDrain(
  { transport }: Connection,
  options: DrainRunOptions,
  progress: Progress,
): Promise<DrainEnd> {
  const { interrupt } = options;
  const stop = new AbortController();
  const tainter = new Tainter({ ...options, onMistake: () => stop.abort() });
  const run = new DrainRun(options, progress, tainter, () => stop.abort());
  const onInterrupt = (): void => run.end('Interrupted');
  interrupt.addEventListener('abort', onInterrupt, { once: true });
  if (interrupt.aborted) onInterrupt();
  const loop = new Loop({ machine: run, ...loopOptions(options) });
  let unfollow = (): void => {};
  const ticker = setInterval(() => run.showCounts(Date.now()), showEveryMs);
  try {
    const onNotice = (notice: Notice): void => run.notice(notice);
    const onStart = (feed: (event: Event) => void): void => {
      tainter.feedTo(feed);
      unfollow = options.policies.follow(feed, (why) => progress.policiesRefused(why));
    };
    await drive({ loop, transport, signal: stop.signal, onNotice, onStart });
    await tainter.written();
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
    component: 'kubectl-taintmgr',
    ...(isOne && !takesNodes && { nodes: { fieldSelector: `metadata.name=${only}` } }),
    pods: {
      ...(isOne && !takesAll && { fieldSelector: `spec.nodeName=${only}` }),
      ...(podSelector !== undefined && { labelSelector: podSelector }),
    },
    acceptsNode: ({ name }) => takesNodes || names.has(name),
    acceptsPod: ({ nodeName }) => takesAll || names.has(nodeName),
  };
}

/** The drain machine, with its progress reported and its taints put on. */
class DrainRun implements Machine {
  readonly #solo: SoloDrain;
  readonly #machine: DrainMachine;
  readonly #progress: Progress;
  readonly #tainter: Tainter;
  readonly #stop: () => void;
  /** When to give up if nodes and pods are not known by then; null: never. */
  readonly #syncBy: Instant | null;
  /** What is known before anything else. */
  readonly #first: Event[];
  #result: DrainResult | null = null;
  #refusal: string | null = null;

  constructor(
    {
      drain,
      config,
      policies,
      ownPod,
    }: Pick<DrainRunOptions, 'drain' | 'config' | 'policies' | 'ownPod'>,
    progress: Progress,
    tainter: Tainter,
    stop: () => void,
  ) {
    this.#solo = new SoloDrain(drain, config, ownPod);
    this.#machine = this.#solo.machine;
    this.#first = [...policies.events];
    this.#progress = progress;
    this.#tainter = tainter;
    this.#stop = stop;
    this.#syncBy = config.nodeTimeoutMs === null ? null : Date.now() + config.nodeTimeoutMs;
  }

  handle(now: Instant, event: Event): readonly Command[] {
    const machine = this.#machine;
    for (const first of this.#first.splice(0)) this.#solo.handle(now, first);
    const commands = this.#solo.handle(now, event);
    if (event.kind === 'tick') this.#progress.holds(this.#solo.holds(), machine);
    for (const note of machine.takeNotes()) this.#note(note);
    if (machine.synced) this.showCounts(now);
    if (machine.finished) this.end(resultOf(machine));
    const isLate = this.#syncBy !== null && now >= this.#syncBy;
    if (!machine.synced && isLate) this.end('TimedOut');
    if (machine.stop) this.#tainter.takeBack();
    return commands.flatMap((command) => {
      if (command.kind !== 'taintNode' && command.kind !== 'renewMark') return [command];
      this.#tainter.perform(command);
      return [];
    });
  }

  #note(note: DrainNote): void {
    this.#progress.note(note, this.#machine);
    if (note.kind !== 'nodeEnded' || note.phase.kind === 'vanished') return;
    this.#tainter.end(note.node, note.phase.kind === 'drained');
  }

  nextWake(): Instant | null {
    return this.#machine.synced ? this.#solo.nextWake() : this.#syncBy;
  }

  /** The first reason to end counts. */
  end(result: DrainResult): void {
    this.#result ??= result;
    this.#stop();
  }

  showCounts(now: Instant): void {
    if (this.#result === null) this.#progress.showCounts(now, this.#machine);
  }

  notice(notice: Notice): void {
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
    const result = this.#result ?? resultOf(this.#machine);
    return { result, refusal: this.#refusal, machine: this.#machine };
  }
}
