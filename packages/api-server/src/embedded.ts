// A cluster in this process, served over HTTPS, with its kubeconfig.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import type { ReportBug, ServiceTime, User } from '@taintmgr/sim-cluster/server';
import { RealClock, threeZones } from '@taintmgr/sim-cluster/server';
import type { Tokens } from './auth/authenticator.ts';
import { installDefinitions } from './crd/install.ts';
import { createCertificate } from './https/certificate.ts';
import { writeKubeconfig } from './https/kubeconfig.ts';
import { startHttps } from './https/server.ts';
import { callOverHttps } from './https/webhook-call.ts';
import { type KubernetesVersion, releaseOf } from './kinds/releases.ts';
import type { ParseYaml } from './server/formats.ts';
import { ServedCluster, type ServedClusterOptions } from './server/served-cluster.ts';

/** The options of `startEmbedded`. */
export interface EmbeddedOptions
  extends Omit<ServedClusterOptions, 'ca' | 'clock' | 'seed' | 'apiServer'> {
  /** Decides whatever is left to chance, such as names and UIDs; default 1. */
  readonly seed?: number;
  /** The port to listen on; 0, the default, lets the system choose. */
  readonly port?: number;
  /** The administrator's token; left out: a random one. */
  readonly token?: string;
  /** Tokens of others than the administrator. */
  readonly users?: Tokens;
  /** The time in milliseconds that the server takes for a request; left out: none. */
  readonly serviceMs?: ServiceTime;
  /** Reads request bodies of YAML; left out: only YAML that is JSON is understood. */
  readonly parseYaml?: ParseYaml;
  /**
   * The minor version of Kubernetes to stand for, with the kinds that it serves by default; left out: 1.36 with
   * all kinds.
   */
  readonly kubernetes?: KubernetesVersion;
  /** CustomResourceDefinitions that are served when it has started. */
  readonly definitions?: readonly object[];
  /** The path of the kubeconfig; left out: a temporary file, removed by `stop`. */
  readonly kubeconfig?: string;
  /**
   * Receives the mistakes of this package. The request gets 500 InternalError, other work is
   * retried later, and the cluster keeps running. Left out: mistakes are written to standard error.
   */
  readonly reportBug?: ReportBug;
}

/** A cluster that others can reach over HTTPS. */
export interface EmbeddedCluster {
  /** The cluster behind the server: its API, nodes and kubelets. */
  readonly cluster: ServedCluster;
  /** The address of the API server: `https://127.0.0.1:PORT`. */
  readonly url: string;
  /** The authority's certificate, PEM: for the kubeconfig of another user. */
  readonly ca: string;
  /** Path of the kubeconfig file. */
  readonly kubeconfig: string;
  /** Stops the cluster, and ends every connection. */
  stop(): Promise<void>;
}

/** The parts that run in a cluster beside the API server, by the names that programs give them. */
export const topologies: Readonly<
  Record<'empty' | 'three-zones', Pick<EmbeddedOptions, 'topology' | 'without'>>
> = {
  empty: {
    without: [
      'conditionTaints',
      'workloads',
      'scheduler',
      'disruption',
      'garbageCollection',
      'namespaces',
      'endpoints',
      'policyStatus',
      'volumes',
    ],
  },
  'three-zones': { topology: threeZones },
};

function writeBug(error: unknown, during: string): void {
  process.stderr.write(`a bug of the simulated cluster, in ${during}: ${inspect(error)}\n`);
}

/**
 * Starts a cluster on the machine's clock and serves its API on 127.0.0.1. Throws the ApiError of
 * a definition that is refused, and the error of Node if the port is taken or the kubeconfig cannot
 * be written.
 */
export async function startEmbedded(options: EmbeddedOptions = {}): Promise<EmbeddedCluster> {
  const { seed = 1, port = 0, token = randomBytes(16).toString('hex'), ...rest } = options;
  const { kubeconfig, users = new Map(), serviceMs, parseYaml, definitions = [], ...others } = rest;
  const { reportBug = writeBug, kubernetes, ...parts } = others;
  const admin: User = { name: 'kubernetes-admin', groups: ['system:masters'], rules: [] };
  const tokens = new Map([...users, [token, admin]]);
  const apiServer = {
    tokens,
    callWebhook: callOverHttps,
    reportBug,
    ...(serviceMs ? { serviceMs } : {}),
    ...(parseYaml ? { parseYaml } : {}),
    ...(kubernetes ? { release: releaseOf(kubernetes) } : {}),
  };
  const certificate = createCertificate(Date.now());
  const { ca } = certificate;
  const cluster = new ServedCluster({
    ...{ clock: new RealClock(reportBug), seed, apiServer, ca, rolloutHistory: true },
    ...parts,
  });
  const server = await startHttps({ exchange: cluster.exchange, certificate, port });
  const { hostname, port: servedPort } = new URL(server.url);
  cluster.api.publish({ address: hostname, port: Number(servedPort), ca });
  const file = kubeconfig ?? join(mkdtempSync(join(tmpdir(), 'taintmgr-')), 'kubeconfig');
  writeKubeconfig(file, { server: server.url, ca, token });
  cluster.start();
  const stop = async (): Promise<void> => {
    cluster.stop();
    await server.close();
    if (kubeconfig === undefined) rmSync(join(file, '..'), { recursive: true, force: true });
  };
  try {
    await installDefinitions(cluster.api, definitions);
  } catch (error) {
    await stop();
    throw error;
  }
  return { cluster, url: server.url, ca, kubeconfig: file, stop };
}
