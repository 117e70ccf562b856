import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ApiServer,
  createCertificate,
  installDefinitions,
  ServedCluster,
  startHttps,
  writeKubeconfig,
} from '@taintmgr/api-server';
import { customResourceDefinitions } from '@taintmgr/k8s-adapter/kinds';
import {
  type Clock,
  type ClusterPart,
  type Exchange,
  type KubeObject,
  RealClock,
  type Rule,
  type Topology,
  type User,
} from '@taintmgr/sim-cluster';

// @boundaries-ignore tests of both packages show the same kube-controller-manager
export {
  leaveTaints,
  showManager,
} from '../../../../packages/k8s-adapter/test/world/shown-manager.ts';

/** Small waits, where a real cluster takes its time. */
const timing = {
  heartbeatMs: 1000,
  startupMs: [50, 100],
  podStartMs: [50, 150],
  podStopMs: [50, 150],
} as const;

/** Of an empty cluster: whatever would act on the objects that a test puts there. */
const everything: readonly ClusterPart[] = [
  'conditionTaints',
  'workloads',
  'scheduler',
  'disruption',
  'garbageCollection',
];

/** Longer than anything takes: only what hangs is ended by it. */
const waitMsMax = 120_000;
const lookEveryMs = 10;

/** A cluster over HTTPS, and the kubeconfig that leads there as its administrator. */
export interface TestCluster {
  readonly cluster: ServedCluster;
  readonly api: ApiServer;
  readonly url: string;
  readonly kubeconfig: string;
  /** What was asked by HTTPS and how it was answered, as `POST /api/v1/nodes 201`. */
  readonly answers: readonly string[];
  /** A directory that is removed by `stop`. */
  readonly directory: string;
  stop(): Promise<void>;
}

/** Users beside the administrator, by their tokens. */
export type Users = Readonly<Record<string, readonly Rule[]>>;

/** The cluster's clock, where it is ahead of that of this machine; behind, if negative. */
export function clockAhead(byMs: number): Clock {
  const real = new RealClock();
  return { now: () => real.now() + byMs, after: (delay, callback) => real.after(delay, callback) };
}

/** Starts a cluster; with a topology it is at rest when this resolves, else it is empty. */
export async function startTestCluster(
  topology: Topology | null,
  users: Users = {},
  clock: Clock = new RealClock(),
): Promise<TestCluster> {
  const admin: User = { name: 'admin', groups: ['system:masters'], rules: [] };
  const others = Object.entries(users).map(
    ([name, rules]) => [name, { name, groups: [], rules }] as const,
  );
  const cluster = new ServedCluster({
    clock,
    seed: 1,
    timing,
    apiServer: { tokens: new Map<string, User>([['admin', admin], ...others]) },
    ...(topology ? { topology } : { without: everything }),
  });
  const certificate = createCertificate(Date.now());
  const answers: string[] = [];
  const exchange: Exchange = (request, sink) =>
    cluster.exchange(request, {
      ...sink,
      head: (status, headers) => {
        answers.push(`${request.method} ${request.path} ${status}`);
        sink.head(status, headers);
      },
    });
  const server = await startHttps({ exchange, certificate });
  const directory = mkdtempSync(join(tmpdir(), 'kubectl-taintmgr-test-'));
  const kubeconfig = join(directory, 'kubeconfig');
  writeKubeconfig(kubeconfig, { server: server.url, ca: certificate.ca, token: 'admin' });
  cluster.start();
  if (topology) await until('the cluster to be up', () => cluster.isIdle());
  return {
    cluster,
    api: cluster.api,
    url: server.url,
    answers,
    kubeconfig,
    directory,
    stop: async () => {
      cluster.stop();
      await server.close();
      rmSync(directory, { recursive: true });
    },
  };
}

/** Starts an empty cluster that knows our kinds. */
export async function startWithDefinitions(users?: Users): Promise<TestCluster> {
  const started = await startTestCluster(null, users);
  await installDefinitions(started.api, customResourceDefinitions());
  return started;
}

/** Lets the next commands run as one of the users, or as `admin`. */
export function comeAs({ directory, kubeconfig }: TestCluster, user: string): void {
  const path = join(directory, user);
  writeFileSync(path, readFileSync(kubeconfig, 'utf8').replace(/admin/g, user));
  process.env.KUBECONFIG = path;
}

/** Resolves when the condition holds; rejects when that takes too long. */
export async function until(what: string, condition: () => boolean): Promise<void> {
  const lastLook = Date.now() + waitMsMax;
  while (!condition()) {
    assert.ok(Date.now() < lastLook, `waited ${waitMsMax / 1000} s for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
}

/** Names and resourceVersions of nodes and pods: equal before and after, nothing was changed. */
export function versions(
  api: ApiServer,
  isMeant: (object: KubeObject) => boolean = () => true,
): readonly string[] {
  const objects = ['nodes', 'pods', 'poddisruptionbudgets'].flatMap((resource) =>
    api.list(resource),
  );
  return objects
    .filter(isMeant)
    .map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`);
}
