// The hold of a zone that is down as a whole, as the pause that it is for evictions.
import type { Instant } from '../kernel/time.ts';
import type { EvictionPause } from '../policy/values.ts';

/** The deadlines of its pods stand still; no object is called so. */
export function zoneHold(zone: string, since: Instant): EvictionPause {
  const name = zone === '' ? 'the hold of the nodes without a zone' : `the hold of zone ${zone}`;
  const scope = { zones: [zone], nodes: null, taintKeys: [], namespaces: [] };
  const holds = { readiness: false, deadlines: true, reason: '', until: null };
  return { name, uid: '', scope, ...holds, since, zone };
}
