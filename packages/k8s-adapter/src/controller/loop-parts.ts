// The parts of a loop, its input and its output.
import type { Command, Event } from '@taintmgr/core';
import type { Instant, Millis } from '@taintmgr/core/time';
import type { PodScopeNotice, Source, UnreadableNotice } from '../pod-watch/source.ts';
import type { Random } from '../proto/backoff.ts';
import type { ExchangeInput } from '../proto/exchange.ts';
import type { ReflectorNotice } from '../proto/reflector-state.ts';
import type { RequestEffect } from '../proto/requests.ts';
import type { ClockNotice } from './clock/clock-watch.ts';
import type { ElectionNotice, ElectionOptions } from './election/election.ts';
import type { EventRecorderNotice } from './event-recorder.ts';
import type { MayAct } from './executor.ts';
import type { HistoryOptions } from './history/keeper.ts';
import type { HistoryNotice } from './history/notice.ts';
import type { KeptWitness } from './history/witness.ts';
import type { PublisherNotice } from './publisher-notice.ts';
import type { PublishOptions } from './status-publisher.ts';
import type { InstallerOptions } from './takeover/installer.ts';
import type { InstallerNotice } from './takeover/notice.ts';
import type { Procedures } from './task.ts';

/** Anything a machine hears or wants done. */
export interface OfKind {
  /** The name of the event, command or notice. */
  readonly kind: string;
}

/** All that every machine hears from its loop. */
export type LoopEvent = Extract<
  Event,
  { kind: 'leadership' | 'synced' | 'clock' | 'view' | 'result' | 'tick' }
>;

/** A machine of the core, or one like it: events in, commands out. */
export interface Machine<E = Event, C = Command> {
  /** Takes an event; returns the commands to carry out. `now` never goes back. */
  handle(now: Instant, event: E): readonly C[];
  /**
   * Takes an event without consequences, neither a command nor another nextWake(); false: there may
   * be some, and `handle` has to take it. Left out: always.
   */
  hear?(now: Instant, event: E): boolean;
  /** When a tick could yield a command; null: only an event can. */
  nextWake(): Instant | null;
}

/** The choices there are for any loop. */
export interface LoopSettings {
  /** Randomness for waits and timeouts, e.g. Math.random. */
  readonly random: Random;
  /** The source of Kubernetes Events; `taintmgr` when left out. */
  readonly component?: string;
  /** Anything known for longer than this without being confirmed is read again before a pod goes. */
  readonly viewAgeMsMax?: Millis;
  /** Act only while elected; left out: there is no election. */
  readonly election?: Omit<ElectionOptions, 'random'>;
  /** Tells whether others still act under the lease: it is not given back before a tick finds they do not. */
  readonly leaseIsShared?: () => boolean;
  /** The status that the leader publishes of itself; left out: nothing. */
  readonly publish?: PublishOptions;
  /** Keep the policies of takeover, and act when they are in force; left out: there is none. */
  readonly takeover?: Pick<InstallerOptions, 'manager'>;
  /** Where departures are kept; left out: nowhere. */
  readonly history?: HistoryOptions;
  /** True if this replica may act at an instant, asked before each request; always when left out. */
  readonly mayAct?: MayAct;
}

/** Takes all inputs of the machine, and all notices; `now` is the time on the cluster's clock. */
interface LoopWitness<E, N> extends KeptWitness {
  /** Takes an input of the machine. */
  hear(now: Instant, event: E): void;
  /** Takes a notice of the loop. */
  observe(now: Instant, notice: N): void;
}

/** The parts of a loop: a machine, its sources, and the ways to carry out its commands. */
export interface LoopParts<E extends OfKind, C extends OfKind, N extends OfKind>
  extends LoopSettings {
  /** Decides. */
  readonly machine: Machine<E | LoopEvent, C>;
  /** The collections that are read for the machine. */
  readonly sources: readonly Source<E>[];
  /** The way to carry out each kind of command. */
  readonly procedures: Procedures<C, N>;
  /** The meaning of a notice to the machine; null, and left out: nothing. */
  readonly eventOf?: (notice: N | LoopNotice) => E | null;
  /** Tells whether others wait for the publication; left out: they never do. */
  readonly isUrgent?: (notice: N | LoopNotice) => boolean;
  /** The same of what a source tells the machine, once everything has been read. */
  readonly isUrgentEvent?: (event: E) => boolean;
  /** Sees pods leave, for `history`. */
  readonly witness?: LoopWitness<E | LoopEvent, N | LoopNotice>;
  /** Change nothing in the cluster. */
  readonly readOnly?: boolean;
}

/** The input of a loop. `E` is what its machine can hear from elsewhere. */
export type LoopInput<E = Event> =
  | { readonly kind: 'start' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'tick' }
  /** Something for the machine from elsewhere, e.g. leadership. */
  | { readonly kind: 'event'; readonly event: E | LoopEvent }
  /**
   * The distance by which the wall clock of this computer advanced more than time; less, if
   * negative.
   */
  | { readonly kind: 'clockStep'; readonly by: Millis }
  | ExchangeInput;

/** A request to send, or news. `N`: the notices of the loop. */
export type LoopAction<N> = RequestEffect | { readonly kind: 'notice'; readonly notice: N };

/** News for a person running any loop; the caller logs, counts or prints it. */
export type LoopNotice =
  | ReflectorNotice
  | PodScopeNotice
  | UnreadableNotice
  | EventRecorderNotice
  | ElectionNotice
  | ClockNotice
  | PublisherNotice
  | InstallerNotice
  | HistoryNotice
  /** True if this replica has been elected. */
  | { readonly kind: 'elected'; readonly held: boolean }
  /** Everything that exists has been read once; from now on pods are evicted. */
  | { readonly kind: 'synced' };

/** A loop as those see it who send its requests and keep its time. */
export interface RunningLoop<E, N> {
  /** True if it was stopped and no request is under way any more. */
  readonly closed: boolean;
  /** Takes one input and returns the actions in order. `now` never goes back. */
  handle(now: Instant, input: LoopInput<E>): readonly LoopAction<N>[];
  /**
   * Tells the machine of an event without consequences; false: there may be some, or there is
   * another reason for `handle` to take it.
   */
  hear?(now: Instant, event: E): boolean;
  /** The time of the next tick; null: after an input. */
  nextWake(): Instant | null;
  /** The time on the cluster's clock at `now`. */
  wall(now: Instant): Instant;
}
