/** A phrase that has been replaced, and what is said instead. */
export interface Replaced {
  readonly phrase: RegExp;
  readonly instead: string;
}

/**
 * Words that readers stumbled over, each with the field's own. Sources, documents, manifests and
 * transcripts are searched for them by tidy; comments may say what they like.
 */
export const replaced: readonly Replaced[] = [
  { phrase: /unless it is heard of/, instead: 'Unknown in 42s without a heartbeat' },
  { phrase: /longer than it is given/, instead: 'no heartbeat for 58s (grace period 50s)' },
  { phrase: /holds no lease/, instead: 'not detected (no leader election lease)' },
  { phrase: /nobody wrote when/, instead: 'has no timeAdded; times are estimates' },
  { phrase: /\bnow, \d+[dhms]\w* late/, instead: 'overdue by 2d3h' },
  { phrase: /['`]Leaving['`]|\bLeaving {2,}-|\b\d+ leaving\b/, instead: 'Terminating' },
  { phrase: /\bask(s|ing)? (no|disruption) budgets/, instead: 'ignores PodDisruptionBudgets' },
  { phrase: /\bbudgets? [\w-]+ \((needs time|never)\)/, instead: 'PDB' },
  { phrase: /waiting does not help/i, instead: 'will not resolve by itself' },
  { phrase: /was asked long enough/, instead: 'PDB wait (3s) exceeded' },
  { phrase: /has a mark of drain/, instead: 'no drain X found' },
  { phrase: /in contact with the API server/, instead: 'reconnected to the API server' },
  { phrase: /nobody['’]s business/, instead: 'sensitive data' },
  { phrase: /objects? written down/, instead: 'objects written' },
  { phrase: /for want of rights/, instead: 'no permission to list' },
  { phrase: /\bHAS SET\b/, instead: 'CHANGES' },
  { phrase: /taken as kubectl takes it/, instead: 'accepted for compatibility; no effect' },
  { phrase: /would start it again/, instead: 'is not managed by a controller' },
  { phrase: /\b(is|are|was) in the way\b/, instead: 'blocks' },
  { phrase: /\b(its|their) turn came\b/, instead: 'started' },
  { phrase: /nodes tainted a second/, instead: 'eviction rate 0.1 nodes/s' },
  { phrase: /Warning: controller is disabled/, instead: 'controller is disabled' },
];
