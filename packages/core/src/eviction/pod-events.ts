// The texts of Kubernetes Events about pods, in kube-controller-manager's words.
import { blockerOf, policyDenial } from '../attempt/blocker.ts';
import type { Setback } from '../attempt/outcome.ts';
import type { RecordPodEvent } from '../attempt/pod-command.ts';
import { formatDeadline, type Instant, type Millis } from '../kernel/time.ts';
import { type Pod, podRef } from '../model/pod.ts';
import type { LimitHit } from '../policy/limit.ts';
import type { MachineCommand } from './eviction-command.ts';
import { type Cause, describeReason, type Reason } from './reason.ts';

// Reason and opening words are kube-controller-manager's, so that what people search for is found.

/** The Event of a pod that is being evicted, and why. */
export function evictionEvent(pod: Pod, because: readonly Reason[]): RecordPodEvent<Reason> {
  const over = because[0]?.code === 'TolerationExpires' ? ', and that time has passed' : '';
  return managerEvent(pod, 'Marking for deletion', because, over);
}

/** The Event of a pod whose eviction is requested from its responder, and why. */
export function requestedEvent(pod: Pod, because: readonly Reason[]): RecordPodEvent<Reason> {
  const [decisive] = because;
  const why = decisive ? `: ${describeReason(decisive)}` : '';
  const message = `Eviction of Pod ${pod.namespace}/${pod.name} is requested${why}`;
  return podEvent(pod, 'Normal', 'EvictionRequested', message, because);
}

/** The Event of a pod that goes faster, or past its budgets, because its node goes. */
export function nodeEndEvent(pod: Pod, nodeEnd: Instant): RecordPodEvent<Reason> {
  const { namespace, name, nodeName } = pod;
  const end = formatDeadline(nodeEnd);
  const message = `Pod ${namespace}/${name} is evicted faster: taintmgr.dev/deadline says that node ${nodeName} goes at ${end}`;
  return podEvent(pod, 'Warning', 'NodeDeadline', message, []);
}

/** The Event of a pending eviction that was called off. */
export function cancelEvent(pod: Pod, because: readonly Reason[]): RecordPodEvent<Reason> {
  return managerEvent(pod, 'Cancelling deletion of', because, '');
}

function managerEvent(
  pod: Pod,
  opening: string,
  because: readonly Reason[],
  ending: string,
): RecordPodEvent<Reason> {
  const [decisive] = because;
  const why = decisive ? `: ${describeReason(decisive)}${ending}` : '';
  const message = `${opening} Pod ${pod.namespace}/${pod.name}${why}`;
  return podEvent(pod, 'Normal', 'TaintManagerEviction', message, because);
}

/** An Event about a pod. */
export function podEvent(
  pod: Pod,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
  because: readonly Reason[],
): RecordPodEvent<Reason> {
  return { kind: 'recordEvent', pod: podRef(pod), type, reason, message, because };
}

/** A pod's deadline came up, moved or went away; `unanswered`: and the pod, maybe by a request without an answer. */
export function deadlineReport(
  pod: Pod,
  from: Instant | null,
  to: Instant | null,
  cause: Cause,
  because: readonly Reason[],
  unanswered = false,
): MachineCommand {
  const moved = { kind: 'deadline', pod: podRef(pod), from, to, cause, because } as const;
  return { kind: 'report', report: unanswered ? { ...moved, unanswered } : moved };
}

/** A limit holds an eviction back. */
export function queuedReport(pod: Pod, hit: LimitHit, until: Instant | null): MachineCommand {
  return { kind: 'report', report: { kind: 'queued', pod: podRef(pod), hit, until } };
}

/** Request number `attempt` met a setback; the next one is at `at`. */
export function retryReport(
  pod: Pod,
  attempt: number,
  at: Instant,
  setback: Setback,
): MachineCommand {
  const blocker = blockerOf(setback);
  return {
    kind: 'report',
    report: { kind: 'retry', pod: podRef(pod), attempt, at, setback, blocker },
  };
}

// Without an Event only the log would tell that an admission webhook keeps a pod, or that a policy refuses: no object of
// the cluster says what they answer.

/** The reason of Events about pods whose eviction an admission webhook keeps for itself. */
export const interceptedReason = 'EvictionIntercepted';
/** Between a pod's name and the API server's sentence: where a webhook refused, and where a policy did. */
const interceptedWords = 'may be moved by another program: ';
const refusedWords = 'is refused by a policy: ';
/**
 * The Event is repeated after this time (milliseconds) while the setback lasts: the API server
 * keeps Events for an hour.
 */
export const interceptionRepeatMs: Millis = 300_000;

/** The last news of a webhook or a policy, and when it was told. */
export interface Interception {
  /** The API server's sentence, with the words of who refused. */
  readonly message: string;
  readonly at: Instant;
}

/**
 * The API server's sentence in an Event about an intercepted eviction; null: it is no such Event.
 */
export function interceptionIn(reason: string, message: string): string | null {
  if (reason !== interceptedReason) return null;
  const found = [interceptedWords, refusedWords].find((words) => message.includes(words));
  return found === undefined ? null : message.slice(message.indexOf(found) + found.length);
}

/**
 * The news of a setback; null: neither a webhook nor a policy keeps the pod, or the news was told
 * recently.
 */
export function interceptionNews(
  now: Instant,
  last: Interception | undefined,
  setback: Setback,
): Interception | null {
  const { code, message } = blockerOf(setback);
  if (code !== 'Intercepted' && policyDenial(message) === null) return null;
  const isKnown = last?.message === message && now - last.at < interceptionRepeatMs;
  return isKnown ? null : { message, at: now };
}

/** The Event of a pod that a webhook keeps for itself, or that a policy keeps. */
export function interceptionEvent(
  pod: Pod,
  { message: said }: Interception,
): RecordPodEvent<Reason> {
  const words = policyDenial(said) ? refusedWords : interceptedWords;
  const message = `Pod ${pod.namespace}/${pod.name} ${words}${said}`;
  return podEvent(pod, 'Warning', interceptedReason, message, []);
}
