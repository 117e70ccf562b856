import type { Command, Event, Instant, Millis, PodRef, Report } from '@taintmgr/core';
import type { PodScopeNotice, ReflectorStatus, Source } from '../pod-watch/source.ts';
import type { ExchangeInput } from '../proto/exchange.ts';
import type { LeaseName } from '../proto/lease-requests.ts';
import type { ReflectorInput } from '../proto/reflector.ts';
import type { ReflectorNotice } from '../proto/reflector-notice.ts';
import type { ApiRequest } from '../proto/request.ts';
import { type ClockNotice, ClockWatch, clockEvent } from './clock/clock-watch.ts';
import { Hold } from './clock/hold.ts';
import { ServerClock } from './clock/server-clock.ts';
import {
  Election,
  type ElectionEffect,
  type ElectionNotice,
  type ElectionOptions,
} from './election/election.ts';
import { Executor, type ExecutorEffect, type ExecutorNotice } from './executor.ts';
import type { ExecuteOptions } from './procedures/pod-removal.ts';
import { isEffect, type SourceOptions, sourcesOf } from './sources.ts';

export type { ReflectorStatus };

const defaultViewAgeMsMax: Millis = 10_000;

/** The engine as the loop sees it. */
export interface Machine {
  handle(now: Instant, event: Event): readonly Command[];
  nextWake(): Instant | null;
}

export interface LoopOptions extends SourceOptions {
  readonly machine: Machine;
  /** Who Kubernetes Events come from; `taintmgr` when left out. */
  readonly component?: string;
  /** Grace period and dry run of every eviction. */
  readonly removal?: ExecuteOptions;
  /** A view older than this is not trusted: pod and node are read again before a pod goes. */
  readonly viewAgeMsMax?: Millis;
  /** Where what limits have counted is kept (engine option `keepLimits`); left out: nowhere. */
  readonly limitsLease?: LeaseName;
  /** Act only while elected; left out: there is no election. */
  readonly election?: Omit<ElectionOptions, 'random'>;
  /** Whether others still act under the lease: it is not given back before a tick finds they do not. */
  readonly leaseIsShared?: () => boolean;
}

export type LoopInput =
  | { readonly kind: 'start' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'tick' }
  /** Something the machine is to be told from elsewhere, e.g. leadership. */
  | { readonly kind: 'event'; readonly event: Event }
  /** The machine's wall clock went so much further than time; less, if negative. */
  | { readonly kind: 'clockStep'; readonly by: Millis }
  | ExchangeInput;

export type LoopAction =
  | {
      readonly kind: 'send';
      /** What is heard of this request comes back as inputs with this id. */
      readonly id: string;
      readonly request: ApiRequest;
    }
  /** Hang up; what still comes is not heard. */
  | { readonly kind: 'abort'; readonly id: string }
  | { readonly kind: 'notice'; readonly notice: Notice };

/** What a person running the loop may want to know; the caller logs, counts or prints it. */
export type Notice =
  | ReflectorNotice
  | PodScopeNotice
  | ExecutorNotice
  | ElectionNotice
  | ClockNotice
  /** Whether this replica has been elected. */
  | { readonly kind: 'elected'; readonly held: boolean }
  /** Everything that exists has been read once; from now on pods are evicted. */
  | { readonly kind: 'synced' }
  | { readonly kind: 'report'; readonly report: Report };

/** A watch may be cut off for so long, as it is when the server ends it, before we call it so. */
const viewGapMsMax: Millis = 5_000;

/**
 * The whole controller without its I/O: reflectors feed the engine, and what it commands becomes
 * requests whose outcomes go back to it. Whoever holds it sends the requests, reports what is
 * heard, and calls with a tick at nextWake(); an extra tick is harmless.
 */
export class Loop {
  #phase: 'idle' | 'running' | 'stopped' = 'idle';
  #actions: LoopAction[] = [];
  readonly #unsynced: Set<Source>;
  readonly #sources: readonly Source[];
  readonly #executor: Executor;
  readonly #machine: Machine;
  readonly #readOnly: boolean;
  readonly #viewAgeMsMax: Millis;
  readonly #election: Election | null;
  readonly #leaseIsShared: () => boolean;
  /** Whether the caller lets us act, elected or not. */
  #allowed = true;
  #leads: boolean;
  /** Since when some collection is not being watched; null: all are. */
  #gapSince: Instant | null = null;
  #isViewCurrent = true;
  readonly #serverClock = new ServerClock();
  readonly #clockWatch: ClockWatch;
  /** Until then pod and node are read again before a pod goes. */
  #doubtfulUntil: Instant = Number.NEGATIVE_INFINITY;
  readonly #hold = new Hold();

  constructor(options: LoopOptions) {
    const {
      machine,
      component = 'taintmgr',
      removal = {},
      readOnly = false,
      limitsLease,
    } = options;
    this.#viewAgeMsMax = options.viewAgeMsMax ?? defaultViewAgeMsMax;
    this.#machine = machine;
    this.#readOnly = readOnly;
    this.#sources = sourcesOf(options);
    const { election, random } = options;
    const mayAct = (now: Instant): boolean => this.#allowed && this.leads(now);
    const clock = this.#serverClock;
    this.#executor = new Executor({
      component,
      removal,
      random,
      mayAct,
      clock,
      ...(limitsLease && { limitsLease }),
    });
    this.#election = election ? new Election({ ...election, random, clock }) : null;
    this.#clockWatch = new ClockWatch(election?.identity ?? '');
    this.#leaseIsShared = options.leaseIsShared ?? (() => false);
    this.#leads = this.#election === null;
    this.#unsynced = new Set(this.#sources);
  }

  /** Whether it was stopped and no request is under way any more. */
  get closed(): boolean {
    const isOver = this.#election?.closed ?? true;
    return this.#phase === 'stopped' && this.#executor.idle && isOver;
  }

  /** Who holds the lease of the election; '' where nobody does, or there is none. */
  get leader(): string {
    return this.#election?.holder ?? '';
  }

  /** Whether everything that exists has been read once. */
  get synced(): boolean {
    return this.#unsynced.size === 0;
  }

  /** Whether it is elected, where there are elections; time may end that before a tick says so. */
  leads(now: Instant): boolean {
    return this.#election?.leads(now) ?? true;
  }

  /** Since when changes of some collection are not heard of; null: all are, or not read yet. */
  get cutOffSince(): Instant | null {
    return this.#gapSince;
  }

  /** How far each collection is read. */
  status(): readonly ReflectorStatus[] {
    return this.#sources.flatMap((source) => source.status());
  }

  /** When to call with a tick; null: not before something is heard. */
  nextWake(): Instant | null {
    const wakes = [...this.#sources, this.#executor];
    const elections = this.#election ? [this.#election] : [];
    const heard = this.#hold.isOn ? this.#hold : this.#machine;
    const running = this.#phase === 'running' ? [heard] : [];
    const machines = [...wakes, ...elections, ...running, this.#serverClock];
    return machines.map((machine) => machine.nextWake()).reduce(earlier, this.#gapEnd());
  }

  /** What the cluster's clock shows at `now`. */
  wall(now: Instant): Instant {
    return this.#serverClock.wall(now);
  }

  /** Takes one input and answers what is to be done, in this order. `now` never goes back. */
  handle(now: Instant, input: LoopInput): readonly LoopAction[] {
    if (input.kind === 'clockStep') this.#step(now, input.by);
    // Time may have ended our leadership: that comes before anything else is done.
    this.#elect(now, input);
    this.#readServerClock(now, input);
    this.#take(now, input);
    this.#resign(now);
    const actions = this.#actions;
    this.#actions = [];
    this.#serverClock.follow(now, actions);
    return actions;
  }

  #take(now: Instant, input: LoopInput): void {
    switch (input.kind) {
      case 'start':
        if (this.#phase === 'idle') this.#phase = 'running';
        if (!this.#leads) this.#tell(now, { kind: 'leadership', held: false });
        this.#read(now, input);
        break;
      case 'stop':
        // What is under way comes to its end, so that its outcome is known; nothing new begins.
        this.#phase = 'stopped';
        this.#executor.stop();
        this.#read(now, input);
        break;
      case 'tick':
        this.#read(now, input);
        this.#act(now, this.#executor.tick(now));
        this.#watchView(now);
        this.#tell(now, input);
        break;
      case 'event':
        this.#hearOf(now, input.event);
        break;
      case 'clockStep': // a matter of elections, and told already
        break;
      default:
        // Most of what is heard is of the executor's requests, and concerns nobody else.
        if (!this.#executor.owns(input.id)) this.#read(now, input);
        this.#act(now, this.#executor.receive(now, input));
    }
  }

  /**
   * The machine may have been suspended: what we know may be older than it seems, and what time it is
   * the server has to tell. Until then the engine hears of nothing, which it would date wrongly.
   */
  #step(now: Instant, by: Millis): void {
    this.#doubtfulUntil = now + this.#viewAgeMsMax;
    this.#serverClock.doubt();
    if (this.#phase === 'running') this.#actions.push(...this.#hold.begin(now));
    this.#tellOfClock(now, this.#clockWatch.step(by));
  }

  #readServerClock(now: Instant, input: LoopInput): void {
    const isNews = this.#serverClock.handle(now, input);
    const { ahead, isKnown } = this.#serverClock;
    const held = this.#hold.end(now, isKnown);
    if (isNews) {
      this.#tell(now, { kind: 'clock', ahead });
      this.#tellOfClock(now, this.#clockWatch.server(ahead));
    }
    for (const event of held) this.#tell(now, event);
  }

  /** People look at Events before they look at logs. */
  #tellOfClock(now: Instant, notice: ClockNotice | null): void {
    if (!notice) return;
    this.#actions.push({ kind: 'notice', notice });
    if (!this.#election) return;
    const event = clockEvent(notice, this.#election.subject);
    this.#act(now, this.#executor.record(now, event));
  }

  /** The lease is given back when what was begun has come to its end, and not before. */
  #elect(now: Instant, input: LoopInput): void {
    if (!this.#election) return;
    const isItsOwn = input.kind !== 'event' && input.kind !== 'stop';
    this.#heed(now, this.#election.handle(now, isItsOwn ? input : { kind: 'tick' }));
  }

  #resign(now: Instant): void {
    if (!this.#election || this.#phase !== 'stopped' || !this.#executor.idle) return;
    if (this.#leaseIsShared()) return;
    this.#heed(now, this.#election.handle(now, { kind: 'stop' }));
  }

  #heed(now: Instant, effects: readonly ElectionEffect[]): void {
    for (const effect of effects) {
      switch (effect.kind) {
        case 'leadership': {
          const { held } = effect;
          this.#actions.push({ kind: 'notice', notice: { kind: 'elected', held } });
          this.#lead(now, this.#allowed, held);
          break;
        }
        case 'event':
          this.#act(now, this.#executor.record(now, effect.event));
          break;
        default:
          this.#actions.push(effect);
      }
    }
  }

  /** Leadership that we are told of is leave to act; where there are elections, once elected. */
  #hearOf(now: Instant, event: Event): void {
    if (event.kind === 'leadership') this.#lead(now, event.held, this.#leads);
    else this.#tell(now, event);
  }

  /** The machine leads while we are elected, and while whoever runs us lets it. */
  #lead(now: Instant, allowed: boolean, leads: boolean): void {
    const before = this.#allowed && this.#leads;
    this.#allowed = allowed;
    this.#leads = leads;
    const held = allowed && leads;
    const isNews = held !== before || !this.#election;
    if (isNews) this.#tell(now, { kind: 'leadership', held });
    // What is under way must not go on either.
    if (!held) this.#act(now, this.#executor.tick(now));
  }

  #read(now: Instant, input: ReflectorInput): void {
    for (const source of this.#sources) {
      for (const effect of source.handle(now, input)) {
        if (effect.kind === 'synced') this.#sourceSynced(now, source);
        else if (isEffect(effect)) this.#actions.push(effect);
        else this.#tell(now, effect);
      }
    }
    this.#watchView(now);
  }

  /** Tells the machine when a collection has not been watched for a while, and when all are again. */
  #watchView(now: Instant): void {
    if (this.#phase !== 'running' || !this.synced || this.#readOnly) return;
    const isGap = this.#sources.some((source) => source.isCutOff());
    this.#gapSince = isGap ? (this.#gapSince ?? now) : null;
    const isCurrent = this.#gapSince === null || now < this.#gapSince + viewGapMsMax;
    if (isCurrent === this.#isViewCurrent) return;
    this.#isViewCurrent = isCurrent;
    this.#tell(now, { kind: 'view', current: isCurrent });
  }

  /** When a gap in what we hear becomes too long; null: there is none, or it has. */
  #gapEnd(): Instant | null {
    if (this.#phase !== 'running' || this.#gapSince === null || !this.#isViewCurrent) return null;
    return this.#gapSince + viewGapMsMax;
  }

  #sourceSynced(now: Instant, source: Source): void {
    this.#unsynced.delete(source);
    if (!this.synced) return;
    this.#actions.push({ kind: 'notice', notice: { kind: 'synced' } });
    this.#tell(now, { kind: 'synced' });
  }

  #tell(now: Instant, event: Event): void {
    if (this.#phase !== 'running' || this.#hold.takes(event)) return;
    for (const command of this.#machine.handle(now, event)) {
      if (command.kind === 'report') {
        this.#actions.push({ kind: 'notice', notice: command });
      } else if (!this.#readOnly) {
        const doubtful = 'confirm' in command && command.confirm;
        const confirm = doubtful || ('pod' in command && this.#isStale(now, command.pod));
        this.#act(now, this.#executor.execute(now, command, confirm));
      }
    }
  }

  /** Whether what we know is too old to remove a pod on its account without looking again. */
  #isStale(now: Instant, { nodeName }: PodRef): boolean {
    const heard = this.#sources.map(
      (source) => source.heardAt(nodeName) ?? Number.NEGATIVE_INFINITY,
    );
    return now < this.#doubtfulUntil || now - Math.min(...heard) > this.#viewAgeMsMax;
  }

  #act(now: Instant, effects: readonly ExecutorEffect[]): void {
    for (const effect of effects) {
      if (effect.kind === 'result') this.#tell(now, effect);
      else this.#actions.push(effect);
      const isRecord = effect.kind === 'notice' && effect.notice.kind === 'limitRecord';
      if (isRecord) this.#tell(now, effect.notice);
    }
  }
}

function earlier(one: Instant | null, other: Instant | null): Instant | null {
  if (one === null) return other;
  return other === null ? one : Math.min(one, other);
}
