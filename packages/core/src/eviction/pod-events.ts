// The texts of Kubernetes Events about pods, in kube-controller-manager's words.
import type { RecordPodEvent } from '../attempt/command.ts';
import { formatDeadline, type Instant } from '../kernel/time.ts';
import { type Pod, podRef } from '../model/pod.ts';
import type { Reason } from './reason.ts';
import { describeReason } from './text.ts';
// Reason and opening words are kube-controller-manager's, so that what people search for is found.

/** The Event of a pod that is being evicted, and why. */
export function evictionEvent(pod: Pod, because: readonly Reason[]): RecordPodEvent<Reason> {
  const over = because[0]?.code === 'TolerationExpires' ? ', and that time has passed' : '';
  return podEvent(pod, 'Marking for deletion', because, over);
}

/** The Event of a pod that goes faster, or past its budgets, because its node goes. */
export function nodeEndEvent(pod: Pod, nodeEnd: Instant): RecordPodEvent<Reason> {
  const { namespace, name, nodeName } = pod;
  const end = formatDeadline(nodeEnd);
  const message = `Pod ${namespace}/${name} goes faster than it would: taintmgr.dev/deadline says that node ${nodeName} goes at ${end}`;
  const reason = 'NodeDeadline';
  return { kind: 'recordEvent', pod: podRef(pod), type: 'Warning', reason, message, because: [] };
}

/** The Event of a pending eviction that was called off. */
export function cancelEvent(pod: Pod, because: readonly Reason[]): RecordPodEvent<Reason> {
  return podEvent(pod, 'Cancelling deletion of', because, '');
}

function podEvent(
  pod: Pod,
  opening: string,
  because: readonly Reason[],
  ending: string,
): RecordPodEvent<Reason> {
  const [decisive] = because;
  const why = decisive ? `: ${describeReason(decisive)}${ending}` : '';
  const message = `${opening} Pod ${pod.namespace}/${pod.name}${why}`;
  const reason = 'TaintManagerEviction';
  return { kind: 'recordEvent', pod: podRef(pod), type: 'Normal', reason, message, because };
}
