// What a controller was refused, though it needs it.
import type { Denial } from '@taintmgr/api-server';

/**
 * Without components/limits the record of limits may not be read. Whoever begins to lead looks there
 * once all the same, for what limits that are gone have left, and does without where it may not.
 */
export function denialsThatCount(denials: readonly Denial[]): readonly Denial[] {
  return denials.filter(({ verb, name, count }) => {
    return !(verb === 'get' && name === 'taintmgr-controller-limits' && count === 1);
  });
}
