// The commands of the node lifecycle machine, and its Events.
import type {
  NodeNotReadyReason,
  PodCommand,
  RecordNodeEvent,
  RecordPodEvent,
} from '../attempt/pod-command.ts';
import type { Instant } from '../kernel/time.ts';
import { type NodeCondition, type NodeRef, nodeRef } from '../model/node.ts';
import { type PodRef, podRef } from '../model/pod.ts';
import type { Labels } from '../model/selector.ts';
import type { Taint, TaintName } from '../model/taint.ts';
import type { LifecycleReason, LifecycleReport } from './reason.ts';

/** The commands of the node lifecycle machine. */
export type NodeCommand =
  /**
   * Change the taints of a node in one write: those to remove go, those it lacks are appended.
   * Nothing is written that would change nothing.
   */
  | {
      readonly kind: 'changeTaints';
      readonly id: string;
      readonly node: NodeRef;
      readonly add: readonly Taint[];
      readonly remove: readonly TaintName[];
      /** Read past the API server's cache first: an earlier attempt met a conflict. */
      readonly fresh: boolean;
      /** Only if its condition Ready still has this status (null: it has none); left out: anyhow. */
      readonly seen?: string | null;
      /** A taint that is there already gets a new time. */
      readonly overwrite?: true;
      /** The text of the node's note of taints that rules put on, after it; null: no note. */
      readonly owned?: Readonly<Record<string, string>> | null;
      readonly because: readonly LifecycleReason[];
    }
  /**
   * Give conditions of a node a new state; those of other types stay. `seen`: only if its condition
   * Ready still has this heartbeat and status; null: it had none. `leaseRenewedAt`: and only if its
   * lease has not been renewed since (null: there is none, or it names no time); left out: in any
   * case.
   */
  | {
      readonly kind: 'setNodeConditions';
      readonly id: string;
      readonly node: NodeRef;
      readonly conditions: readonly NodeCondition[];
      readonly seen: Pick<NodeCondition, 'status' | 'heartbeatAt'> | null;
      readonly leaseRenewedAt?: Instant | null;
    }
  | {
      readonly kind: 'setNodeLabels';
      readonly id: string;
      readonly node: NodeRef;
      readonly labels: Labels;
    }
  /** Set the status of the pod's condition Ready to False, unless it is or there is none. */
  | {
      readonly kind: 'markPodNotReady';
      readonly id: string;
      readonly pod: PodRef;
      /** Left out: where our view may be old, only if its node is still unreachable. */
      readonly blind?: true;
    }
  /** Write status.reason NodeLost with this message, unless the reason is that already. */
  | {
      readonly kind: 'markPodLost';
      readonly id: string;
      readonly pod: PodRef;
      readonly message: string;
    };

/** The news of the node lifecycle machine; they change nothing but Events. */
export type NodeNotice =
  | RecordPodEvent<never>
  | RecordNodeEvent
  | { readonly kind: 'report'; readonly report: LifecycleReport };

/** All that the machine answers; in the legacy mode of upstream it deletes pods itself. */
export type LifecycleCommand = NodeCommand | NodeNotice | PodCommand<NodeNotReadyReason>;

// Reasons and messages are kube-controller-manager's, so that what people search for is found.

type NodeEventReason = 'RegisteredNode' | 'RemovingNode' | 'NodeNotReady' | 'DeletingAllPods';

const nodeTexts: Readonly<Record<NodeEventReason, (name: string) => string>> = {
  RegisteredNode: (name) => `Node ${name} event: Registered Node ${name} in Controller`,
  RemovingNode: (name) => `Node ${name} event: Removing Node ${name} from Controller`,
  NodeNotReady: (name) => `Node ${name} status is now: NodeNotReady`,
  DeletingAllPods: (name) => `Node ${name} event: Deleting all Pods from Node ${name}.`,
};

/** The Event about a node. */
export function nodeEvent(node: NodeRef, reason: NodeEventReason): NodeNotice {
  const message = nodeTexts[reason](node.name);
  return { kind: 'recordNodeEvent', node: nodeRef(node), type: 'Normal', reason, message };
}

/** The Event about a pod that is marked not ready with its node. */
export function podNotReadyEvent(pod: PodRef): NodeNotice {
  return podEvent(pod, 'Warning', 'NodeNotReady', 'Node is not ready');
}

/** The Event about a pod that goes because its node is lost (legacy mode). */
export function podEvictionEvent(pod: PodRef): NodeNotice {
  const message = `Marking for deletion Pod ${pod.name} from Node ${pod.nodeName}`;
  return podEvent(pod, 'Normal', 'NodeControllerEviction', message);
}

function podEvent(
  pod: PodRef,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
): NodeNotice {
  const [reporter, because] = ['lifecycle', []] as const;
  return { kind: 'recordEvent', reporter, pod: podRef(pod), type, reason, message, because };
}
