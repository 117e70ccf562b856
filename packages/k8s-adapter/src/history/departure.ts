// The record of one pod that left its node or is leaving it: the evictor, the taint, the obstacles,
// and the replacement. And the record of a time for which it is unknown if all is recorded.
import type { StartSource } from '@taintmgr/core';
import type { Instant } from '@taintmgr/core/time';
import { asList, asRecord } from '../proto/json.ts';

/**
 * A pod that left its node or is leaving it. A field that is left out was not reported, or its
 * recorder could not see it. Instants are milliseconds since 1970 by the cluster's clock.
 */
export interface Departure {
  /** The namespace of the pod. */
  readonly namespace: string;
  /** The name of the pod. */
  readonly pod: string;
  /** The UID of the pod. */
  readonly uid: string;
  /** The node of the pod; left out: it had none. */
  readonly node?: string;
  /** The controller of the pod: metadata.ownerReferences[] with controller true. */
  readonly owner?: Owner;
  /** Who made it leave. */
  readonly by: Evictor;
  /** The time at which its recorder first knew that the pod has to leave. */
  readonly seenAt: Instant;
  /** The taint that decided. */
  readonly taint?: DepartureTaint;
  /** The policy that decided about it (EvictionPolicy). */
  readonly policy?: string;
  /** When it was to leave, as it stood when the pod was asked to. */
  readonly deadline?: Instant;
  /** Earlier deadlines, the latest last; of many the first and the latest. */
  readonly moves?: readonly DeadlineMove[];
  /** Answers that kept the pod, each words once. */
  readonly refusals?: readonly Refusal[];
  /** The last request: a DELETE, or one to the Eviction API. */
  readonly way?: 'delete' | 'eviction';
  /** When the deadline was set first. */
  readonly decidedAt?: Instant;
  /** When the first request to leave was sent. */
  readonly askedAt?: Instant;
  /** When the API server accepted a request to leave. */
  readonly answeredAt?: Instant;
  /** metadata.deletionTimestamp: when the grace period is over. */
  readonly deletionTimestamp?: Instant;
  /** When the pod was gone from the API. */
  readonly goneAt?: Instant;
  /** When it was found gone, by a leader that did not see it go. */
  readonly foundGoneAt?: Instant;
  /** The next pod of the same owner that was bound to a node after the request to leave. */
  readonly successor?: Successor;
}

/** The controller of a pod. */
export interface Owner {
  /** Such as `ReplicaSet`. */
  readonly kind: string;
  /** The name of the controller. */
  readonly name: string;
}

/**
 * Who made it leave. `taintmgr` and `drain` are acts of the recorder. All others are read off the
 * pod.
 *
 * - `taintmgr`: taint eviction of taintmgr-controller
 * - `drain`: a NodeDrain, by taintmgr-controller
 * - `taintManager`: a program that evicts for taints of nodes (DeletionByTaintManager); `manager`
 *   names it
 * - `deviceTaints`: a program that evicts for taints of devices (DeletionByDeviceTaintManager);
 *   `manager` names it
 * - `evictionApi`: a client of the Eviction API (EvictionByEvictionAPI), as `kubectl drain` does
 * - `preemption`: the scheduler, for a pod of a higher priority (PreemptionByScheduler)
 * - `kubelet`: the kubelet, for node pressure or because the node shuts down (TerminationByKubelet)
 * - `podGc`: garbage collection of pods, e.g. of nodes that are gone (DeletionByPodGC)
 * - `unknown`: a deletion without a condition, or with an unknown reason
 */
export type EvictorKind = (typeof evictorKinds)[number];

const evictorKinds = [
  ...(['taintmgr', 'drain', 'taintManager', 'deviceTaints', 'evictionApi'] as const),
  ...(['preemption', 'kubelet', 'podGc', 'unknown'] as const),
] as const;

export interface Evictor {
  readonly kind: EvictorKind;
  /**
   * `ownAct`: an act of the recorder. `condition`: the condition DisruptionTarget of the pod says
   * so; any client that may write pods/status can write one. `deletion`: the pod was deleted, and
   * nothing says by whom.
   */
  readonly source: (typeof evictorSources)[number];
  /** The name of the NodeDrain. */
  readonly drain?: string;
  /** The reason of the condition. */
  readonly reason?: string;
  /**
   * The writer of the condition by metadata.managedFields, which any client that may patch the pod
   * can rewrite.
   */
  readonly manager?: string;
}

const evictorSources = ['ownAct', 'condition', 'deletion'] as const;

export interface DepartureTaint {
  readonly key: string;
  readonly value: string;
  readonly effect: string;
  /** Since when it counts. */
  readonly since?: Instant;
  /** The source of `since`. */
  readonly sinceBy?: StartSource;
  /** Who wrote spec.taints of the node last when the taint was first seen, by metadata.managedFields. */
  readonly setBy?: string;
  /** The device whose taint it is, `driver/pool/device`; left out: the node's. */
  readonly device?: string;
}

export interface DeadlineMove {
  /** When it moved. */
  readonly at: Instant;
  /** Left out: there was none. */
  readonly from?: Instant;
  /** Left out: the pod was to stay. */
  readonly to?: Instant;
  /** The cause as the engine names it (`Cause` of @taintmgr/core), or `Limit`: a limit held the pod back. */
  readonly why: string;
  /** The pause, limit or policy in words. */
  readonly words?: string;
}

/** An answer that kept the pod, with its words: of a budget, a webhook, an overloaded server, a missing right. */
export interface Refusal {
  /** HTTP status; left out: no answer came, or a budget refuses (429, in some cases 403). */
  readonly status?: number;
  /** The blocker, by the code that the engine gives it (`Blocker` of @taintmgr/core), as `Budget`. */
  readonly code?: string;
  readonly words: string;
  readonly count: number;
  readonly firstAt: Instant;
  readonly lastAt: Instant;
}

interface Successor {
  readonly pod: string;
  readonly uid: string;
  readonly node?: string;
  readonly boundAt?: Instant;
  /** When it was first seen ready. */
  readonly readyAt?: Instant;
}

/** A time in which pods may have left and no record of them is kept. */
export interface Gap {
  /** Left out: since ever. */
  readonly from?: Instant;
  readonly to: Instant;
  /**
   * `leaderChanged`: a leader ended, by a crash or in order, and another began. `tooMany`: more than are kept, so
   * `count` of `namespace` are left out.
   */
  readonly why: (typeof gapReasons)[number];
  /** The leader that began, or that left them out. */
  readonly leader?: string;
  readonly namespace?: string;
  readonly count?: number;
}

const gapReasons = ['leaderChanged', 'tooMany'] as const;

/** No known program writes longer texts. */
const textLengthMax = 1_000;
const listLengthMax = 50;

/** Takes a value of the shape; undefined: it has another. */
type Reader<T> = (value: unknown) => T | undefined;
type Fields<T> = { readonly [K in keyof T]-?: Reader<NonNullable<T[K]>> };

/**
 * Reads a departure of any writer: parts with another shape are left out. Null: it does not say
 * which pod, by whom or when.
 */
export function departureFrom(value: unknown): Departure | null {
  return readDeparture(value) ?? null;
}

/** The same of a gap. */
export function gapFrom(value: unknown): Gap | null {
  return readGap(value) ?? null;
}

const text: Reader<string> = (value) =>
  typeof value === 'string' && value.length <= textLengthMax ? value : undefined;
const name: Reader<string> = (value) => text(value) || undefined;
const instant: Reader<Instant> = (value) =>
  Number.isSafeInteger(value) && Math.abs(Number(value)) <= instantMax
    ? Number(value) + 0
    : undefined;
const count: Reader<number> = (value) =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) + 0 : undefined;

/** The last one that a Date can hold. */
const instantMax: Instant = 8.64e15;

function oneOf<T extends string>(known: readonly T[]): Reader<T> {
  return (value) => known.find((one) => one === value);
}

function listOf<T>(read: Reader<T>): Reader<readonly T[]> {
  return (value) => {
    const list = asList(value).slice(0, listLengthMax);
    const found = list.flatMap((one) => read(one) ?? []);
    return found.length > 0 ? found : undefined;
  };
}

function shape<T extends object>(required: readonly (keyof T)[], fields: Fields<T>): Reader<T> {
  const readers = Object.entries(fields) as [keyof T & string, Reader<unknown>][];
  return (value) => {
    const given = asRecord(value);
    const found: Partial<Record<keyof T, unknown>> = {};
    for (const [field, read] of readers) {
      const one = Object.hasOwn(given, field) ? read(given[field]) : undefined;
      if (one !== undefined) found[field] = one;
    }
    return required.every((field) => found[field] !== undefined) ? (found as T) : undefined;
  };
}

const startSources: Readonly<Record<StartSource, true>> = {
  ...{ timeAdded: true, firstSeen: true, taintsWritten: true, givenBack: true, podBound: true },
};

const readDeparture = shape<Departure>(['namespace', 'pod', 'uid', 'by', 'seenAt'], {
  ...{ namespace: name, pod: name, uid: name, node: name },
  owner: shape<Owner>(['kind', 'name'], { kind: name, name }),
  by: shape<Evictor>(['kind', 'source'], {
    ...{ kind: oneOf(evictorKinds), source: oneOf(evictorSources) },
    ...{ drain: name, reason: name, manager: name },
  }),
  seenAt: instant,
  taint: shape<DepartureTaint>(['key', 'value', 'effect'], {
    ...{ key: name, value: text, effect: name, since: instant, setBy: name, device: name },
    sinceBy: oneOf(Object.keys(startSources) as StartSource[]),
  }),
  ...{ policy: name, deadline: instant },
  moves: listOf(
    shape<DeadlineMove>(['at', 'why'], {
      ...{ at: instant, from: instant, to: instant, why: name, words: name },
    }),
  ),
  refusals: listOf(
    shape<Refusal>(['words', 'count', 'firstAt', 'lastAt'], {
      ...{ status: count, code: name, words: text, count, firstAt: instant, lastAt: instant },
    }),
  ),
  way: oneOf(['delete', 'eviction']),
  ...{ decidedAt: instant, askedAt: instant, answeredAt: instant },
  ...{ deletionTimestamp: instant, goneAt: instant, foundGoneAt: instant },
  successor: shape<Successor>(['pod', 'uid'], {
    ...{ pod: name, uid: name, node: name, boundAt: instant, readyAt: instant },
  }),
});

const readGap = shape<Gap>(['to', 'why'], {
  ...{ from: instant, to: instant, why: oneOf(gapReasons) },
  ...{ leader: name, namespace: name, count },
});
