// How limits are counted, in words.
import { formatDuration } from '../../kernel/time.ts';
import type { LimitCount } from '../../policy/limit.ts';

/** `20 of 100 pods evicted and 0 unavailable within 10m, at most 20` */
export function describeCount({ evicted, unavailable, most, of, windowMs }: LimitCount): string {
  const window = formatDuration(windowMs);
  const down = unavailable > 0 ? ` and ${unavailable} unavailable` : '';
  return `${evicted} of ${of} pods evicted within ${window}${down}, at most ${most}`;
}
