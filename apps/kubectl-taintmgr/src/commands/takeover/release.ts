// Gives a namespace back: what kube-controller-manager has forgotten is evicted before nobody evicts it.
import { setTimeout } from 'node:timers/promises';
import type { Pod } from '@taintmgr/core';
import type { Millis } from '@taintmgr/core/time';
import {
  type ApiClient,
  ApiError,
  deletePodRequest,
  evictPodRequest,
  listRequest,
} from '@taintmgr/k8s-adapter';
import { ClusterReader } from '../../cluster/reader.ts';
import { namespacesPath } from '../../cluster/scratch.ts';
import { duePods, type HeldChoice, type HeldPod } from './held.ts';
import { labelRequest } from './requests.ts';

export interface GivingBack {
  readonly client: ApiClient;
  readonly namespace: string;
  readonly how: HeldChoice;
  /** How long what is refused is tried. */
  readonly timeout: Millis;
  readonly interrupt: AbortSignal;
}

const retryMs: Millis = 5_000;

/**
 * By so much kube-controller-manager may find a pod due before we do: taints and the API server's
 * time are known in whole seconds, and count from their end.
 */
const laterMsMax: Millis = 2_000;

/**
 * Evicts what is due, takes the label off, and answers which pods nobody evicts from then on, and why.
 * What comes due meanwhile is evicted too. What comes due in the last moments may have been refused or
 * not: kube-controller-manager deletes it at once, or has forgotten it, and that is waited for.
 */
export async function giveBack(giving: GivingBack): Promise<readonly HeldPod[]> {
  const { client, namespace, interrupt } = giving;
  const stay = await release(giving);
  await client.send(labelRequest(namespace, false));
  const soon = await lookForDue(giving, laterMsMax);
  const isOpen = soon.some(({ pod }) => !stay.has(pod.uid));
  if (isOpen) await setTimeout(laterMsMax, undefined, { signal: interrupt }).catch(() => undefined);
  const left = isOpen ? await lookForDue(giving) : soon;
  return left.map((one) => ({ ...one, why: stay.get(one.pod.uid) ?? one.why }));
}

/** What is due in the namespace by the API server's time, or will be so much later. */
async function lookForDue(
  { client, namespace }: GivingBack,
  ahead: Millis = 0,
): Promise<readonly HeldPod[]> {
  const reader = new ClusterReader(client);
  const [nodes, pods] = await Promise.all([reader.nodes(), reader.podsOf(namespace)]);
  const { serverTime } = await client.ask(listRequest(namespacesPath, { limit: 1 }));
  return duePods(pods, nodes, serverTime ?? reader.now(), ahead);
}

/** Until nothing is due any more, or the time is over; why those stay that do, by uid. */
async function release(giving: GivingBack): Promise<ReadonlyMap<string, string>> {
  const { client, how, timeout, interrupt } = giving;
  if (how === 'leave')
    return new Map((await lookForDue(giving)).map(({ pod, why }) => [pod.uid, why]));
  const end = performance.now() + timeout;
  for (;;) {
    const due = await lookForDue(giving);
    const stay = new Map<string, string>();
    for (const { pod } of due) {
      const why = await remove(client, pod, how);
      if (why !== null) stay.set(pod.uid, why);
    }
    if (due.length === 0 || performance.now() >= end) return stay;
    if (stay.size > 0)
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
