import type { Random } from '../../src/proto/backoff.ts';

/** A source of randomness that always gives the same. */
export function random(value: number): Random {
  return () => value;
}
