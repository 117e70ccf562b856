import { earliest, formatDuration, type Instant, type Millis } from '@taintmgr/core/time';
import { type Answer, type Failure, failureOf, noAnswer, succeeded } from '../../proto/answer.ts';
import type { Random } from '../../proto/backoff.ts';
import type { ClusterEvent, EventSubject } from '../../proto/event-requests.ts';
import { Calls, type ExchangeInput } from '../../proto/exchange.ts';
import { parseToWriteBack } from '../../proto/json.ts';
import {
  createLeaseRequest,
  type Lease,
  type LeaseClaim,
  type LeaseName,
  leaseFromJson,
  readLeaseRequest,
  updateLeaseRequest,
} from '../../proto/lease-requests.ts';
import type { ApiRequest, RequestEffect } from '../../proto/requests.ts';
import { ownWallClock, type WallClock } from '../clock/server-clock.ts';

/** A request under way; at any time there is one at most. */
type Call =
  | { readonly kind: 'read' }
  | {
      readonly kind: 'write';
      readonly sentAt: Instant;
      /** True if its basis was read just before, so that reading again would not help. */
      readonly fresh: boolean;
    };

type State =
  | { readonly kind: 'Idle' }
  | { readonly kind: 'Waiting'; readonly until: Instant }
  | { readonly kind: 'Calling' }
  | { readonly kind: 'Stopped' };

/** A replica that ends gives up after this number of conflicts. */
const conflictsMax = 3;

/**
 * Leader election on a Lease, with the rules of client-go. The holder renews it every retry period;
 * the others look at it more often than that and take it when it is given back, or when it has not
 * changed for as long as it counts. This time is measured from when they saw it change, on their
 * own clock, so clocks may differ; the times written in the lease are for people.
 *
 * A leader counts the renew deadline from when it sent its last renewal that succeeded. The others
 * saw that renewal no earlier, and the renew deadline is shorter than the lease: so it has stopped
 * before anyone else begins, unless its clock runs slower than theirs by more than that margin.
 *
 * Time is looked at first with every input: an answer that comes too late, as after a standstill of
 * this process, changes nothing. A machine that is suspended may not count that time, but finds its
 * wall clock moved when it resumes. So a replica that finds the wall clock moved has to see the
 * lease before it leads on, as it may have slept through it. For how long others wait, that changes
 * nothing: they would take it too early.
 */
export class Election {
  #state: State = { kind: 'Idle' };
  #effects: ElectionEffect[] = [];
  #serial = 0;
  #stopping = false;
  /** When the renewal was sent by which we lead; null: we do not. */
  #renewedAt: Instant | null = null;
  /** The lease as it stands in the API; null: to be sure, read it first. */
  #current: Lease | null = null;
  readonly #observed = new ObservedLease();
  #attemptedAt: Instant = Number.NEGATIVE_INFINITY;
  #failing = '';
  /** The number of times that giving the lease back met with a conflict. */
  #conflicts = 0;
  readonly #options: ElectionOptions;
  readonly #timing: ElectionTiming;
  readonly #requestMs: Millis;
  readonly #calls: Calls<Call>;

  /** Throws for what would let two lead at once, or none for long: a timing, or no identity. */
  constructor(options: ElectionOptions) {
    this.#options = options;
    this.#timing = options.timing ?? defaultElectionTiming;
    const fault = timingFault(this.#timing);
    if (fault !== null) throw new RangeError(fault);
    // A lease that is given back has no holder, and an empty identity would be ours as much as the
    // others'.
    if (options.identity === '') throw new RangeError('the identity of a candidate is empty');
    this.#requestMs = Math.trunc(this.#timing.renewDeadline / 2);
    this.#calls = new Calls(this.#requestMs);
  }

  /** Tells whether we lead at this instant; time alone may end it before a tick says so. */
  leads(now: Instant): boolean {
    return this.#renewedAt !== null && now < this.#renewedAt + this.#timing.renewDeadline;
  }

  /**
   * The holder of the lease as far as we know; '' when there is none, or it has not been renewed in
   * time.
   */
  holder(now: Instant): string {
    return now < this.#observed.freeAt ? this.#observed.holder : '';
  }

  /** True if it has not begun or is over, so that nothing of it is under way. */
  get closed(): boolean {
    return this.#state.kind === 'Idle' || this.#state.kind === 'Stopped';
  }

  /** When to call with a tick; null: never. */
  nextWake(): Instant | null {
    return earliest([
      this.#state.kind === 'Waiting' ? this.#state.until : this.#calls.nextWake(),
      this.#renewedAt === null ? null : this.#renewedAt + this.#timing.renewDeadline,
    ]);
  }

  /** Takes one input; those about other requests than its own are ignored. */
  handle(now: Instant, input: ElectionInput): readonly ElectionEffect[] {
    this.#state = this.#expire(now, this.#state);
    this.#state = this.#next(now, this.#state, input);
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }

  #next(now: Instant, state: State, input: ElectionInput): State {
    switch (input.kind) {
      case 'start':
        return state.kind === 'Idle' ? this.#attempt(now) : state;
      case 'stop':
        return this.#stopping ? state : this.#stop(now);
      case 'clockStep':
        return this.#stopping ? state : this.#doubt(now, state);
      case 'tick':
        return state.kind === 'Waiting' && now >= state.until ? this.#attempt(now) : state;
      default:
        return this.#receive(now, state, input);
    }
  }

  /** The age of our last renewal is unknown; an answer under way says nothing of now. */
  #doubt(now: Instant, state: State): State {
    if (state.kind === 'Idle' || state.kind === 'Stopped') return state;
    if (this.#renewedAt === null && state.kind === 'Waiting') return state;
    this.#abort();
    if (this.#renewedAt !== null)
      this.#lose('the clock of this machine was set, or it was suspended');
    return this.#attempt(now);
  }

  #expire(now: Instant, state: State): State {
    if (this.#renewedAt !== null && !this.leads(now)) {
      const since = formatDuration(now - this.#renewedAt);
      this.#abort();
      this.#lose(`the lease could not be renewed for ${since}`);
      return this.#wait(now);
    }
    const [call] = this.#calls.expire(now);
    if (!call) return state;
    this.#effects.push({ kind: 'abort', id: call.id });
    return this.#fail(now, failureOf(call.answer));
  }

  #receive(now: Instant, state: State, input: ExchangeInput): State {
    const call = this.#calls.take(input);
    if (!call) return state;
    // Such an answer was cut off by us, not ended by the server.
    if (input.kind === 'chunk') this.#effects.push({ kind: 'abort', id: call.id });
    const { purpose, answer } = call;
    return purpose.kind === 'read'
      ? this.#afterRead(now, answer)
      : this.#afterWrite(now, purpose, answer);
  }

  // Makes one attempt: a leader writes at once, every other replica reads first

  #attempt(now: Instant): State {
    this.#attemptedAt = now;
    const renewing = this.#renewedAt !== null && this.#current !== null;
    return renewing ? this.#write(now, this.#current, false) : this.#read(now);
  }

  #read(now: Instant): State {
    const request = readLeaseRequest(this.#options.lease, this.#requestMs);
    return this.#send(now, request, { kind: 'read' });
  }

  #afterRead(now: Instant, answer: Answer): State {
    if (!succeeded(answer)) {
      const failure = failureOf(answer);
      return failure.status === 404 ? this.#afterMissing(now) : this.#fail(now, failure);
    }
    const lease = leaseFromJson(parseToWriteBack(answer.body));
    if (!lease) return this.#fail(now, noAnswer('the answer is not a Lease'));
    this.#observe(now, lease);
    if (lease.holder !== this.#options.identity) {
      if (this.#renewedAt !== null) this.#lose(`${lease.holder || 'no replica'} holds the lease`);
      if (this.#stopping) return { kind: 'Stopped' };
      const { freeAt } = this.#observed;
      if (lease.holder !== '' && now < freeAt) return this.#standBy(now, freeAt);
    }
    return this.#write(now, lease, true);
  }

  #afterMissing(now: Instant): State {
    this.#observed.forget();
    if (this.#renewedAt !== null) this.#lose('the lease is gone');
    return this.#stopping ? { kind: 'Stopped' } : this.#write(now, null, true);
  }

  /** Another replica leads; the lease is looked at again, and at the latest when it is free. */
  #standBy(now: Instant, freeAt: Instant): State {
    this.#failing = '';
    return { kind: 'Waiting', until: Math.min(this.#nextLook(now), freeAt) };
  }

  #write(now: Instant, lease: Lease | null, fresh: boolean): State {
    const { lease: name, identity, clock = ownWallClock, annotations } = this.#options;
    const at = clock.wall(now);
    const claim = this.#stopping
      ? releaseOf(at, lease)
      : {
          ...claimOf(at, lease, identity, this.#timing.lease),
          ...(annotations && { annotations }),
        };
    const request = lease
      ? updateLeaseRequest(name, lease, claim, this.#requestMs)
      : createLeaseRequest(name, claim, this.#requestMs);
    // Until it is answered the content of the lease is unknown.
    this.#current = null;
    return this.#send(now, request, { kind: 'write', sentAt: now, fresh });
  }

  #afterWrite(
    now: Instant,
    { sentAt, fresh }: Extract<Call, { kind: 'write' }>,
    answer: Answer,
  ): State {
    if (!succeeded(answer)) {
      const failure = failureOf(answer);
      // Another replica wrote, or our own earlier write succeeded though no answer came.
      const outdated = failure.status === 409 || failure.status === 404;
      return outdated && (!fresh || this.#mayReadAgain())
        ? this.#read(now)
        : this.#fail(now, failure);
    }
    if (this.#stopping) return { kind: 'Stopped' };
    this.#failing = '';
    this.#current = leaseFromJson(parseToWriteBack(answer.body));
    if (this.#current) this.#observe(now, this.#current);
    const led = this.#renewedAt !== null;
    this.#renewedAt = sentAt;
    if (!led) this.#turn(true);
    return this.#wait(now);
  }

  /**
   * A renewal that was given up may arrive after the reading with which the lease is given back.
   */
  #mayReadAgain(): boolean {
    if (!this.#stopping || this.#conflicts === conflictsMax) return false;
    this.#conflicts += 1;
    return true;
  }

  #observe(now: Instant, lease: Lease): void {
    const isNews = this.#observed.see(now, lease);
    if (isNews) this.#notice({ kind: 'leaderElected', identity: lease.holder });
  }

  // Going on

  #fail(now: Instant, failure: Failure): State {
    const text = `${failure.status} ${failure.message}`;
    if (text !== this.#failing) this.#notice({ kind: 'electionFailing', failure });
    this.#failing = text;
    return this.#stopping ? { kind: 'Stopped' } : this.#wait(now);
  }

  #wait(now: Instant): State {
    const leading = this.#renewedAt !== null;
    const next = this.#attemptedAt + this.#timing.retry;
    return { kind: 'Waiting', until: leading ? Math.max(now, next) : this.#nextLook(now) };
  }

  /** Never more than a retry period away, so that a lease given back is taken within one. */
  #nextLook(now: Instant): Instant {
    return now + Math.round((this.#timing.retry * (1 + this.#options.random())) / 2);
  }

  #lose(why: string): void {
    this.#renewedAt = null;
    this.#turn(false);
    this.#notice({ kind: 'leadershipLost', why });
  }

  #stop(now: Instant): State {
    this.#stopping = true;
    const call = this.#abort();
    if (this.#renewedAt !== null) {
      this.#renewedAt = null;
      this.#turn(false);
    } else if (call?.kind !== 'write') return { kind: 'Stopped' };
    // The success of a write under way is unknown.
    return this.#current ? this.#write(now, this.#current, false) : this.#read(now);
  }

  /** The object that Events about the election are about. */
  get subject(): EventSubject {
    return this.#observed.subject(this.#options.lease);
  }

  #turn(held: boolean): void {
    this.#effects.push({ kind: 'leadership', held });
    const { identity } = this.#options;
    const { subject } = this;
    const message = `${identity} ${held ? 'became leader' : 'stopped leading'}`;
    const event = { subject, type: 'Normal', reason: 'LeaderElection', message } as const;
    this.#effects.push({ kind: 'event', event });
  }

  #send(now: Instant, request: ApiRequest, call: Call): State {
    this.#serial += 1;
    const id = `election/${this.#serial}`;
    this.#effects.push({ kind: 'send', id, request });
    this.#calls.begin(now, id, request, call);
    return { kind: 'Calling' };
  }

  /** Hangs up; returns the request under way. */
  #abort(): Call | null {
    const [open] = this.#calls.cancel();
    if (open) this.#effects.push({ kind: 'abort', id: open.id });
    return open?.purpose ?? null;
  }

  #notice(notice: ElectionNotice): void {
    this.#effects.push({ kind: 'notice', notice });
  }
}

/**
 * Takes the lease or renews it; `lease`: its present state, null: there is none. `at`: what clocks
 * show.
 */
function claimOf(at: Instant, lease: Lease | null, identity: string, duration: Millis): LeaseClaim {
  const transitions = lease?.transitions ?? 0;
  const claim = { holder: identity, duration, renewedAt: at };
  if (lease?.holder === identity) return { ...claim, acquiredAt: null, transitions };
  return { ...claim, acquiredAt: at, transitions: lease ? transitions + 1 : 0 };
}

/** Gives it back: it is free at once. */
function releaseOf(at: Instant, lease: Lease | null): LeaseClaim {
  const transitions = lease?.transitions ?? 0;
  return { holder: '', duration: 1000, renewedAt: at, acquiredAt: at, transitions };
}

interface Observation {
  readonly lease: Lease;
  readonly spec: string;
  /** When we first saw this spec, on our own clock. */
  readonly since: Instant;
}

/**
 * All that is known of the lease. The age of its state counts by our own clock, regardless of its
 * written times.
 */
class ObservedLease {
  #last: Observation | null = null;

  /** The holder as far as we know; '' when there is none. */
  get holder(): string {
    return this.#last?.lease.holder ?? '';
  }

  /** The time at which any replica may take it, if it does not change until then. */
  get freeAt(): Instant {
    const known = this.#last;
    return known ? known.since + known.lease.duration : Number.NEGATIVE_INFINITY;
  }

  /** Takes the lease in as it was read; true when its holder is a new one. */
  see(now: Instant, lease: Lease): boolean {
    const spec = JSON.stringify(lease.object.spec) ?? '';
    const before = this.#last;
    this.#last = { lease, spec, since: before?.spec === spec ? before.since : now };
    return lease.holder !== '' && lease.holder !== before?.lease.holder;
  }

  /** There is none. */
  forget(): void {
    this.#last = null;
  }

  /** The object that Events about the election are about. */
  subject(name: LeaseName): EventSubject {
    const { uid = '', resourceVersion } = this.#last?.lease ?? {};
    return {
      ...{ kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', ...name, uid },
      ...(resourceVersion !== undefined && { resourceVersion }),
    };
  }
}

/** The time that leadership lasts without a renewal, and the pace at which renewals are tried. */
export interface ElectionTiming {
  /** The time that the others wait after the last renewal they saw; whole seconds. */
  readonly lease: Millis;
  /** The time for which a leader continues after its last renewal. */
  readonly renewDeadline: Millis;
  /** From one renewal to the next; the longest time between two looks of a standby. */
  readonly retry: Millis;
}

/** client-go's defaults, and kube-controller-manager's. */
export const defaultElectionTiming: ElectionTiming = {
  lease: 15_000,
  renewDeadline: 10_000,
  retry: 2000,
};

/** client-go adds up to this much chance to a retry period, and demands room for it. */
const jitterFactor = 1.2;

/** The reason why leadership could not be kept or handed over with this timing; null when it could. */
function timingFault({ lease, renewDeadline, retry }: ElectionTiming): string | null {
  const [whole, deadline] = [formatDuration(lease), formatDuration(renewDeadline)];
  if (lease < 1000 || lease % 1000 !== 0) return 'the lease must last whole seconds, at least 1s';
  if (retry < 1) return 'the retry period must be longer than 0s';
  if (lease <= renewDeadline) {
    return `the lease (${whole}) must last longer than the renew deadline (${deadline})`;
  }
  if (renewDeadline <= jitterFactor * retry) {
    return `the renew deadline (${deadline}) must be longer than ${jitterFactor} retry periods`;
  }
  return null;
}

/** The candidate, and the Lease by which it leads. */
export interface ElectionOptions {
  /** The Lease by which one candidate leads. */
  readonly lease: LeaseName;
  /** Must be another for each candidate and each start of it, e.g. host name and a UUID. */
  readonly identity: string;
  /** Left out: 15 s, 10 s and 2 s, as in kube-controller-manager. */
  readonly timing?: ElectionTiming;
  /** Randomness for the times between attempts, e.g. Math.random. */
  readonly random: Random;
  /** The clock that dates all that is written into the lease; left out: `now` as it is. */
  readonly clock?: WallClock;
  /** The words that the holder says of itself on the lease; left out: nothing. */
  readonly annotations?: Readonly<Record<string, string>>;
}

export type ElectionInput =
  | { readonly kind: 'start' }
  /** Give the lease back, if we hold it, and end. Whatever the leader does must be over by then. */
  | { readonly kind: 'stop' }
  | { readonly kind: 'tick' }
  /** The machine's wall clock was set, or the machine was suspended. */
  | { readonly kind: 'clockStep' }
  | ExchangeInput;

export type ElectionEffect =
  | RequestEffect
  /** From now on we lead, or do not any more. */
  | { readonly kind: 'leadership'; readonly held: boolean }
  /** To be recorded in the cluster. */
  | { readonly kind: 'event'; readonly event: ClusterEvent }
  | { readonly kind: 'notice'; readonly notice: ElectionNotice };

/** The reports of an election: who leads, and what keeps us from it. */
export type ElectionNotice =
  /** A replica, maybe this one, holds the lease now. */
  | { readonly kind: 'leaderElected'; readonly identity: string }
  | { readonly kind: 'leadershipLost'; readonly why: string }
  /**
   * The lease could not be read or written; reported once for as long as the failure stays the
   * same.
   */
  | { readonly kind: 'electionFailing'; readonly failure: Failure };
