// The pauses of a Job after its pods have failed: 10 s, then twice as long after each failure in a row.
import { conditionOf } from '../controllers/pods.ts';
import type { KubeObject } from '../objects/kube-object.ts';

const firstPauseMs = 10_000;
const pauseMsMax = 600_000;

/** The failures since a pod of the Job last succeeded. */
interface Failures {
  readonly count: number;
  readonly lastAt: number;
}

const noFailures: Failures = { count: 0, lastAt: 0 };

/** The failures of each Job by its uid. The real controller has them in memory, too. */
export class JobBackoffs {
  readonly #failures = new Map<string | undefined, Failures>();

  /** The failures with those of pods that have ended just now. */
  next(
    { metadata }: KubeObject,
    succeeded: readonly KubeObject[],
    failed: readonly KubeObject[],
  ): Failures {
    const before = this.#failures.get(metadata.uid) ?? noFailures;
    const lastSuccess = Math.max(Number.NEGATIVE_INFINITY, ...succeeded.map(endOf));
    const ends = failed.map(endOf).filter((end) => end > lastSuccess);
    const count = ends.length + (succeeded.length > 0 ? 0 : before.count);
    return { count, lastAt: ends.length > 0 ? Math.max(...ends) : before.lastAt };
  }

  /** Keeps them, once the pods are counted. */
  set({ metadata }: KubeObject, failures: Failures): void {
    if (failures.count > 0) this.#failures.set(metadata.uid, failures);
    else this.#failures.delete(metadata.uid);
  }

  /** Forgets a Job that is gone. */
  forget({ metadata }: KubeObject): void {
    this.#failures.delete(metadata.uid);
  }
}

/** The time until the next pod may be made; 0: now. */
export function pauseLeft({ count, lastAt }: Failures, nowMs: number): number {
  if (count === 0) return 0;
  const pause = Math.min(pauseMsMax, firstPauseMs * 2 ** (count - 1));
  return Math.max(0, lastAt + pause - nowMs);
}

/** When the pod ended, by its containers, its Ready condition, or its deletion, in this order. */
export function endOf(pod: KubeObject): number {
  interface Status {
    readonly state?: { readonly terminated?: { readonly finishedAt?: string } };
  }
  const statuses: readonly Status[] = pod.status?.containerStatuses ?? [];
  const ends = statuses.map(({ state }) => Date.parse(state?.terminated?.finishedAt ?? ''));
  if (ends.length > 0 && !ends.some(Number.isNaN)) return Math.max(...ends);
  const ready = conditionOf(pod, 'Ready');
  if (ready?.status === 'False' && ready.lastTransitionTime) {
    return Date.parse(ready.lastTransitionTime);
  }
  const {
    deletionTimestamp,
    deletionGracePeriodSeconds = 0,
    creationTimestamp = '',
  } = pod.metadata;
  if (deletionTimestamp === undefined) return Date.parse(creationTimestamp);
  return Date.parse(deletionTimestamp) - 1000 * deletionGracePeriodSeconds;
}
