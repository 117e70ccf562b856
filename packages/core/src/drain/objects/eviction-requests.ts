// Asks by EvictionRequests that pods leave, where the cluster has them, and heeds those of others.
import { KeyedWrites } from '../../attempt/keyed-writes.ts';
import { isSetback, type Outcome } from '../../attempt/outcome.ts';
import type { Event } from '../../event.ts';
import { Schedule } from '../../kernel/schedule.ts';
import { earliest, formatDeadline, type Instant, type Millis } from '../../kernel/time.ts';
import type { EvictionRequest } from '../../model/eviction-request.ts';
import { type Pod, type PodRef, podRef } from '../../model/pod.ts';
import type { StoreView } from '../../store.ts';
import type { PodGate } from '../pod-gate.ts';
import type { ReadEvictionRequests, WriteEvictionRequest } from './command.ts';
import { OtherMovers } from './other-movers.ts';
import { RequestView } from './request-view.ts';

const retry = { retryWaitMsMin: 1_000, retryWaitMsMax: 30_000, confirmationWaitMs: 10_000 };
const writesMax = 20;
/** A request that has no responder by then is answered by nobody: the API may have no controller behind it. */
const unansweredMs: Millis = 60_000;
/** What an API server answers that refuses a request, and would again. */
const refusals: ReadonlySet<number | null> = new Set([400, 403, 405, 422]);

/** What these requests go by. */
export interface RequestSite {
  readonly store: StoreView;
  /** Is asked before a pod is asked to go. */
  readonly gate: PodGate;
  /** Begins the id of every command. */
  readonly prefix: string;
  readonly drain: { readonly name: string; readonly uid: string };
  /** How long whoever answers for a pod has; null: for ever. */
  readonly timeoutMs: Millis | null;
  /** Requests at one time; 0: no limit. */
  readonly max: number;
  /** Whether the pod is to go still, and its node is being drained. */
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
  /** What was not granted last, by uid. */
  readonly #troubles = new Map<string, string>();
  /** Requests that the API server refused for good, by uid. */
  readonly #refused = new Map<string, string>();
  /** Why requests have led to nothing, by the uid of their pods. */
  readonly #givenUp = new Map<string, string>();
  /** What each write under way is about. */
  readonly #sent = new Map<string, { readonly uid: string; readonly isCreation: boolean }>();
  readonly #timeouts = new Schedule();
  /** Everything is taken back, as a list later than this one has to show; null: nothing is. */
  #undoneAfter: number | null = null;
  /** Whether pods were asked about since the last tick, and whether lists are of use. */
  #hasAsked = false;
  #isNeeded = true;

  constructor(now: Instant, site: RequestSite) {
    this.#site = site;
    this.#view = new RequestView(`${site.prefix}list`, now);
    this.#movers = new OtherMovers(site);
    this.#writes = new KeyedWrites({ ...retry, prefix: `${site.prefix}write`, max: writesMax });
  }

  /** What people are to know of the drain; null: nothing. */
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

  /** Whether nothing of the drain is left, by a list that was asked for since. */
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
    gate.sent(now, pod);
    const until = timeoutMs === null ? null : now + timeoutMs;
    const request = { pod: podRef(pod), since: now, until };
    this.#asked.set(pod.uid, request);
    const { at } = this.#endOf(request, mine);
    if (at !== null) this.#timeouts.set(pod.uid, at);
    this.#writes.notice(now, pod.uid);
    return this.#words(pod.uid, at);
  }

  sent(now: Instant, pod: Pod): void {
    this.#site.gate.sent(now, pod);
  }

  answered(uid: string, outcome: Outcome): void {
    this.#site.gate.answered(uid, outcome);
  }

  hear({ isServed, requests }: Extract<Event, { kind: 'evictionRequests' }>): void {
    this.#view.hear(isServed, requests);
  }

  /** What is to be read and written now. */
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

  /** What was written last may not show yet: it is looked for in the next list. */
  #withdraw(now: Instant, uid: string): void {
    if (this.#asked.delete(uid) && this.#site.store.pod(uid)) {
      this.#site.gate.answered(uid, { kind: 'changed', message: 'it is not asked to go any more' });
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
