// Publishes what the leader says: of itself as the status of a TaintManager, its heartbeat, and of
// policies, taint rules and pauses.
import type { PolicyCounts } from '@taintmgr/core';
import { earliest, formatTime, type Instant, type Millis } from '@taintmgr/core/time';
import { fittedStatus } from '../kinds/fitted-status.ts';
import type { TaintManagerStatus } from '../kinds/taint-manager.ts';
import type { FollowedObjects } from '../manifests/followed.ts';
import { type Answer, type Failure, failureOf, succeeded } from '../proto/answer.ts';
import { Calls, type ExchangeInput, type FinishedCall } from '../proto/exchange.ts';
import { formatMicroTime } from '../proto/lease-requests.ts';
import {
  type ApiRequest,
  createTaintManagerRequest,
  type RequestEffect,
  replaceTaintManagerStatusRequest,
} from '../proto/requests.ts';
import type { BeatClock } from './clock/server-clock.ts';
import { PolicyStatuses, type PolicyWrite } from './policy-statuses.ts';
import { cutOf, type Obstacle, obstacleOf, type PublisherNotice } from './publisher-notice.ts';
import { type DatedCondition, dated, type StatedCondition } from './status-conditions.ts';

/** All that the leader says of itself beside what the loop knows better. */
export type StatedStatus = Omit<
  TaintManagerStatus,
  'renewTime' | 'leader' | 'startedAt' | 'conditions'
> & { readonly conditions: readonly StatedCondition[] };

/** The status that is published, and its name. */
export interface PublishOptions {
  /** Of the TaintManager. */
  readonly name: string;
  /** The name of this replica. */
  readonly identity: string;
  /** Asked once for each write. */
  readonly status: (now: Instant) => StatedStatus;
  /** The counts of policies, taint rules and pauses, whose status is written too; left out: it is not. */
  readonly policyCounts?: (now: Instant) => PolicyCounts;
  /** The objects of the cluster, as they are read; the loop of the engine knows them. */
  readonly followed?: FollowedObjects;
}

export interface StatusPublisherOptions extends PublishOptions {
  readonly clock: BeatClock;
  /** True if admission policies go by it: then whatever is in the way, each period sees a try. */
  readonly isVital: boolean;
  /** Asked before each request. */
  readonly leads: (now: Instant) => boolean;
  /** The conditions that the loop knows of itself. */
  readonly conditions: () => readonly StatedCondition[];
}

export type StatusPublisherEffect =
  | RequestEffect
  | { readonly kind: 'notice'; readonly notice: PublisherNotice };

type Step = 'create' | 'write' | 'farewell' | PolicyWrite;

/** From one heartbeat to the next. */
const periodMs: Millis = 10_000;
/** Between two writes, whatever happens. */
const pauseMsMin: Millis = 5_000;
/** The same where others wait for the status. */
const hurryMsMin: Millis = 1_000;
/** Until a refused or missing object is tried again. */
const slowMs: Millis = 60_000;
/** A heartbeat is waited for no longer, least of all by a resignation. */
const callMsMax: Millis = 5_000;
const bytesMax = 1_000_000;

/**
 * Every 10 s the leader writes how it is doing, as one request: the whole status in the place of
 * the one before, so nothing of a former leader stays. Only where the object is missing there are
 * two more: it is created, and then the status written. A replica that does not lead sends nothing,
 * and a request under way when it stops leading is hung up.
 *
 * Between heartbeats the status of policies is written where it has to be: see PolicyStatuses. At
 * most one request is under way.
 *
 * The last status says that there is no leader any more; it is one request, sent only where the one
 * before succeeded. A failure concerns no other part: there will be another heartbeat.
 */
export class StatusPublisher {
  #effects: StatusPublisherEffect[] = [];
  #serial = 0;
  /** When we began to lead, by the cluster's clock; null: we do not. */
  #since: Instant | null = null;
  /** When the next heartbeat is due; null: none is. */
  #due: Instant | null = null;
  /** When the last write was sent. */
  #sentAt: Instant = Number.NEGATIVE_INFINITY;
  #resigned = false;
  /** True if the last heartbeat went through. */
  #isWritten = false;
  #obstacle: Obstacle | null = null;
  #conditions: readonly DatedCondition[] = [];
  readonly #policies: PolicyStatuses | null;
  readonly #calls = new Calls<Step>(callMsMax, bytesMax);
  readonly #options: StatusPublisherOptions;

  constructor(options: StatusPublisherOptions) {
    this.#options = options;
    const { followed, policyCounts: counts, clock } = options;
    this.#policies = followed && counts ? new PolicyStatuses({ followed, counts, clock }) : null;
  }

  /** True if nothing is under way. */
  get idle(): boolean {
    return this.#calls.size === 0;
  }

  /** True if the last heartbeat went through. */
  get isWritten(): boolean {
    return this.#isWritten;
  }

  /** The time of the next tick; null: after an input. */
  nextWake(): Instant | null {
    const due = this.idle ? [this.#due, this.#policies?.nextWake() ?? null] : [];
    return earliest([this.#calls.nextWake(), ...due]);
  }

  /**
   * We lead from now on, or not any more. At first nothing is said of objects that are not read
   * yet.
   */
  lead(now: Instant, held: boolean, isSynced: boolean): readonly StatusPublisherEffect[] {
    if (!held) return this.#depose();
    if (this.#since !== null || this.#resigned) return this.#drain();
    this.#since = this.#options.clock.wall(now);
    this.#due = isSynced ? now : now + periodMs;
    if (isSynced) this.#policies?.begin(now);
    return this.tick(now);
  }

  /** Everything was read once: there is something to say. */
  synced(now: Instant): readonly StatusPublisherEffect[] {
    if (this.#since !== null && !this.#resigned) this.#policies?.begin(now);
    if (this.#due !== null && !this.#isWritten)
      this.#due = Math.max(now, this.#sentAt + pauseMsMin);
    return this.tick(now);
  }

  /** Something that others wait for has changed: it is written before its time. */
  hurry(now: Instant): readonly StatusPublisherEffect[] {
    if (this.#due !== null && this.#obstacle === null)
      this.#due = Math.min(this.#due, Math.max(now, this.#sentAt + hurryMsMin));
    return this.tick(now);
  }

  /** Takes an input; those of requests of others are ignored. */
  receive(now: Instant, input: ExchangeInput): readonly StatusPublisherEffect[] {
    const call = this.#calls.take(input);
    if (call) {
      // Such an answer was cut off by us, not ended by the server.
      if (input.kind === 'chunk') this.#effects.push({ kind: 'abort', id: call.id });
      this.#finished(now, call);
    }
    return this.#drain();
  }

  /** Gives up a call whose time is up, and writes the statuses that are due. */
  tick(now: Instant): readonly StatusPublisherEffect[] {
    for (const call of this.#calls.expire(now)) {
      this.#effects.push({ kind: 'abort', id: call.id });
      this.#finished(now, call);
    }
    if (this.idle && this.#due !== null && now >= this.#due) {
      this.#due = nextDue(now, this.#due);
      this.#write(now);
    }
    if (this.idle) this.#writePolicy(now);
    return this.#drain();
  }

  /** The last status, and nothing after it. A write under way ends before. */
  resign(now: Instant): readonly StatusPublisherEffect[] {
    if (this.#resigned) return [];
    this.#resigned = true;
    this.#due = null;
    this.#policies?.end();
    if (this.idle) this.#sayFarewell(now);
    return this.#drain();
  }

  #depose(): readonly StatusPublisherEffect[] {
    for (const { id } of this.#calls.cancel()) this.#effects.push({ kind: 'abort', id });
    this.#since = null;
    this.#due = null;
    this.#isWritten = false;
    this.#obstacle = null;
    this.#conditions = [];
    this.#policies?.end();
    return this.#drain();
  }

  #sayFarewell(now: Instant): void {
    if (this.#isWritten) this.#write(now, 'farewell');
  }

  #writePolicy(now: Instant): void {
    const write = this.#policies?.take(now);
    if (this.#policies && write) this.#send(now, write, this.#policies.request(write));
  }

  #write(now: Instant, step: 'write' | 'farewell' = 'write'): void {
    if (this.#since === null) return;
    const status = this.#statusAt(now, this.#since, step === 'write');
    this.#send(now, step, replaceTaintManagerStatusRequest(this.#options.name, status));
  }

  #statusAt(now: Instant, since: Instant, isLeading: boolean): unknown {
    const { identity, clock, conditions: ofLoop } = this.#options;
    const wall = clock.wall(now);
    const { conditions: stated, ...said } = this.#options.status(now);
    const status = {
      renewTime: formatMicroTime(clock.latest(now)),
      leader: identity,
      startedAt: formatTime(since),
      ...said,
    };
    const { leftOut } = fittedStatus('TaintManager', status);
    const leading = leadingCondition(identity, isLeading);
    const all = [leading, ...stated, ...ofLoop(), ...truncated(leftOut)];
    const conditions = dated(wall, all, this.#conditions);
    this.#conditions = conditions;
    return fittedStatus('TaintManager', { ...status, conditions }).value;
  }

  /** The only place where a request leaves. */
  #send(now: Instant, step: Step, request: ApiRequest): void {
    if (!this.#options.leads(now)) return;
    this.#serial += 1;
    this.#sentAt = now;
    const id = `status/${this.#serial}`;
    this.#calls.begin(now, id, request, step);
    this.#effects.push({ kind: 'send', id, request });
  }

  #finished(now: Instant, { purpose: step, answer }: FinishedCall<Step>): void {
    if (step === 'farewell') return;
    if (typeof step === 'object') {
      const notice = this.#policies?.finished(now, step, answer);
      if (notice) this.#notice(notice);
      if (this.#resigned) this.#sayFarewell(now);
      return;
    }
    const isMissing = step === 'write' && this.#isMissing(answer);
    if (isMissing && !this.#resigned) {
      this.#send(now, 'create', createTaintManagerRequest(this.#options.name));
      return;
    }
    if (step === 'create' && (succeeded(answer) || hasConflict(answer))) {
      // Made by us or, a moment ago, by another replica.
      this.#write(now, this.#resigned ? 'farewell' : 'write');
      return;
    }
    const cut = this.#options.isVital ? cutOf(answer) : null;
    if (cut) this.#failed(now, cut, 'outdated');
    else if (succeeded(answer)) this.#succeeded();
    else this.#failed(now, failureOf(answer));
    if (this.#resigned) this.#sayFarewell(now);
  }

  /** Tells whether the API has the kind, and not the object. */
  #isMissing(answer: Answer): boolean {
    const { status, name } = failureOf(answer);
    return status === 404 && name === this.#options.name;
  }

  #succeeded(): void {
    const { name } = this.#options;
    if (!this.#isWritten || this.#obstacle !== null)
      this.#notice({ kind: 'statusPublished', name });
    this.#isWritten = true;
    this.#obstacle = null;
  }

  #failed(now: Instant, failure: Failure, why = obstacleOf(failure)): void {
    const { name } = this.#options;
    this.#isWritten = false;
    const isSlow = why !== 'failed' && !this.#options.isVital;
    if (why !== this.#obstacle)
      this.#notice({ kind: 'statusNotPublished', name, why, failure, isSlow });
    this.#obstacle = why;
    if (this.#due === null) return;
    const wait = isSlow ? slowMs : (failure.retryAfter ?? 0);
    this.#due = Math.max(this.#due, now + wait);
  }

  #notice(notice: PublisherNotice): void {
    this.#effects.push({ kind: 'notice', notice });
  }

  #drain(): readonly StatusPublisherEffect[] {
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }
}

/** The next period; a standstill is not made up for. */
function nextDue(now: Instant, due: Instant): Instant {
  const next = due + periodMs * Math.ceil((now + 1 - due) / periodMs);
  return Math.max(next, now + pauseMsMin);
}

function hasConflict(answer: Answer): boolean {
  return answer.kind === 'response' && answer.status === 409;
}

function leadingCondition(identity: string, isLeading: boolean): StatedCondition {
  const common = { type: 'Leading' } as const;
  return isLeading
    ? { ...common, status: 'True', reason: 'Leads', message: `${identity} leads` }
    : { ...common, status: 'False', reason: 'Resigned', message: `${identity} stopped leading` };
}

/** Says what had no room. */
function truncated(leftOut: Readonly<Record<string, number>>): readonly StatedCondition[] {
  const parts = Object.entries(leftOut).map(([list, count]) => `${count} of ${list}`);
  if (parts.length === 0) return [];
  const message = `no room for ${parts.join(', ')}`;
  return [{ type: 'Truncated', status: 'True', reason: 'TooMany', message }];
}
