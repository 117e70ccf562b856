// The whole process: the controller with its server, metrics, log and flight recorder.
import type { Instant, Millis } from '@taintmgr/core';
import type { ApiRequest, ClusterConfig, Notice, Transport } from '@taintmgr/k8s-adapter';
import type { Checked } from '../flags/checks.ts';
import type { Choices } from '../flags/resolve.ts';
import { startFlightRecorder } from '../flight/start.ts';
import { electionOptions, limitsLease } from '../leadership/election.ts';
import { Leadership } from '../leadership/leadership.ts';
import { Contact } from '../log/api-connectivity.ts';
import { formatWait } from '../log/line.ts';
import type { Logger } from '../log/logger.ts';
import { lineOf } from '../log/notice.ts';
import { createMetrics, type Metrics } from '../metrics/metrics.ts';
import { OverlapWatch } from '../overlap/watch.ts';
import { PressureController } from '../pressure/controller.ts';
import { kubeletsConfig } from '../pressure/kubelets.ts';
import type { Facts } from '../server/pages.ts';
import { type Close, startStatusServer } from '../server/status-server.ts';
import { dryRun } from '../transport/dry-run.ts';
import { observed } from '../transport/observed.ts';
import { rateLimited } from '../transport/rate-limited.ts';
import { version } from '../version.ts';
import { ClockNote } from './clock-change.ts';
import { engineConfig } from './engine-config.ts';
import { Pulse } from './loop-lag.ts';
import { Activity } from './pending-evictions.ts';
import type { Vitals } from './process-stats.ts';
import { runController } from './run-controller.ts';
import { untilItGoes } from './start-retry.ts';

export interface ProcessOptions {
  readonly choices: Choices;
  readonly checked: Checked;
  readonly cluster: ClusterConfig;
  /** Aborted: evictions under way come to their end, then `runProcess` resolves. */
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/**
 * The controller with all that people see of it: log, health, metrics, explanations. Throws what
 * runController, startStatusServer and OverlapWatch throw.
 */
export async function runProcess(options: ProcessOptions): Promise<void> {
  const { choices, checked, cluster, signal } = options;
  const { settings } = choices;
  const isDryRun = settings.dryRun !== 'none';
  const log = isDryRun ? options.log.child({ dryRun: settings.dryRun }) : options.log;
  const { server } = cluster.access;
  const { semantics, mode } = settings;
  const controllers = checked.controllers.enabled.join(',');
  log.info({ version, server, controllers, semantics, mode }, 'starting');
  for (const controller of checked.controllers.disabled) {
    log.info({ controller }, 'controller is disabled');
  }
  const pulse = new Pulse();
  // A lease is not held in thought.
  const electing = settings.leaderElect && !isDryRun;
  const vitals = createVitals(signal, pulse, !electing, settings.allowOverlap);
  const { leadership } = vitals;
  const metrics = createMetrics({
    vitals,
    dryRun: isDryRun,
    host: new URL(server).host,
    controllers: checked.controllers.enabled,
    featureGates: checked.featureGates,
    lease: electing ? settings.resourceName : null,
  });
  const { pressure: config } = checked;
  const { meter } = metrics;
  const kubelets = config && (await kubeletsConfig(settings, cluster.access));
  const pressure =
    config && new PressureController({ config, settings, kubelets, meter, log, signal });
  const engine = engineConfig(choices, checked);
  const flight = startFlightRecorder({ settings, engine, meter, log });
  const facts = factsOf(options, vitals);
  const contact = new Contact();
  const onFailure = (error: Error, wait: Millis): void =>
    log.warn({ error: error.message, next: formatWait(wait) }, 'could not begin, will try again');
  const closing: Close[] = flight ? [() => flight.close()] : [];
  try {
    closing.push(await startStatusServer({ choices, cluster, vitals, metrics, facts, log }));
    const watch = (): Promise<OverlapWatch> => watchOverlaps(options, vitals, metrics, log);
    const overlaps = isDryRun ? null : await untilItGoes(watch, { signal, onFailure });
    closing.push(async () => overlaps?.close());
    await runController({
      cluster,
      engine,
      podWatch: checked.podWatch,
      protobuf: settings.kubeApiContentType === 'application/vnd.kubernetes.protobuf',
      ...(electing && { election: electionOptions(settings) }),
      ...(engine.keepLimits && { limitsLease: limitsLease(settings) }),
      signal,
      onSetback: onFailure,
      around: (machine) => {
        const recorded = metrics.timed(flight ? flight.around(machine) : machine);
        return overlaps ? overlaps.around(recorded) : recorded;
      },
      outgoing: (transport) => outgoing(transport, choices, metrics),
      ...(pressure && { beside: (transport, leads) => pressure.run(transport, leads) }),
      onNotice: (notice, now) => {
        if (notice.kind === 'elected') pressure?.elect(notice.held);
        observe(notice, now, { log, vitals, metrics, contact });
      },
      onStart: (running) => {
        vitals.running = running;
        if (leadership.standsBackFor !== null) running.lead(false);
      },
    });
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    pulse.stop();
    for (const close of closing.reverse()) await close();
  }
}

/** Throws OverlapError where somebody else does the same work, and that is not accepted. */
function watchOverlaps(
  { choices, checked, cluster }: ProcessOptions,
  { leadership }: Vitals,
  metrics: Metrics,
  log: Logger,
): Promise<OverlapWatch> {
  const { settings } = choices;
  return OverlapWatch.start({
    cluster,
    controllers: checked.controllers.enabled,
    own: settings.leaderElect ? electionOptions(settings).lease : null,
    allow: settings.allowOverlap,
    leadership,
    log,
    onForeign: ({ manager }) => metrics.onForeign(manager),
  });
}

function createVitals(
  signal: AbortSignal,
  pulse: Pulse,
  elected: boolean,
  allowOverlap: boolean,
): Vitals {
  const vitals: Vitals = {
    startedAt: new Date(),
    pulse,
    activity: new Activity(() => vitals.running?.wall() ?? Date.now()),
    clock: new ClockNote(),
    leadership: new Leadership(elected, (mayAct) => vitals.running?.lead(mayAct), allowOverlap),
    running: null,
    stopping: signal.aborted,
  };
  signal.addEventListener('abort', () => {
    vitals.stopping = true;
  });
  return vitals;
}

/** What requests go through: first those that change something are made harmless, if so chosen. */
function outgoing(http: Transport, { settings }: Choices, { requests }: Metrics): Transport {
  const { kubeApiQps: qps, kubeApiBurst: burst, dryRun: judge } = settings;
  const watched = observed(http, requests);
  const now = (): number => performance.now();
  const limit = { qps, burst, now, exempt: isOfLease, onWait: requests.waited };
  const limited = qps === 0 ? watched : rateLimited(watched, limit);
  return judge === 'none' ? limited : dryRun(limited, judge);
}

/** A leader that waits behind its own requests would lose its lease. */
function isOfLease({ path }: ApiRequest): boolean {
  return path.startsWith('/apis/coordination.k8s.io/');
}

interface Observers {
  readonly log: Logger;
  readonly vitals: Vitals;
  readonly metrics: Metrics;
  readonly contact: Contact;
}

function observe(notice: Notice, now: Instant, { log, vitals, metrics, contact }: Observers): void {
  if (notice.kind === 'elected') vitals.leadership.elect(notice.held);
  vitals.activity.observe(notice, now);
  vitals.clock.observe(notice, now);
  metrics.onNotice(notice, now);
  if (contact.knows(notice)) return;
  const { level, message, fields } = lineOf(notice, now);
  // Whoever has read that contact was lost wants to know that it is back.
  if (contact.regains(notice)) log.info(fields, `${message} again`);
  else log[level](fields, message);
}

const podsRead = { all: 'all', byNode: 'of tainted nodes' } as const;

function factsOf({ choices, checked, cluster }: ProcessOptions, vitals: Vitals): Facts {
  const { semantics, mode, dryRun: judge, leaderElect } = choices.settings;
  return () => {
    const { pending, overdue } = vitals.activity.waiting();
    return {
      Server: cluster.access.server,
      Controllers: checked.controllers.enabled.join(' '),
      Semantics: semantics,
      Mode: mode,
      'Dry run': judge,
      'Pods read': podsRead[vitals.running?.podScope() ?? 'all'],
      Acting: vitals.leadership.held,
      Leader:
        leaderElect && judge === 'none' ? vitals.running?.leader() || 'nobody' : 'not elected',
      'Pending evictions': pending,
      'Overdue evictions': overdue,
      'Evictions under way': vitals.activity.underWay().length,
      Clock: vitals.clock.text(),
    };
  };
}
