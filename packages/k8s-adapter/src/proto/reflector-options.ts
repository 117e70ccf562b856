import type { Instant, Millis } from '@taintmgr/core/time';
import type { Failure } from './answer.ts';
import type { Random } from './backoff.ts';
import type { ExchangeInput } from './exchange.ts';
import type { ItemChange, Project } from './inventory.ts';
import type { Kinds } from './protobuf.ts';
import type { RequestEffect, Selectors } from './requests.ts';

export type ReflectorInput =
  | { readonly kind: 'start' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'tick' }
  /** The API server answers again, after it was away: whoever waits for that need not wait his time out. */
  | { readonly kind: 'returned' }
  | ExchangeInput;

export type ReflectorEffect<T> =
  | RequestEffect
  | ItemChange<T>
  /** The first list is complete. */
  | { readonly kind: 'synced' }
  | { readonly kind: 'notice'; readonly notice: ReflectorNotice };

/** Which collection to follow, and how. */
export interface ReflectorOptions<T> extends MissingRules {
  /** Names the collection in notices, e.g. `pods`. */
  readonly resource: string;
  /** Begins the ids of its requests; the resource when left out. */
  readonly id?: string;
  readonly path: string;
  readonly selectors: Selectors;
  readonly project: Project<T>;
  /** False: list once and rest. */
  readonly watch: boolean;
  /** True if the server is asked for lists as the beginning of a watch; default false: in pages. */
  readonly streamLists?: boolean;
  /**
   * True if objects of a first list are told as they come, since there may be a million; default
   * false: when it is complete.
   */
  readonly reportsEarly?: boolean;
  /** More objects than these are no collection of a cluster; left out: 2,000,000. */
  readonly objectsMax?: number;
  /** True if the server is asked for streams in protobuf where it has it; default false: in JSON. */
  readonly protobuf?: boolean;
  /** What of each kind is read in protobuf; left out: what `convert.ts` looks at. */
  readonly kinds?: Kinds;
  readonly random: Random;
}

/**
 * What a reflector reports to people: connections lost and found, lists, errors. `nodeName` is the
 * node whose pods it reads, where they are read by node.
 */
export type ReflectorNotice =
  | {
      readonly kind: 'listed';
      readonly resource: string;
      readonly nodeName?: string;
      readonly objects: number;
      readonly upserts: number;
      readonly deletes: number;
    }
  | {
      readonly kind: 'watching';
      readonly resource: string;
      readonly nodeName?: string;
      readonly resourceVersion: string;
    }
  /** The server does not stream lists: this one is read in pages from now on, as good as before. */
  | { readonly kind: 'pagedLists'; readonly resource: string; readonly nodeName?: string }
  /** Streams in protobuf are refused or cannot be read: this one is in JSON from now on. */
  | { readonly kind: 'jsonOnly'; readonly resource: string; readonly nodeName?: string }
  /** The server does not serve the collection, or not us, which may be so: it has no objects. */
  | {
      readonly kind: 'absent';
      readonly resource: string;
      readonly nodeName?: string;
      readonly failure: Failure;
    }
  /** Something went wrong; after `wait` the reflector watches on or lists anew. */
  | {
      readonly kind: 'reconnecting';
      readonly resource: string;
      readonly nodeName?: string;
      readonly failure: Failure;
      readonly wait: Millis;
      readonly next: 'list' | 'watch';
    };

/**
 * What is reported of a list that was read: how many objects there are, and what was different, or how
 * many were told early.
 */
export function listed(
  resource: string,
  objects: number,
  changes: readonly { readonly kind: string }[] | number,
): ReflectorNotice {
  if (typeof changes === 'number') {
    return { kind: 'listed', resource, objects, upserts: changes, deletes: 0 };
  }
  const deletes = changes.filter(({ kind }) => kind === 'delete').length;
  return { kind: 'listed', resource, objects, upserts: changes.length - deletes, deletes };
}

/** Tells whether a collection may be refused so, and nothing waits for it. */
export function mayMiss(
  { mayBeAbsent = false, mayBeForbidden = false }: MissingRules,
  status: number,
): boolean {
  return (status === 404 && mayBeAbsent) || (status === 403 && mayBeForbidden);
}

/** Which collections nothing waits for. */
interface MissingRules {
  /** One that is not served (404) has no objects; default false: it is a failure. */
  readonly mayBeAbsent?: boolean;
  /** The same of one that we may not read (403). */
  readonly mayBeForbidden?: boolean;
}

/** Knows whether a collection counts as one without objects because the server does not serve it (404). */
export class Absence {
  /** Such a collection is asked for again after this time. */
  static readonly waitMs: Millis = 30_000;
  #isCertain = false;
  /** Since when it was not served, though objects of it are known; null: it is, or none are. */
  #since: Instant | null = null;

  get isCertain(): boolean {
    return this.#isCertain;
  }

  /**
   * It was not served. Whether it is absent then: where objects of it are known it has to be away for
   * a while, since a server that starts may answer 404 too.
   */
  missed(now: Instant, objects: number): boolean {
    this.#since ??= now;
    return objects === 0 || now - this.#since >= Absence.waitMs;
  }

  /** It is served again, or nobody knows. */
  end(): void {
    this.#isCertain = false;
  }

  /** It was read, or counts as absent. */
  read(isAbsent: boolean): void {
    this.#isCertain = isAbsent;
    if (!isAbsent) this.#since = null;
  }
}

/** That a collection counts as one without objects, and why. */
export function absence(resource: string, failure: Failure): ReflectorNotice {
  return { kind: 'absent', resource, failure };
}
