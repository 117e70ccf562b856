import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ApiServer,
  type ApiServerOptions,
  createCertificate,
  ServedCluster,
  startHttps,
  writeKubeconfig,
} from '@taintmgr/api-server';
import { RealClock, seededRandom, type User } from '@taintmgr/sim-cluster';

const token = 'bench';
/** The folders of kubeconfigs, removed when this process ends. */
const directories: string[] = [];
process.once('exit', () => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});
const admin: User = { name: 'admin', groups: ['system:masters'], rules: [] };

/** An API server in real time, for a client that may do everything. */
export function createApi(options: Partial<ApiServerOptions> = {}): ApiServer {
  const [clock, random] = [new RealClock(), seededRandom(1)];
  return new ApiServer({ clock, random, tokens: new Map([[token, admin]]), ...options });
}

/** A cluster in real time that takes custom resources, and in which no controller acts on pods. */
export function quietCluster(): ServedCluster {
  const cluster = new ServedCluster({
    clock: new RealClock(),
    seed: 1,
    without: ['conditionTaints', 'workloads', 'scheduler', 'disruption', 'garbageCollection'],
    apiServer: { tokens: new Map([[token, admin]]) },
  });
  cluster.start();
  return cluster;
}

/** An API server on a separate port, and the kubeconfig to reach it. */
export interface ServedApi {
  readonly kubeconfig: string;
  readonly close: () => Promise<void>;
}

/** Serves it over HTTPS. */
export async function serveApi({ exchange }: Pick<ApiServer, 'exchange'>): Promise<ServedApi> {
  const certificate = createCertificate(Date.now());
  const server = await startHttps({ exchange, certificate });
  return servedAt(server.url, certificate.ca, () => server.close());
}

/** A server that is there, as others find it. */
export function servedAt(url: string, ca: string, close: () => Promise<void>): ServedApi {
  const directory = mkdtempSync(join(tmpdir(), 'taintmgr-bench-'));
  const kubeconfig = join(directory, 'kubeconfig');
  writeKubeconfig(kubeconfig, { server: url, ca, token });
  directories.push(directory);
  return { kubeconfig, close };
}

/**
 * Serves it for the process that has started this one: prints its address, then takes the next step
 * on each signal and prints the result, until one more signal or the end of the steps.
 */
export async function serveParent(
  api: ApiServer,
  ...steps: readonly (() => Promise<unknown>)[]
): Promise<void> {
  const { kubeconfig, close } = await serveApi(api);
  // Without a handler the process would end without its exit listeners.
  process.once('SIGTERM', () => process.exit());
  print({ kubeconfig });
  for (const step of steps) {
    await once(process.stdin, 'data');
    print(await step());
  }
  await Promise.race([once(process.stdin, 'data'), once(process.stdin, 'end')]);
  await close();
}

/** A line of JSON, for the process that has started this one. */
export function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
