import type { Pod } from '@taintmgr/core';
import { ApiError, evictPodRequest } from '@taintmgr/k8s-adapter';
import { type ExitCode, exitCode } from '../../exit.ts';
import { printable } from '../../render/printable.ts';
import type { Drain } from './drain.ts';
import type { DrainPlan } from './plan.ts';
import { nameOf } from './progress.ts';

/**
 * Asks the API server about each eviction of the plan, once, without changing anything. It judges
 * each alone: two pods under one budget may both be allowed here and not one after the other.
 */
export async function askServer(drain: Drain, plan: DrainPlan): Promise<ExitCode> {
  const { output } = drain;
  let refused = 0;
  for (const { pod, fate } of plan.pods) {
    if (fate.kind !== 'evict') continue;
    const refusal = await refusalOf(drain, pod);
    if (refusal === null) {
      output.out(`pod/${pod.name} evicted (${pod.namespace}, server dry run)`);
      continue;
    }
    refused += 1;
    output.err(`Warning: ${nameOf(pod)} on ${pod.nodeName} is held back: ${printable(refusal)}`);
  }
  return refused > 0 ? exitCode.blocked : exitCode.done;
}

/** Why the API server would refuse the eviction now; null when it would not. */
async function refusalOf({ connection, flags }: Drain, pod: Pod): Promise<string | null> {
  const grace = flags.gracePeriod < 0 ? {} : { gracePeriodSeconds: flags.gracePeriod };
  try {
    await connection.client.send(evictPodRequest(pod, { ...grace, dryRun: true }));
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, message, causes } = error.failure;
    if (status === 404) return null;
    if (status === 401 || status === 403) throw error;
    return causes[0]?.message || message;
  }
}
