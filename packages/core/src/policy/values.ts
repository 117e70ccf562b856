// What the manifests of policies, taint rules and pauses say, as the engine takes it: times in
// milliseconds, selectors as they are matched, what is left out as null.
import type { Instant, Millis } from '../kernel/time.ts';
import type { LabelSelector } from '../model/selector.ts';
import type { Taint } from '../model/taint.ts';
import type { ConditionRule } from './condition-rule.ts';
import type { LimitRule } from './limit.ts';
import type { PodGroup } from './pod-group.ts';

/** How a policy makes pods leave. */
export type PolicyAction =
  /** DELETE, as kube-controller-manager does: disruption budgets are not asked. */
  | 'Delete'
  /** The Eviction API: disruption budgets are respected, for as long as it takes. */
  | 'Evict'
  /** The Eviction API, and DELETE when `deleteAfterMs` is over. */
  | 'EvictThenDelete'
  /** The pods stay. */
  | 'Keep'
  /** What kube-controller-manager would do, whatever the flags say. */
  | 'Upstream';

/** The taints that a policy is for: patterns, in which `*` stands for any characters. */
export interface TaintPattern {
  readonly key?: string;
  readonly value?: string;
  readonly effect?: string;
}

/** What a policy is for. Everything given must match; null: no condition. */
export interface PolicyMatch {
  /** One of them must match. None: every NoExecute taint. */
  readonly taints: readonly TaintPattern[];
  readonly nodes: LabelSelector | null;
  /** `names` are patterns, of which one must match (none: every name); so must the selector. */
  readonly namespaces: {
    readonly names: readonly string[];
    readonly selector: LabelSelector | null;
  } | null;
  readonly pods: LabelSelector | null;
  /** A priority within the bounds, and (where any are given) one of these PriorityClasses. */
  readonly podPriority: {
    readonly min: number | null;
    readonly max: number | null;
    readonly classes: readonly string[];
  } | null;
}

/**
 * An EvictionPolicy. Of those that match a pod and its taint and name an action, the one with the
 * highest priority counts, with equal priority the first by name. What it leaves out is as the
 * process is configured. The limits of every policy that matches hold.
 */
export interface EvictionPolicy {
  readonly name: string;
  /** '' where it comes from a file. */
  readonly uid: string;
  readonly generation: number;
  /** Higher counts first. */
  readonly priority: number;
  readonly match: PolicyMatch;
  /** Null: it only limits. */
  readonly action: PolicyAction | null;
  readonly minTaintAgeMs: Millis | null;
  readonly deleteAfterMs: Millis | null;
  readonly gracePeriodSeconds: number | null;
  /** A pod with no toleration of the taint counts as one that tolerates it for so long. */
  readonly defaultTolerationSeconds: number | null;
  /** They count only what the policy matches. */
  readonly limits: readonly LimitRule[];
}

/** A NodeTaintRule: which condition becomes which taint. */
export interface NodeTaintRule extends ConditionRule {
  readonly uid: string;
  readonly generation: number;
}

/** A NodeDrain: nodes that are to be drained by a taint. */
export interface NodeDrain {
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  /** Null: not known. */
  readonly created: Instant | null;
  /** Whether it is to be undone: somebody has deleted it. */
  readonly isDeleted: boolean;
  /** Whether it stays until we have undone it. */
  readonly isGuarded: boolean;
  /** In their order; null: those that the selector matches, in the order of their names. */
  readonly nodes: readonly string[] | null;
  readonly selector: LabelSelector | null;
  readonly takesLaterNodes: boolean;
  /** Of those that the selector matches only nodes for which somebody has planned maintenance. */
  readonly takesPlannedNodesOnly: boolean;
  /** `timeAdded` is null. */
  readonly taint: Taint;
  readonly cordon: 'atStart' | 'atTurn' | 'never';
  readonly tolerations: 'respect' | 'noWait' | 'ignore';
  readonly takesUnmanaged: boolean;
  readonly takesEmptyDir: boolean;
  /** Which pods may finish before they are evicted, and for how long; null: none. */
  readonly waitCompleted: {
    /** Null: those of Jobs. */
    readonly pods: LabelSelector | null;
    readonly timeoutMs: Millis;
  } | null;
  /** The pods of a StatefulSet go one after the other, by their volumes; null: they do not. */
  readonly waitDetached: WaitDetached | null;
  /**
   * For so long a Deployment of one pod is waited for to start another one first, after its rollout was
   * restarted; null: that is not asked for.
   */
  readonly rolloutTimeoutMs: Millis | null;
  readonly isByPriority: boolean;
  /** After the others of their node, one group after the other. */
  readonly lastPods: readonly PodGroup[];
  readonly gracePeriodSeconds: number | null;
  /** Whether pods are asked to go by EvictionRequests, where the cluster has them. */
  readonly requestsEvictions: boolean;
  /** For so long, and then by the other ways; null: for ever. */
  readonly requestTimeoutMs: Millis | null;
  readonly budgets: 'respect' | 'deleteAfter' | 'ignore';
  /** For `deleteAfter`: how long they are asked. */
  readonly deleteAfterMs: Millis | null;
  readonly isZoneByZone: boolean;
  /** In their order; nodes that are in none come last. */
  readonly waves: readonly DrainWave[];
  /** Of those of a wave; 0: no limit. */
  readonly nodesAtOnceMax: number | `${number}%`;
  readonly heldUpNodesMax: number;
  /** Of the pods of one workload, over all drains; null: no limit. */
  readonly maxUnavailable: number | `${number}%` | null;
  /** 0: no limit. */
  readonly podsAtOnceMax: number;
  readonly nodeTimeoutMs: Millis | null;
  readonly skipTerminatingMs: Millis | null;
  readonly rollsBack: boolean;
  readonly until: Instant | null;
  /** So long after its end it is deleted; null: it is not. */
  readonly ttlMs: Millis | null;
  readonly isPaused: boolean;
  /** Annotations of others that hold a pod for as long as it has them. */
  readonly heeds: readonly (
    | 'cluster-autoscaler.kubernetes.io/safe-to-evict'
    | 'karpenter.sh/do-not-disrupt'
  )[];
  /** Whether karpenter.sh/do-not-disrupt on a node holds it. */
  readonly heedsNodes: boolean;
  /** A label that holds a node for as long as it is there; null: none. */
  readonly pauseLabel: string | null;
  /** Whether it says on nodes, by conditions, how far it is, and heeds those of others. */
  readonly publishesConditions: boolean;
  /** It may work in any of them; empty: at all times. */
  readonly windows: readonly DrainWindow[];
  /** Its nodes begin while all of them are open. */
  readonly gates: readonly DrainGate[];
  /** Outside its windows, and while a gate is closed: whether nodes that have begun are finished. */
  readonly finishesNodes: boolean;
  /** Or else: what was set on those that still have pods is taken back, and they begin anew. */
  readonly rollsBackWhenClosed: boolean;
  /** What a node waits for once it is tainted, before its pods go. */
  readonly beforeNode: readonly DrainHook[];
  /** What it waits for when they are gone, before it counts as drained. */
  readonly afterNode: readonly DrainHook[];
  /** How far it was when its status was written last, by node. */
  readonly known: readonly KnownDrainNode[];
  /** Pods that had still to leave then: the first of them, with the nodes where they were. */
  readonly podsLeft: readonly { readonly node: string; readonly uid: string }[];
  /** Pods that have left nodes which are in `known` no more. */
  readonly podsGoneBefore: number;
  /** Whether these are all: a status has a limit. */
  readonly knowsAll: boolean;
  /** StatefulSets (`namespace/name`) that waited for volumes, as its status has them. */
  readonly volumeWaits: readonly { readonly statefulSet: string; readonly since: Instant }[];
  /** Pods that it took and nobody has replaced, as its status has them. */
  readonly notReplaced: readonly TakenPod[];
  readonly startedAt: Instant | null;
  /** The generation that the status is of; null: it says nothing. */
  readonly observedGeneration: number | null;
  /** The selector that found the nodes of the status, as JSON; null: it says none. */
  readonly observedSelector: string | null;
  /** Whether nothing is left to be done for it but to undo it. */
  readonly isOver: boolean;
}

/** A pod that a drain took. */
export interface TakenPod {
  /** `namespace/kind/name` of its controller. */
  readonly workload: string;
  readonly uid: string;
  /** When it was asked to go, by the cluster's clock. */
  readonly since: Instant;
  /** The uids of pods that came then or since, and stand for others. */
  readonly others: readonly string[];
}

/** For so long volumes are waited for that are still attached to the node of a pod that has gone. */
export interface WaitDetached {
  readonly timeoutMs: Millis;
  /** When their time is over the next pod goes; else it stays. */
  readonly goesOn: boolean;
}

/** Some of the nodes of a drain, which are done with before the next wave begins. */
export interface DrainWave {
  readonly name: string;
  readonly nodes: LabelSelector;
  /** Null: that of the drain counts. */
  readonly nodesAtOnceMax: number | null;
}

/** A time in which a drain may work, that comes again and again. */
export interface DrainWindow {
  /** When it opens: five fields of cron. */
  readonly schedule: string;
  /** By whose clocks, such as Europe/Berlin. */
  readonly timeZone: string;
  readonly lengthMs: Millis;
}

/** What an object has to say, which somebody else writes. */
export interface ObjectState {
  readonly apiVersion: string;
  readonly kind: string;
  /** Null: it has none. */
  readonly namespace: string | null;
  readonly name: string;
  readonly says:
    | { readonly kind: 'condition'; readonly type: string; readonly status: string }
    | { readonly kind: 'annotation'; readonly key: string; readonly value: string };
}

/** A query for alerts, by the HTTP API of Prometheus. */
export interface AlertQuery {
  readonly url: string;
  readonly expression: string;
  readonly timeoutMs: Millis;
}

/** It is open while an object says so, or while no alert is found. */
export interface DrainGate {
  readonly name: string;
  readonly opensOn:
    | { readonly kind: 'object'; readonly object: ObjectState }
    | { readonly kind: 'noAlerts'; readonly query: AlertQuery };
}

/** Somebody else's step: it is done when an object says so, whose name has the node's for {node}. */
export interface DrainHook {
  readonly name: string;
  readonly object: ObjectState;
  /** Null: for ever. */
  readonly timeoutMs: Millis | null;
  /** When its time is over the node goes on; else it has failed. */
  readonly goesOn: boolean;
}

/** A node of a drain as the status has it. */
export interface KnownDrainNode {
  readonly name: string;
  readonly phase: string;
  readonly reason: string;
  readonly message: string;
  readonly startedAt: Instant | null;
  /** Since when it waits, its pods gone, for the steps of others. */
  readonly waitsSince: Instant | null;
  readonly endedAt: Instant | null;
  readonly podsGone: number;
  /** Those that had still to leave. */
  readonly podsLeft: number;
}

/** Where an EvictionPause holds evictions. Everything given must match; nothing given: everywhere. */
export interface EvictionPauseScope {
  readonly zones: readonly string[];
  readonly nodes: LabelSelector | null;
  readonly taintKeys: readonly string[];
  readonly namespaces: readonly string[];
}

/** An EvictionPause: evictions that are held until somebody takes it away, or until it is over. */
export interface EvictionPause {
  readonly name: string;
  readonly uid: string;
  readonly scope: EvictionPauseScope;
  /** Hold too the marking of pods as not ready, and the tainting of unhealthy nodes. */
  readonly readiness: boolean;
  /** Deadlines stand still, so that pods have the time back that the pause took. */
  readonly deadlines: boolean;
  readonly reason: string;
  readonly until: Instant | null;
  /** As the leader has written it; before that, when the pause was made. */
  readonly since: Instant;
  /** Of the hold of a zone, which is no object: that zone. It ends when one of its nodes is ready. */
  readonly zone?: string;
}
