// What people are told of a gate.
import type { Instant } from '../../kernel/time.ts';
import type { LimitStatus } from '../../policy/limit.ts';
import type { Gate } from './scope-limit.ts';

/**
 * A gate that has tripped, in whose window pods were evicted, or whose rate is in use; others: nothing.
 * `asked` is the gate with the counts of `now`.
 */
export function statusOf(now: Instant, gate: Gate, asked: Gate): readonly LimitStatus[] {
  if (gate.tripped) return statusOfTripped(gate);
  const oneAt = gate.oneAt(now);
  const isCounting = gate.isWindowed && asked.evicted > 0;
  if (!isCounting && oneAt === null) return [];
  const { percent, pods } = gate.rule;
  const limit = percent !== undefined ? 'percent' : pods !== undefined ? 'pods' : 'podsPerSecond';
  const hit = { ...asked.hit(now, limit), id: gate.id, since: null };
  return [{ ...hit, ...(oneAt !== null && { oneAt }) }];
}

/** A gate that is shut; one that is open by now: nothing. */
export function statusOfTripped({ id, tripped }: Gate): readonly LimitStatus[] {
  return tripped ? [{ ...tripped.hit, id, since: tripped.since }] : [];
}
