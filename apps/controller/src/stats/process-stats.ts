// The state of this process, and of the controller that it runs, for its health checks, metrics and pages.

import type {
  Counts,
  Engine,
  Explanation,
  KnownPause,
  Node,
  Subject,
  TakeoverStatus,
} from '@taintmgr/core';
import type { OtherEvictors } from '@taintmgr/core/drain';
import type { ZoneStatus } from '@taintmgr/core/lifecycle';
import type { LimitStatus } from '@taintmgr/core/policy';
import { formatTime, type Instant, type Millis } from '@taintmgr/core/time';
import {
  type ClockNotice,
  describeClock,
  type KeptHistory,
  type Notice,
  type PodScope,
  type PolicyState,
  type ReflectorStatus,
} from '@taintmgr/k8s-adapter';
import type { Leadership } from '../leadership/leadership.ts';
import type { PendingEvictions } from './pending-evictions.ts';

/** The state of this process, for its health checks, metrics and pages. */
export interface ProcessStats {
  readonly startedAt: Date;
  readonly loopLag: Pick<LoopLag, 'lag'>;
  readonly pending: PendingEvictions;
  readonly clock: ClockChange;
  readonly leadership: Leadership;
  /** Null: there is no takeover. */
  readonly takeover: TakeoverScore | null;
  /** Null: it has not begun. */
  running: RunningController | null;
  /** There is no pod of the name that it was given as its own: its last replica is not spared. Left out: there is. */
  ownPodIsMissing?: true;
  /** Told to stop. */
  stopping: boolean;
}

const beatMs: Millis = 500;
/** A late beat is remembered for this time. */
const memoryMs: Millis = 15_000;

/** Measures the loop lag, to notice when this process stands still. */
export class LoopLag {
  readonly #late: { readonly at: number; readonly by: Millis }[] = [];
  readonly #timer: NodeJS.Timeout;
  #beatAt = performance.now();

  constructor() {
    this.#timer = setInterval(() => this.#beat(), beatMs).unref();
  }

  /** The delay of the latest of the last beats. */
  lag(): Millis {
    this.#forget(performance.now());
    return Math.max(0, ...this.#late.map(({ by }) => by));
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #beat(): void {
    const now = performance.now();
    this.#late.push({ at: now, by: Math.max(0, now - this.#beatAt - beatMs) });
    this.#beatAt = now;
    this.#forget(now);
  }

  #forget(now: number): void {
    while ((this.#late[0]?.at ?? now) < now - memoryMs) this.#late.shift();
  }
}

/** The last thing that was done to clocks, for health checks and pages. */
export class ClockChange {
  #last: { readonly at: Instant; readonly notice: ClockNotice } | null = null;

  observe(notice: Notice, at: Instant): void {
    if (notice.kind === 'clockStepped' || notice.kind === 'serverClockMoved') {
      this.#last = { at, notice };
    }
  }

  /** The words for the last fault; null: none. */
  get last(): string | null {
    return this.#last && `${describeClock(this.#last.notice)} (${formatTime(this.#last.at)})`;
  }

  text(): string {
    return this.last ?? 'steady';
  }
}

/** A controller at work, as pages, metrics and health checks ask it. */
export interface RunningController {
  /** Tells whether it may act, once elected where there are elections, or has to stand by. */
  lead(mayAct: boolean): void;
  /** Hears who else evicts for NoExecute taints, by the last look. */
  hearOthers(others: OtherEvictors): void;
  /** The holder of the lease of the election; '' where no replica holds it, or the election is off. */
  leader(): string;
  explain(now: Instant, subject: Subject): Explanation;
  /** The state of the zones; empty without the node lifecycle. */
  zones(now: Instant): readonly ZoneStatus[];
  /** The limits that have tripped, and those in whose window pods were evicted. */
  limits(now: Instant): readonly LimitStatus[];
  /** The numbers of nodes and pods, and of evictions at each stage. */
  counts(): Counts;
  /** The replica of our own that stays as the last one that is ready; null: there is none. */
  lastReplica(): ReturnType<Engine['lastReplica']>;
  /** The nodes that are known. */
  nodes(): readonly Node[];
  /** The names of nodes whose pods may have to go: for taints of theirs, or of devices that their pods use. */
  nodesOfTaints(): readonly string[];
  /** The pauses that are there, by their names. */
  pauses(): readonly KnownPause[];
  /**
   * The counts of the namespaces that were handed over, and the state of the policies; null: there is no
   * takeover.
   */
  takeover(): { readonly counts: TakeoverStatus; readonly policies: PolicyState } | null;
  /** The scope of the pods that are read: those of all nodes, or of those that need it. */
  podScope(): PodScope;
  /**
   * True while taints of devices are decided about here: the cluster serves all resources for that, and they
   * may be read. True from the beginning on: no pod is let through while the next leader begins.
   */
  decidesForDevices(): boolean;
  /** The departures that are kept; null: none are, or this replica does not lead or has not read them yet. */
  kept(): KeptHistory | null;
  /** The progress in reading each collection. */
  status(): readonly ReflectorStatus[];
  /** The time since which it hears of no changes in the cluster; null: it does, or has not begun. */
  cutOffSince(): Instant | null;
  /** For how long its next step is due and has not come. */
  lateBy(): Millis;
  /** The monotonic time of the process, which is that of `explain` and `status`. */
  now(): Instant;
  /** The time on the cluster's clock. */
  wall(): Instant;
}

/** The number of pods of a namespace that left, by the program that evicted them. */
export interface Went {
  readonly evicted: number;
  readonly letThrough: number;
}

/** A pod that was let through fails the health check for this time. */
const newsMs: Millis = 300_000;

/** Counts evictions of ours, and those that kube-controller-manager was let through with. */
export class TakeoverScore {
  readonly #went = new Map<string, Went>();
  /** The last one that was let through, and when, on our monotonic clock. */
  #last: { readonly message: string; readonly at: Millis } | null = null;

  observe(notice: Notice): void {
    if (notice.kind === 'elected' && notice.held) this.#went.clear();
    if (notice.kind !== 'commandFinished' || notice.outcome.kind !== 'done') return;
    this.#add(notice.command.pod.namespace, { evicted: 1, letThrough: 0 });
  }

  letThrough(namespace: string, message: string): void {
    this.#add(namespace, { evicted: 0, letThrough: 1 });
    this.#last = { message, at: performance.now() };
  }

  /** The words for pods that were let through lately; null: none. */
  get news(): string | null {
    const last = this.#last;
    return last !== null && performance.now() - last.at < newsMs ? last.message : null;
  }

  /** By namespace. */
  get went(): ReadonlyMap<string, Went> {
    return this.#went;
  }

  #add(namespace: string, { evicted, letThrough }: Went): void {
    const went = this.#went.get(namespace) ?? { evicted: 0, letThrough: 0 };
    this.#went.set(namespace, {
      evicted: went.evicted + evicted,
      letThrough: went.letThrough + letThrough,
    });
  }
}
