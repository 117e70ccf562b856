// Installs the admission policies of takeover while we lead, and keeps them as they should be.
import { earliest, type Instant, type Millis } from '@taintmgr/core/time';
import { type Answer, type Failure, failureOf, succeeded } from '../../proto/answer.ts';
import { Backoff, type Random } from '../../proto/backoff.ts';
import type { ClusterEvent } from '../../proto/event-requests.ts';
import { Calls, type ExchangeInput, type FinishedCall } from '../../proto/exchange.ts';
import { asRecord, asText, parseJson } from '../../proto/json.ts';
import {
  type ApiRequest,
  applyRequest,
  getRequest,
  objectRequest,
  type RequestEffect,
  replaceRequest,
  withQuery,
} from '../../proto/requests.ts';
import { type Drift, takeoverDrift } from '../../takeover/drift.ts';
import {
  type TakeoverManifest,
  takeoverManager,
  takeoverManifests,
  takeoverPath,
} from '../../takeover/manifests.ts';
import { type InstallerNotice, mendedEvent } from './notice.ts';

export interface InstallerOptions {
  /** The TaintManager whose status is the heartbeat. */
  readonly manager: string;
  readonly random: Random;
  /** Asked before each request. */
  readonly leads: (now: Instant) => boolean;
}

export type InstallerEffect =
  | RequestEffect
  | { readonly kind: 'notice'; readonly notice: InstallerNotice }
  | { readonly kind: 'event'; readonly event: ClusterEvent };

/** The state of the policies, for the status that is published. */
export interface PolicyState {
  /** True if all of them stood as they should when they were last looked at. */
  readonly isInForce: boolean;
  /** True if they did so once since we lead. */
  readonly wasInForce: boolean;
  /** The remaining differences that could not be mended. */
  readonly drift: readonly string[];
  /** The reason why they could not be read or written; null: they could. */
  readonly fault: string | null;
}

/** The purpose of a call: one of the objects, and whether it is read, applied or replaced. */
type Purpose =
  | { readonly step: 'whoami' }
  | { readonly step: 'read' | 'apply' | 'replace'; readonly index: number };

/** From one look to the next. */
const periodMs: Millis = 15_000;
const callMsMax: Millis = 10_000;
/** The status of an answer about an object that may not be so. */
const invalid = 422;
const forbidden = 403;
const remedy =
  ': install the manifests of takeover again, or give the rights of components/takeover-repair';
const selfReviewPath = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const selfReview = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };

/**
 * While we lead, every 15 s each policy and binding is read and compared with its wanted state.
 *
 * Theory of operation. A round is one request after the other: our own identity (once), as the
 * policies exempt our user; then each object. A missing or differing object is applied
 * (server-side, as `taintmgr-takeover`, by force). Its other fields belong to others and stay;
 * where these leave a difference, or may not be, its spec is replaced. An object is mended five
 * times in ten minutes, then it is left as it is until there is room again, and that is said. A
 * difference right after a replacement comes from the API server, and is reported. An addition of a
 * newer server counts as in force; an omission of an older one does not, and is tried again after
 * ten minutes.
 *
 * Where our account may only read, a difference is reported, and stays until others have mended it.
 *
 * Nothing is ever deleted. A replica that loses the lead hangs up and stops looking.
 */
export class PolicyInstaller {
  #effects: InstallerEffect[] = [];
  #serial = 0;
  readonly #options: InstallerOptions;
  readonly #calls = new Calls<Purpose>(callMsMax);
  readonly #backoff: Backoff;
  readonly #mends = new Mends();
  #leads = false;
  #due: Instant | null = null;
  #wanted: readonly TakeoverManifest[] = [];
  /** The differences in each object, as far as this round has come. */
  #found: readonly Drift[] = [];
  #isMissing = false;
  /** The differences that the API server makes whatever we write, and objects that are left as they are. */
  readonly #left = new Map<string, readonly Drift[]>();
  readonly #contested = new Set<string>();
  /** The words said of each object that could not be mended since. */
  readonly #said = new Map<string, string>();
  #state: PolicyState = unknown;

  constructor(options: InstallerOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.random);
  }

  get idle(): boolean {
    return this.#calls.size === 0;
  }

  get state(): PolicyState {
    return this.#state;
  }

  nextWake(): Instant | null {
    return earliest([this.#calls.nextWake(), this.idle ? this.#due : null]);
  }

  /** Tells whether we lead from now on. */
  lead(now: Instant, held: boolean): readonly InstallerEffect[] {
    if (held === this.#leads) return this.#drain();
    this.#leads = held;
    this.#due = held ? now : null;
    if (held) return this.tick(now);
    for (const { id } of this.#calls.cancel()) this.#effects.push({ kind: 'abort', id });
    this.#state = unknown;
    return this.#drain();
  }

  /** Nothing begins any more. */
  stop(): void {
    this.#leads = false;
    this.#due = null;
  }

  receive(now: Instant, input: ExchangeInput): readonly InstallerEffect[] {
    const call = this.#calls.take(input);
    if (call) {
      if (input.kind === 'chunk') this.#effects.push({ kind: 'abort', id: call.id });
      this.#finished(now, call);
    }
    return this.#drain();
  }

  tick(now: Instant): readonly InstallerEffect[] {
    for (const call of this.#calls.expire(now)) {
      this.#effects.push({ kind: 'abort', id: call.id });
      this.#finished(now, call);
    }
    if (this.idle && this.#due !== null && now >= this.#due) this.#begin(now);
    return this.#drain();
  }

  #begin(now: Instant): void {
    this.#due = now + periodMs;
    this.#found = [];
    if (this.#wanted.length > 0) this.#read(now, 0);
    else this.#send(now, { step: 'whoami' }, objectRequest('POST', selfReviewPath, selfReview));
  }

  #finished(now: Instant, { purpose, answer }: FinishedCall<Purpose>): void {
    if (!this.#leads) return;
    switch (purpose.step) {
      case 'whoami':
        this.#meet(now, answer);
        return;
      case 'read':
        this.#compare(now, purpose.index, answer);
        return;
      default:
        this.#mended(now, purpose.index, purpose.step, answer);
    }
  }

  #meet(now: Instant, answer: Answer): void {
    if (!succeeded(answer)) {
      this.#failed(now, 'our own user name', failureOf(answer));
      return;
    }
    const { userInfo } = asRecord(asRecord(parseJson(answer.body)).status);
    const user = asText(asRecord(userInfo).username);
    this.#wanted = takeoverManifests({ manager: this.#options.manager, users: [user] });
    this.#read(now, 0);
  }

  #read(now: Instant, index: number): void {
    const wanted = this.#wanted[index];
    if (wanted) this.#send(now, { step: 'read', index }, getRequest(takeoverPath(wanted)));
    else this.#end();
  }

  #compare(now: Instant, index: number, answer: Answer): void {
    const wanted = this.#at(index);
    const failure = succeeded(answer) ? null : failureOf(answer);
    if (failure && failure.status !== 404) {
      this.#failed(now, nameOf(wanted), failure);
      return;
    }
    const live = succeeded(answer) ? parseJson(answer.body) : null;
    const drift = takeoverDrift(live, wanted);
    const object = nameOf(wanted);
    if (drift.length === 0) {
      this.#left.delete(object);
      this.#said.delete(object);
    }
    const isLeft = textOf(drift) === textOf(this.#left.get(object) ?? []);
    if (isLeft && (drift.every(({ isAdded }) => isAdded) || this.#mends.isRecent(now, object))) {
      this.#contested.delete(object);
      this.#read(now, index + 1);
    } else if (this.#mends.hasRoom(now, object)) this.#mend(now, index, live, isLeft ? [] : drift);
    else this.#contest(now, index, drift);
  }

  /** `news`: the changes by others since the last write. */
  #mend(now: Instant, index: number, live: unknown, news: readonly Drift[]): void {
    const wanted = this.#at(index);
    const object = nameOf(wanted);
    this.#isMissing = live === null;
    const isInstall = this.#isMissing && !this.#state.isInForce;
    if (!isInstall && news.length > 0 && this.#said.get(object) !== textOf(news)) {
      this.#said.set(object, textOf(news));
      this.#notice({ kind: 'takeoverDrift', object, drift: news });
      this.#effects.push({ kind: 'event', event: mendedEvent(wanted, live, news) });
    }
    const options = { fieldManager: takeoverManager, force: true, dryRun: false };
    this.#send(now, { step: 'apply', index }, applyRequest(takeoverPath(wanted), wanted, options));
  }

  /** Another program changes it again and again: it is left as it is for a while. */
  #contest(now: Instant, index: number, drift: readonly Drift[]): void {
    const object = nameOf(this.#at(index));
    if (!this.#contested.has(object)) this.#notice({ kind: 'takeoverContested', object, drift });
    this.#contested.add(object);
    this.#found = [...this.#found, ...drift];
    this.#read(now, index + 1);
  }

  #mended(now: Instant, index: number, step: 'apply' | 'replace', answer: Answer): void {
    const wanted = this.#at(index);
    const isRefused = !succeeded(answer) && failureOf(answer).status === invalid;
    const left = succeeded(answer) ? takeoverDrift(parseJson(answer.body), wanted) : [];
    // With what others have added it may be nothing that the API server takes: Deny beside their Warn.
    if (step === 'apply' && (left.length > 0 || (isRefused && !this.#isMissing))) {
      const path = withQuery(takeoverPath(wanted), { fieldManager: takeoverManager });
      this.#send(now, { step: 'replace', index }, replaceRequest(path, '/spec', wanted.spec));
      return;
    }
    const object = nameOf(wanted);
    if (!succeeded(answer)) {
      this.#standNoMore();
      const failure = failureOf(answer);
      const message = `${failure.message}${failure.status === forbidden ? remedy : ''}`;
      this.#failed(now, object, { ...failure, message });
      return;
    }
    this.#said.delete(object);
    this.#mends.note(now, object);
    this.#contested.delete(object);
    this.#left.set(object, left);
    this.#notice({ kind: 'takeoverMended', object, isNew: this.#isMissing, left });
    this.#read(now, index + 1);
  }

  /** Every object was looked at. */
  #end(): void {
    const before = this.#state;
    const left = [...this.#left.values()].flat();
    const isInForce = this.#found.length === 0 && left.every(({ isAdded }) => isAdded);
    const drift = [...this.#found, ...left].map(({ text }) => text);
    const wasInForce = isInForce || before.wasInForce;
    this.#state = { isInForce, wasInForce, drift, fault: null };
    if (isInForce !== before.isInForce) this.#notice({ kind: 'takeoverInForce', isInForce });
  }

  /** One of the objects is not as it should be, and could not be mended. */
  #standNoMore(): void {
    if (!this.#state.isInForce) return;
    this.#state = { ...this.#state, isInForce: false };
    this.#notice({ kind: 'takeoverInForce', isInForce: false });
  }

  #failed(now: Instant, object: string, failure: Failure): void {
    const text = `${object}: ${failure.message}`;
    if (text !== this.#state.fault) this.#notice({ kind: 'takeoverFault', object, failure });
    this.#due = now + this.#backoff.next(now, failure.retryAfter ?? 0);
    // An object that could not be looked at is taken to be as it was.
    this.#state = { ...this.#state, fault: text };
  }

  /** The only place where a request leaves. */
  #send(now: Instant, purpose: Purpose, request: ApiRequest): void {
    if (!this.#leads || !this.#options.leads(now)) return;
    this.#serial += 1;
    const id = `takeover/${this.#serial}`;
    this.#calls.begin(now, id, request, purpose);
    this.#effects.push({ kind: 'send', id, request });
  }

  #at(index: number): TakeoverManifest {
    const wanted = this.#wanted[index];
    if (!wanted) throw new Error(`taintmgr: broken invariant: no takeover object ${index}`);
    return wanted;
  }

  #notice(notice: InstallerNotice): void {
    this.#effects.push({ kind: 'notice', notice });
  }

  #drain(): readonly InstallerEffect[] {
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }
}

const unknown: PolicyState = { isInForce: false, wasInForce: false, drift: [], fault: null };

function textOf(drift: readonly Drift[]): string {
  return drift.map(({ text }) => text).join('; ');
}

function nameOf({ kind, metadata }: TakeoverManifest): string {
  return `${kind.toLowerCase()}/${metadata.name}`;
}

const mendsMax = 5;
const windowMs: Millis = 600_000;

/** Counts mends of each object within ten minutes. */
class Mends {
  readonly #at = new Map<string, readonly Instant[]>();

  /** Tells whether the object may be mended once more. */
  hasRoom(now: Instant, object: string): boolean {
    const recent = (this.#at.get(object) ?? []).filter((at) => now - at < windowMs);
    this.#at.set(object, recent);
    return recent.length < mendsMax;
  }

  /** Tells whether it was mended within ten minutes. */
  isRecent(now: Instant, object: string): boolean {
    return (this.#at.get(object) ?? []).some((at) => now - at < windowMs);
  }

  note(now: Instant, object: string): void {
    this.#at.set(object, [...(this.#at.get(object) ?? []), now]);
  }
}
