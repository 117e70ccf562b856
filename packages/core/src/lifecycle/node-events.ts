import { type NodeRef, nodeRef } from '../model/node.ts';
import { type PodRef, podRef } from '../model/pod.ts';
import type { NodeNotice } from './node-command.ts';

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
