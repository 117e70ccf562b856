// All that is served, put together.
import { formatDuration, type Millis } from '@taintmgr/core/time';
import {
  ApiClient,
  type ClusterConfig,
  HttpTransport,
  KubeconfigError,
  loadKubeconfig,
} from '@taintmgr/k8s-adapter';
import { placeOf } from '../flags/checks.ts';
import { SettingError } from '../flags/kind.ts';
import type { Choices, Origin } from '../flags/resolve.ts';
import { settings as allSettings, type Setting } from '../flags/settings.ts';
import type { Logger } from '../log/logger.ts';
import { metricsHandler } from '../metrics/exposition.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { type Handler, jsonAnswer, textAnswer, wantsJson } from '../server/answer.ts';
import {
  readServerIdentity,
  renewServerIdentity,
  type ServerIdentity,
} from '../server/certificate.ts';
import { createChecks } from '../server/checks.ts';
import { evictionsHandler } from '../server/evictions.ts';
import { explainHandler } from '../server/explainz.ts';
import {
  createAuthenticator,
  createAuthorizer,
  createGate,
  type Gate,
  openGate,
} from '../server/gate.ts';
import { healthHandlers, type OnLook } from '../server/health.ts';
import { pageHandlers } from '../server/live/page.ts';
import {
  healthLimits,
  type StatusServer,
  type StatusServerOptions,
  startServer,
} from '../server/server.ts';
import type { ProcessStats } from '../stats/process-stats.ts';
import { version } from '../version.ts';

interface StatusOptions {
  readonly choices: Choices;
  readonly cluster: ClusterConfig;
  readonly stats: ProcessStats;
  readonly metrics: Metrics;
  readonly facts: Facts;
  readonly log: Logger;
}

/** The steps to take when it is over. */
export type Close = () => Promise<void>;

const tlsVersions = { VersionTLS12: 'TLSv1.2', VersionTLS13: 'TLSv1.3' } as const;
const identityLookMs = 60_000;
/** A client waits for the answer, and others wait behind it. */
const reviewMsMax = 10_000;
const healthPaths = ['/healthz', '/livez', '/readyz'];

/**
 * Serves health, metrics and explanations as the settings say: health on a separate port too, where no probe
 * waits behind other clients. Throws SettingError and KubeconfigError; later failures are logged.
 */
export async function startStatusServer(options: StatusOptions): Promise<Close> {
  const routes = createRoutes(options);
  const cleanups: Close[] = [];
  try {
    if (options.choices.settings.healthzPort !== 0)
      cleanups.push(await startHealth(options, routes));
    if (options.choices.settings.securePort !== 0)
      cleanups.push(await startSecure(options, routes));
  } catch (error) {
    for (const close of cleanups) await close();
    throw error;
  }
  return async () => {
    for (const close of cleanups) await close();
  };
}

type Routes = ReadonlyMap<string, Handler>;

/** Over plain HTTP, without the endpoints that say why. */
async function startHealth(options: StatusOptions, routes: Routes): Promise<Close> {
  const { choices, log } = options;
  const { healthzBindAddress, healthzPort } = choices.settings;
  const own = healthPaths.flatMap((path) => {
    const handler = routes.get(path);
    return handler ? [[path, handler] as const] : [];
  });
  const server = await startServer({
    ...serverOptions(log, 'health'),
    host: healthzBindAddress,
    port: healthzPort,
    tls: null,
    gate: openGate,
    routes: new Map(own),
    limits: healthLimits,
  }).catch((error: unknown) => {
    throw listenError(choices, error, 'healthzBindAddress', 'healthzPort');
  });
  log.info({ address: healthzBindAddress, port: server.port }, 'serving health');
  return () => server.close();
}

async function startSecure(options: StatusOptions, routes: Routes): Promise<Close> {
  const { log, choices } = options;
  const { settings } = choices;
  const identity = readServerIdentity(settings, (name) => placeOf(choices, name));
  const { gate, close: closeGate } = await reviewingGate(options);
  const server = await startServer({
    ...serverOptions(log, 'metrics'),
    host: settings.bindAddress,
    port: settings.securePort,
    tls: { minVersion: tlsVersions[settings.tlsMinVersion], identity },
    gate,
    routes,
  }).catch((error: unknown) => {
    closeGate();
    throw listenError(choices, error, 'bindAddress', 'securePort');
  });
  log.info({ address: settings.bindAddress, port: server.port }, 'serving health and metrics');
  const stopLooking = lookAgain(server, identity, choices, log);
  return async () => {
    stopLooking();
    await server.close();
    closeGate();
  };
}

/** The log of a server; of those who come too often, not each time. */
function serverOptions(
  log: Logger,
  server: string,
): Pick<StatusServerOptions, 'onError' | 'onDrop'> {
  const throttle = new LogThrottle(() => performance.now());
  return {
    onError: (error) => log.error({ server, error: messageOf(error) }, 'could not answer'),
    onDrop: (reason) => {
      // A client that lets its connection lie is not worth a line.
      if (reason === 'idle' || reason === 'ending') return;
      throttle.log(reason, (times) => log.warn({ server, reason, times }, 'dropped connections'));
    },
  };
}

/** The error concerns the port that is taken, or the address that this machine does not have. */
function listenError(
  choices: Choices,
  error: unknown,
  host: 'bindAddress' | 'healthzBindAddress',
  port: 'securePort' | 'healthzPort',
): SettingError {
  const { settings } = choices;
  const why = messageOf(error);
  return error instanceof Error && 'code' in error && error.code === 'EADDRNOTAVAIL'
    ? new SettingError(placeOf(choices, host), settings[host], `one of this machine (${why})`)
    : new SettingError(placeOf(choices, port), String(settings[port]), `a free one (${why})`);
}

/** Certificates and authorities are renewed while we run. */
function lookAgain(
  server: StatusServer,
  first: ServerIdentity,
  choices: Choices,
  log: Logger,
): () => void {
  const { settings } = choices;
  if (settings.tlsCertFile === '' && settings.clientCaFile === '') return () => {};
  const placeIn = (name: Parameters<typeof placeOf>[1]): string => placeOf(choices, name);
  let identity = first;
  const timer = setInterval(() => {
    identity = renewServerIdentity(identity, settings, placeIn, (error) => {
      log.warn({ error: messageOf(error) }, 'keeping the certificate read before');
    });
    server.identify(identity);
  }, identityLookMs).unref();
  return () => clearInterval(timer);
}

/** A gate with separate connections for its questions, without limits and dry run. */
async function reviewingGate({
  choices,
  cluster,
  log,
}: StatusOptions): Promise<{ readonly gate: Gate; readonly close: () => void }> {
  const { settings } = choices;
  const throttle = new LogThrottle(() => performance.now());
  const transports: HttpTransport[] = [];
  const clientFor = async (name: ReviewKubeconfig): Promise<ApiClient> => {
    const { access } = await clusterOf(choices, name, cluster);
    const transport = new HttpTransport(access, `taintmgr-controller/${version}`);
    transports.push(transport);
    return new ApiClient({ transport, server: access.server, requestTimeout: reviewMsMax });
  };
  const authenticate = createAuthenticator({
    client: await clientFor('authenticationKubeconfig'),
    cacheTtl: settings.tokenCacheTtl,
    onError: (error) =>
      throttle.log('', (times) =>
        log.warn({ error: messageOf(error), times }, 'could not review tokens'),
      ),
  });
  const authorize = createAuthorizer({
    client: await clientFor('authorizationKubeconfig'),
    alwaysAllowPaths: settings.alwaysAllowPaths,
    allowedTtl: settings.allowedTtl,
    deniedTtl: settings.deniedTtl,
  });
  const close = (): void => {
    for (const transport of transports) transport.close();
  };
  return { gate: createGate(authenticate, authorize), close };
}

type ReviewKubeconfig = 'authenticationKubeconfig' | 'authorizationKubeconfig';

/** The cluster of a kubeconfig, or the controller's own. */
async function clusterOf(
  choices: Choices,
  name: ReviewKubeconfig,
  cluster: ClusterConfig,
): Promise<ClusterConfig> {
  const kubeconfig = choices.settings[name];
  if (kubeconfig === '') return cluster;
  try {
    return await loadKubeconfig({ kubeconfig });
  } catch (error) {
    if (!(error instanceof KubeconfigError)) throw error;
    const want = `a kubeconfig (${error.message})`;
    throw new SettingError(placeOf(choices, name), kubeconfig, want);
  }
}

function createRoutes(options: StatusOptions): ReadonlyMap<string, Handler> {
  const { stats, metrics, facts, choices, cluster, log } = options;
  const onLook = both(metrics.onLook, logChanges(log));
  const health = Object.entries(createChecks(stats)).flatMap(([name, checks]) => [
    ...healthHandlers(name, checks, onLook),
  ]);
  const paths = [...healthPaths, '/metrics', '/metrics/slis'];
  paths.push('/evictions', '/explainz', '/flagz', '/statusz', '/ui');
  return new Map<string, Handler>([
    ...health,
    ['/metrics', metricsHandler(metrics.registry)],
    ['/metrics/slis', metricsHandler(metrics.slis)],
    ['/evictions', evictionsHandler(stats)],
    ['/explainz', explainHandler(stats)],
    ...pageHandlers(stats, {
      source: cluster.access.server,
      isDryRun: choices.settings.dryRun !== 'none',
    }),
    ['/flagz', flagsHandler(flagsOf(choices))],
    ['/statusz', statusHandler(stats, facts, paths.toSorted())],
  ]);
}

function both(one: OnLook, other: OnLook): OnLook {
  return (check, endpoint, fault) => {
    one(check, endpoint, fault);
    other(check, endpoint, fault);
  };
}

/** The endpoints withhold reasons; the log has them, once. */
function logChanges(log: Logger): OnLook {
  const failing = new Set<string>();
  return (check, endpoint, fault) => {
    if ((fault !== null) === failing.has(check)) return;
    if (fault === null) {
      failing.delete(check);
      log.info({ check, endpoint }, 'health check passes again');
    } else {
      failing.add(check);
      log.warn({ check, endpoint, fault }, 'health check fails');
    }
  };
}

function flagsOf({ settings, origins }: Choices): readonly Flag[] {
  return Object.entries<Setting<unknown>>(allSettings).map(([name, { flag, kind }]) => ({
    flag,
    value: kind.format(Reflect.get(settings, name)),
    origin: Reflect.get(origins, name),
  }));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const pauseMs: Millis = 10_000;

/**
 * Bounds the log lines that others can cause: the first at once, then at most one every ten seconds,
 * with a count. Each subject is counted by itself; they are few.
 */
export class LogThrottle {
  readonly #held = new Map<string, { until: number; times: number }>();
  readonly #now: () => number;

  /** `now` is a clock in milliseconds that does not go back. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Calls `write` with how often it has happened since the last line, or only counts. */
  log(subject: string, write: (times: number) => void): void {
    const now = this.#now();
    const held = this.#held.get(subject) ?? { until: now, times: 0 };
    held.times += 1;
    this.#held.set(subject, held);
    if (now < held.until) return;
    write(held.times);
    this.#held.set(subject, { until: now + pauseMs, times: 0 });
  }
}

const component = 'taintmgr-controller';
const warning =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.';
const group = { apiVersion: 'taintmgr.dev/v1alpha1', metadata: { name: component } };

/** The facts that `statusz` has beside versions and times, in order. */
export type Facts = () => Readonly<Record<string, string | number | boolean>>;

/** Shows how this process is doing, in the form of kube-controller-manager's /statusz. */
function statusHandler(stats: ProcessStats, facts: Facts, paths: readonly string[]): Handler {
  return (inquiry) => {
    const { startedAt } = stats;
    const uptime = process.uptime() * 1000;
    if (wantsJson(inquiry)) {
      return jsonAnswer({
        kind: 'Statusz',
        ...group,
        startTime: startedAt.toISOString(),
        uptimeSeconds: Math.floor(uptime / 1000),
        nodeVersion: process.version,
        binaryVersion: version,
        paths,
        status: facts(),
      });
    }
    const lines = [
      `Started: ${startedAt.toUTCString()}`,
      `Up: ${formatDuration(uptime)}`,
      `Node version: ${process.version}`,
      `Binary version: ${version}`,
      ...Object.entries(facts()).map(([name, value]) => `${name}: ${value}`),
      `Paths: ${paths.join(' ')}`,
    ];
    return textAnswer(`\n${component} statusz\n${warning}\n\n${lines.join('\n')}\n`);
  };
}

/** A setting as it counts, and who has chosen it. */
interface Flag {
  readonly flag: string;
  readonly value: string;
  readonly origin: Origin;
}

/** Shows the chosen flags, in the form of kube-controller-manager's /flagz. */
function flagsHandler(flags: readonly Flag[]): Handler {
  const sorted = flags.toSorted((one, other) => (one.flag < other.flag ? -1 : 1));
  return (inquiry) => {
    if (wantsJson(inquiry)) {
      const values = sorted.map(({ flag, value }) => [flag, value]);
      const origins = sorted.map(({ flag, origin }) => [flag, origin]);
      return jsonAnswer({
        kind: 'Flagz',
        ...group,
        flags: Object.fromEntries(values),
        origins: Object.fromEntries(origins),
      });
    }
    const lines = sorted.map(({ flag, value }) => `${flag}=${value}`);
    return textAnswer(`\n${component} flagz\n${warning}\n\n${lines.join('\n')}\n`);
  };
}
