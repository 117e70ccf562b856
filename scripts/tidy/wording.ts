// Words and phrases that are not used here, each with what is said instead.

export interface Replaced {
  readonly phrase: RegExp;
  readonly instead: string;
}

/** Phrases that readers of our texts stumbled over; comments may use them. */
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
  {
    phrase: /\bsilent nodes?\b|\bnodes? (that )?(is|are|falls?|fell|goes|went) silent\b/,
    instead: 'unreachable nodes',
  },
  { phrase: /\blost nodes?\b/, instead: 'unreachable nodes' },
  { phrase: /\bmass[ -]silence\b/i, instead: 'mass-unreachable guard' },
  { phrase: /\bsettle:/, instead: 'minTaintAge' },
  { phrase: /\bdead zones?\b/, instead: 'zone in full disruption' },
  { phrase: /\bin thought\b/, instead: 'hypothetical' },
  { phrase: /\bview is (too )?old\b/, instead: 'cache is stale' },
  { phrase: /Warning: controller is disabled/, instead: 'controller is disabled' },
];

/** A word that a reader who knows Kubernetes has to decode. */
export interface Unused {
  /** Words in lower case, as they stand in texts and as parts of identifiers and file names. */
  readonly words: readonly string[];
  readonly instead: string;
  /** Where it is looked for: `names` in identifiers and file names only, for words that texts need. */
  readonly where?: 'names';
}

/** Sources, their comments and file names, documents, manifests and transcripts are searched. */
export const unused: readonly Unused[] = [
  { words: ['silent', 'silence'], instead: 'unreachable, no heartbeat', where: 'names' },
  { words: ['governor'], instead: 'limiter' },
  { words: ['waitlist'], instead: 'queue' },
  { words: ['nudge'], instead: 'requeue' },
  { words: ['census'], instead: 'counts' },
  { words: ['ledger'], instead: 'taint clock, store, log' },
  { words: ['keeper'], instead: 'writer, store' },
  { words: ['book'], instead: 'store, record' },
  {
    words: ['tell', 'tells', 'teller', 'telling', 'told'],
    instead: 'notify, report, record, say',
    where: 'names',
  },
  { words: ['rehearse', 'rehearsal'], instead: 'dry run' },
  { words: ['pulse'], instead: 'loop lag' },
  { words: ['vitals'], instead: 'process stats' },
  { words: ['contact'], instead: 'API connectivity', where: 'names' },
  { words: ['patient', 'patients'], instead: 'candidate', where: 'names' },
  { words: ['deed', 'deeds'], instead: 'action' },
  { words: ['happening', 'happenings'], instead: 'event', where: 'names' },
  { words: ['witness'], instead: 'API history, call log, knowledge' },
  { words: ['retelling'], instead: 'conversion' },
  { words: ['settled'], instead: 'idle, quiescent', where: 'names' },
  { words: ['errand', 'errands'], instead: 'task, request' },
  { words: ['reopen', 'reopening'], instead: 'undo' },
  { words: ['closing'], instead: 'cordon and taint', where: 'names' },
  { words: ['standing', 'standings'], instead: 'counts, state', where: 'names' },
  { words: ['opinion', 'hearsay'], instead: 'answer, verdict', where: 'names' },
  { words: ['foreseen'], instead: 'predicted' },
  { words: ['outlook'], instead: 'forecast' },
  { words: ['turnstile'], instead: 'concurrency limit' },
];
