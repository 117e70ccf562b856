import { type Command, createEngine, type Event, type Instant, type Pod } from '@taintmgr/core';
import { drive, Loop, type LoopOptions, type Machine } from '@taintmgr/k8s-adapter';
import type { Connection } from '../../connection.ts';
import { type ExitCode, exitCode } from '../../exit.ts';
import { type LeavingPod, LeavingPods } from './leaving.ts';
import type { Progress } from './progress.ts';

export interface DrainRunOptions {
  readonly nodeNames: readonly string[];
  /** Which pods of these nodes the drain may take. */
  readonly takes: (pod: Pod) => boolean;
  readonly podSelector: string | undefined;
  /** Seconds; negative: the pod's own. */
  readonly gracePeriod: number;
  /** Milliseconds; 0: no limit. */
  readonly timeout: number;
  readonly interrupt: AbortSignal;
}

/** How a drain ended, and which pods are still there. */
export interface DrainResult {
  readonly code: ExitCode;
  readonly leaving: readonly LeavingPod[];
  readonly gone: number;
}

/**
 * Evicts, through the Eviction API, what the engine decides on these nodes, until nothing is left
 * to go. It is the controller's own loop, narrowed to these nodes and pods.
 */
export async function runDrain(
  { transport }: Connection,
  options: DrainRunOptions,
  progress: Progress,
): Promise<DrainResult> {
  const { timeout, interrupt } = options;
  const stop = new AbortController();
  let code: ExitCode | null = null;
  const end = (how: ExitCode): void => {
    code ??= how;
    stop.abort();
  };
  const run = new DrainRun(progress, end);
  const limit = timeout > 0 ? setTimeout(() => end(run.codeIfLate()), timeout) : null;
  const onInterrupt = (): void => end(exitCode.interrupted);
  interrupt.addEventListener('abort', onInterrupt, { once: true });
  const loop = new Loop({ machine: run, ...loopOptions(options) });
  const ticker = setInterval(() => run.tell(Date.now()), 1000);
  try {
    await drive({ loop, transport, signal: stop.signal, onNotice: () => {} });
  } finally {
    if (limit) clearTimeout(limit);
    clearInterval(ticker);
    interrupt.removeEventListener('abort', onInterrupt);
    progress.close();
  }
  return { code: code ?? exitCode.done, leaving: run.pods.list(), gone: run.pods.gone };
}

function loopOptions(options: DrainRunOptions): Omit<LoopOptions, 'machine'> {
  const { nodeNames, takes, podSelector, gracePeriod } = options;
  const targets = new Set(nodeNames);
  const [only] = nodeNames;
  return {
    random: Math.random,
    component: 'kubectl-taintmgr',
    removal: gracePeriod < 0 ? {} : { gracePeriodSeconds: gracePeriod },
    pods: {
      ...(targets.size === 1 && { fieldSelector: `spec.nodeName=${only}` }),
      ...(podSelector !== undefined && { labelSelector: podSelector }),
    },
    acceptsNode: ({ name }) => targets.has(name),
    acceptsPod: (pod) => targets.has(pod.nodeName) && takes(pod),
  };
}

/** The engine, with somebody looking over its shoulder. */
class DrainRun implements Machine {
  readonly pods = new LeavingPods();
  readonly #engine = createEngine({ mode: 'evict' });
  readonly #progress: Progress;
  readonly #end: (code: ExitCode) => void;
  #synced = false;

  constructor(progress: Progress, end: (code: ExitCode) => void) {
    this.#progress = progress;
    this.#end = end;
  }

  handle(now: Instant, event: Event): readonly Command[] {
    const gone = this.pods.event(now, event);
    if (gone) this.#progress.gone(gone);
    const commands = this.#engine.handle(now, event);
    for (const command of commands) this.pods.command(now, command);
    if (event.kind === 'synced') this.#synced = true;
    if (event.kind === 'result') this.#tellHeld();
    if (this.#synced) this.tell(now);
    if (this.#synced && this.pods.list().length === 0) this.#end(exitCode.done);
    return commands;
  }

  nextWake(): Instant | null {
    return this.#engine.nextWake();
  }

  tell(now: Instant): void {
    this.#progress.standing(now, this.pods.list(), this.pods.gone);
  }

  /** Out of time: with pods held back the reason is those, else it only took long. */
  codeIfLate(): ExitCode {
    const held = this.pods.list().some(({ state }) => state.kind === 'held');
    return held ? exitCode.blocked : exitCode.timeout;
  }

  /** Rights do not come by waiting: without them the drain ends. */
  #tellHeld(): void {
    for (const leaving of this.pods.list()) {
      this.#progress.held(leaving);
      const { state } = leaving;
      if (state.kind === 'held' && isForbidden(state.setback)) this.#end(exitCode.error);
    }
  }
}

function isForbidden(setback: Extract<LeavingPod['state'], { kind: 'held' }>['setback']): boolean {
  return setback.kind === 'failed' && (setback.status === 401 || setback.status === 403);
}
