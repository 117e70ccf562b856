// A controller without its I/O: sources feed a machine, and its commands become requests.
import { earlier, type Instant, type Millis } from '@taintmgr/core/time';
import { isSourceEffect, type ReflectorStatus, type Source } from '../pod-watch/source.ts';
import type { ReflectorInput } from '../proto/reflector.ts';
import { getRequest, type RequestEffect } from '../proto/requests.ts';
import { type ClockNotice, ClockWatch, clockEvent } from './clock/clock-watch.ts';
import { ServerClock } from './clock/server-clock.ts';
import { Election, type ElectionEffect } from './election/election.ts';
import { Executor, type ExecutorEffect } from './executor.ts';
import type { KeptHistory } from './history/keeper.ts';
import { LeaderDuties, type LeaderEffect } from './leader-duties.ts';
import type {
  LoopAction,
  LoopEvent,
  LoopInput,
  LoopNotice,
  LoopParts,
  OfKind,
  RunningLoop,
} from './loop-parts.ts';
import { lateMsMin, StaleView } from './stale-view.ts';
import { loopConditions } from './status-conditions.ts';
import type { PolicyState } from './takeover/installer.ts';

/** All that parts of the loop want done. */
type LoopEffect<N> = ExecutorEffect<N> | LeaderEffect | ElectionEffect;

type Leadership = Extract<LoopEvent, { kind: 'leadership' }>;

/**
 * The whole controller without its I/O: readings feed the machine, and the machine's commands
 * become requests whose outcomes come back to it as events. Its holder sends the requests, reports
 * their answers, and calls with a tick at nextWake(); an extra tick is harmless.
 */
export class ControlLoop<E extends OfKind, C extends OfKind, N extends OfKind>
  implements RunningLoop<E, N | LoopNotice>
{
  #phase: 'idle' | 'running' | 'stopped' = 'idle';
  #actions: LoopAction<N | LoopNotice>[] = [];
  readonly #parts: LoopParts<E, C, N>;
  readonly #unsynced: Set<Source<E>>;
  readonly #executor: Executor<C, N>;
  readonly #election: Election | null;
  readonly #duties: LeaderDuties;
  /** True if the caller lets us act, elected or not. */
  #allowed = true;
  #elected: boolean;
  #held: boolean;
  readonly #view: StaleView;
  readonly #absence = new ServerAbsence();
  readonly #serverClock = new ServerClock();
  readonly #clockWatch: ClockWatch;
  readonly #hold = new Hold<E | LoopEvent>();
  readonly #wake = new LoopWake({
    withMachine: (others) => this.#wakeWithMachine(others),
    ofOthers: () => this.#wakeOfOthers(),
  });

  constructor(parts: LoopParts<E, C, N>) {
    const { election, random, component = 'taintmgr', mayAct = () => true } = parts;
    const { procedures, readOnly = false } = parts;
    const clock = this.#serverClock;
    this.#parts = parts;
    this.#unsynced = new Set(parts.sources);
    this.#view = new StaleView(parts.sources, parts.viewAgeMsMax);
    this.#executor = new Executor({
      ...{ procedures, component, random, clock, readOnly },
      mayAct: (now) => this.#held && this.#allowed && this.leads(now) && mayAct(now),
    });
    this.#election = election ? new Election({ ...election, random, clock }) : null;
    const leads = (now: Instant): boolean => this.leads(now);
    const conditions = () =>
      loopConditions({
        isCurrent: this.#view.isCurrent,
        isHeld: this.#hold.isOn,
        ahead: clock.ahead,
      });
    this.#duties = new LeaderDuties(readOnly ? {} : parts, { random, clock, leads, conditions });
    this.#elected = this.#election === null;
    this.#held = this.#elected;
    this.#clockWatch = new ClockWatch(election?.identity ?? '');
  }

  /** True if the loop was stopped and no request is under way any more. */
  get closed(): boolean {
    const isOver = this.#election?.closed ?? true;
    return this.#phase === 'stopped' && this.#executor.idle && this.#duties.idle && isOver;
  }

  /** The holder of the lease of the election; '' where none is known, or there is no election. */
  leader(now: Instant): string {
    return this.#election?.holder(now) ?? '';
  }

  /** The state of the policies of takeover; null: there is no takeover. */
  get policies(): PolicyState | null {
    return this.#duties.policies;
  }

  /** The departures that are kept; null: none are, or this replica does not lead. */
  get kept(): KeptHistory | null {
    return this.#duties.kept;
  }

  /** True if everything that exists has been read once. */
  get synced(): boolean {
    return this.#unsynced.size === 0;
  }

  /** Tells whether it is elected, where there are elections; time may end that before a tick says so. */
  leads(now: Instant): boolean {
    return this.#election?.leads(now) ?? true;
  }

  /** Since when changes of some collection are not heard of; null: all are, or not read yet. */
  get cutOffSince(): Instant | null {
    return this.#view.gapSince;
  }

  /** The progress in reading each collection. */
  status(): readonly ReflectorStatus[] {
    return this.#parts.sources.flatMap((source) => source.status());
  }

  /** The time of the next tick; null: after an input. */
  nextWake(): Instant | null {
    return this.#wake.next();
  }

  /** For how long a tick is due that has not come. */
  lateBy(now: Instant): Millis {
    return this.#wake.lateBy(now);
  }

  #wakeWithMachine(others: Instant | null): Instant | null {
    if (this.#phase !== 'running') return others;
    const heard = this.#hold.isOn
      ? this.#hold.nextWake()
      : this.#view.notBefore(this.#parts.machine.nextWake());
    return earlier(others, heard);
  }

  #wakeOfOthers(): Instant | null {
    let wake = this.#executor.nextWake();
    for (const source of this.#parts.sources) wake = earlier(wake, source.nextWake());
    wake = earlier(wake, earlier(this.#duties.nextWake(), this.#serverClock.nextWake()));
    if (this.#election) wake = earlier(wake, this.#election.nextWake());
    return this.#phase === 'running' ? earlier(wake, this.#view.nextWake()) : wake;
  }

  /** The time on the cluster's clock at `now`. */
  wall(now: Instant): Instant {
    return this.#serverClock.wall(now);
  }

  /** Takes one input; returns the actions in order. `now` never goes back. */
  handle(now: Instant, input: LoopInput<E>): readonly LoopAction<N | LoopNotice>[] {
    // For most inputs that is not asked: something was heard a moment ago.
    if (now - this.#wake.heardAt >= lateMsMin) this.#view.late(now, this.lateBy(now));
    this.#wake.heard(now);
    // An event is for the machine; its commands concern others (see #pass).
    if (input.kind !== 'event' || this.#election) this.#wake.forgetOthers();
    if (input.kind === 'clockStep') this.#step(now, input.by);
    // Time may have ended our leadership: that comes before anything else is done.
    this.#elect(now, input);
    this.#readServerClock(now, input);
    if (this.#absence.hear(now, input)) this.#read(now, { kind: 'returned' });
    this.#take(now, input);
    if (this.#election && this.#mayLead !== this.#held) {
      this.#lead(now, this.#allowed, this.#elected);
    }
    this.#resign(now);
    const actions = this.#actions;
    this.#actions = [];
    this.#serverClock.follow(now, actions);
    this.#wake.forget();
    return actions;
  }

  /** Tells the machine of an event without consequences; false: `handle` has to take the event. */
  hear(now: Instant, event: E): boolean {
    if (this.#phase !== 'running' || this.#election || this.#hold.isOn) return false;
    if (this.#parts.witness) return false;
    const wake = this.nextWake();
    if (wake !== null && wake <= now) return false;
    if (!this.#parts.machine.hear?.(now, event)) return false;
    this.#wake.heard(now);
    return true;
  }

  #take(now: Instant, input: LoopInput<E>): void {
    switch (input.kind) {
      case 'start':
        if (this.#phase === 'idle') this.#phase = 'running';
        if (!this.#elected) this.#pass(now, { kind: 'leadership', held: false });
        if (!this.#election) this.#perform(now, this.#duties.lead(now, true, this.synced));
        this.#read(now, input);
        break;
      case 'stop':
        // Requests under way end, so that their outcome is known; nothing new begins.
        this.#phase = 'stopped';
        this.#perform(now, this.#executor.stop(now));
        this.#perform(now, this.#duties.resign(now));
        this.#read(now, input);
        break;
      case 'tick':
        this.#read(now, input);
        this.#perform(now, this.#executor.tick(now));
        this.#lookAtView(now);
        this.#perform(now, this.#duties.tick(now));
        if (!this.#view.isCatchingUp(now)) this.#pass(now, input);
        break;
      case 'event':
        // Leadership from outside is leave to act; where there are elections, once elected.
        if (isLeadership(input.event)) {
          this.#wake.forgetOthers();
          this.#lead(now, input.event.held, this.#elected);
          // The leader's state is published, and with takeover others are refused because of it.
          if (this.synced) this.#perform(now, this.#duties.hurry(now));
        } else this.#pass(now, input.event);
        break;
      case 'clockStep': // a matter of elections and clocks, which have taken it already
        break;
      default:
        // Most inputs are of the executor's requests, and concern no other part.
        if (!this.#executor.owns(input.id)) this.#read(now, input);
        this.#perform(now, this.#executor.receive(now, input));
        this.#perform(now, this.#duties.receive(now, input));
    }
  }

  /**
   * This computer may have been suspended: the known state may be older than it seems, and only the
   * server knows the time. Until it says so the machine hears of nothing, which it would date
   * wrongly.
   */
  #step(now: Instant, by: Millis): void {
    this.#view.doubt(now);
    this.#serverClock.doubt();
    if (this.#phase === 'running') this.#actions.push(...this.#hold.begin(now));
    this.#noticeClock(now, this.#clockWatch.step(by));
  }

  #readServerClock(now: Instant, input: LoopInput<E>): void {
    const isNews = this.#serverClock.handle(now, input);
    const { ahead, isKnown } = this.#serverClock;
    const isDated = input.kind === 'head' || input.kind === 'answer';
    const isRedated = isDated && this.#serverClock.takeRedating(now);
    if (isRedated && this.synced) this.#perform(now, this.#duties.hurry(now));
    const held = this.#hold.end(now, isKnown);
    if (isNews) {
      this.#pass(now, { kind: 'clock', ahead });
      this.#noticeClock(now, this.#clockWatch.server(ahead));
    }
    for (const event of held) this.#pass(now, event);
  }

  /** People look at Events before they look at logs. */
  #noticeClock(now: Instant, notice: ClockNotice | null): void {
    if (!notice) return;
    this.#notice(notice);
    // The last heartbeat was dated by another clock.
    if (notice.kind === 'serverClockMoved' && this.synced)
      this.#perform(now, this.#duties.hurry(now));
    if (!this.#election) return;
    const event = clockEvent(notice, this.#election.subject);
    this.#perform(now, this.#executor.record(now, event));
  }

  #elect(now: Instant, input: LoopInput<E>): void {
    if (!this.#election) return;
    const isItsOwn = input.kind !== 'event' && input.kind !== 'stop';
    this.#perform(now, this.#election.handle(now, isItsOwn ? input : { kind: 'tick' }));
  }

  #notice(notice: LoopNotice): void {
    this.#actions.push({ kind: 'notice', notice });
  }

  /**
   * The lease is given back once everything that was begun has ended; Events change nothing, and
   * may be written after that.
   */
  #resign(now: Instant): void {
    if (this.#phase !== 'stopped' || !this.#executor.rests) return;
    this.#perform(now, this.#duties.end(now));
    if (!this.#election || !this.#duties.idle) return;
    if (this.#parts.leaseIsShared?.()) return;
    this.#perform(now, this.#election.handle(now, { kind: 'stop' }));
  }

  get #mayLead(): boolean {
    return this.#allowed && this.#elected && this.#duties.isReady;
  }

  /** The machine leads while we are elected, and while our caller lets it. */
  #lead(now: Instant, allowed: boolean, elected: boolean): void {
    this.#allowed = allowed;
    this.#elected = elected;
    const held = this.#mayLead;
    const isNews = held !== this.#held || !this.#election;
    this.#held = held;
    if (isNews) this.#pass(now, { kind: 'leadership', held });
    // Requests under way must not continue either.
    if (!held) this.#perform(now, this.#executor.tick(now));
  }

  /** All sources hear it: what one reads may be asked for by another, as all pods by a policy. */
  #read(now: Instant, input: ReflectorInput): void {
    for (const source of this.#parts.sources) {
      for (const effect of source.handle(now, input)) {
        if (!isSourceEffect(effect)) this.#passFrom(now, effect);
        else if (effect.kind === 'synced') this.#sourceSynced(now, source);
        else this.#actions.push(effect);
      }
    }
    this.#lookAtView(now);
  }

  #passFrom(now: Instant, event: E): void {
    this.#pass(now, event);
    const isUrgent = this.synced && this.#parts.isUrgentEvent?.(event);
    if (isUrgent) this.#perform(now, this.#duties.hurry(now));
  }

  #sourceSynced(now: Instant, source: Source<E>): void {
    this.#unsynced.delete(source);
    if (!this.synced) return;
    this.#notice({ kind: 'synced' });
    this.#pass(now, { kind: 'synced' });
    this.#perform(now, this.#duties.synced(now));
  }

  /** The machine hears when a collection has not been watched for a while, and when all are again. */
  #lookAtView(now: Instant): void {
    if (this.#phase !== 'running' || !this.synced || this.#parts.readOnly) return;
    const current = this.#view.look(now);
    if (current !== null) this.#pass(now, { kind: 'view', current });
  }

  /** Hands the machine an event, and begins its commands. */
  #pass(now: Instant, event: E | LoopEvent): void {
    if (this.#phase === 'stopped' || this.#hold.takes(event)) return;
    this.#parts.witness?.hear(this.wall(now), event);
    for (const command of this.#parts.machine.handle(now, event)) {
      this.#wake.forgetOthers();
      const isStale = (nodeName: string): boolean => this.#view.isStale(now, nodeName);
      this.#perform(now, this.#executor.execute(now, command, isStale));
    }
  }

  #perform(now: Instant, effects: readonly LoopEffect<N>[]): void {
    for (const effect of effects) {
      switch (effect.kind) {
        case 'result':
          this.#pass(now, effect);
          break;
        case 'event':
          this.#perform(now, this.#executor.record(now, effect.event));
          break;
        case 'leadership':
          this.#notice({ kind: 'elected', held: effect.held });
          this.#perform(now, this.#duties.lead(now, effect.held, this.synced));
          this.#lead(now, this.#allowed, effect.held);
          break;
        case 'notice':
          this.#actions.push(effect);
          this.#parts.witness?.observe(this.wall(now), effect.notice);
          this.#heed(now, effect.notice);
          break;
        default:
          this.#actions.push(effect);
      }
    }
  }

  /** Acts on the meaning of a notice to the machine, and to the readers of the publication. */
  #heed(now: Instant, notice: N | LoopNotice): void {
    const event = this.#parts.eventOf?.(notice);
    if (event) this.#pass(now, event);
    if (this.#parts.isUrgent?.(notice)) this.#perform(now, this.#duties.hurry(now));
  }
}

function isLeadership(event: OfKind): event is Leadership {
  return event.kind === 'leadership';
}

/** For no longer than this: who is away from the server hears of nothing new anyway. */
const holdMsMax: Millis = 10_000;

/** Every authenticated client may ask for it, and it costs the server next to nothing. */
const timeRequest = getRequest('/version');

/**
 * Keeps events from the machine while the cluster's time is unknown. The machine dates events that
 * it sees for the first time, and a taint dated by a clock that stood still would make pods leave
 * early by as much.
 */
class Hold<E extends { readonly kind: string }> {
  #serial = 0;
  #until: Instant | null = null;
  #events: E[] = [];

  get isOn(): boolean {
    return this.#until !== null;
  }

  /** When it ends without an answer; null: it is not on. */
  nextWake(): Instant | null {
    return this.#until;
  }

  /** From now on; the request whose answer says what time it is. */
  begin(now: Instant): readonly RequestEffect[] {
    this.#until ??= now + holdMsMax;
    this.#serial += 1;
    return [{ kind: 'send', id: `time/${this.#serial}`, request: timeRequest }];
  }

  /** Tells whether an event is kept. Ticks are not: there will be others. */
  takes(event: E): boolean {
    if (this.isOn && event.kind !== 'tick') this.#events.push(event);
    return this.isOn;
  }

  /** Ends it when the time is known, or will not be; returns the events kept meanwhile. */
  end(now: Instant, isKnown: boolean): readonly E[] {
    if (this.#until === null || (!isKnown && now < this.#until)) return [];
    const events = this.#events;
    this.#until = null;
    this.#events = [];
    return events;
  }
}

/** Leases are asked about every 2 s: a server without a good answer for longer is away. */
const awayMsMin: Millis = 5000;

/** The number of requests that are known as answered; more are not under way for long. */
const answeredMax = 10_000;

interface Heard {
  readonly kind: string;
  readonly id?: string;
  readonly status?: number;
}

/** Tells when the API server answers again that did not answer. */
export class ServerAbsence {
  #heardAt: Instant = Number.POSITIVE_INFINITY;
  /** True if a request has failed since then: passing time alone does not show it. */
  #isMissed = false;
  /** The requests whose answers have begun: what breaks off then was answered. */
  readonly #answered = new Set<string>();

  /** Tells whether this is its first answer after it was away. */
  hear(now: Instant, { kind, id = '', status = 0 }: Heard): boolean {
    if (kind === 'end') this.#answered.delete(id);
    const isAnswer = kind === 'head' || kind === 'answer';
    const isMore = kind === 'chunk' || kind === 'alive';
    const isFailure = kind === 'failed' && !this.#answered.delete(id);
    if (isFailure || (isAnswer && status >= 500)) this.#isMissed = true;
    // The body of a refusal is no good answer either.
    const isGood = isAnswer ? status >= 200 && status < 300 : isMore && this.#answered.has(id);
    if (!isGood) return false;
    if (kind === 'head') this.#note(id);
    const isBack = isAnswer && this.#isMissed && now - this.#heardAt >= awayMsMin;
    this.#heardAt = now;
    this.#isMissed = false;
    return isBack;
  }

  /** A request that is hung up is not reported. */
  #note(id: string): void {
    if (this.#answered.size >= answeredMax) this.#answered.clear();
    this.#answered.add(id);
  }
}

/** Where it is read, when it has to be. */
interface WakeSite {
  /** The next call of its machine, from the state of all the others; null: never. */
  readonly withMachine: (others: Instant | null) => Instant | null;
  /** The next call of any of the others. */
  readonly ofOthers: () => Instant | null;
}

/**
 * Asking all parts takes longer than most inputs; an event changes only the time at which the
 * machine is due.
 */
class LoopWake {
  readonly #site: WakeSite;
  /** Undefined: not asked since something was heard. */
  #at: Instant | null | undefined;
  #ofOthers: Instant | null | undefined;
  #heardAt: Instant = Number.NEGATIVE_INFINITY;

  constructor(site: WakeSite) {
    this.#site = site;
  }

  /** When something was last heard. */
  get heardAt(): Instant {
    return this.#heardAt;
  }

  /** The time of the next tick; null: after an input. */
  next(): Instant | null {
    if (this.#at !== undefined) return this.#at;
    if (this.#ofOthers === undefined) this.#ofOthers = this.#site.ofOthers();
    this.#at = this.#site.withMachine(this.#ofOthers);
    return this.#at;
  }

  /**
   * For how long a tick is due that has not come. An event that becomes known may have been due for
   * days, and for the tick it is only now.
   */
  lateBy(now: Instant): Millis {
    const wake = this.next();
    return wake === null ? 0 : Math.max(0, now - Math.max(wake, this.#heardAt));
  }

  /** Takes an input, perhaps without consequences. */
  heard(now: Instant): void {
    this.#heardAt = now;
  }

  /** The machine may be due otherwise now. */
  forget(): void {
    this.#at = undefined;
  }

  /** And any of the others. */
  forgetOthers(): void {
    this.#ofOthers = undefined;
  }
}
