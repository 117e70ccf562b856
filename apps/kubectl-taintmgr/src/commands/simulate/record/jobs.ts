// The Jobs of a run: their pods, how many of those have ended, and how the Job itself ends.
import type { ClusterApi, KubeObject } from '@taintmgr/sim-cluster';
import type { Condition } from '../../../cluster/facts.ts';
import { type Timeline, Timelines } from './timelines.ts';

interface JobState {
  /** Pods that run, and pods that were counted so far. */
  readonly active: number;
  readonly succeeded: number;
  readonly failed: number;
  /** `Complete`, or `Failed` and the reason: `Failed: BackoffLimitExceeded`; null: it goes on. */
  readonly end: string | null;
}

interface JobId {
  readonly namespace: string;
  readonly name: string;
  readonly pods: readonly { readonly pod: string; readonly from: number }[];
}

/** A Job that had not ended at the beginning. */
export type JobTrack = Timeline<JobId, JobState>;

/** Records them: what is there at the beginning, and what changes. */
export class JobTimelines {
  readonly #timelines = new Timelines<JobId, JobState>();
  readonly #pods = new Map<string, { readonly pod: string; readonly from: number }[]>();

  constructor(api: ClusterApi) {
    for (const job of api.list('jobs')) this.record(0, job);
    for (const pod of api.list('pods')) this.made(0, pod);
  }

  record(at: number, job: KubeObject): void {
    const { namespace = '', name } = job.metadata;
    const key = `${namespace}/${name}`;
    const { active = 0, succeeded = 0, failed = 0 } = job.status ?? {};
    const end = endOf(job);
    if (!this.#timelines.has(key)) {
      if (end !== null) return;
      this.#timelines.add(key, { namespace, name, pods: this.#podsOf(key) });
    }
    this.#timelines.push(at, key, { active, succeeded, failed, end });
  }

  /** A pod that is new. */
  made(at: number, { metadata }: KubeObject): void {
    const owner = metadata.ownerReferences?.find(({ controller }) => controller);
    if (owner?.kind !== 'Job') return;
    const pods = this.#podsOf(`${metadata.namespace}/${owner.name}`);
    pods.push({ pod: metadata.name, from: at });
  }

  tracks(): readonly JobTrack[] {
    return this.#timelines.inOrder();
  }

  #podsOf(key: string): { readonly pod: string; readonly from: number }[] {
    const pods = this.#pods.get(key) ?? [];
    this.#pods.set(key, pods);
    return pods;
  }
}

/** Decided, though its last pods may still be stopping. */
function endOf({ status }: KubeObject): string | null {
  const conditions: readonly Condition[] = status?.conditions ?? [];
  for (const { type, status: isSo, reason } of conditions) {
    if (isSo !== 'True') continue;
    if (type === 'Complete' || type === 'SuccessCriteriaMet') return 'Complete';
    if (type === 'Failed' || type === 'FailureTarget') return `Failed: ${reason ?? 'unknown'}`;
  }
  return null;
}
