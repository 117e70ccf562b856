import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ApiServer,
  createCertificate,
  startHttps,
  type User,
  writeKubeconfig,
} from '@taintmgr/sim-cluster';

const token = 'bench';
const admin: User = { name: 'admin', groups: ['system:masters'], rules: [] };

/** Who may use an API server that is to be served: somebody who may do everything. */
export const tokens: ReadonlyMap<string, User> = new Map([[token, admin]]);

/** An API server on a port of its own, and the file by which it is reached. */
export interface ServedApi {
  readonly kubeconfig: string;
  readonly close: () => Promise<void>;
}

/** Serves it over HTTPS. */
export async function serveApi({ exchange }: Pick<ApiServer, 'exchange'>): Promise<ServedApi> {
  const certificate = createCertificate(Date.now());
  const server = await startHttps({ exchange, certificate });
  const directory = mkdtempSync(join(tmpdir(), 'taintmgr-bench-'));
  const kubeconfig = join(directory, 'kubeconfig');
  writeKubeconfig(kubeconfig, { server: server.url, ca: certificate.ca, token });
  const close = async (): Promise<void> => {
    await server.close();
    rmSync(directory, { recursive: true });
  };
  return { kubeconfig, close };
}
