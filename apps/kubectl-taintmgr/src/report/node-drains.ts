// How far the NodeDrains of a cluster are, in words.
import type { NodeDrainObject } from '../cluster/node-drains.ts';

/** One that nobody has begun with has no status. */
export function phaseOf({ metadata, status }: NodeDrainObject): string {
  if (metadata.deletionTimestamp !== undefined) return 'Undoing';
  return status?.phase ?? 'Pending';
}

/** What holds it up; null: nothing. */
export function blockerOf({ status }: NodeDrainObject): string | null {
  const [first, ...more] = status?.blockers ?? [];
  if (first === undefined) return null;
  return more.length > 0 ? `${first} (and ${more.length} more)` : first;
}

/** `every node is drained; 1 pod stays: shop/op (...)`: then its condition Drained is False; null: none stays. */
export function stayingOf({ status }: NodeDrainObject): string | null {
  const found = status?.conditions?.find(({ type, reason }) => {
    return type === 'Drained' && reason === 'PodsStay';
  });
  return found?.message ?? null;
}
