// Evicts the pods that kube-controller-manager has forgotten, before nobody evicts them any more.
import { setTimeout } from 'node:timers/promises';
import type { Pod } from '@taintmgr/core';
import type { Millis } from '@taintmgr/core/time';
import { type ApiClient, ApiError, deletePodRequest, evictPodRequest } from '@taintmgr/k8s-adapter';
import type { HeldChoice, HeldPod } from './held.ts';

const retryMs: Millis = 1_000;

/** Those that are there still when the time is over, and why. */
export async function release(
  client: ApiClient,
  held: readonly HeldPod[],
  how: HeldChoice,
  timeout: Millis,
  interrupt: AbortSignal,
): Promise<readonly HeldPod[]> {
  if (how === 'leave') return held;
  const end = performance.now() + timeout;
  let left = held;
  for (;;) {
    const refused: HeldPod[] = [];
    for (const one of left) {
      const why = await remove(client, one.pod, how);
      if (why !== null) refused.push({ ...one, why });
    }
    left = refused;
    if (left.length === 0 || performance.now() >= end) return left;
    await setTimeout(retryMs, undefined, { signal: interrupt }).catch(() => undefined);
    interrupt.throwIfAborted();
  }
}

/** Why it is not gone; null: it goes. */
async function remove(client: ApiClient, pod: Pod, how: HeldChoice): Promise<string | null> {
  try {
    await client.send(how === 'evict' ? evictPodRequest(pod) : deletePodRequest(pod));
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, message, causes } = error.failure;
    if (status === 404 || status === 409) return null;
    return causes[0]?.message || message;
  }
}
