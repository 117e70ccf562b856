// The Jobs that fail when their pods are evicted: an evicted pod counts as failed.
import type { Pod } from '@taintmgr/core';
import { groupBy } from '../text/count.ts';
import { type ClusterReader, inTurns } from './reader.ts';

/** A Job as the API server has it, as far as it decides what an eviction means to it. */
export interface JobObject {
  readonly spec?: {
    readonly backoffLimit?: number;
    readonly backoffLimitPerIndex?: number;
    readonly podFailurePolicy?: { readonly rules?: readonly Rule[] };
  };
  readonly status?: { readonly failed?: number };
}

interface Rule {
  readonly action?: string;
  readonly onPodConditions?: readonly { readonly type?: string; readonly status?: string }[];
}

/** The number of Jobs that are looked at. */
const jobsMax = 200;
/** The default of a Job. */
const usualLimit = 6;

/** A line about each Job that fails when these pods are evicted; nothing of those that we may not read. */
export async function jobEnds(
  reader: ClusterReader,
  pods: readonly Pod[],
): Promise<readonly string[]> {
  const owned = pods.filter(({ owner }) => {
    return owner?.kind === 'Job' && owner.apiVersion.startsWith('batch/');
  });
  const byJob = groupBy(owned, ({ namespace, owner }) => `${namespace}/${owner?.name}`);
  const lines = await inTurns([...byJob].slice(0, jobsMax), async ([key, { length }]) => {
    const [namespace = '', name = ''] = key.split('/').map(encodeURIComponent);
    const path = `/apis/batch/v1/namespaces/${namespace}/jobs/${name}`;
    const why = jobEnd((await reader.objectIfAllowed(path)) as JobObject | null, length);
    return why === null ? [] : [`Job ${key} fails: ${why}`];
  });
  return lines.flat();
}

/**
 * The reason why the Job fails when this number of its pods is evicted; null: it does not, or we
 * may not read it.
 */
export function jobEnd(job: JobObject | null, evicted: number): string | null {
  if (!job) return null;
  const { backoffLimit = usualLimit, backoffLimitPerIndex, podFailurePolicy } = job.spec ?? {};
  const rule = podFailurePolicy?.rules?.find(({ onPodConditions = [] }) =>
    onPodConditions.some(
      ({ type, status }) => type === 'DisruptionTarget' && (status || 'True') === 'True',
    ),
  );
  if (rule?.action === 'Ignore') return null;
  if (rule?.action === 'FailJob') return 'its podFailurePolicy has FailJob for DisruptionTarget';
  if (rule?.action === 'FailIndex') {
    return 'its podFailurePolicy has FailIndex for DisruptionTarget';
  }
  const without = rule
    ? 'its podFailurePolicy counts DisruptionTarget'
    : 'no podFailurePolicy ignores DisruptionTarget';
  if (backoffLimitPerIndex === 0) return `backoffLimitPerIndex 0 and ${without}`;
  if (backoffLimitPerIndex !== undefined) return null;
  const before = job.status?.failed ?? 0;
  if (before + evicted <= backoffLimit) return null;
  const failed = before > 0 ? `, ${before} failed before` : '';
  const more = evicted > 1 ? `, ${evicted} pods evicted` : '';
  return `backoffLimit ${backoffLimit}${failed}${more} and ${without}`;
}
