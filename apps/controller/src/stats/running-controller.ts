import type {
  Counts,
  Engine,
  Explanation,
  KnownPause,
  Node,
  Subject,
  TakeoverStatus,
} from '@taintmgr/core';
import type { OtherEvictors } from '@taintmgr/core/drain';
import type { ZoneStatus } from '@taintmgr/core/lifecycle';
import type { LimitStatus } from '@taintmgr/core/policy';
import type { Instant, Millis } from '@taintmgr/core/time';
import type { PodScope, PolicyState, ReflectorStatus } from '@taintmgr/k8s-adapter';

/** A controller at work, as pages, metrics and health checks ask it. */
export interface RunningController {
  /** Tells whether it may act, once elected where there are elections, or has to stand by. */
  lead(mayAct: boolean): void;
  /** Who else evicts for NoExecute taints, by the last look. */
  hearOthers(others: OtherEvictors): void;
  /** Who holds the lease of the election; '' where nobody does, or there is none. */
  leader(): string;
  explain(now: Instant, subject: Subject): Explanation;
  /** How the zones are doing; empty without the node lifecycle. */
  zones(now: Instant): readonly ZoneStatus[];
  /** The limits that have tripped, and those in whose window pods were evicted. */
  limits(now: Instant): readonly LimitStatus[];
  /** How many nodes and pods there are, and how far evictions are. */
  counts(): Counts;
  /** The replica of our own that stays as the last one that is ready; null: there is none. */
  lastReplica(): ReturnType<Engine['lastReplica']>;
  /** The nodes that are known. */
  nodes(): readonly Node[];
  /** The pauses that are there, by their names. */
  pauses(): readonly KnownPause[];
  /** What was handed over to it, and how its policies are; null: there is no takeover. */
  takeover(): { readonly counts: TakeoverStatus; readonly policies: PolicyState } | null;
  /** Whose pods are read: those of all nodes, or of those that need it. */
  podScope(): PodScope;
  /** How far each collection is read. */
  status(): readonly ReflectorStatus[];
  /** Since when it does not hear of changes in the cluster; null: it does, or has not begun. */
  cutOffSince(): Instant | null;
  /** For how long its next step is due and has not come. */
  lateBy(): Millis;
  /** Its own time, which nobody can set, and which is that of `explain` and `status`. */
  now(): Instant;
  /** What the cluster's clock shows. */
  wall(): Instant;
}
