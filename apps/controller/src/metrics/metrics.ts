import type { LimitStatus } from '@taintmgr/core/policy';
import type { ShadowReport } from '@taintmgr/core/shadow';
import type { Instant, Millis } from '@taintmgr/core/time';
import type { Machine, Notice } from '@taintmgr/k8s-adapter';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { ControllerName } from '../flags/controllers.ts';
import { type FeatureGates, featureGates, gateStages } from '../flags/feature-gates.ts';
import type { OnLook } from '../server/health.ts';
import { Lateness } from '../stats/lateness.ts';
import type { ProcessStats } from '../stats/process-stats.ts';
import type { RequestObserver } from '../transport/observed.ts';
import { version } from '../version.ts';
import { evictionMetrics } from './eviction.ts';
import { Meter, type Tallies, type Tally, timed } from './meter.ts';
import { nodeCollectorMetrics } from './node-collector.ts';
import { workqueueMetrics } from './workqueue.ts';

export interface MetricsOptions {
  readonly stats: ProcessStats;
  /** Asked for what the shadow has seen; null: there is none. */
  readonly shadow: (() => ShadowReport | null) | null;
  readonly dryRun: boolean;
  /** Of the API server, `host:port`. */
  readonly host: string;
  readonly controllers: readonly ControllerName[];
  readonly featureGates: FeatureGates;
  /** Name of the lease that is stood for; null: none. */
  readonly lease: string | null;
  /** The time on this machine's clock; left out: Date.now. */
  readonly machineClock?: () => Instant;
}

/** All metrics of the controller, put together. */
export interface Metrics {
  /** For /metrics. */
  readonly registry: Registry;
  /** Makes more metrics of that registry. */
  readonly meter: Meter;
  /** For /metrics/slis. */
  readonly slis: Registry;
  readonly requests: RequestObserver;
  readonly onNotice: (notice: Notice, now: Instant) => void;
  readonly onLook: OnLook;
  /** Counts a pod that another program evicts for a taint. */
  readonly onForeign: (manager: string) => void;
  /** Measures how long the machine takes. */
  readonly timed: (machine: Machine) => Machine;
}

/** Begins to measure. */
export function createMetrics(options: MetricsOptions): Metrics {
  const { stats, dryRun, host, lease, controllers, featureGates, machineClock } = options;
  const { pending } = stats;
  const [registry, slis] = [new Registry(), new Registry()];
  const meter = new Meter(registry);
  const requests = restClientMetrics(meter, host);
  const queues = workqueueMetrics(meter, pending, controllers);
  const nodes = nodeCollectorMetrics(meter, stats);
  const wall = (): Instant => stats.running?.wall() ?? Date.now();
  const isActing = (): boolean => stats.leadership.held;
  const lateness = new Lateness(isActing, wall);
  const counters = [
    evictionMetrics(meter, { pending, lateness, isActing, dryRun }),
    queues.onNotice,
    watchingMetrics(meter),
    clockMetrics(meter),
    limitMetrics(meter, stats),
    takeoverMetrics(meter, stats),
  ];
  leadershipMetrics(meter, stats, lease);
  if (options.shadow) shadowMetrics(meter, options.shadow);
  featureMetrics(meter, featureGates);
  processMetrics(meter, stats, dryRun, machineClock);
  return {
    registry,
    meter,
    slis,
    requests,
    onLook: sliMetrics(new Meter(slis)),
    onForeign: foreignEvictionMetrics(meter),
    timed: (machine) => timed(machine, [queues.handled, nodes]),
    onNotice: (notice, now) => {
      // All hear each notice, and there are many about a pod: no iterator is made for it.
      for (let at = 0; at < counters.length; at++) counters[at]?.(notice, now);
    },
  };
}

/** Metrics of clocks that were set and machines that were suspended. */
function clockMetrics(meter: Meter): (notice: Notice) => void {
  const steps = meter.counter(
    'taintmgr_clock_steps_total',
    'Times that the clock of this machine was set, or the machine suspended, by direction.',
    'direction',
  );
  const skew = meter.gauge(
    'taintmgr_server_clock_ahead_seconds',
    "How far the API server's clock is ahead of the time of this process; deadlines follow the API server.",
  );
  for (const direction of ['ahead', 'back']) steps.inc({ direction }, 0);
  return (notice) => {
    if (notice.kind === 'clockStepped') steps.inc({ direction: notice.by > 0 ? 'ahead' : 'back' });
    if (notice.kind === 'serverClockMoved') skew.set(notice.ahead / 1000);
  };
}

/** Metrics of feature gates, as Kubernetes components have them. */
function featureMetrics(meter: Meter, gates: FeatureGates): void {
  const enabled = meter.gauge(
    'kubernetes_feature_enabled',
    '[BETA] This metric records the data about the stage and enablement of a k8s feature.',
    'name',
    'stage',
  );
  for (const name of featureGates) {
    enabled.set({ name, stage: gateStages[name] }, gates[name] ? 1 : 0);
  }
}

/** Counts pods that another program evicts for a taint, by program. */
function foreignEvictionMetrics(meter: Meter): (manager: string) => void {
  const evictions = meter.counter(
    'taintmgr_foreign_evictions_total',
    'Pods that another program has marked for deletion by a taint manager.',
    'manager',
  );
  return (manager) => evictions.inc({ manager });
}

/** Tells if this replica leads and acts; `lease` is the name of the lease that it stands for, null: none. */
function leadershipMetrics(meter: Meter, { leadership }: ProcessStats, lease: string | null): void {
  meter.reading(
    'taintmgr_acting',
    '1: this replica leads, or needs no election, and no other program does the same work.',
    () => leadership.held,
  );
  meter.reading(
    'taintmgr_overlap',
    '1: another program does the same work, or may.',
    () => leadership.overlap !== null,
  );
  if (lease === null) return;
  meter.readings(
    'leader_election_master_status',
    "[ALPHA] Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master. 'name' is the string used to identify the lease. Please make sure to group by name.",
    ['name'],
    () => [[{ name: lease }, leadership.elected ? 1 : 0]],
  );
}

/**
 * The number of limits that are named, the most urgent: there may be one for each namespace, node or
 * workload.
 */
const limitsMax = 100;

/** Shows how limits with a window are doing; takes the notices of what trips and is resumed. */
function limitMetrics(meter: Meter, stats: ProcessStats): (notice: Notice) => void {
  const limits = (): readonly LimitStatus[] => {
    const { running } = stats;
    const all = running?.limits(running.now()) ?? [];
    return all.toSorted((one, other) => rankOf(one) - rankOf(other)).slice(0, limitsMax);
  };
  meter.readings(
    'taintmgr_limit_tripped',
    '1 for each limit that holds evictions until it is resumed.',
    ['limit'],
    () => limits().flatMap(({ id, tripped }) => (tripped ? [[{ limit: id }, 1]] : [])),
  );
  meter.readings(
    'taintmgr_limit_evicted_pods',
    'Pods evicted within the window of a limit.',
    ['limit'],
    () => limits().flatMap(({ id, count }) => (count ? [[{ limit: id }, count.evicted]] : [])),
  );
  const trips = meter.counter(
    'taintmgr_limit_trips_total',
    'Limits that tripped, by the scope they count in.',
    'per',
  );
  const resumes = meter.counter(
    'taintmgr_limit_resumes_total',
    'Limits that were resumed, by the scope they count in.',
    'per',
  );
  return (notice) => {
    if (notice.kind !== 'report') return;
    const { report } = notice;
    if (report.kind === 'limitTripped') trips.inc({ per: report.limit.per });
    if (report.kind === 'limitResumed') resumes.inc({ per: report.limit.per });
  };
}

/** Alerts go by those that have tripped; next come those that have no room left, and hold pods. */
function rankOf({ tripped, count }: LimitStatus): number {
  if (tripped) return 0;
  return count && count.evicted + count.unavailable >= count.most ? 1 : 2;
}

/** Metrics of health checks, as Kubernetes components have them at /metrics/slis. */
function sliMetrics(meter: Meter): OnLook {
  const state = meter.gauge(
    'kubernetes_healthcheck',
    '[STABLE] This metric records the result of a single healthcheck.',
    'name',
    'type',
  );
  const looks = meter.counter(
    'kubernetes_healthchecks_total',
    '[STABLE] This metric records the results of all healthcheck.',
    'name',
    'status',
    'type',
  );
  return (name, type, fault) => {
    state.set({ name, type }, fault === null ? 1 : 0);
    looks.inc({ name, status: fault === null ? 'success' : 'error', type });
  };
}

/** Metrics of watches and of Kubernetes Events. */
function watchingMetrics(meter: Meter): (notice: Notice) => void {
  const lists = meter.counter('taintmgr_lists_total', 'Lists read completely.', 'resource');
  const reconnects = meter.counter(
    'taintmgr_reconnects_total',
    'Reads that failed, by what is done next.',
    'resource',
    'next',
  );
  const events = meter.counter(
    'taintmgr_events_total',
    'Kubernetes Events recorded or lost.',
    'result',
  );
  return (notice) => {
    switch (notice.kind) {
      case 'listed':
        lists.inc({ resource: notice.resource });
        break;
      case 'reconnecting':
        reconnects.inc({ resource: notice.resource, next: notice.next });
        break;
      case 'eventRecorded':
        events.inc({ result: 'recorded' });
        break;
      case 'eventLost':
        events.inc({ result: 'lost' });
        break;
      case 'eventsDropped':
        events.inc({ result: 'lost' }, notice.count);
        break;
      default: // not counted here
    }
  };
}

const verdicts = ['same', 'earlier', 'later', 'kept', 'onlyTaintmgr'] as const;
const unjudged = ['notDeleted', 'leftOtherwise', 'givenUp'] as const;

/** Reads `report` whenever metrics are asked for; null: nothing was seen yet. */
function shadowMetrics(meter: Meter, report: () => ShadowReport | null): void {
  const read = <T>(of: (report: ShadowReport) => readonly T[]): readonly T[] => {
    const now = report();
    return now ? of(now) : [];
  };
  meter.totals(
    'taintmgr_shadow_pods_total',
    'Pods that kube-controller-manager deleted for a taint, or that taintmgr would have evicted, by what taintmgr would have done: same, earlier, later, kept (not evicted), onlyTaintmgr (kube-controller-manager did not delete it).',
    ['verdict'],
    () => read(({ counts }) => verdicts.map((verdict) => [{ verdict }, counts[verdict]] as const)),
  );
  meter.totals(
    'taintmgr_shadow_budgets_asked_pods_total',
    'Pods that kube-controller-manager deleted in spite of PodDisruptionBudgets, and that taintmgr would have evicted through the Eviction API.',
    [],
    () => read(({ counts }) => [[{}, counts.budgetsAsked] as const]),
  );
  meter.totals(
    'taintmgr_shadow_unjudged_pods_total',
    'Pods without a verdict: marked for deletion and not deleted, left otherwise, given up as too many were followed.',
    ['why'],
    () => read((all) => unjudged.map((why) => [{ why }, all[why]] as const)),
  );
  meter.readings('taintmgr_shadow_following_pods', 'Pods without a verdict so far.', [], () =>
    read(({ following }) => [[{}, following] as const]),
  );
}

/** The number of namespaces that are named. */
const namespacesMax = 100;

/** Counts the notices of changes by others; adds no metrics without a takeover. */
function takeoverMetrics(meter: Meter, stats: ProcessStats): (notice: Notice) => void {
  const { takeover } = stats;
  if (!takeover) return () => {};
  const spared = () =>
    [...(stats.running?.takeover()?.counts.spared ?? [])].slice(0, namespacesMax);
  const went = () => [...takeover.went].slice(0, namespacesMax);
  const label = 'namespace' as const;
  meter.reading(
    'taintmgr_takeover_policies_in_force',
    '1: the admission policies of takeover are installed and unchanged, as far as the leader knows.',
    () => stats.running?.takeover()?.policies.isInForce ?? false,
  );
  meter.reading('taintmgr_takeover_namespaces', 'Namespaces that were handed over.', () => {
    return stats.running?.takeover()?.counts.namespaces.length ?? 0;
  });
  meter.totals(
    'taintmgr_takeover_spared_pods_total',
    'Pods that kube-controller-manager would have deleted and that stayed.',
    [label],
    () => spared().map(([namespace, count]) => [{ namespace }, count.spared]),
  );
  meter.readings('taintmgr_takeover_held_pods', 'Of these the pods that are there.', [label], () =>
    spared().map(([namespace, count]) => [{ namespace }, count.held]),
  );
  meter.totals(
    'taintmgr_takeover_let_through_pods_total',
    'Pods that kube-controller-manager deleted though their namespace was handed over.',
    [label],
    () => went().map(([namespace, { letThrough }]) => [{ namespace }, letThrough]),
  );
  const drifts = meter.counter(
    'taintmgr_takeover_drift_total',
    'Times that an object of takeover was missing or changed.',
    'object',
  );
  return (notice) => {
    if (notice.kind === 'takeoverDrift' || notice.kind === 'takeoverContested')
      drifts.inc({ object: notice.object });
  };
}

/**
 * prom-client's statistics of the loop's lag need a timer that wakes the process every 10 ms, the largest
 * part of an idle controller's work.
 */
const lagStatistics = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'];
const dayMs: Millis = 86_400_000;

/** `machineClock`: the current time of this machine's clock, which an administrator may set. */
function processMetrics(
  meter: Meter,
  stats: ProcessStats,
  dryRun: boolean,
  machineClock: () => Instant = Date.now,
): void {
  collectDefaultMetrics({ register: meter.registry, eventLoopMonitoringPrecision: dayMs });
  for (const name of lagStatistics) {
    meter.registry.removeSingleMetric(`nodejs_eventloop_lag_${name}_seconds`);
  }
  meter
    .gauge('taintmgr_build_info', 'Always 1.', 'version', 'node_version')
    .set({ version, node_version: process.version }, 1);
  meter
    .gauge(
      'taintmgr_dry_run',
      '1: nothing is changed, and the counters with upstream names do not count.',
    )
    .set(dryRun ? 1 : 0);
  meter.reading(
    'taintmgr_event_loop_lag_seconds',
    'Longest time the process was stalled within the last 15 seconds.',
    () => stats.loopLag.lag() / 1000,
  );
  meter.readings(
    'taintmgr_watch_last_event_timestamp_seconds',
    'When a resource was last confirmed to be current, by a change or a bookmark; by the clock of ' +
      'this machine as it is now.',
    ['resource'],
    () => {
      const { running } = stats;
      if (running === null) return [];
      // A client compares this value with the right time. The loop's time stays as it began, also where the
      // machine's clock was set since, or the machine slept.
      const ahead = machineClock() - running.now();
      // Pods may be read node by node: the oldest of these pictures is that of the resource.
      const oldest = new Map<string, Instant>();
      for (const { resource, heardAt } of running.status()) {
        if (heardAt === null) continue;
        oldest.set(resource, Math.min(heardAt, oldest.get(resource) ?? heardAt));
      }
      return Array.from(oldest, ([resource, heardAt]) => [{ resource }, (heardAt + ahead) / 1000]);
    },
  );
}

/** The state of the flight recorder. */
export interface FlightStats {
  readonly active: boolean;
  /** Bytes. */
  readonly size: number;
  /** Events that are missing. */
  readonly lost: number;
}

/** Metrics of the flight recorder: how much is recorded, how much is missing. */
export function flightMetrics(meter: Meter, recorder: FlightStats): void {
  meter.reading(
    'taintmgr_flight_record_active',
    '1: what happens is written to the flight record.',
    () => recorder.active,
  );
  meter.reading('taintmgr_flight_record_bytes', 'Size of the flight record.', () => recorder.size);
  meter.totals(
    'taintmgr_flight_record_lost_total',
    'Events missing in the flight record, because it was full or could not be written.',
    [],
    () => [[{}, recorder.lost]],
  );
}

/** client-go's, in seconds and in bytes. */
const buckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const sizeBuckets = [
  64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216,
];

/** Counts as client-go does the requests to the API server at this address (`host:port`). */
function restClientMetrics(meter: Meter, host: string): RequestObserver {
  const requests = meter.counter(
    'rest_client_requests_total',
    '[ALPHA] Number of HTTP requests, partitioned by status code, method, and host.',
    'code',
    'method',
    'host',
  );
  const durations = meter.histogram(
    'rest_client_request_duration_seconds',
    '[ALPHA] Request latency in seconds. Broken down by verb, and host.',
    buckets,
    'verb',
    'host',
  );
  const waits = meter.histogram(
    'rest_client_rate_limiter_duration_seconds',
    '[ALPHA] Client side rate limiter latency in seconds. Broken down by verb, and host.',
    buckets,
    'verb',
    'host',
  );
  const requestSizes = meter.histogram(
    'rest_client_request_size_bytes',
    '[ALPHA] Request size in bytes. Broken down by verb and host.',
    sizeBuckets,
    'verb',
    'host',
  );
  const responseSizes = meter.histogram(
    'rest_client_response_size_bytes',
    '[ALPHA] Response size in bytes. Broken down by verb and host.',
    sizeBuckets,
    'verb',
    'host',
  );
  const by = (tallies: Tallies<'verb' | 'host'>): ((method: string) => Tally) =>
    remembered((verb) => tallies.of({ verb, host }));
  const [sizeSent, sizeReceived] = [by(requestSizes), by(responseSizes)];
  const [waitOf, durationOf] = [by(waits), by(durations)];
  return {
    sent: (method, bytes) => sizeSent(method).observe(bytes),
    received: (method, bytes) => sizeReceived(method).observe(bytes),
    waited: (method, seconds) => waitOf(method).observe(seconds),
    answered: (method, code, seconds) => {
      requests.inc({ code, method, host });
      durationOf(method).observe(seconds);
    },
  };
}

/** Made once for each key. */
function remembered<T>(make: (key: string) => T): (key: string) => T {
  const made = new Map<string, T>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined) return known;
    const one = make(key);
    made.set(key, one);
    return one;
  };
}
