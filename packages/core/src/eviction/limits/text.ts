import { formatDuration } from '../../kernel/time.ts';
import { type LimitCount, type LimitHit, limitId } from '../../policy/limit.ts';

/** Which limit holds a pod back, and why, in words. */
export function describeLimit(hit: LimitHit): string {
  const id = limitId(hit);
  const count = hit.count ? ` (${describeCount(hit.count)})` : '';
  if (hit.tripped) return `limit ${id} has tripped${count}: kubectl taintmgr resume '${id}'`;
  switch (hit.limit) {
    case 'podsPerSecond':
      return `limit ${id}: its rate is used up`;
    case 'record':
      return `limit ${id}: its count has to be written down first`;
    default:
      return `limit ${id} is used up${count}`;
  }
}

/** `20 of 100 pods evicted and 0 unavailable within 10m, at most 20` */
export function describeCount({ evicted, unavailable, most, of, windowMs }: LimitCount): string {
  const window = formatDuration(windowMs);
  const down = unavailable > 0 ? ` and ${unavailable} unavailable` : '';
  return `${evicted} of ${of} pods evicted within ${window}${down}, at most ${most}`;
}
