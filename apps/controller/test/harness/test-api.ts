import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiServer, createCertificate, startHttps, writeKubeconfig } from '@taintmgr/api-server';
import {
  type Exchange,
  RealClock,
  type Rule,
  seededRandom,
  type User,
} from '@taintmgr/sim-cluster';

/** An API server over HTTPS on which nobody else acts. */
export interface TestApi {
  readonly api: ApiServer;
  readonly url: string;
  readonly kubeconfig: string;
  stop(): Promise<void>;
}

/** Starts it for one user with these rights, and others with these tokens; `around` sees requests. */
export async function startTestApi(
  rules: readonly Rule[],
  others: Readonly<Record<string, User>> = {},
  around: (exchange: Exchange) => Exchange = (exchange) => exchange,
): Promise<TestApi> {
  const user: User = { name: 'controller', groups: [], rules };
  const api = new ApiServer({
    clock: new RealClock(),
    random: seededRandom(1),
    tokens: new Map([['token', user], ...Object.entries(others)]),
  });
  const certificate = createCertificate(Date.now());
  const server = await startHttps({ exchange: around(api.exchange), certificate });
  const directory = mkdtempSync(join(tmpdir(), 'taintmgr-controller-test-'));
  const kubeconfig = join(directory, 'kubeconfig');
  writeKubeconfig(kubeconfig, { server: server.url, ca: certificate.ca, token: 'token' });
  return {
    api,
    url: server.url,
    kubeconfig,
    stop: async () => {
      await server.close();
      rmSync(directory, { recursive: true });
    },
  };
}
