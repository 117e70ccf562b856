// Asks for the removal of pods by EvictionRequests, where the cluster has them, and respects those
// of others.
import { KeyedWrites } from '../../attempt/keyed-writes.ts';
import { isSetback, type Outcome } from '../../attempt/outcome.ts';
import type { RecordPodEvent } from '../../attempt/pod-command.ts';
import type { Event } from '../../event.ts';
import { Schedule } from '../../kernel/schedule.ts';
import {
  earliest,
  formatDeadline,
  formatDuration,
  type Instant,
  type Millis,
} from '../../kernel/time.ts';
import { type EvictionRequest, responderStaleMs } from '../../model/eviction-request.ts';
import { type Pod, type PodRef, podRef } from '../../model/pod.ts';
import type { StoreView } from '../../store.ts';
import type { ReadEvictionRequests, WriteEvictionRequest } from '../eviction-command.ts';
import type { Reason } from '../reason.ts';
import { absentEveryMs, OtherMovers } from './other-requests.ts';
import { RequestView } from './request-view.ts';

const retry = { retryWaitMsMin: 1_000, retryWaitMsMax: 30_000, confirmationWaitMs: 10_000 };
const writesMax = 20;
/**
 * A request without a responder by then stays unanswered: the API may have no controller behind it.
 */
const unansweredMs: Millis = 60_000;
/** The statuses of an API server that refuses a request, and would again. */
const refusals: ReadonlySet<number | null> = new Set([400, 403, 405, 422]);

/** The reason of Events about pods whose requests have led to nothing. */
export const givenUpReason = 'EvictionRequestGivenUp';

/** Is asked before the eviction of a pod is requested, and hears what came of it. */
interface RequestGate {
  /** The reason why the pod must not leave now, in words; null: it may. */
  holdOf(now: Instant, pod: Pod): string | null;
  sent?(now: Instant, pod: Pod): void;
  answered?(uid: string, outcome: Outcome): void;
}

/** The surroundings of EvictionRequests. */
interface RequestSite {
  readonly store: StoreView;
  readonly gate: RequestGate;
  /** Begins the id of every command. */
  readonly prefix: string;
  /** The owner of the requests, as in EvictionRequest.drain. */
  readonly drain: { readonly uid: string };
  /** The time that a pod's responder has. */
  readonly timeoutMs: Millis;
  /** Requests at one time; 0: no limit. */
  readonly max: number;
  /** True if the pod still has to leave. */
  readonly isGoing: (podUid: string) => boolean;
}

/** A pod that is asked to go. */
interface Asked {
  readonly pod: PodRef;
  readonly since: Instant;
}

type Command =
  | RecordPodEvent<Reason>
  | Omit<ReadEvictionRequests, 'drain' | 'uid'>
  | Omit<WriteEvictionRequest, 'drain' | 'uid'>;

/**
 * A pod that has a request is held, and its responder makes it leave. A request is taken back when
 * its pod is gone or no longer has to leave. All state is in the cluster: our requests carry the
 * uid of the drain; a new leader reads them, and counts from their creation.
 *
 * No pod waits for ever. Pods leave as if there were no requests where the API is not there or may
 * not be read, where no responder moves the pod or answers within a minute, where a responder gives
 * no sign of life for 20 minutes, and where a request is refused or its time is over.
 */
export class EvictionRequests {
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
  /** The Events to write about them. */
  #news: RecordPodEvent<Reason>[] = [];
  /** The pod of each write under way, by the id of the write. */
  readonly #sent = new Map<string, { readonly uid: string; readonly isCreation: boolean }>();
  readonly #timeouts = new Schedule();
  /** Everything is taken back, as a list later than this one has to show; null: nothing is. */
  #undoneAfter: number | null = null;
  /** True if pods were asked about since the last tick; and if lists are of use. */
  #hasAsked = false;
  #isNeeded = true;
  /** True if what there is cannot be read, as a pod was last asked about. */
  #isLost = false;

  constructor(now: Instant, site: RequestSite) {
    this.#site = site;
    this.#view = new RequestView(`${site.prefix}list`, now, absentEveryMs);
    this.#movers = new OtherMovers(site);
    this.#writes = new KeyedWrites({ ...retry, prefix: `${site.prefix}write`, max: writesMax });
  }

  /** Why pods go by pods/eviction, for people; null: they do not. */
  get remark(): string | null {
    const absence = this.#absence;
    if (absence !== null) return `${absence}: pods are evicted by pods/eviction`;
    const [why] = this.#givenUp.values();
    if (why === undefined || this.#undoneAfter !== null) return this.#stuck;
    const { size } = this.#givenUp;
    const isThere = [...this.#givenUp.keys()].some((uid) => this.#site.store.pod(uid));
    const goes = isThere ? (size === 1 ? 'goes' : 'go') : 'went';
    const pods = size === 1 ? '1 pod' : `${size} pods`;
    return `${pods} ${goes} by pods/eviction, not by EvictionRequests: ${why}`;
  }

  /** Why no request is of use; null: one may be. */
  get #absence(): string | null {
    const { isServed, trouble } = this.#view;
    if (isServed === false)
      return 'the cluster has no EvictionRequests (lifecycle.k8s.io/v1alpha1)';
    return this.#isLost ? `EvictionRequests cannot be read (${trouble})` : null;
  }

  /** The reason why requests cannot be taken back; null: none, or they need not be. */
  get #stuck(): string | null {
    const isStuck = this.#undoneAfter !== null && !this.isUndone;
    return isStuck ? `EvictionRequests must be withdrawn first: ${this.#view.trouble}` : null;
  }

  /** True if nothing of the drain is left, by a list that was asked for since. */
  get isUndone(): boolean {
    const { listed, isRefused } = this.#view;
    const isNew = this.#undoneAfter !== null && listed > this.#undoneAfter;
    // A client that may not list them has made none.
    const isSure = isNew || (this.#undoneAfter !== null && isRefused && listed === 0);
    return isSure && this.#sent.size === 0 && this.#ours().length === 0;
  }

  /** True where requests have led to nothing for the pod. */
  isGivenUp(uid: string): boolean {
    return this.#givenUp.has(uid);
  }

  /** True where a responder may move the pod for a request of ours. */
  isOpen(uid: string): boolean {
    return this.#asked.has(uid) || this.#view.of(uid).some((one) => this.#isOurs(one));
  }

  /** The pods that a responder may move for a request of ours. */
  open(): ReadonlySet<string> {
    return new Set([...this.#asked.keys(), ...this.#ours().map(({ podUid }) => podUid)]);
  }

  holdOf(now: Instant, pod: Pod): string | null {
    const { gate, max, store } = this.#site;
    this.#hasAsked = true;
    this.#isLost = this.#view.isLost(now);
    if (this.#givenUp.has(pod.uid)) return gate.holdOf(now, pod);
    const absence = this.#absence;
    if (absence !== null) return this.#giveUp(now, pod, absence);
    const found = this.#view.of(pod.uid);
    const mine = this.#mine(pod.uid);
    if (mine && mine.failed !== null) return this.#giveUp(now, pod, mine.failed);
    const asked = this.#asked.get(pod.uid);
    if (!asked && !this.#view.isKnown(now))
      return `waits to hear whether others move it: ${this.#view.trouble}`;
    if (!asked && !mine) {
      const hold = this.#movers.holdOf(now, pod.uid, found) ?? gate.holdOf(now, pod);
      if (hold !== null) return hold;
      const open = [...this.#asked.keys()].filter((uid) => store.pod(uid)).length;
      if (max > 0 && open >= max) return `waits for its turn (limits.podsAtOnce: ${max})`;
    }
    const request = asked ?? this.#ask(now, pod, mine);
    const { at, why } = this.#endOf(now, request, mine);
    if (at <= now) return this.#giveUp(now, pod, why);
    if (!asked) this.#timeouts.set(pod.uid, at);
    return this.#words(pod.uid, at);
  }

  /** Counts from when the request was made, regardless of the leader at that time. */
  #ask(now: Instant, pod: Pod, mine: EvictionRequest | undefined): Asked {
    const { gate, store } = this.#site;
    const createdAt = mine?.createdAt ?? null;
    const since = createdAt === null ? now : Math.min(now, store.clock.when(createdAt));
    const request = { pod: podRef(pod), since };
    gate.sent?.(now, pod);
    this.#asked.set(pod.uid, request);
    this.#writes.notice(now, pod.uid);
    return request;
  }

  /** The pod is gone, and no longer counts among those that fell back. */
  forget(uid: string): void {
    this.#givenUp.delete(uid);
    this.#refused.delete(uid);
    this.#troubles.delete(uid);
    this.#movers.forget(uid);
  }

  hear({ isServed, requests }: Extract<Event, { kind: 'evictionRequests' }>): void {
    this.#view.hear(isServed, requests);
  }

  /** The reads and writes that are due. */
  take(now: Instant): readonly Command[] {
    for (let uid = this.#timeouts.takeDue(now); uid !== null; uid = this.#timeouts.takeDue(now)) {
      const asked = this.#asked.get(uid);
      const end = asked && this.#endOf(now, asked, this.#mine(uid)).at;
      if (end !== undefined && end > now) this.#timeouts.set(uid, end);
    }
    for (const [uid] of this.#asked) if (!this.#isWanted(uid)) this.#withdraw(now, uid);
    for (const { podUid } of this.#ours()) if (!this.#isWanted(podUid)) this.#notice(now, podUid);
    this.#isNeeded = this.#needsLists();
    this.#hasAsked = false;
    const id = this.#isNeeded ? this.#view.takeDue(now) : null;
    const list = id === null ? [] : [{ kind: 'readEvictionRequests', id } as const];
    return [...this.#news.splice(0), ...list, ...this.#write(now)];
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
    // Writes begin one after the other: each takes a place.
    const begun = Array.from(this.#writes.takeDue(now), (uid): readonly Command[] => {
      const mine = this.#mine(uid);
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

  /** When a request counts as in vain, as things are, and why. */
  #endOf(
    now: Instant,
    { pod, since }: Asked,
    mine: EvictionRequest | undefined,
  ): { readonly at: Instant; readonly why: string } {
    const { store, timeoutMs } = this.#site;
    const refusal = this.#refused.get(pod.uid);
    if (refusal !== undefined) return { at: since, why: `the request was refused: ${refusal}` };
    const until = since + timeoutMs;
    const late = {
      at: until,
      why: `no controller has moved it within ${formatDuration(timeoutMs)}`,
    };
    if (mine?.responder) {
      const heard = this.#movers.untilOf(now, pod.uid, mine);
      const silent = heard === null ? until : store.clock.when(heard);
      const time = formatDuration(responderStaleMs);
      const why = `${mine.responder.name} has reported no progress for ${time}`;
      return silent < until ? { at: silent, why } : late;
    }
    const unanswered = since + unansweredMs;
    if (until <= unanswered) return late;
    const trouble = this.#troubles.get(pod.uid);
    const said = trouble === undefined ? 'no responder' : `the last try failed: ${trouble}`;
    return {
      at: unanswered,
      why: `no controller has answered the request within a minute (${said})`,
    };
  }

  /** The pod is no longer requested, and leaves in the other ways. */
  #giveUp(now: Instant, pod: Pod, why: string): string | null {
    this.#givenUp.set(pod.uid, why);
    this.#news.push({
      ...{ kind: 'recordEvent', pod: podRef(pod), type: 'Warning', because: [] },
      reason: givenUpReason,
      message: `${why}: the pod is evicted by pods/eviction`,
    });
    if (this.isOpen(pod.uid)) this.#withdraw(now, pod.uid);
    return this.#site.gate.holdOf(now, pod);
  }

  /** Takes a request back; the last write may not show before the next list. */
  #withdraw(now: Instant, uid: string): void {
    if (this.#asked.delete(uid) && this.#site.store.pod(uid)) {
      this.#site.gate.answered?.(uid, {
        kind: 'changed',
        message: 'it no longer has to leave',
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

  #mine(uid: string): EvictionRequest | undefined {
    return this.#view.of(uid).find((one) => this.#isOurs(one));
  }

  #isOurs({ drain }: EvictionRequest): boolean {
    return drain === this.#site.drain.uid;
  }

  #words(uid: string, until: Instant): string {
    const trouble = this.#troubles.get(uid);
    const what =
      trouble === undefined
        ? 'its eviction is requested (EvictionRequest)'
        : `its eviction could not be requested: ${trouble}`;
    return `${what}; by pods/eviction at ${formatDeadline(this.#site.store.clock.wall(until))}`;
  }
}
