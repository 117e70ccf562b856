import type { Command } from '../command.ts';
import { describeReason } from '../explain/text.ts';
import { type Pod, podRef } from '../model.ts';
import type { Reason } from '../reason.ts';

// Reason and opening words are kube-controller-manager's, so that what people search for is found.

/** The Event that tells that a pod is being evicted, and why. */
export function evictionEvent(pod: Pod, because: readonly Reason[]): Command {
  return podEvent(pod, `Marking for deletion Pod ${pod.namespace}/${pod.name}`, because);
}

/** The Event that tells that a pending eviction was called off. */
export function cancelEvent(pod: Pod, because: readonly Reason[]): Command {
  return podEvent(pod, `Cancelling deletion of Pod ${pod.namespace}/${pod.name}`, because);
}

function podEvent(pod: Pod, opening: string, because: readonly Reason[]): Command {
  const [decisive] = because;
  const message = decisive ? `${opening}: ${describeReason(decisive)}` : opening;
  const reason = 'TaintManagerEviction';
  return { kind: 'recordEvent', pod: podRef(pod), type: 'Normal', reason, message, because };
}
