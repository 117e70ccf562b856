// The shapes of answers as JSON. Times are RFC 3339 in UTC, seconds are whole; a missing field is
// unknown, or there is none.
import type { Reason } from '@taintmgr/core';
import type { Owner } from '@taintmgr/core/model';
import type { Actor } from '../evictors/actor.ts';
import type { DepartureDocument } from './departure-answers.ts';
import type { EmptyingState } from './emptying.ts';

/**
 * The fate of a pod; `Held`: by a pause; `Blocked`: its deletion was refused and is not tried
 * again; `Unknown`: rights are missing.
 */
export type DecisionName = 'Evict' | 'Keep' | 'Held' | 'Blocked' | 'Terminating' | 'Unknown';

/** The fate of a pod at a later moment: by then it may be gone. */
export type FateName = DecisionName | 'Gone';

/** The places that replacements find where assumed taints evict pods. */
export type ReplacementsDocument =
  /** The reason why it is unknown. */
  | { readonly unknown: string }
  | {
      readonly pods: number;
      readonly withoutRoom: number;
      readonly each: readonly {
        readonly pod: string;
        /** Left out: no node takes it, `because` says why. */
        readonly node?: string;
        readonly because?: string;
        /** An aspect that was not looked at. */
        readonly ignores?: 'volumes' | 'devices';
      }[];
    };

/** The beginning of each answer. */
interface AnswerHead<K extends string> {
  readonly apiVersion: 'taintmgr.dev/v1alpha1';
  readonly kind: K;
  /** The time at which the cluster was read, by the caller's clock. */
  readonly observedAt: string;
  /** The moment that the answer is about; left out: `observedAt`. */
  readonly asOf?: string;
  /**
   * Left out: nothing is assumed, places were not looked for, or no pod that leaves is replaced.
   */
  readonly replacements?: ReplacementsDocument;
  /** Who acts on NoExecute taints; `sure`: it was seen, not inferred. */
  readonly evictor: EvictorDocument['evictor'];
}

/** The answer about a node and its pods. */
export interface NodeAnswer extends AnswerHead<'NodeExplanation'>, NodeDocument, LimitsDocument {
  /** Name and UID of the Node. */
  readonly metadata: { readonly name: string; readonly uid: string };
}

/** The answer about a pod. */
export interface PodAnswer extends AnswerHead<'PodExplanation'>, PodDocument, LimitsDocument {
  /** The eviction among the pods of its owner shortly before it was created, while it has no node; left out: none is known. */
  readonly precededBy?: string;
  /** Where its deletion was refused and is not tried again: who may have refused, and the way on. */
  readonly givenUp?: GivenUpDocument;
  /** Where its node is silent: the way out. */
  readonly deadMachine?: DeadNodeDocument;
  /** Who made it leave, since when and why, where it is terminating. */
  readonly leaving?: DepartureDocument;
}

/** The answer about several nodes. */
export interface NodesAnswer<K extends string> extends AnswerHead<K> {
  /** The name of the zone, or the taint as it was asked for. */
  readonly metadata: { readonly name: string };
  /** Each node, with its pods where they were read. */
  readonly nodes: readonly NodeRow[];
  /** The numbers over all these nodes. */
  readonly summary: CountsDocument;
}

/** The answer about the nodes of a zone. */
export interface ZoneAnswer extends NodesAnswer<'ZoneExplanation'> {
  /** The state of the zone, and the numbers of its nodes. */
  readonly zone: ZoneDocument & { readonly nodes: number; readonly notReady: number };
}

/** The answer about a taint, and the nodes that have it. */
export interface TaintAnswer extends NodesAnswer<'TaintExplanation'> {
  /** Each taint that was meant, with the name of its node. */
  readonly found: readonly (TaintDocument & { readonly node: string })[];
}

/** The answer about a workload, a disruption budget or a namespace. */
export interface WorkloadAnswer extends AnswerHead<'WorkloadExplanation'>, LimitsDocument {
  /** Name, namespace and UID of the object. */
  readonly metadata: {
    readonly name: string;
    /** Left out: it is a Namespace. */
    readonly namespace?: string;
    /** Left out: it may not be read. */
    readonly uid: string | undefined;
  };
  /** The object and the numbers of its pods. */
  readonly workload: {
    /** Such as `Deployment`. */
    readonly kind: string;
    /** The number of pods that it is meant to have; left out: unknown. */
    readonly wanted: number | undefined;
    /** The number of ready pods. */
    readonly ready: number;
    /** The number that stays ready until others are; left out: unknown. */
    readonly readyAtLeast: number | undefined;
    /** The number of its pods that have ended; no other count includes them. */
    readonly ended: number;
  };
  /** The budgets over its pods; left out: they may not be read. */
  readonly budgets: readonly WorkloadBudget[] | undefined;
  /** The effects once pods have left, in words. */
  readonly next: readonly string[];
  /** Of a Namespace: its workloads as `Deployment/web`. */
  readonly workloads?: readonly (TallyDocument & {
    readonly owner: string;
    readonly ready: number;
  })[];
  /** Next to go first. */
  readonly pods: readonly PodDocument[];
  /** The numbers over all pods. */
  readonly summary: TallyDocument;
}

/** A budget over pods of a workload. Pods are named. */
export interface WorkloadBudget {
  readonly namespace: string;
  readonly name: string;
  readonly allowed: number;
  readonly healthy: number;
  readonly desired: number;
  readonly expected: number;
  readonly leaving: readonly string[];
  /** The pods that it refuses now. */
  readonly refused: readonly string[];
  /** The pods about which it is not asked. */
  readonly notAsked?: readonly string[];
  /** The budget lets no pod go even if all are healthy. */
  readonly neverAllows?: true;
  /** Other budgets over the same pods. */
  readonly overlaps?: readonly string[];
}

/** Several answers, as a v1 List. */
export interface ListAnswer<D extends object> {
  /** As lists of kubectl have it. */
  readonly apiVersion: 'v1';
  readonly kind: 'List';
  /** The answers, in the order of the question. */
  readonly items: readonly D[];
}

/** A node among several. `evictor`: where a drain acts on it. */
interface NodeRow extends NodeDocument, Partial<EvictorDocument> {
  readonly name: string;
  readonly uid: string;
}

/** The parts of an answer that say who evicts. */
export interface EvictorDocument {
  /** The program that evicts. */
  readonly evictor: {
    readonly name: Actor['name'] | 'drain-by-taint';
    /** The evidence. */
    readonly source: string;
    /** False: inferred, not seen. */
    readonly sure: boolean;
  };
}

/** A node: its state, its taints and its pods. */
export interface NodeDocument extends MaintenanceDocument {
  /** The condition Ready of the node. */
  readonly ready: {
    /** `True`, `False` or `Unknown`; `Unknown` also for a node without the condition. */
    readonly status: string;
    /** The last transition, RFC 3339. */
    readonly since: string | undefined;
    readonly reason: string | undefined;
  };
  /** True: `spec.unschedulable` is set. */
  readonly cordoned: boolean;
  /** The last heartbeat, RFC 3339. */
  readonly leaseRenewedAt: string | undefined;
  /** The distance between its clock and the API server's, in words. */
  readonly clock: string | undefined;
  /** The health as a node lifecycle controller would judge it; left out: unknown. */
  readonly health:
    | {
        /** When the node counts as unreachable without a heartbeat, RFC 3339. */
        readonly unreachableAt: string | undefined;
        /** Its place among the nodes of the zone that wait to be tainted, from 1. */
        readonly placeInQueue: number | undefined;
        /** When its taint is expected, RFC 3339. */
        readonly taintExpectedAt: string | undefined;
        /** The reasons, the deciding one first. */
        readonly because: readonly { readonly code: string; readonly text: string }[];
      }
    | undefined;
  /** The zone of the node; left out: its other nodes may not be read. */
  readonly zone:
    | (ZoneDocument & { readonly name: string; readonly nodes: number; readonly notReady: number })
    | undefined;
  /** The NoExecute taints, assumed ones too, and since when each counts. */
  readonly taints: readonly (TaintDocument & CountsFrom)[];
  /** The field manager that last wrote the taints, and when. */
  readonly taintsLastWritten: { readonly by: string; readonly at: string | undefined } | undefined;
  /** Next to go first; left out: they were not read, as no taint is in question. */
  readonly pods: readonly PodDocument[] | undefined;
  /** The numbers of its pods; left out: they were not read. */
  readonly summary: TallyDocument | undefined;
  /**
   * The time at which only its own pods are left; left out: no pod leaves it. `drained`: while a
   * drain is at work.
   */
  readonly empty?: EmptyingDocument;
  /** When a drain at work has no pod left to evict on the node. */
  readonly drained?: EmptyingDocument;
  /** The way out for pods of a machine that seems to be dead; left out: it is not, or no pod waits for it. */
  readonly deadMachine?: DeadNodeDocument;
  /** The budgets that these evictions break; left out: none. */
  readonly unaskedBudgets?: readonly UnaskedBudgetDocument[];
}

/** A pod whose deletion was refused and is not tried again. */
export interface GivenUpDocument {
  /** The webhooks whose rules cover deletions of pods; null: they may not be read. */
  readonly mayRefuse?: {
    readonly policies: readonly string[] | null;
    readonly webhooks: readonly string[] | null;
  };
  readonly commands: { readonly ask: string; readonly retry: string };
  /** The steps in words. */
  readonly toDo: readonly string[];
}

/** A node that has been silent for minutes, with pods that cannot end. */
export interface DeadNodeDocument {
  readonly silentSince: string;
  readonly providerID?: string;
  readonly stuckPods: readonly string[];
  /** Pods of StatefulSets and pods with PersistentVolumeClaims among them. */
  readonly mustNotRunTwice: readonly string[];
  /** The node has the taint node.kubernetes.io/out-of-service. */
  readonly outOfService: boolean;
  /** The node has the taint node.cloudprovider.kubernetes.io/shutdown. */
  readonly shutDown: boolean;
  /** Null: may not be read; left out: no pod needs a volume. */
  readonly volumeAttachments?: readonly { readonly name: string; readonly volume: string }[] | null;
  /** The commands that are safe once the machine is known to be off. */
  readonly commands: { readonly outOfService: string; readonly deleteNode: string };
  /** The steps in words. */
  readonly toDo: readonly string[];
}

/** A budget that lets fewer of these pods go than are evicted, by one who does not ask budgets. */
export interface UnaskedBudgetDocument {
  readonly namespace: string;
  readonly name: string;
  readonly allowed: number;
  readonly healthy: number;
  readonly desired: number;
  readonly expected: number;
  readonly evictor: string;
  readonly pods: readonly string[];
}

/** When a node has no pods but those of DaemonSets and static ones, as documents have it. */
export interface EmptyingDocument {
  readonly state: EmptyingState;
  readonly by?: string | undefined;
  readonly lastEvictionAt?: string | undefined;
  readonly estimate?: true;
  /** Pods that decide about the state; left out: all end by themselves. */
  readonly obstacles?: readonly PodInWay[];
  /** Pods that drains at work leave on the node; left out: none. */
  readonly left?: readonly PodInWay[];
  readonly staying: {
    readonly daemonSetPods: number;
    readonly staticPods: number;
    readonly finishedPods: number;
  };
}

/** A pod in the way of an empty node. */
export interface PodInWay {
  readonly pod: string;
  readonly because: string;
}

/** The conditions by which others say that a node is drained or maintained. */
export interface MaintenanceDocument {
  readonly maintenance?: readonly {
    readonly type: string;
    readonly reason: string;
    readonly message: string | undefined;
    readonly since: string | undefined;
  }[];
}

/** The state of a zone, and how fast its nodes are tainted. */
export interface ZoneDocument {
  /** Null: its nodes do not tell. */
  readonly state?: string | null;
  /** The rate at which nodes of the zone are tainted, as the state allows. */
  readonly taintedNodesPerSecond?: number;
  /** The reason why no node of the zone is tainted now. */
  readonly held?: { readonly code: string; readonly text: string } | undefined;
  /** The nodes that wait to be tainted. */
  readonly waiting?: readonly string[];
}

/** A pod, what becomes of it, when and why. */
export interface PodDocument extends Omit<DecisionDocument, 'decision'> {
  /** The namespace of the pod. */
  readonly namespace: string;
  /** The name of the pod. */
  readonly name: string;
  /** The UID of the pod. */
  readonly uid: string;
  /** '': it is on none. */
  readonly node: string;
  /** `ReplicaSet/web-7d4b9`. */
  readonly owner: string | undefined;
  /** `Guaranteed`, `Burstable` or `BestEffort`. */
  readonly qosClass: string | undefined;
  /** `spec.priority`. */
  readonly priority: number | undefined;
  /** Seconds that its containers may take to end. */
  readonly gracePeriodSeconds: number | undefined;
  /** The fate of the pod at the moment of the answer. */
  readonly decision: FateName;
  /** The program that makes it leave; left out: none does, or it is unknown. */
  readonly evictedBy?: 'taintmgr-controller' | 'kube-controller-manager' | 'drain-by-taint';
  /** The deadline is an estimate. */
  readonly estimate?: true;
  /** Why; the first reason decides. */
  readonly because: readonly ReasonDocument[];
  /** The pod is not recreated. */
  readonly unmanaged?: true;
  /** Why it has no node yet, as its condition PodScheduled says; left out: it has one. */
  readonly pending?: {
    readonly reason?: string;
    readonly message?: string;
    /** The last transition, RFC 3339. */
    readonly since?: string | undefined;
  };
  /** The things that would hold its eviction back. */
  readonly blockers: readonly BlockerDocument[];
  /** When it is deleted, whatever budgets say. */
  readonly deletedAt?: string;
  /** The limit that its eviction waits for; left out: none. */
  readonly limit?: {
    /** `POLICY/LIMIT`. */
    readonly id: string;
    /** True: the limit is closed until a person opens it. */
    readonly tripped: boolean;
    /** When the limit lets it go, RFC 3339. */
    readonly expectedAt?: string | undefined;
    /** The limit does not let it go earlier, RFC 3339. */
    readonly notBefore?: string | undefined;
  };
  /** The decision of kube-controller-manager, where that was asked; `rules`: names in docs/differences.md. */
  readonly kubeControllerManager:
    | (DecisionDocument & {
        /** The Kubernetes version whose rules were applied. */
        readonly version: '1.36';
        /** The differences that separate the two decisions. */
        readonly rules: readonly string[];
      })
    | undefined;
  /** The decision if tolerations with Lt and Gt count otherwise than assumed. */
  readonly otherwise: DecisionDocument | undefined;
  /** The decision without the taints that are only assumed. */
  readonly present: DecisionDocument | undefined;
  /** The EvictionRequests that name it; left out: none. */
  readonly evictionRequests?: readonly EvictionRequestDocument[];
}

/** The decision about a pod, as JSON. */
export interface DecisionDocument {
  /** The decision in one word. */
  readonly decision: DecisionName;
  /** The code of the reason that decides. */
  readonly reason: Reason['code'] | undefined;
  /** When the pod is evicted, RFC 3339; left out: it is not. */
  readonly deadline?: string | undefined;
  /** Seconds to the deadline, negative when overdue; of a pod that a pause holds those that it has left. */
  readonly remainingSeconds?: number | undefined;
}

/** Why a pod goes or stays. */
export interface ReasonDocument {
  /** The reason for programs. */
  readonly code: Reason['code'];
  /** The reason for people. */
  readonly text: string;
  /** The taint that the reason is about. */
  readonly taint?: TaintDocument;
  /** The device whose taint it is; left out: it is a node's. */
  readonly device?: object | undefined;
  /** The toleration that decides; left out: none. */
  readonly toleration?:
    | {
        readonly key: string | undefined;
        readonly operator: string | undefined;
        readonly value: string | undefined;
        readonly effect: string | undefined;
        readonly tolerationSeconds: number | undefined;
      }
    | undefined;
  /** The start of the time that the pod tolerates, RFC 3339. */
  readonly countsFrom?: string | undefined;
  /** The source of `countsFrom`, such as `timeAdded`. */
  readonly countsFromSource?: string | undefined;
  /** The end of that time, RFC 3339. */
  readonly deadline?: string | undefined;
}

/** A taint as the API has it. */
export interface TaintDocument {
  /** Such as `node.kubernetes.io/unreachable`. */
  readonly key: string;
  /** Left out: ''. */
  readonly value: string | undefined;
  /** `NoExecute`, `NoSchedule` or `PreferNoSchedule`. */
  readonly effect: string;
  /** RFC 3339; left out: the taint does not say. */
  readonly timeAdded: string | undefined;
}

/** Since when a taint counts, and what says so. */
interface CountsFrom {
  readonly countsFrom: string | undefined;
  readonly countsFromSource: string;
}

/** Something that holds an eviction back, as JSON. */
export interface BlockerDocument {
  /** The cause for programs, such as `Budget`. */
  readonly code: string;
  /** The way on: `resolves`, `needsTime`, `othersAct`, `askOperator`, `never` or `unknown`. */
  readonly verdict: string;
  /** The cause for people. */
  readonly message: string;
  /** The `unhealthyPodEvictionPolicy` with which the budget would let the pod go. */
  readonly remedy?: 'AlwaysAllow';
  /** The signs that an operator keeps the budget: the controller of its pods, and its writer. */
  readonly operatorSign?: { readonly controller: Owner | null; readonly writer: string | null };
  /** The budgets that refuse, with the numbers of their status. */
  readonly budgets: readonly {
    readonly namespace: string;
    readonly name: string;
    /** `status.disruptionsAllowed`. */
    readonly allowed: number;
    /** `status.currentHealthy`. */
    readonly healthy: number;
    /** `status.desiredHealthy`. */
    readonly desired: number;
    /** `status.expectedPods`. */
    readonly expected: number;
    /** The object that controls the budget. */
    readonly operator: Owner | undefined;
  }[];
}

/** An EvictionRequest, as JSON: who asks that the pod be moved, and who answers. */
export interface EvictionRequestDocument {
  /** The name of the EvictionRequest. */
  readonly name: string;
  /** The program that asks. */
  readonly requester: string;
  /** RFC 3339. */
  readonly createdAt?: string;
  /** The reason why it failed; left out: it has not. */
  readonly failed?: string;
  /** The program that answers, and its progress; left out: none does. */
  readonly responder?: {
    readonly name: string;
    /** RFC 3339. */
    readonly lastHeartbeat: string | undefined;
    /** RFC 3339. */
    readonly expectedCompletion: string | undefined;
    readonly message: string | undefined;
  };
}

/** The numbers of pods, and the seconds left to the first and the last that goes. */
export interface TallyDocument {
  /** All pods. */
  readonly pods: number;
  /** Being deleted already. */
  readonly terminating: number;
  /** To be evicted. */
  readonly evict: number;
  /** Stay. */
  readonly keep: number;
  /** Left out: the fate of each is known. */
  readonly unknown?: number;
  /** Left before the moment of the answer; left out: none. */
  readonly gone?: number;
  /** Held by pauses; left out: none. */
  readonly held?: number;
  /** Refused, and not tried again; left out: none. */
  readonly blocked?: number;
  /** Seconds to the first eviction; left out: there is none. */
  readonly nextSeconds: number | undefined;
  /** Seconds to the last eviction; left out: there is none. */
  readonly lastSeconds: number | undefined;
}

/** The same of several nodes, without the pods of those that were not read. */
export type CountsDocument = Omit<TallyDocument, 'pods' | 'terminating' | 'keep'> & {
  readonly pods?: number | undefined;
  readonly terminating?: number | undefined;
  readonly keep?: number | undefined;
  readonly nodesNotCounted?: number;
};

/** The limits that count pods of the answer; left out: none does. */
export interface LimitsDocument {
  readonly limits?: readonly {
    readonly id: string;
    readonly tripped: boolean;
    readonly evicted: number | null;
    readonly of?: number | null;
    readonly since?: string;
    readonly windowSeconds?: number;
    readonly roomAt?: string;
  }[];
}
