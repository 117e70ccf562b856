import { formatDuration, type Millis } from '@taintmgr/core/time';
import type { PolicyState, ReflectorStatus } from '@taintmgr/k8s-adapter';
import type { ProcessStats } from '../stats/process-stats.ts';
import type { Check } from './health.ts';

/** /livez, /readyz and /healthz: what each endpoint looks at. */
export interface Checks {
  readonly livez: readonly Check[];
  readonly readyz: readonly Check[];
  readonly healthz: readonly Check[];
}

/** Past these, only a new start helps. */
const loopLateMsMax: Millis = 60_000;
const evictionMsMax: Millis = 300_000;
/** Past this age, another replica serves better. */
const viewAgeMsMax: Millis = 180_000;
/** As long as a lease lasts: by then another replica leads, if it can reach the API server. */
const cutOffMsMax: Millis = 15_000;
const lagMsMax: Millis = 5_000;

const limitsNamedMax = 5;

/** The words for a fault, or for a note without a fault; null: none. */
type Look = (stats: ProcessStats) => string | null;

/** `livez` fails only for what a new start would mend, and never because the API server is away. */
const livez: Readonly<Record<string, Look>> = {
  ping: () => null,
  /** The one timer that everything waits for has to come. */
  loop: ({ running }) => {
    const late = running?.lateBy() ?? 0;
    return late > loopLateMsMax ? `its next step is ${formatDuration(late)} late` : null;
  },
  /** Every request has a time limit, so each eviction ends, well or not. */
  evictions: ({ pending }) => {
    const longest = Math.max(0, ...pending.underWay());
    return longest > evictionMsMax ? `one is under way for ${formatDuration(longest)}` : null;
  },
  clock: () => null,
};

/** `healthz` fails while the controller could not do its work. */
const healthz: Readonly<Record<string, Look>> = {
  'informer-sync': ({ running }) => {
    const status = running?.status() ?? [];
    if (status.length === 0) return 'not started';
    const unread = status.filter(({ heardAt }) => heardAt === null);
    return unread.length === 0 ? null : `not read yet: ${names(unread)}`;
  },
  'watch-age': ({ running }) => {
    if (running === null) return null;
    const now = running.now();
    const ages = running.status().map(({ heardAt, ...source }) => {
      return { ...source, age: now - (heardAt ?? now) };
    });
    const old = ages.filter(({ age }) => age > viewAgeMsMax);
    if (old.length === 0) return null;
    const longest = Math.max(...old.map(({ age }) => age));
    return `nothing heard for ${formatDuration(longest)} of ${names(old)}`;
  },
  /** A connection shows that the API server is gone long before a watch grows old. */
  'api-connectivity': ({ running }) => {
    const since = running?.cutOffSince() ?? null;
    const gap = running === null || since === null ? 0 : running.now() - since;
    return gap > cutOffMsMax ? `nothing is heard of changes for ${formatDuration(gap)}` : null;
  },
  'event-loop': ({ loopLag }) => {
    const lag = loopLag.lag();
    return lag > lagMsMax ? `stood still for ${formatDuration(lag)}` : null;
  },
  /** Some replica has to lead; none does where the lease cannot be renewed. */
  leaderElection: ({ leadership, running }) => {
    const leads = leadership.elected || running?.leader();
    return leads ? null : 'this replica is not elected, and no other is known to be';
  },
  /** A kube-controller-manager that does the same work makes this replica stand by. */
  overlap: ({ leadership }) => leadership.standsBackFor,
  limits: () => null,
  /** Where the policies are not in force, kube-controller-manager decides. */
  takeover: ({ takeover, leadership, running }) => {
    if (!takeover || !leadership.elected) return null;
    const { isInForce, drift, fault } = running?.takeover()?.policies ?? unknownPolicies;
    if (!isInForce)
      return `the policies are not in force: ${fault ?? (drift.join('; ') || 'not looked at yet')}`;
    return takeover.news;
  },
};

const unknownPolicies: Pick<PolicyState, 'isInForce' | 'drift' | 'fault'> = {
  isInForce: false,
  drift: [],
  fault: null,
};

const readyz: Readonly<Record<string, Look>> = {
  shutdown: ({ stopping }) => (stopping ? 'waiting for evictions in progress' : null),
};

const remarks: Readonly<Record<string, Look>> = {
  /** A clock that was set does no harm, and a new start would not mend it. */
  clock: ({ clock }) => clock.last,
  /**
   * A limit that has tripped is for people to look at. A tripped limit never makes a replica unready: it
   * would hold another replica as well, and metrics and pages are needed most then.
   */
  limits: ({ running }) => {
    const limits = running?.limits(running.now()) ?? [];
    const tripped = limits.filter((limit) => limit.tripped);
    if (tripped.length === 0) return null;
    const which = tripped.slice(0, limitsNamedMax).map(({ id }) => id);
    const more = tripped.length - which.length;
    const others = more > 0 ? ` and ${more} more` : '';
    return `tripped: ${which.join(', ')}${others}; kubectl taintmgr resume opens them`;
  },
};

/** The checks of each endpoint; one has those of the endpoint before it too. */
export function createChecks(stats: ProcessStats): Checks {
  const checksOf = (looks: Readonly<Record<string, Look>>): readonly Check[] =>
    Object.entries(looks).map(([name, look]) => ({
      name,
      fault: () => look(stats),
      remark: () => remarks[name]?.(stats) ?? null,
    }));
  return {
    livez: checksOf(livez),
    healthz: checksOf({ ...livez, ...healthz }),
    readyz: checksOf({ ...livez, ...healthz, ...readyz }),
  };
}

function names(sources: readonly Pick<ReflectorStatus, 'resource' | 'nodeName'>[]): string {
  return sources
    .map(({ resource, nodeName }) => (nodeName ? `${resource} on ${nodeName}` : resource))
    .join(' and ');
}
