// The commands of NodeDrains beside evictions.
import type { PodCommand, RecordPodEvent } from '../attempt/pod-command.ts';
import type { ReadEvictionRequests, WriteEvictionRequest } from '../eviction/eviction-command.ts';
import type { Reason } from '../eviction/reason.ts';
import type { NodeRef } from '../model/node.ts';
import type { Owner, PodRef } from '../model/pod.ts';
import type { Taint } from '../model/taint.ts';
import type { AlertQuery, DrainWindow, ObjectState } from '../policy/node-drain.ts';

/** Steps that a drain has taken on a node before it taints the node; left out: none. */
export type DoneBefore =
  /**
   * The drain has cordoned the node, if that is wanted: a node that another person uncordons
   * meanwhile is not cordoned again.
   */
  | 'cordoned'
  /**
   * The same, and the drain has left its mark: without the mark, the drain was undone there by
   * others.
   */
  | 'marked';

/** The writes of a drain on one of its nodes. */
export type NodeDrainWrite =
  /** Cordon it, if that is wanted, put the taint on, and show that we are at work: in one write. */
  | { readonly kind: 'taint'; readonly cordon: boolean; readonly before?: DoneBefore }
  | { readonly kind: 'cordon' }
  /** Show that we are still at work. */
  | { readonly kind: 'renew' }
  /** Show that we are done; whether no pod was left that was to go. */
  | { readonly kind: 'end'; readonly isDrained: boolean }
  /** Take the taint back, and leave the cordon. */
  | { readonly kind: 'untaint' }
  /** Take back everything that the drain has set. */
  | { readonly kind: 'undo' };

/** Change a node of a drain. Answered by one `result` that carries the id. */
export interface WriteDrainNode {
  readonly kind: 'writeDrainNode';
  /** Names the command in its `result`. */
  readonly id: string;
  /** Name of the node. */
  readonly nodeName: string;
  /** The name and the uid of the NodeDrain. */
  readonly drain: string;
  /** metadata.uid of the NodeDrain. */
  readonly uid: string;
  /** The taint of the NodeDrain. */
  readonly taint: Taint;
  /** The change. */
  readonly write: NodeDrainWrite;
}

/** Keep a NodeDrain until it is undone, or let it go. Answered by one `result` that carries the id. */
export interface GuardDrain {
  readonly kind: 'guardDrain';
  /** Names the command in its `result`. */
  readonly id: string;
  /** Name of the NodeDrain. */
  readonly drain: string;
  /** metadata.uid, the precondition of the write. */
  readonly uid: string;
  /** True: add the finalizer. False: remove it. */
  readonly isGuarded: boolean;
}

/**
 * Delete a NodeDrain whose status is of its present generation. Answered by one `result` that
 * carries the id.
 */
export interface DeleteDrain {
  readonly kind: 'deleteDrain';
  /** Names the command in its `result`. */
  readonly id: string;
  /** Name of the NodeDrain. */
  readonly drain: string;
  /** metadata.uid, the precondition of the deletion. */
  readonly uid: string;
  /** metadata.generation that its status must have. */
  readonly generation: number;
}

/** A condition of a node, as a drain sets it. */
export interface DrainCondition {
  /** Type of the condition. */
  readonly type: string;
  /** Status of the condition. */
  readonly status: 'True' | 'False';
  /** Reason as a CamelCase word, for programs. */
  readonly reason: string;
  /** Message for people. */
  readonly message: string;
}

/** Set conditions of a node, all of which change. Answered by one `result` that carries the id. */
export interface SetDrainConditions {
  readonly kind: 'setDrainConditions';
  /** Names the command in its `result`. */
  readonly id: string;
  /** Name of the NodeDrain. */
  readonly drain: string;
  /** The node. */
  readonly node: NodeRef;
  /** The conditions to set in status.conditions. */
  readonly conditions: readonly DrainCondition[];
}

/** A question of a drain about others. */
export type DrainQuestion =
  /** Asks if one of the windows is open. */
  | { readonly kind: 'windows'; readonly windows: readonly DrainWindow[] }
  | { readonly kind: 'object'; readonly object: ObjectState }
  | { readonly kind: 'noAlerts'; readonly query: AlertQuery }
  /**
   * Asks if no volume of a StatefulSet's own claims is attached to one of the nodes, but for those of
   * pods that are still there.
   */
  | {
      readonly kind: 'volumes';
      readonly namespace: string;
      readonly statefulSet: string;
      readonly nodes: readonly string[];
      /** The names of its pods that are there. */
      readonly staying: readonly string[];
      /** The pod that left last: its node's status has to say the same; null: unknown. */
      readonly left: { readonly pod: string; readonly node: string } | null;
    };

/**
 * Find out the answer to a question. Answered by one `result` that carries the id: `done`: it is
 * so; `changed`: it is not, and why. `until`: the answer stays valid until then, by the cluster's
 * clock.
 */
export interface AskForDrain {
  readonly kind: 'askForDrain';
  /** Names the command in its `result`. */
  readonly id: string;
  /** Name of the NodeDrain. */
  readonly drain: string;
  /** The question. */
  readonly question: DrainQuestion;
}

/**
 * Make the Deployment of a pod start another one before it stops this one, as kubectl rollout restart
 * does. Answered by one `result` that carries the id: `done` too where a rollout is under way,
 * `changed` where its Deployment cannot do that.
 */
export interface RestartRollout {
  readonly kind: 'restartRollout';
  /** Names the command in its `result`. */
  readonly id: string;
  /** Name of the NodeDrain. */
  readonly drain: string;
  /** metadata.uid of the NodeDrain. */
  readonly uid: string;
  /** The pod whose Deployment restarts. */
  readonly pod: PodRef;
  /** The ReplicaSet. */
  readonly owner: Owner;
}

/** The commands of NodeDrains, each of which names what it is for. */
export type NodeDrainCommand =
  | PodCommand<Reason>
  | RecordPodEvent<Reason>
  | WriteDrainNode
  | GuardDrain
  | DeleteDrain
  | AskForDrain
  | SetDrainConditions
  | RestartRollout
  | ReadEvictionRequests
  | WriteEvictionRequest;
