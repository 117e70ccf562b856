// How many pods of a Job have ended, also of those that are gone.
import type { KubeObject } from '../objects/kube-object.ts';

interface Tally {
  readonly total: number;
  /** The pods that are there and counted. */
  readonly uids: ReadonlySet<string | undefined>;
}

/**
 * Counts each pod of a Job once when it has ended, so that it stays counted when it is deleted. The real
 * controller keeps such pods by a finalizer until they are in its status; here it is remembered which
 * are. What ended before the first look is taken from the status, if that says more than the pods.
 */
export class EndedPods {
  /** By the uid of the Job and the phase. */
  readonly #tallies = new Map<string, Tally>();

  count(job: KubeObject, pods: readonly KubeObject[], phase: 'Succeeded' | 'Failed'): number {
    const key = `${job.metadata.uid} ${phase}`;
    const ended = pods.filter(({ status }) => status?.phase === phase);
    const known = this.#tallies.get(key);
    const before: number = job.status?.[phase.toLowerCase()] ?? 0;
    const counted = known
      ? known.total + ended.filter(({ metadata }) => !known.uids.has(metadata.uid)).length
      : ended.length;
    const total = Math.max(before, counted);
    this.#tallies.set(key, { total, uids: new Set(ended.map(({ metadata }) => metadata.uid)) });
    return total;
  }

  /** Of a Job that is gone. */
  forget({ metadata }: KubeObject): void {
    for (const phase of ['Succeeded', 'Failed']) this.#tallies.delete(`${metadata.uid} ${phase}`);
  }
}
