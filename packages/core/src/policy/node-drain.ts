// A NodeDrain as the engine takes it: its spec in the words of the API, its progress by its status, and the choices
// of the program that carries it out. Durations are in milliseconds, times are instants.
import type { Instant, Millis } from '../kernel/time.ts';
import type { LabelSelector } from '../model/selector.ts';
import type { Taint } from '../model/taint.ts';
import type { MatchOptions } from '../model/toleration.ts';
import type { PodGroup } from './scope.ts';

/**
 * The spec of a NodeDrain, its defaults filled in. docs/reference/configuration.md describes the
 * values of each field.
 */
export interface NodeDrainSpec {
  /** In their order; left out: those that `nodeSelector` matches, in the order of their names. */
  readonly nodes?: readonly string[];
  /** Selects the nodes; left out: `nodes` names them. */
  readonly nodeSelector?: LabelSelector;
  /** The taint that the drain puts on nodes. */
  readonly taint: DrainTaint;
  /** True: no further node begins and no further pod is evicted. */
  readonly paused: boolean;
  /** The treatment of nodes that match `nodeSelector` only after the start. */
  readonly laterNodes: 'Drain' | 'Leave';
  /** `Require`: only nodes with the condition MaintenancePlanned (KEP-5683). */
  readonly maintenancePlanned: 'Ignore' | 'Require';
  /** When nodes are cordoned. */
  readonly cordon: 'AtStart' | 'AtTurn' | 'Never';
  /** The treatment of pods that tolerate the taint. */
  readonly tolerations: 'Ignore' | 'NoWait' | 'Respect';
  /** The pods that may be evicted, and the way they leave. */
  readonly pods: DrainedPods;
  /**
   * The treatment of PodDisruptionBudgets; `deleteAfter` in milliseconds, with `DeleteAfter` only.
   */
  readonly budgets: {
    readonly policy: 'DeleteAfter' | 'Ignore' | 'Respect';
    readonly deleteAfter?: Millis;
  };
  /** The order of nodes within a wave. */
  readonly order: 'ByZone' | 'Listed';
  /** Groups of nodes, one of which is done before the next begins; left out: one group. */
  readonly waves?: readonly DrainWave[];
  /** The most nodes and pods at once. */
  readonly limits: {
    readonly nodesAtOnce: number | `${number}%`;
    readonly heldUpNodes: number;
    readonly maxUnavailable?: number | `${number}%`;
    readonly podsAtOnce: number;
  };
  /** Times in milliseconds after which a wait is over; left out: without limit. */
  readonly timeouts: {
    readonly evictionRequest: Millis;
    readonly node?: Millis;
    readonly rollout: Millis;
    readonly terminatingPods?: Millis;
  };
  /** The treatment of a node that could not be drained. */
  readonly onFailure: 'KeepTaint' | 'RollBack';
  /** The end of the drain, by the cluster's clock; left out: none. */
  readonly until?: Instant;
  /** Seconds after its end when the object is deleted; left out: never. */
  readonly ttlSecondsAfterFinished?: number;
  /** Marks of other programs that keep a pod or a node from being drained. */
  readonly heeds: {
    readonly podAnnotations?: readonly HeededAnnotation[];
    readonly nodeAnnotations?: readonly 'karpenter.sh/do-not-disrupt'[];
    readonly pauseLabel?: string;
  };
  /** The use of node conditions that announce maintenance. */
  readonly nodeConditions: 'Heed' | 'Ignore' | 'Publish';
  /** Times at which nodes may begin; left out: always. */
  readonly windows?: readonly DrainWindow[];
  /** Conditions of other objects without which no node begins; left out: none. */
  readonly gates?: readonly DrainGate[];
  /** The treatment of begun nodes outside the windows and while a gate is closed. */
  readonly whileClosed: 'FinishNodes' | 'HoldPods' | 'RollBack';
  /** Steps of other programs before the first pod of a node leaves; left out: none. */
  readonly beforeNode?: readonly DrainHook[];
  /** Steps of other programs after the last pod of a node has left; left out: none. */
  readonly afterNode?: readonly DrainHook[];
}

/** The spec of a NodeDrain that names only its taint. */
export const plainDrainSpec: Omit<NodeDrainSpec, 'taint'> = {
  paused: false,
  laterNodes: 'Leave',
  maintenancePlanned: 'Ignore',
  cordon: 'AtTurn',
  tolerations: 'Respect',
  pods: {
    withoutController: false,
    withEmptyDir: false,
    order: 'Together',
    singleReplicas: 'Evict',
    evictBy: 'EvictionAPI',
  },
  budgets: { policy: 'Respect' },
  order: 'Listed',
  limits: { nodesAtOnce: 1, heldUpNodes: 1, podsAtOnce: 0 },
  timeouts: { evictionRequest: 3_600_000, rollout: 600_000 },
  onFailure: 'KeepTaint',
  heeds: {},
  nodeConditions: 'Heed',
  whileClosed: 'FinishNodes',
};

/** The taint that nodes of a drain get. */
interface DrainTaint {
  readonly key: string;
  readonly value: string;
  readonly effect: 'NoExecute' | 'NoSchedule';
}

/** Annotations of others that hold a pod for as long as it has them. */
type HeededAnnotation =
  | 'cluster-autoscaler.kubernetes.io/safe-to-evict'
  | 'karpenter.sh/do-not-disrupt';

interface DrainedPods {
  readonly withoutController: boolean;
  readonly withEmptyDir: boolean;
  readonly order: 'ByPriority' | 'Together';
  readonly singleReplicas: 'Evict' | 'RolloutRestart';
  readonly evictBy: 'EvictionAPI' | 'EvictionRequest';
  readonly waitCompleted?: WaitCompleted;
  readonly waitDetached?: WaitDetached;
  readonly last?: readonly PodGroup[];
  readonly gracePeriodSeconds?: number;
}

/** The pods that may finish, and for how long, counted from when the turn of their node came. */
export interface WaitCompleted {
  /** Left out: those of Jobs. */
  readonly podSelector?: LabelSelector;
  readonly timeout: Millis;
}

/**
 * The time for which the drain waits for volumes that are still attached to the node of a pod that
 * has gone.
 */
export interface WaitDetached {
  readonly timeout: Millis;
  readonly onTimeout: 'GoOn' | 'Hold';
}

/** Some of the nodes of a drain, which are done with before the next wave begins. */
export interface DrainWave {
  readonly name: string;
  readonly nodeSelector: LabelSelector;
  /** Left out: that of the drain counts. */
  readonly nodesAtOnce?: number;
}

/** A time in which a drain may work, that comes again and again. */
export interface DrainWindow {
  /** When it opens: five fields of cron. */
  readonly schedule: string;
  /** By whose clocks, such as Europe/Berlin. */
  readonly timeZone: string;
  readonly duration: Millis;
}

/**
 * An object that another program writes, and the condition or the annotation that it has to have.
 */
export interface ObjectState {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly condition?: { readonly type: string; readonly status: 'False' | 'True' | 'Unknown' };
  readonly annotation?: { readonly key: string; readonly value: string };
}

/** A query for alerts, by the HTTP API of Prometheus. */
export interface AlertQuery {
  readonly url: string;
  readonly query: string;
  readonly timeout: Millis;
}

/** The gate is open while an object says so, or while no alert is found. */
export interface DrainGate {
  readonly name: string;
  readonly object?: ObjectState;
  readonly noAlerts?: AlertQuery;
}

/**
 * A step of another program: it is done when an object says so, whose name has the node's for
 * {node}.
 */
export interface DrainHook {
  readonly name: string;
  readonly object: ObjectState;
  /** Left out: for ever. */
  readonly timeout?: Millis;
  readonly onTimeout: 'Fail' | 'GoOn';
}

/** A NodeDrain: nodes to drain by a taint. */
export interface NodeDrain {
  /** metadata.name. */
  readonly name: string;
  /** metadata.uid. */
  readonly uid: string;
  /** metadata.generation: raised by each change of the spec. */
  readonly generation: number;
  /** Null: not known. */
  readonly created: Instant | null;
  /** True when it has to be undone: the object was deleted. */
  readonly isDeleted: boolean;
  /** True when it stays until we have undone it. */
  readonly isGuarded: boolean;
  /** spec, with its defaults. */
  readonly spec: NodeDrainSpec;
  /** Its progress when its status was written last, by node. */
  readonly known: readonly KnownDrainNode[];
  /** Pods that had still to leave then: the first of them, with the nodes where they were. */
  readonly podsLeft: readonly { readonly node: string; readonly uid: string }[];
  /** Pods that have left nodes which are no longer in `known`. */
  readonly podsGoneBefore: number;
  /** True when these are all: a status has a limit. */
  readonly knowsAll: boolean;
  /** StatefulSets (`namespace/name`) that waited for volumes, as its status has them. */
  readonly volumeWaits: readonly { readonly statefulSet: string; readonly since: Instant }[];
  /** Pods that it took and that were not replaced, as its status has them. */
  readonly notReplaced: readonly TakenPod[];
  /** status.startTime; null: the drain has not begun. */
  readonly startedAt: Instant | null;
  /** The generation that the status is of; null: it says nothing. */
  readonly observedGeneration: number | null;
  /** The selector that found the nodes of the status, as JSON; null: it says none. */
  readonly observedSelector: string | null;
  /** True when nothing is left to be done for it but to undo it. */
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
  /** Pods that still had to leave. */
  readonly podsLeft: number;
}

/** A drain as its spec asks for it, and the choices of the program that carries it out. */
export interface DrainConfig extends MatchOptions {
  /** The spec of the NodeDrain. */
  readonly spec: NodeDrainSpec;
  /** False: pods of DaemonSets are refused, as by kubectl drain without --ignore-daemonsets. */
  readonly leavesDaemonSets: boolean;
  /** DaemonSets that pods name and that are gone, as `namespace/name`. */
  readonly goneDaemonSets: ReadonlySet<string>;
  /** The uids of pods that were on their way out before the drain began. */
  readonly leaving: ReadonlySet<string>;
  /** Try each pod once. */
  readonly once: boolean;
  /**
   * No person looks on: no node begins after one where everything was denied, and a sign of life
   * that is denied is tried again.
   */
  readonly isUnattended: boolean;
  /** Show on each node that is being drained that we are at work there (command `renewMark`). */
  readonly marksNodes: boolean;
  /**
   * The time for which the drain waits for requests that others may have sent before they saw our
   * mark.
   */
  readonly handoverMs: Millis;
  /** Names in metadata.managedFields of programs that leave marked nodes' pods to us. */
  readonly partners: readonly string[];
  /** Our name in metadata.managedFields: what bears it is our own doing. */
  readonly fieldManager: string;
  /** Times and numbers that bound requests and waits. */
  readonly pace: DrainPace;
}

/** The choices of a program that carries out one drain. */
export type DrainProgram = Omit<DrainConfig, 'spec'>;

/** The number of requests at one time, and the waits between tries. */
interface DrainPace {
  /** Requests sent and not yet answered, at most. */
  readonly requestsInFlightMax: number;
  /** Wait after a budget refused, where the API server names no time. */
  readonly blockedRetryWaitMs: Millis;
  /** Wait after an admission webhook kept an eviction for itself, where it names no time. */
  readonly interceptedRetryWaitMs: Millis;
  /** Wait after another first failure; it doubles with each further one. */
  readonly retryWaitMsMin: Millis;
  readonly retryWaitMsMax: Millis;
  /** An accepted eviction that is not seen to happen within this time is tried again. */
  readonly confirmationWaitMs: Millis;
}

const defaultPace: DrainPace = {
  requestsInFlightMax: 50,
  blockedRetryWaitMs: 5000,
  interceptedRetryWaitMs: 15_000,
  retryWaitMsMin: 200,
  retryWaitMsMax: 10_000,
  confirmationWaitMs: 30_000,
};

/**
 * A drain with the defaults of kubectl drain, for a person who looks on, except for the given
 * settings.
 */
export function resolveDrainConfig(
  options: Pick<DrainConfig, 'spec'> & Partial<DrainConfig>,
): DrainConfig {
  return {
    comparisonOperators: false,
    leavesDaemonSets: false,
    goneDaemonSets: new Set(),
    leaving: new Set(),
    once: false,
    isUnattended: false,
    marksNodes: false,
    handoverMs: 0,
    partners: [],
    fieldManager: 'kubectl-taintmgr',
    pace: defaultPace,
    ...options,
  };
}

/** The taint that is on the nodes, or about to be. */
export function drainTaint({ taint }: Pick<NodeDrainSpec, 'taint'>): Taint {
  return { ...taint, timeAdded: null };
}
