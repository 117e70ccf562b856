// How far the NodeDrains of a cluster are, in words.
import type { NodeDrainObject } from '../cluster/node-drains.ts';
import { none } from './words.ts';

/** One that nobody has begun with has no status. */
export function phaseOf({ metadata, status }: NodeDrainObject): string {
  if (metadata.deletionTimestamp !== undefined) return 'Undoing';
  return status?.phase ?? 'Pending';
}

/** What holds it up. */
export function blockerOf({ status }: NodeDrainObject): string {
  const [first, ...more] = status?.blockers ?? [];
  if (first === undefined) return none;
  return more.length > 0 ? `${first} (and ${more.length} more)` : first;
}
