import {
  ApiClient,
  type ClusterConfig,
  HttpTransport,
  loadKubeconfig,
} from '@taintmgr/k8s-adapter';
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
import { type CertificateFiles, readServerIdentity } from './certificate.ts';
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
  const identity = readServerIdentity(settings);
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
    const where = `--bind-address ${settings.bindAddress} --secure-port`;
    throw new SettingError(where, String(settings.securePort), `a free one (${messageOf(error)})`);
  });
  log.info({ address: settings.bindAddress, port: server.port }, 'serving health and metrics');
  const stopLooking = settings.tlsCertFile === '' ? () => {} : lookAgain(server, settings, log);
  return async () => {
    stopLooking();
    await server.close();
    closeGate();
  };
}

/** Certificates are renewed while we run. */
function lookAgain(server: StatusServer, files: CertificateFiles, log: Logger): () => void {
  const timer = setInterval(() => {
    try {
      server.identify(readServerIdentity(files));
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
  const clientFor = async (kubeconfig: string): Promise<ApiClient> => {
    const { access } = kubeconfig === '' ? cluster : await loadKubeconfig({ kubeconfig });
    const transport = new HttpTransport(access, `taintmgr-controller/${version}`);
    transports.push(transport);
    return new ApiClient({ transport, server: access.server });
  };
  const authenticate = createAuthenticator({
    client: await clientFor(settings.authenticationKubeconfig),
    cacheTtl: settings.tokenCacheTtl,
    onError: (error) => log.warn({ error: messageOf(error) }, 'could not review a token'),
  });
  const authorize = createAuthorizer({
    client: await clientFor(settings.authorizationKubeconfig),
    alwaysAllowPaths: settings.alwaysAllowPaths,
    allowedTtl: settings.allowedTtl,
    deniedTtl: settings.deniedTtl,
  });
  const close = (): void => {
    for (const transport of transports) transport.close();
  };
  return { gate: createGate(authenticate, authorize), close };
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
