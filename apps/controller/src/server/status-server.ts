import {
  ApiClient,
  type ClusterConfig,
  HttpTransport,
  KubeconfigError,
  loadKubeconfig,
} from '@taintmgr/k8s-adapter';
import { placeOf } from '../flags/checks.ts';
import type { Choices } from '../flags/resolve.ts';
import type { Setting } from '../flags/setting.ts';
import { SettingError } from '../flags/setting-error.ts';
import { settings as allSettings } from '../flags/settings.ts';
import type { Logger } from '../log.ts';
import { metricsHandler } from '../metrics/exposition.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { version } from '../version.ts';
import type { Vitals } from '../vitals.ts';
import type { Handler } from './answer.ts';
import { createAuthenticator } from './authentication.ts';
import { createAuthorizer } from './authorization.ts';
import { readServerIdentity } from './certificate.ts';
import { createChecks } from './checks.ts';
import { explainHandler } from './explainz.ts';
import { createGate, type Gate } from './gate.ts';
import { healthHandlers, type OnLook } from './health.ts';
import { type Facts, type Flag, flagsHandler, statusHandler } from './pages.ts';
import { type StatusServer, startServer } from './server.ts';

export interface StatusOptions {
  readonly choices: Choices;
  readonly cluster: ClusterConfig;
  readonly vitals: Vitals;
  readonly metrics: Metrics;
  readonly facts: Facts;
  readonly log: Logger;
}

/** What is to be done when it is over. */
export type Close = () => Promise<void>;

const tlsVersions = { VersionTLS12: 'TLSv1.2', VersionTLS13: 'TLSv1.3' } as const;
const identityLookMs = 60_000;

/**
 * Serves health, metrics and explanations, as the settings want it. Throws SettingError and
 * KubeconfigError; what goes wrong later is logged.
 */
export async function startStatusServer(options: StatusOptions): Promise<Close> {
  const { log, choices } = options;
  const { settings } = choices;
  if (settings.securePort === 0) return async () => {};
  const identity = readServerIdentity(settings, (name) => placeOf(choices, name));
  const { gate, close: closeGate } = await openGate(options);
  const server = await startServer({
    host: settings.bindAddress,
    port: settings.securePort,
    minVersion: tlsVersions[settings.tlsMinVersion],
    identity,
    gate,
    routes: createRoutes(options),
    onError: (error) => log.error({ error: messageOf(error) }, 'could not answer'),
  }).catch((error: unknown) => {
    throw listenError(choices, error);
  });
  log.info({ address: settings.bindAddress, port: server.port }, 'serving health and metrics');
  const stopLooking = settings.tlsCertFile === '' ? () => {} : lookAgain(server, choices, log);
  return async () => {
    stopLooking();
    await server.close();
    closeGate();
  };
}

/** It is the port that is taken, or the address that this machine does not have. */
function listenError(choices: Choices, error: unknown): SettingError {
  const { bindAddress, securePort } = choices.settings;
  const why = messageOf(error);
  return error instanceof Error && 'code' in error && error.code === 'EADDRNOTAVAIL'
    ? new SettingError(placeOf(choices, 'bindAddress'), bindAddress, `one of this machine (${why})`)
    : new SettingError(placeOf(choices, 'securePort'), String(securePort), `a free one (${why})`);
}

/** Certificates are renewed while we run. */
function lookAgain(server: StatusServer, choices: Choices, log: Logger): () => void {
  const { settings } = choices;
  const timer = setInterval(() => {
    try {
      server.identify(readServerIdentity(settings, (name) => placeOf(choices, name)));
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'keeping the certificate read before');
    }
  }, identityLookMs).unref();
  return () => clearInterval(timer);
}

/** Who is let in is asked over connections of their own, which no limit and no dry run concerns. */
async function openGate({
  choices,
  cluster,
  log,
}: StatusOptions): Promise<{ readonly gate: Gate; readonly close: () => void }> {
  const { settings } = choices;
  const transports: HttpTransport[] = [];
  const clientFor = async (name: ReviewKubeconfig): Promise<ApiClient> => {
    const { access } = await clusterOf(choices, name, cluster);
    const transport = new HttpTransport(access, `taintmgr-controller/${version}`);
    transports.push(transport);
    return new ApiClient({ transport, server: access.server });
  };
  const authenticate = createAuthenticator({
    client: await clientFor('authenticationKubeconfig'),
    cacheTtl: settings.tokenCacheTtl,
    onError: (error) => log.warn({ error: messageOf(error) }, 'could not review a token'),
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
  const { vitals, metrics, facts, choices, log } = options;
  const onLook = both(metrics.onLook, logChanges(log));
  const health = Object.entries(createChecks(vitals)).flatMap(([name, checks]) => [
    ...healthHandlers(name, checks, onLook),
  ]);
  const paths = ['/healthz', '/livez', '/readyz', '/metrics', '/metrics/slis'];
  paths.push('/explainz', '/flagz', '/statusz');
  return new Map<string, Handler>([
    ...health,
    ['/metrics', metricsHandler(metrics.registry)],
    ['/metrics/slis', metricsHandler(metrics.slis)],
    ['/explainz', explainHandler(vitals)],
    ['/flagz', flagsHandler(flagsOf(choices))],
    ['/statusz', statusHandler(vitals, facts, paths.toSorted())],
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
