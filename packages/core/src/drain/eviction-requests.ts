// Asks by EvictionRequests that pods leave, where the cluster has them, and heeds those of others.
import { KeyedWrites } from '../attempt/keyed-writes.ts';
import { isSetback, type Outcome } from '../attempt/outcome.ts';
import type { Event } from '../event.ts';
import { Schedule } from '../kernel/schedule.ts';
import { earliest, formatDeadline, type Instant, type Millis } from '../kernel/time.ts';
import {
  describeEvictionRequest,
  type EvictionRequest,
  movingUntil,
} from '../model/eviction-request.ts';
import { type Pod, type PodRef, podRef } from '../model/pod.ts';
import type { StoreView } from '../store.ts';
import type { ReadEvictionRequests, WriteEvictionRequest } from './drain-commands.ts';
import type { PodGate } from './state.ts';

const retry = { retryWaitMsMin: 1_000, retryWaitMsMax: 30_000, confirmationWaitMs: 10_000 };
const writesMax = 20;
/** A request that has no responder by then is answered by nobody: the API may have no controller behind it. */
const unansweredMs: Millis = 60_000;
/** The statuses of an API server that refuses a request, and would again. */
const refusals: ReadonlySet<number | null> = new Set([400, 403, 405, 422]);

/** The surroundings of EvictionRequests. */
interface RequestSite {
  readonly store: StoreView;
  /** Is asked before a pod is asked to go. */
  readonly gate: PodGate;
  /** Begins the id of every command. */
  readonly prefix: string;
  readonly drain: { readonly name: string; readonly uid: string };
  /** Whoever answers for a pod has so long; null: for ever. */
  readonly timeoutMs: Millis | null;
  /** Requests at one time; 0: no limit. */
  readonly max: number;
  /** True if the pod is to go still, and its node is being drained. */
  readonly isGoing: (podUid: string) => boolean;
}

/** A pod that is asked to go; `until`: the end of timeouts.evictionRequest. */
interface Asked {
  readonly pod: PodRef;
  readonly since: Instant;
  readonly until: Instant | null;
}

type Command =
  | Omit<ReadEvictionRequests, 'drain' | 'uid'>
  | Omit<WriteEvictionRequest, 'drain' | 'uid'>;

/**
 * A pod that has a request is held, and goes by the doing of whoever answers it. A request is taken
 * back when its pod is gone or is not to go any more. All of it shows in the cluster: ours bear the uid
 * of the drain, and whoever begins anew goes by that. Where the API is not there, where nobody moves the
 * pod or answers within a minute, where a request is refused, or its time is over, pods go as though
 * there were no requests.
 */
export class EvictionRequests implements PodGate {
  readonly #site: RequestSite;
  readonly #view: RequestView;
  readonly #movers: OtherMovers;
  readonly #writes: KeyedWrites;
  /** By uid. */
  readonly #asked = new Map<string, Asked>();
  /** The last refusals, by uid. */
  readonly #troubles = new Map<string, string>();
  /** Requests that the API server refused for good, by uid. */
  readonly #refused = new Map<string, string>();
  /** Why requests have led to nothing, by the uid of their pods. */
  readonly #givenUp = new Map<string, string>();
  /** The pod of each write under way, by the id of the write. */
  readonly #sent = new Map<string, { readonly uid: string; readonly isCreation: boolean }>();
  readonly #timeouts = new Schedule();
  /** Everything is taken back, as a list later than this one has to show; null: nothing is. */
  #undoneAfter: number | null = null;
  /** True if pods were asked about since the last tick; and if lists are of use. */
  #hasAsked = false;
  #isNeeded = true;

  constructor(now: Instant, site: RequestSite) {
    this.#site = site;
    this.#view = new RequestView(`${site.prefix}list`, now);
    this.#movers = new OtherMovers(site);
    this.#writes = new KeyedWrites({ ...retry, prefix: `${site.prefix}write`, max: writesMax });
  }

  /** A remark for people on the drain; null: none. */
  get remark(): string | null {
    if (this.#view.isServed === false)
      return 'the cluster has no EvictionRequests (lifecycle.k8s.io/v1alpha1): pods are evicted by pods/eviction';
    const { store } = this.#site;
    const left = [...this.#givenUp].filter(([uid]) => store.pod(uid));
    if (left[0] && this.#undoneAfter === null) {
      const pods = left.length === 1 ? '1 pod is' : `${left.length} pods are`;
      return `${pods} evicted by pods/eviction, not by EvictionRequests: ${left[0][1]}`;
    }
    const isStuck = this.#undoneAfter !== null && !this.isUndone;
    return isStuck ? `EvictionRequests are to be taken back first: ${this.#view.trouble}` : null;
  }

  /** True if nothing of the drain is left, by a list that was asked for since. */
  get isUndone(): boolean {
    const { listed } = this.#view;
    const isNew = this.#undoneAfter !== null && listed > this.#undoneAfter;
    return isNew && this.#sent.size === 0 && this.#ours().length === 0;
  }

  /** True where somebody may move the pod for a request of ours. */
  isOpen(uid: string): boolean {
    return this.#asked.has(uid) || this.#view.of(uid).some((one) => this.#isOurs(one));
  }

  /** The pods that somebody may move for a request of ours. */
  open(): ReadonlySet<string> {
    return new Set([...this.#asked.keys(), ...this.#ours().map(({ podUid }) => podUid)]);
  }

  holdOf(now: Instant, pod: Pod): string | null {
    const { gate, max, store, timeoutMs } = this.#site;
    this.#hasAsked = true;
    if (this.#view.isServed === false || this.#givenUp.has(pod.uid)) return gate.holdOf(now, pod);
    if (!this.#view.isKnown(now))
      return `waits to hear whether others move it: ${this.#view.trouble}`;
    const found = this.#view.of(pod.uid);
    const mine = found.find((one) => this.#isOurs(one));
    if (mine && mine.failed !== null) return this.#giveUp(now, pod, mine.failed);
    const asked = this.#asked.get(pod.uid);
    if (asked) {
      const { at, why } = this.#endOf(asked, mine);
      if (at !== null && at <= now) return this.#giveUp(now, pod, why);
      return this.#words(pod.uid, at);
    }
    const moved = mine ? null : this.#movers.holdOf(now, pod.uid, found);
    if (moved !== null) return moved;
    const hold = mine ? null : gate.holdOf(now, pod);
    if (hold !== null) return hold;
    const open = [...this.#asked.keys()].filter((uid) => store.pod(uid)).length;
    if (max > 0 && open >= max) return `waits for its turn (limits.podsAtOnce: ${max})`;
    gate.sent?.(now, pod);
    const until = timeoutMs === null ? null : now + timeoutMs;
    const request = { pod: podRef(pod), since: now, until };
    this.#asked.set(pod.uid, request);
    const { at } = this.#endOf(request, mine);
    if (at !== null) this.#timeouts.set(pod.uid, at);
    this.#writes.notice(now, pod.uid);
    return this.#words(pod.uid, at);
  }

  hear({ isServed, requests }: Extract<Event, { kind: 'evictionRequests' }>): void {
    this.#view.hear(isServed, requests);
  }

  /** The reads and writes that are due. */
  take(now: Instant): readonly Command[] {
    for (let uid = this.#timeouts.takeDue(now); uid !== null; uid = this.#timeouts.takeDue(now)) {
      const until = this.#asked.get(uid)?.until ?? null;
      if (until !== null && until > now) this.#timeouts.set(uid, until);
    }
    for (const [uid] of this.#asked) if (!this.#isWanted(uid)) this.#withdraw(now, uid);
    for (const { podUid } of this.#ours()) if (!this.#isWanted(podUid)) this.#notice(now, podUid);
    this.#isNeeded = this.#needsLists();
    this.#hasAsked = false;
    const id = this.#isNeeded ? this.#view.takeDue(now) : null;
    const list = id === null ? [] : [{ kind: 'readEvictionRequests', id } as const];
    return [...list, ...this.#write(now)];
  }

  /** Everything is taken back from now on. */
  undo(now: Instant): readonly Command[] {
    if (this.#undoneAfter === null) this.#listAnew(now);
    return this.isUndone ? [] : this.take(now);
  }

  /** Takes the result of a list or of a write. */
  settle(now: Instant, id: string, outcome: Outcome): void {
    const sent = this.#sent.get(id);
    if (!sent) {
      this.#view.settle(now, id, outcome);
      return;
    }
    this.#sent.delete(id);
    this.#writes.settle(now, id, outcome);
    const { uid, isCreation } = sent;
    if (isSetback(outcome)) this.#troubles.set(uid, outcome.message);
    else this.#troubles.delete(uid);
    if (isCreation && outcome.kind === 'failed' && refusals.has(outcome.status)) {
      this.#refused.set(uid, outcome.message);
      this.#timeouts.set(uid, now);
    }
    if (!isSetback(outcome) && !isCreation) this.#view.drop(uid, this.#site.drain.uid);
    // A creation may show late, or the API may be gone.
    if (this.#undoneAfter !== null) this.#listAnew(now);
    else this.#view.doubt(now);
  }

  nextWake(): Instant | null {
    const lists = this.isUndone || !this.#isNeeded ? null : this.#view.nextWake();
    return earliest([lists, this.#writes.nextWake(), this.#timeouts.next()]);
  }

  #write(now: Instant): readonly Command[] {
    // One after the other: what is begun takes room.
    const begun = Array.from(this.#writes.takeDue(now), (uid): readonly Command[] => {
      const mine = this.#view.of(uid).find((one) => this.#isOurs(one));
      const asked = this.#asked.get(uid);
      const isWanted = this.#isWanted(uid) && asked !== undefined;
      if (isWanted === (mine !== undefined) || this.#view.isServed === false) {
        this.#writes.forget(uid);
        return [];
      }
      const id = this.#writes.begin(uid);
      this.#sent.set(id, { uid, isCreation: isWanted });
      const kind = 'writeEvictionRequest' as const;
      if (isWanted) return [{ kind, id, write: { kind: 'create', pod: asked.pod } }];
      const { namespace = '', name = '' } = mine ?? {};
      return [{ kind, id, write: { kind: 'withdraw', namespace, name } }];
    });
    return begun.flat();
  }

  /** When a request counts as in vain, and why; null: not as things are. */
  #endOf(
    { pod, since, until }: Asked,
    mine: EvictionRequest | undefined,
  ): { readonly at: Instant | null; readonly why: string } {
    const refusal = this.#refused.get(pod.uid);
    if (refusal !== undefined) return { at: since, why: `the request was refused: ${refusal}` };
    const late = { at: until, why: 'timeouts.evictionRequest is over' };
    const unanswered = since + unansweredMs;
    if (mine?.responder || (until !== null && until <= unanswered)) return late;
    const trouble = this.#troubles.get(pod.uid);
    const said = trouble === undefined ? 'no responder' : `the last try failed: ${trouble}`;
    return { at: unanswered, why: `nobody has answered the request within a minute (${said})` };
  }

  /** It is asked for no more, and goes by the other ways. */
  #giveUp(now: Instant, pod: Pod, why: string): string | null {
    this.#givenUp.set(pod.uid, why);
    this.#withdraw(now, pod.uid);
    return this.#site.gate.holdOf(now, pod);
  }

  /** Takes a request back; the last write may not show before the next list. */
  #withdraw(now: Instant, uid: string): void {
    if (this.#asked.delete(uid) && this.#site.store.pod(uid)) {
      this.#site.gate.answered?.(uid, {
        kind: 'changed',
        message: 'it is not asked to go any more',
      });
    }
    this.#timeouts.cancel(uid);
    this.#view.doubt(now);
    this.#notice(now, uid);
  }

  /** At once, unless it is being written, or was refused and waits. */
  #notice(now: Instant, uid: string): void {
    if (!this.#writes.isUnderWay(uid) && !this.#writes.failures(uid))
      this.#writes.postpone(uid, now);
  }

  #listAnew(now: Instant): void {
    this.#undoneAfter = this.#view.asked;
    this.#view.doubt(now);
  }

  #needsLists(): boolean {
    if (this.#undoneAfter !== null || this.#view.listed === 0) return true;
    return this.#hasAsked || this.#asked.size > 0 || this.#ours().length > 0;
  }

  #isWanted(uid: string): boolean {
    const { store, isGoing } = this.#site;
    if (this.#undoneAfter !== null || this.#givenUp.has(uid)) return false;
    return store.pod(uid) !== null && isGoing(uid);
  }

  #ours(): readonly EvictionRequest[] {
    return this.#view.all().filter((one) => this.#isOurs(one));
  }

  #isOurs({ drain }: EvictionRequest): boolean {
    return drain === this.#site.drain.uid;
  }

  #words(uid: string, until: Instant | null): string {
    const trouble = this.#troubles.get(uid);
    const what =
      trouble === undefined
        ? 'its eviction is requested (EvictionRequest)'
        : `its eviction could not be requested: ${trouble}`;
    if (until === null) return what;
    return `${what}; by pods/eviction at ${formatDeadline(this.#site.store.clock.wall(until))}`;
  }
}

/** A cluster without requests is asked so seldom. */
const absentEveryMs: Millis = 10 * 60_000;

/** The surroundings of requests of others. */
interface MoverSite {
  readonly store: StoreView;
  /** Over all of them, whatever they say; null: for as long as they show that they are at work. */
  readonly timeoutMs: Millis | null;
}

interface Seen {
  /** When a pod was first left to them. */
  readonly since: Instant;
  /** By the cluster's clock, when that one's turn was first seen. */
  readonly turnAt: Instant;
  readonly responder: string | null;
}

/** Those whose turn it is show that they are at work; without that their time is over. */
class OtherMovers {
  readonly #site: MoverSite;
  readonly #seen = new Map<string, Seen>();

  constructor(site: MoverSite) {
    this.#site = site;
  }

  /** Why a pod is left to others, in words; null: nobody else moves it. */
  holdOf(now: Instant, podUid: string, requests: readonly EvictionRequest[]): string | null {
    const { store, timeoutMs } = this.#site;
    const wall = store.clock.wall(now);
    for (const request of requests) {
      const before = this.#seen.get(podUid);
      const responder = request.responder?.name ?? null;
      const isSame = before?.responder === responder;
      const turnAt = before && isSame ? before.turnAt : wall;
      const until = movingUntil(request, turnAt);
      if (until === null) continue;
      const since = before?.since ?? now;
      this.#seen.set(podUid, { since, turnAt, responder });
      const isOver = timeoutMs !== null && now >= since + timeoutMs;
      if (wall < until && !isOver)
        return `somebody else is moving it: ${describeEvictionRequest(request)}`;
    }
    return null;
  }

  forget(podUid: string): void {
    this.#seen.delete(podUid);
  }
}

/** The surroundings in which requests of others are heeded. */
interface OtherRequestSite extends MoverSite {
  /** Begins the id of every command. */
  readonly prefix: string;
}

/**
 * Looks, before a pod is evicted, whether others move it. Until the first answer it waits; where nobody
 * may look, it goes on: budgets are asked all the same.
 */
export class OtherRequests implements PodGate {
  readonly #view: RequestView;
  readonly #movers: OtherMovers;
  /** True if pods were asked about since the last tick; and if lists are of use. */
  #hasAsked = true;
  #isNeeded = true;

  constructor(now: Instant, site: OtherRequestSite) {
    this.#view = new RequestView(`${site.prefix}others`, now, absentEveryMs);
    this.#movers = new OtherMovers(site);
  }

  /** A remark for people on the drain; null: none. */
  get remark(): string | null {
    const { trouble, hasFailed, isServed } = this.#view;
    if (!hasFailed || isServed === false) return null;
    return `whether others move pods by EvictionRequests is not known: ${trouble}`;
  }

  holdOf(now: Instant, pod: Pod): string | null {
    this.#hasAsked = true;
    if (!this.#view.isAnswered(now)) return 'waits to hear whether others move it';
    const others = this.#view.of(pod.uid);
    return this.#movers.holdOf(now, pod.uid, others);
  }

  sent(_now: Instant, pod: Pod): void {
    this.#movers.forget(pod.uid);
  }

  hear({ isServed, requests }: Extract<Event, { kind: 'evictionRequests' }>): void {
    this.#view.hear(isServed, requests);
  }

  /** The list that is due. */
  take(now: Instant): readonly Omit<ReadEvictionRequests, 'drain' | 'uid'>[] {
    const id = this.#hasAsked ? this.#view.takeDue(now) : null;
    this.#isNeeded = this.#hasAsked;
    this.#hasAsked = false;
    return id === null ? [] : [{ kind: 'readEvictionRequests', id }];
  }

  /** No pod is to go any more. */
  rest(): void {
    this.#isNeeded = false;
  }

  settle(now: Instant, id: string, outcome: Outcome): void {
    this.#view.settle(now, id, outcome);
  }

  nextWake(): Instant | null {
    return this.#isNeeded ? this.#view.nextWake() : null;
  }
}

/** EvictionRequests are listed so often while that matters; a list counts no more from this age on. */
const listEveryMs: Millis = 5_000;
const listAgeMsMax: Millis = 45_000;

/** They are listed again and again: they are few, and one list shows ours and those of others. */
class RequestView {
  readonly #prefix: string;
  #count = 0;
  #byPod = new Map<string, EvictionRequest[]>();
  /** Null: nobody has answered. */
  #isServed: boolean | null = null;
  #listedAt: Instant | null = null;
  /** Which of the lists that were asked for counts; 0: none. */
  #listed = 0;
  /** True if something was written since it was asked for. */
  #isDoubted = false;
  /** When the list was asked for that is under way; null: none is. */
  #askedAt: Instant | null = null;
  #pendingId = '';
  #nextAt: Instant;
  #trouble = 'it is not known yet';
  #hasFailed = false;
  #answeredAt: Instant | null = null;
  /** True if the cluster has none, or they may not be seen: that does not change soon. */
  #isAbsent = false;
  readonly #absentEveryMs: Millis;

  /** `absentEveryMs`: how often it is looked where the cluster has none, or they may not be seen. */
  constructor(prefix: string, now: Instant, absentEveryMs: Millis = listEveryMs) {
    this.#prefix = prefix;
    this.#nextAt = now;
    this.#absentEveryMs = absentEveryMs;
  }

  /** True if the last list that was asked for did not come. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** True if the cluster has the API; null: nobody knows. */
  get isServed(): boolean | null {
    return this.#isServed;
  }

  /** Why nobody knows what there is. */
  get trouble(): string {
    return this.#trouble;
  }

  /** The number of lists that were asked for. */
  get asked(): number {
    return this.#count;
  }

  /** Which of them was answered last; 0: none. */
  get listed(): number {
    return this.#listed;
  }

  /** True if a list was answered lately, by what there is, that there is none, or by a refusal. */
  isAnswered(now: Instant): boolean {
    const ageMsMax = this.#isAbsent ? this.#absentEveryMs : listAgeMsMax;
    return this.#answeredAt !== null && now < this.#answeredAt + ageMsMax;
  }

  isKnown(now: Instant): boolean {
    return this.#listedAt !== null && now < this.#listedAt + listAgeMsMax;
  }

  of(podUid: string): readonly EvictionRequest[] {
    return this.#byPod.get(podUid) ?? [];
  }

  all(): readonly EvictionRequest[] {
    return [...this.#byPod.values()].flat();
  }

  /** The id of the list that is to be asked for now; null: none is. */
  takeDue(now: Instant): string | null {
    if (this.#askedAt !== null || now < this.#nextAt) return null;
    this.#askedAt = now;
    this.#isDoubted = false;
    this.#pendingId = `${this.#prefix}-${++this.#count}`;
    return this.#pendingId;
  }

  /** Takes the content of a list; its result follows. */
  hear(isServed: boolean, requests: readonly EvictionRequest[]): void {
    this.#isServed = isServed;
    this.#byPod = new Map();
    for (const request of requests) {
      this.#byPod.set(request.podUid, [...this.of(request.podUid), request]);
    }
  }

  /** Takes the result of a list. */
  settle(now: Instant, id: string, outcome: Outcome): void {
    if (id !== this.#pendingId || this.#askedAt === null) return;
    this.#hasFailed = isSetback(outcome);
    if (isSetback(outcome)) this.#trouble = outcome.message;
    else {
      this.#listedAt = this.#askedAt;
      this.#listed = this.#count;
    }
    this.#askedAt = null;
    this.#answeredAt = now;
    this.#isAbsent = isRefusal(outcome) || (!this.#hasFailed && this.#isServed === false);
    const waitMs = this.#isAbsent ? this.#absentEveryMs : listEveryMs;
    this.#nextAt = this.#isDoubted ? now : now + waitMs;
  }

  /** It is listed at once: what is known may not hold. */
  doubt(now: Instant): void {
    this.#isDoubted = true;
    this.#nextAt = Math.min(this.#nextAt, now);
  }

  /** It was taken back. */
  drop(podUid: string, drain: string): void {
    const left = this.of(podUid).filter((one) => one.drain !== drain);
    if (left.length > 0) this.#byPod.set(podUid, left);
    else this.#byPod.delete(podUid);
  }

  nextWake(): Instant | null {
    return this.#askedAt === null ? this.#nextAt : null;
  }
}

/** Rights do not come by asking again soon. */
function isRefusal(outcome: Outcome): boolean {
  return outcome.kind === 'failed' && (outcome.status === 401 || outcome.status === 403);
}
