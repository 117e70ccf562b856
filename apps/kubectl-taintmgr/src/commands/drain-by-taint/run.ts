import {
  type Blocker,
  type Command,
  createEngine,
  type Event,
  type Instant,
  type Pod,
} from '@taintmgr/core';
import { drive, Loop, type LoopOptions, type Machine, type Notice } from '@taintmgr/k8s-adapter';
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
  /** Whether it came so far as to know the pods. */
  readonly synced: boolean;
  readonly leaving: readonly LeavingPod[];
  readonly gone: number;
}

const tellEveryMs = 1000;

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
  const run = new DrainRun({
    progress,
    stop: () => stop.abort(),
    endsAt: timeout > 0 ? Date.now() + timeout : null,
  });
  const onInterrupt = (): void => run.end(exitCode.interrupted);
  interrupt.addEventListener('abort', onInterrupt, { once: true });
  if (interrupt.aborted) onInterrupt();
  const loop = new Loop({ machine: run, ...loopOptions(options) });
  const ticker = setInterval(() => run.tell(Date.now()), tellEveryMs);
  try {
    const onNotice = (notice: Notice): void => run.notice(notice);
    await drive({ loop, transport, signal: stop.signal, onNotice });
  } finally {
    clearInterval(ticker);
    interrupt.removeEventListener('abort', onInterrupt);
    progress.close();
  }
  return run.result();
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

interface DrainRunParts {
  readonly progress: Progress;
  /** Ends the loop. */
  readonly stop: () => void;
  /** When to give up; null: never. */
  readonly endsAt: Instant | null;
}

/** The engine, with somebody looking over its shoulder who knows when it is enough. */
class DrainRun implements Machine {
  readonly #pods = new LeavingPods();
  readonly #engine = createEngine({ mode: 'evict', keepTaintStarts: false });
  readonly #parts: DrainRunParts;
  #code: ExitCode | null = null;
  #synced = false;

  constructor(parts: DrainRunParts) {
    this.#parts = parts;
  }

  handle(now: Instant, event: Event): readonly Command[] {
    const gone = this.#pods.event(now, event);
    if (gone) this.#parts.progress.gone(gone);
    const commands = this.#engine.handle(now, event);
    for (const command of commands) this.#pods.command(now, command);
    if (event.kind === 'synced') this.#synced = true;
    if (event.kind === 'result') this.#judgeHeld();
    if (this.#synced) this.tell(now);
    if (this.#synced && this.#isIdle(now)) this.end(exitCode.done);
    const { endsAt } = this.#parts;
    if (endsAt !== null && now >= endsAt) this.end(this.#codeIfLate());
    return commands;
  }

  nextWake(): Instant | null {
    const wake = this.#engine.nextWake();
    const { endsAt } = this.#parts;
    return wake === null || endsAt === null ? (wake ?? endsAt) : Math.min(wake, endsAt);
  }

  /** Nobody is to go any more, and the engine has nothing to do now. */
  #isIdle(now: Instant): boolean {
    const wake = this.#engine.nextWake();
    return this.#pods.list().length === 0 && (wake === null || wake > now);
  }

  /** The first reason to end counts. */
  end(code: ExitCode): void {
    this.#code ??= code;
    this.#parts.stop();
  }

  tell(now: Instant): void {
    if (this.#code === null) {
      this.#parts.progress.standing(now, this.#pods.list(), this.#pods.gone);
    }
  }

  notice(notice: Notice): void {
    const { progress } = this.#parts;
    if (notice.kind === 'watching') progress.found();
    if (notice.kind !== 'reconnecting') return;
    const { message, status } = notice.failure;
    progress.lost(message);
    // Rights do not come by waiting: without them the drain ends.
    if (status === 401 || status === 403) this.end(exitCode.error);
  }

  result(): DrainResult {
    return {
      code: this.#code ?? exitCode.done,
      synced: this.#synced,
      leaving: this.#pods.list(),
      gone: this.#pods.gone,
    };
  }

  /** Out of time: where the server itself refuses it is that, else it only took long. */
  #codeIfLate(): ExitCode {
    const isRefused = this.#blockers().some(({ verdict }) => verdict !== 'resolves');
    return isRefused ? exitCode.blocked : exitCode.timeout;
  }

  /** Rights do not come by waiting; what else never goes away may keep no other pod from going. */
  #judgeHeld(): void {
    for (const leaving of this.#pods.list()) this.#parts.progress.held(leaving);
    const blockers = this.#blockers();
    const never = blockers.filter(({ verdict }) => verdict === 'never');
    if (never.some(({ code }) => code === 'Denied')) this.end(exitCode.error);
    if (never.length > 0 && never.length === this.#pods.list().length) this.end(exitCode.blocked);
  }

  #blockers(): readonly Blocker[] {
    return this.#pods.list().flatMap(({ state }) => (state.kind === 'held' ? state.blocker : []));
  }
}
