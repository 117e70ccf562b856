// What is reported of the eviction of one pod, for logs and metrics.
import { blockerOf } from '../attempt/blocker.ts';
import type { Setback } from '../attempt/outcome.ts';
import type { Instant } from '../kernel/time.ts';
import { type Pod, podRef } from '../model/pod.ts';
import type { LimitHit } from '../policy/limit.ts';
import type { MachineCommand } from './command.ts';
import type { Cause, Reason } from './reason.ts';

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
