// The whole process: the controller with its server, metrics, log and flight recorder.
import type { Instant, Millis } from '@taintmgr/core/time';
import {
  type ApiRequest,
  type ClusterConfig,
  declaredIn,
  gzip,
  type LeaseName,
  type Notice,
  type Transport,
} from '@taintmgr/k8s-adapter';
import { rulesOf, upstreamTitle } from '@taintmgr/k8s-adapter/command-line';
import type { Checked } from '../flags/checks.ts';
import type { Choices } from '../flags/resolve.ts';
import { startFlightRecorder } from '../flight/recorder.ts';
import { electionOptions, Leadership, limitsLease } from '../leadership/leadership.ts';
import { dryRunLine, formatWait } from '../log/line.ts';
import type { Logger } from '../log/logger.ts';
import { lineOf } from '../log/notice.ts';
import { ApiConnectivity, Setbacks } from '../log/setbacks.ts';
import { createMetrics, type Metrics } from '../metrics/metrics.ts';
import { OverlapWatch } from '../overlap/watch.ts';
import { PressureController } from '../pressure/controller.ts';
import { kubeletsConfig } from '../pressure/kubelets.ts';
import { isHeartbeat, rateLimited } from '../rate-limit/rate-limit.ts';
import { createShadow, type Shadow, shadowFacts } from '../shadow/shadow.ts';
import { callsOff, PendingEvictions } from '../stats/pending-evictions.ts';
import { ClockChange, LoopLag, type ProcessStats, TakeoverScore } from '../stats/process-stats.ts';
import { startTracing } from '../tracing/tracing.ts';
import { dryRun } from '../transport/dry-run.ts';
import { observed } from '../transport/observed.ts';
import { version } from '../version.ts';
import { engineConfig, followsCluster } from './engine-config.ts';
import { isOwnStatus, PublishedStatus, taintManagerName } from './published-status.ts';
import { type ControllerOptions, runController, untilSuccess } from './run-controller.ts';
import { type Close, type Facts, startStatusServer } from './status-server.ts';

export interface ProcessOptions {
  readonly choices: Choices;
  readonly checked: Checked;
  readonly cluster: ClusterConfig;
  /** Aborted: evictions under way finish, then `runProcess` resolves. */
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/**
 * The controller with its outputs for people: log, health, metrics, explanations. Throws what runController,
 * startStatusServer and OverlapWatch throw.
 */
export async function runProcess(options: ProcessOptions): Promise<void> {
  const { choices, checked, cluster, signal } = options;
  const { settings } = choices;
  const isDryRun = settings.dryRun !== 'none';
  const log = isDryRun ? options.log.child({ dryRun: settings.dryRun }) : options.log;
  logStart(options, log);
  const loopLag = new LoopLag();
  // A dry run holds no lease.
  const electing = settings.leaderElect && !isDryRun;
  const stats = createStats(signal, loopLag, !electing, settings);
  const shadow = createShadow({ settings, controllers: checked.controllers.enabled, cluster, log });
  const metrics = createMetrics({
    stats,
    shadow: shadow && (() => shadow.report()),
    dryRun: isDryRun,
    host: new URL(cluster.access.server).host,
    controllers: checked.controllers.enabled,
    featureGates: checked.featureGates,
    lease: electing ? settings.resourceName : null,
  });
  const tracing = await startTracing(settings, process.env, log);
  const { meter } = metrics;
  const pressure = await pressureOf(options, meter, log);
  const engine = engineConfig(choices, checked);
  const flight = startFlightRecorder({ settings, engine, meter, log });
  const facts = factsOf(options, stats, shadow);
  const said = { connectivity: new ApiConnectivity(), setbacks: new Setbacks() };
  const onFailure = (error: Error, wait: Millis): void =>
    log.warn({ error: error.message, next: formatWait(wait) }, 'could not start, will try again');
  const cleanups: Close[] = [
    async () => tracing?.close(),
    async () => flight?.close(),
    async () => shadow?.close(),
  ];
  try {
    cleanups.push(await startStatusServer({ choices, cluster, stats, metrics, facts, log }));
    const onOthers = () => hearOthers(stats, overlaps);
    const watch = () => watchOverlaps(options, stats, { metrics, log, onOthers });
    const overlaps = isDryRun ? null : await untilSuccess(watch, { signal, onFailure });
    cleanups.push(async () => overlaps?.close());
    const election = electionOptions(choices, checked.controllers.enabled);
    const published = publishedStatus(options, stats, overlaps, shadow);
    await runController({
      cluster,
      engine,
      podWatch: checked.podWatch,
      policies: choices.policyObjects,
      ...{ clusterPolicies: followsCluster(settings), nodeDrains: engine.nodeDrains ?? false },
      protobuf: settings.kubeApiContentType === 'application/vnd.kubernetes.protobuf',
      ...(electing && { election }),
      ...(published && { publish: published.options(election.identity) }),
      ...(settings.takeover && takeoverOf(options)),
      ...remembered(settings, election.lease, engine.keepLimits),
      ...{ signal, onSetback: onFailure },
      ...missing(choices, stats, log),
      around: (machine, explain) => {
        const recorded = metrics.timed(flight ? flight.around(machine) : machine);
        return shadow?.around(recorded, explain) ?? overlaps?.around(recorded) ?? recorded;
      },
      outgoing: (transport) => outgoing(tracing?.around(transport) ?? transport, choices, metrics),
      ...(pressure && { beside: (transport, leads) => pressure.run(transport, leads) }),
      onNotice: (notice, now) => {
        if (notice.kind === 'elected') pressure?.elect(notice.held);
        published?.observe(notice);
        tracing?.observe(notice);
        observe(notice, now, { log, isDryRun, stats, metrics, ...said });
      },
      onStart: (running) => {
        stats.running = running;
        onOthers();
        if (stats.leadership.standsBackFor !== null) running.lead(false);
      },
    });
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    loopLag.stop();
    for (const close of cleanups.reverse()) await close();
  }
}

function logStart({ choices, checked, cluster }: ProcessOptions, log: Logger): void {
  const { semantics, mode } = choices.settings;
  const { enabled, disabled } = checked.controllers;
  const { server } = cluster.access;
  const how = { semantics: rulesOf(semantics), mode };
  log.info({ version, server, controllers: enabled.join(','), ...how }, 'starting');
  for (const controller of disabled) log.info({ controller }, 'controller is disabled');
}

/** Null: it is not to run. */
async function pressureOf(
  { choices: { settings }, checked: { pressure: config }, cluster, signal }: ProcessOptions,
  meter: Metrics['meter'],
  log: Logger,
): Promise<PressureController | null> {
  if (!config) return null;
  const kubelets = await kubeletsConfig(settings, cluster.access);
  return new PressureController({ config, settings, kubelets, meter, log, signal });
}

/** The options for the records that are kept beside the lease of the election. */
function remembered(
  settings: Choices['settings'],
  lease: LeaseName,
  keepLimits = false,
): Pick<ControllerOptions, 'history' | 'limitsLease'> {
  return {
    ...(settings.dryRun === 'none' && { history: { lease, compression: gzip } }),
    ...(keepLimits && { limitsLease: limitsLease(settings) }),
  };
}

/** The policies go by what this process publishes. */
function takeoverOf({ choices: { settings }, checked }: ProcessOptions): {
  readonly takeover: { readonly manager: string };
} {
  const { enabled } = checked.controllers;
  return { takeover: { manager: taintManagerName(settings.resourceName, enabled) } };
}

/** Null: it is not to be published. */
function publishedStatus(
  { choices, checked }: ProcessOptions,
  stats: ProcessStats,
  overlaps: OverlapWatch | null,
  shadow: Shadow | null,
): PublishedStatus | null {
  if (!choices.settings.publishStatus) return null;
  return new PublishedStatus(choices, checked, stats, { overlaps, shadow });
}

/** Tells the engine who else evicts; with takeover the policies are asked whether they refuse it. */
function hearOthers({ running }: ProcessStats, overlaps: OverlapWatch | null): void {
  const others = overlaps?.forTaints;
  if (!running || !others) return;
  const isRefused = running.takeover()?.policies.isInForce === true;
  running.hearOthers(isRefused ? { ...others, isRefused } : others);
}

/** Throws OverlapError where another program does the same work, and that is not accepted. */
function watchOverlaps(
  { choices, checked, cluster, signal }: ProcessOptions,
  { leadership, takeover }: ProcessStats,
  {
    metrics,
    log,
    onOthers,
  }: Pick<Observers, 'metrics' | 'log'> & { readonly onOthers: () => void },
): Promise<OverlapWatch> {
  const { settings } = choices;
  const { resourceNamespace: namespace, resourceName: name } = settings;
  return OverlapWatch.start({
    cluster,
    controllers: checked.controllers.enabled,
    asker: {
      lease: settings.leaderElect ? { namespace, name } : null,
      manager: taintManagerName(settings.resourceName, checked.controllers.enabled),
      controllers: checked.controllers.enabled,
      declared: settings.simulate ? [] : declaredIn(settings.kubeControllerManagerRuns),
    },
    allow: settings.allowOverlap,
    takeover,
    leadership,
    log,
    signal,
    onOthers,
    onForeign: ({ manager }) => metrics.onForeign(manager),
  });
}

function createStats(
  signal: AbortSignal,
  loopLag: LoopLag,
  elected: boolean,
  { allowOverlap, takeover }: Choices['settings'],
): ProcessStats {
  const stats: ProcessStats = {
    startedAt: new Date(),
    loopLag,
    pending: new PendingEvictions(() => stats.running?.wall() ?? Date.now()),
    clock: new ClockChange(),
    leadership: new Leadership(elected, (mayAct) => stats.running?.lead(mayAct), allowOverlap),
    takeover: takeover ? new TakeoverScore() : null,
    running: null,
    stopping: signal.aborted,
  };
  signal.addEventListener('abort', () => {
    stats.stopping = true;
  });
  return stats;
}

/** The transport that requests go through: first those that change something are made harmless, if so chosen. */
function outgoing(http: Transport, { settings }: Choices, { requests }: Metrics): Transport {
  const { kubeApiQps: qps, kubeApiBurst: burst, dryRun: judge } = settings;
  const spared = (request: ApiRequest): boolean => isOwnStatus(settings, request);
  const watched = observed(http, requests);
  const now = (): number => performance.now();
  const limit = { qps, burst, now, exempt: isHeartbeat, onWait: requests.waited };
  const limited = qps === 0 ? watched : rateLimited(watched, limit);
  return judge === 'none' ? limited : dryRun(limited, judge, spared);
}

interface Observers {
  readonly log: Logger;
  readonly isDryRun: boolean;
  readonly stats: ProcessStats;
  readonly metrics: Metrics;
  readonly connectivity: ApiConnectivity;
  readonly setbacks: Setbacks;
}

function observe(
  notice: Notice,
  now: Instant,
  { log, isDryRun, stats, metrics, connectivity, setbacks }: Observers,
): void {
  if (notice.kind === 'elected') stats.leadership.elect(notice.held);
  stats.pending.observe(notice, now);
  stats.clock.observe(notice, now);
  stats.takeover?.observe(notice);
  metrics.onNotice(notice, now);
  if (connectivity.isKnown(notice)) return;
  const isRepeated = setbacks.isKnown(notice, now);
  if (callsOff(notice) && !stats.leadership.held) return;
  const said = lineOf(notice, now);
  const { level, message, fields } = isDryRun ? dryRunLine(said, isOfAct(notice)) : said;
  // After a line about a failure there is one about its end.
  if (connectivity.isRestored(notice)) log.info(fields, `${message} again`);
  else log[isRepeated ? 'debug' : level](fields, message);
}

function isOfAct({ kind }: Notice): boolean {
  return acts.has(kind);
}

const acts: ReadonlySet<Notice['kind']> = new Set([
  'report',
  'nodeWriteFinished',
  'drainWriteFinished',
  'taintStartsKept',
]);

const podsRead = { all: 'all', byNode: 'of tainted nodes' } as const;

const ownPodMissing =
  'POD_NAME and POD_NAMESPACE name no pod: the last replica of this controller is not spared';

/** Reports the missing parts at the start. */
function missing(
  { ownPod }: Choices,
  stats: ProcessStats,
  log: Logger,
): Pick<ControllerOptions, 'onNoDevices' | 'onOwnPodMissing'> {
  return {
    onNoDevices: () => log.info(noDevices),
    onOwnPodMissing() {
      stats.ownPodIsMissing = true;
      log.warn({ pod: `${ownPod?.namespace}/${ownPod?.name}` }, ownPodMissing);
    },
  };
}

/** The pod in which it runs, and whether its last replica is spared. */
function ownPodText({ ownPod }: Choices, { ownPodIsMissing }: ProcessStats): string {
  if (ownPod === null) return 'not told, so the last replica is not spared';
  const name = `${ownPod.namespace}/${ownPod.name}`;
  return ownPodIsMissing ? `no pod ${name}, so the last replica is not spared` : name;
}

function factsOf(
  { choices, checked, cluster }: ProcessOptions,
  stats: ProcessStats,
  shadow: Shadow | null,
): Facts {
  const { semantics, mode, dryRun: judge, leaderElect } = choices.settings;
  return () => {
    const { pending, overdue } = stats.pending.waiting();
    return {
      Server: cluster.access.server,
      Controllers: checked.controllers.enabled.join(' '),
      Semantics: semantics === 'precise' ? rulesOf(semantics) : upstreamTitle,
      Mode: mode,
      'Dry run': judge,
      'Own pod': ownPodText(choices, stats),
      'Pods read': podsRead[stats.running?.podScope() ?? 'all'],
      Acting: stats.leadership.held,
      Leader: leaderElect && judge === 'none' ? stats.running?.leader() || 'none' : 'not elected',
      'Pending evictions': pending,
      'Overdue evictions': overdue,
      'Evictions under way': stats.pending.underWay().length,
      Clock: stats.clock.text(),
      ...shadowFacts(shadow?.report() ?? null),
    };
  };
}

const noDevices =
  'device-taint-eviction-controller has nothing to do: the API server serves no ResourceClaims and ResourceSlices; it is asked again at the next start';
