import { formatDuration, type Instant, type Millis } from '@taintmgr/core/time';
import type { ReflectorStatus } from '@taintmgr/k8s-adapter';
import type { ProcessStats } from '../process/process-stats.ts';
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
/** Past these, somebody else had better do the work. */
const viewAgeMsMax: Millis = 180_000;
/** As long as a lease lasts: by then another replica leads, if it has connectivity. */
const cutOffMsMax: Millis = 15_000;
const lagMsMax: Millis = 5_000;

const limitsNamedMax = 5;

const ping: Check = { name: 'ping', fault: () => null };

/**
 * What health endpoints look at. `livez` fails only for what a new start would mend, and never
 * because the API server is away; `readyz` fails while the controller could not do its work.
 */
export function createChecks(stats: ProcessStats): Checks {
  const now = (): Instant => stats.running?.now() ?? 0;
  const live = [ping, loopCheck(stats, now), evictionsCheck(stats), clockCheck(stats)];
  const work = [
    informersCheck(stats),
    watchAgeCheck(stats, now),
    connectivityCheck(stats, now),
    eventLoopCheck(stats),
  ];
  const healthz = [
    ...live,
    ...work,
    leaderCheck(stats),
    overlapCheck(stats),
    limitsCheck(stats, now),
  ];
  return { livez: live, readyz: [...healthz, shutdownCheck(stats)], healthz };
}

/** The one timer that everything waits for has to come. */
function loopCheck(stats: ProcessStats, now: () => Instant): Check {
  return {
    name: 'loop',
    fault: () => {
      const wake = stats.running?.nextWake() ?? null;
      const late = wake === null ? 0 : now() - wake;
      return late > loopLateMsMax ? `its next step is ${formatDuration(late)} late` : null;
    },
  };
}

/** Every request has a time limit, so each eviction ends, well or not. */
function evictionsCheck({ pending }: ProcessStats): Check {
  return {
    name: 'evictions',
    fault: () => {
      const longest = Math.max(0, ...pending.underWay());
      return longest > evictionMsMax ? `one is under way for ${formatDuration(longest)}` : null;
    },
  };
}

function informersCheck(stats: ProcessStats): Check {
  return {
    name: 'informer-sync',
    fault: () => {
      const status = stats.running?.status() ?? [];
      if (status.length === 0) return 'not started';
      const unread = status.filter(({ heardAt }) => heardAt === null);
      return unread.length === 0 ? null : `not read yet: ${names(unread)}`;
    },
  };
}

function watchAgeCheck(stats: ProcessStats, now: () => Instant): Check {
  return {
    name: 'watch-age',
    fault: () => {
      const ages = (stats.running?.status() ?? []).flatMap(({ heardAt, ...source }) =>
        heardAt === null ? [] : [{ ...source, age: now() - heardAt }],
      );
      const old = ages.filter(({ age }) => age > viewAgeMsMax);
      if (old.length === 0) return null;
      const longest = Math.max(...old.map(({ age }) => age));
      return `nothing heard for ${formatDuration(longest)} of ${names(old)}`;
    },
  };
}

/** An API server that is gone is found out by its connection long before its watch grows old. */
function connectivityCheck(stats: ProcessStats, now: () => Instant): Check {
  return {
    name: 'api-connectivity',
    fault: () => {
      const since = stats.running?.cutOffSince() ?? null;
      const gap = since === null ? 0 : now() - since;
      return gap > cutOffMsMax ? `nothing is heard of changes for ${formatDuration(gap)}` : null;
    },
  };
}

function eventLoopCheck({ loopLag }: ProcessStats): Check {
  return {
    name: 'event-loop',
    fault: () => {
      const lag = loopLag.lag();
      return lag > lagMsMax ? `stood still for ${formatDuration(lag)}` : null;
    },
  };
}

/** A clock that was set does no harm, and a new start would not mend it: people are only told. */
function clockCheck({ clock }: ProcessStats): Check {
  return { name: 'clock', fault: () => null, remark: () => clock.last };
}

/** Somebody has to lead. */
function leaderCheck(stats: ProcessStats): Check {
  return {
    name: 'leaderElection',
    fault: () => {
      const leads = stats.leadership.elected || stats.running?.leader();
      return leads ? null : 'this replica is not elected, and no other is known to be';
    },
  };
}

/** A kube-controller-manager that does the same work makes this replica stand by. */
function overlapCheck({ leadership }: ProcessStats): Check {
  return { name: 'overlap', fault: () => leadership.standsBackFor };
}

/**
 * A limit that has tripped is for people to look at. It never makes a replica unready: another one
 * would be held by it just as well, and its metrics and pages are needed most then.
 */
function limitsCheck(stats: ProcessStats, now: () => Instant): Check {
  return {
    name: 'limits',
    fault: () => null,
    remark: () => {
      const tripped = (stats.running?.limits(now()) ?? []).filter((limit) => limit.tripped);
      if (tripped.length === 0) return null;
      const which = tripped.slice(0, limitsNamedMax).map(({ id }) => id);
      const more = tripped.length - which.length;
      const others = more > 0 ? ` and ${more} more` : '';
      return `tripped: ${which.join(', ')}${others}; kubectl taintmgr resume opens them`;
    },
  };
}

function shutdownCheck(stats: ProcessStats): Check {
  return {
    name: 'shutdown',
    fault: () => (stats.stopping ? 'waiting for evictions in progress' : null),
  };
}

function names(sources: readonly Pick<ReflectorStatus, 'resource' | 'nodeName'>[]): string {
  return sources
    .map(({ resource, nodeName }) => (nodeName ? `${resource} on ${nodeName}` : resource))
    .join(' and ');
}
