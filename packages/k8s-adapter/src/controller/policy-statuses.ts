// Chooses when the leader writes the status of a policy, taint rule or pause.
import type { PolicyCounts } from '@taintmgr/core';
import type { Instant, Millis } from '@taintmgr/core/time';
import { type KindName, policyKinds } from '../kinds/kinds.ts';
import {
  type FollowedKind,
  type FollowedObject,
  type FollowedObjects,
  isOpenDrain,
} from '../manifests/followed.ts';
import { type Answer, type Failure, failureOf, succeeded } from '../proto/answer.ts';
import { type ApiRequest, policiesPath, replaceOfRequest, withQuery } from '../proto/requests.ts';
import type { WallClock } from './clock/server-clock.ts';
import { policyStatus } from './policy-status.ts';
import { type Obstacle, obstacleOf, type PublisherNotice } from './publisher-notice.ts';

interface PolicyStatusOptions {
  readonly followed: FollowedObjects;
  readonly counts: (now: Instant) => PolicyCounts;
  readonly clock: WallClock;
}

/** A status to write. */
export interface PolicyWrite {
  readonly kind: FollowedKind;
  readonly name: string;
  readonly uid: string;
  readonly status: unknown;
}

/** The status that was written of an object, and its time. */
interface Written {
  readonly uid: string;
  /** Undefined: nothing yet, so that the read status counts. */
  readonly status: unknown;
  readonly sentAt: Instant;
  /** Until then it is left alone. */
  readonly notBefore: Instant;
  /** The object as it was heard of then; null: it was gone. */
  readonly object: FollowedObject | null;
}

/** From one look at all of them to the next, and so between two writes of one. */
const lookMs: Millis = 3_000;
/** The same for NodeDrains that are not over: people and programs wait for those. */
const drainLookMs: Millis = 1_000;
/** Between two writes, whatever they are of. */
const paceMs: Millis = 200;
/** Until what failed and may pass is tried again. */
const failedMs: Millis = 10_000;
/** Until a refused write is tried again. */
const slowMs: Millis = 60_000;

/**
 * Every few seconds, of NodeDrains each second, the wanted status of each object is computed.
 * Objects with another status are written, one after another, the longest wait first. The last
 * written status counts as the status of an object; before the first write, the one that was read.
 * So nothing is written twice, also not by the next leader. A status of another writer stands until
 * there is something new to say, for a minute at most: two that disagree do not write all the time.
 *
 * A NodeDrain that is new, or was edited, has its status at once: what has still to leave stands there before anything
 * leaves, so that the next leader can count what left.
 *
 * Nothing waits for it. A refused write is tried again once a minute, for all objects of the kind.
 */
export class PolicyStatuses {
  readonly #options: PolicyStatusOptions;
  readonly #written = new Map<string, Written>();
  /** Null: we do not lead, or have not read everything yet. */
  #lookAt: Instant | null = null;
  #drainsAt: Instant = Number.NEGATIVE_INFINITY;
  /** The NodeDrains that were new at the last look at them. */
  #begun: ReadonlySet<FollowedObject> = new Set();
  #queue: readonly PolicyWrite[] = [];
  #sentAt: Instant = Number.NEGATIVE_INFINITY;
  /** Until then nothing is written. */
  #notBefore: Instant = Number.NEGATIVE_INFINITY;
  /** The failure that keeps a kind from being written, and until when. */
  readonly #obstacles = new Map<
    FollowedKind,
    { readonly why: Obstacle; readonly until: Instant }
  >();

  constructor(options: PolicyStatusOptions) {
    this.#options = options;
  }

  /** From now on we say how they are doing. */
  begin(now: Instant): void {
    this.#lookAt ??= now;
  }

  /** Ends the writing. Statuses that others write meanwhile are read. */
  end(): void {
    this.#lookAt = null;
    this.#queue = [];
    this.#written.clear();
    this.#obstacles.clear();
    this.#notBefore = Number.NEGATIVE_INFINITY;
  }

  /** The time at which there may be something to write; null: after an input. */
  nextWake(): Instant | null {
    if (this.#lookAt === null || this.#options.followed.size === 0) return null;
    const { followed } = this.#options;
    const drainsAt = this.#hasNewDrain ? Number.NEGATIVE_INFINITY : this.#drainsAt;
    const look = followed.hasOpenDrains ? Math.min(this.#lookAt, drainsAt) : this.#lookAt;
    const next = this.#queue.length > 0 ? this.#sentAt + paceMs : look;
    return Math.max(Math.min(next, look), this.#notBefore);
  }

  /** The write that is due now; null: nothing. */
  take(now: Instant): PolicyWrite | null {
    const wake = this.nextWake();
    if (wake === null || now < wake) return null;
    const { followed } = this.#options;
    if (this.#lookAt !== null && now >= this.#lookAt) {
      this.#lookAt = now + lookMs;
      this.#look(now, () => true);
    } else if (this.#hasNewDrain || (followed.hasOpenDrains && now >= this.#drainsAt)) {
      this.#look(now, isOpenDrain);
    }
    if (now < this.#sentAt + paceMs) return null;
    const [write, ...others] = this.#queue;
    if (!write) return null;
    this.#queue = others;
    this.#sentAt = now;
    const { kind, name, uid, status } = write;
    const object = followed.get(kind, name);
    this.#written.set(keyOf(write), { uid, status, sentAt: now, notBefore: now, object });
    return write;
  }

  request({ kind, name, uid, status }: PolicyWrite): ApiRequest {
    return policyStatusRequest(kind, { name, uid }, status);
  }

  /** Takes the end of a write, and tells what people should know. */
  finished(now: Instant, write: PolicyWrite, answer: Answer): PublisherNotice | null {
    const { kind, uid } = write;
    const before = this.#obstacles.get(kind)?.why ?? null;
    if (succeeded(answer)) {
      this.#obstacles.delete(kind);
      return before === null ? null : { kind: 'policiesPublished', resource: plural(kind) };
    }
    const failure = failureOf(answer);
    const why = obstacleOf(failure);
    const isOfKind = failure.status === 403 || (why === 'notInstalled' && failure.name === '');
    const wait = why === 'failed' ? Math.max(failedMs, failure.retryAfter ?? 0) : slowMs;
    const until = now + wait;
    const failed = { status: undefined, sentAt: now, notBefore: until, object: null };
    this.#written.set(keyOf(write), { uid, ...failed });
    // The object is gone, or another has its name, of which we will hear soon.
    const isGone = (why === 'notInstalled' && !isOfKind) || isTestFailed(failure);
    if (isGone) return null;
    if (why === 'failed' && failure.status !== 409) this.#notBefore = until;
    this.#obstacles.set(kind, { why, until: isOfKind ? until : now });
    if (isOfKind) this.#queue = this.#queue.filter((other) => other.kind !== kind);
    const isNews = why !== before;
    return isNews ? { kind: 'policiesNotPublished', resource: plural(kind), why, failure } : null;
  }

  get #hasNewDrain(): boolean {
    for (const object of this.#options.followed.newDrains) {
      if (!this.#begun.has(object)) return true;
    }
    return false;
  }

  /** Computes again the statuses to write of some of them. */
  #look(now: Instant, isMeant: (object: FollowedObject) => boolean): void {
    this.#drainsAt = now + drainLookMs;
    const { followed, counts, clock } = this.#options;
    this.#begun = new Set(followed.newDrains);
    const counted = counts(now);
    const wall = clock.wall(now);
    const meant = [...followed].filter(isMeant);
    const keys = new Set(meant.map(keyOf));
    const others = this.#queue.filter((write) => !keys.has(keyOf(write)));
    const found = meant.flatMap((object) => {
      const write = this.#writeOf(now, object, counted, wall);
      return write ? [write] : [];
    });
    const there = new Set(Array.from(followed, keyOf));
    for (const key of this.#written.keys()) if (!there.has(key)) this.#written.delete(key);
    this.#queue = [...others, ...found].sort((a, b) => this.#turnOf(a) - this.#turnOf(b));
  }

  #turnOf(write: PolicyWrite): Instant {
    return this.#written.get(keyOf(write))?.sentAt ?? Number.MIN_SAFE_INTEGER;
  }

  #writeOf(
    now: Instant,
    object: FollowedObject,
    counts: PolicyCounts,
    wall: Instant,
  ): PolicyWrite | null {
    const { kind, name, uid } = object;
    const last = this.#written.get(keyOf(object));
    const written = last?.uid === uid ? last : null;
    if (now < Math.max(written?.notBefore ?? now, this.#obstacles.get(kind)?.until ?? now)) {
      return null;
    }
    const isOurs = written !== null && !isUndone(now, object, written);
    const known = isOurs ? (written.status ?? object.status) : object.status;
    const status = policyStatus(object, counts, wall, known);
    if (status === null || canonical(status) === canonical(known)) return null;
    return { kind, name, uid, status };
  }
}

/** Tells whether it was heard of since, and has had another status than the one we wrote for long. */
function isUndone(now: Instant, object: FollowedObject, written: Written): boolean {
  if (now < written.sentAt + slowMs || object === written.object) return false;
  return canonical(object.status) !== canonical(written.status);
}

/** The API server names no field where the uid of a JSON patch is not that of the object. */
function isTestFailed({ status, causes }: Failure): boolean {
  return status === 422 && causes.length === 0;
}

function keyOf({ kind, name }: { readonly kind: FollowedKind; readonly name: string }): string {
  return `${kind}/${name}`;
}

function plural(kind: FollowedKind): string {
  return policyKinds[kind].plural;
}

/** The same text for the same value, in whatever order its members stand. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member) =>
    member instanceof Object && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}

/** The owner of the fields of a status. */
const fieldManager = 'taintmgr-controller';

/** PATCH that puts this status in the place of the whole one before, of exactly this object. */
function policyStatusRequest(
  kind: KindName,
  { name, uid }: { readonly name: string; readonly uid: string },
  status: unknown,
): ApiRequest {
  const path = `${policiesPath(policyKinds[kind].plural)}/${encodeURIComponent(name)}/status`;
  return replaceOfRequest(withQuery(path, { fieldManager }), uid, '/status', status);
}
