// The controller and the plugin as processes beside a cluster whose API remembers who removed which pod.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  callOverHttps,
  createCertificate,
  installDefinitions,
  ServedCluster,
  type ServedClusterOptions,
  startHttps,
  writeKubeconfig,
} from '@taintmgr/api-server';
import { customResourceDefinitions } from '@taintmgr/k8s-adapter/kinds';
import { type Exchange, RealClock, type Topology } from '@taintmgr/sim-cluster';

/** Who has asked for the removal of a pod, by the pod's uid or, where none is named, its name. */
export type Removals = ReadonlyMap<string, readonly string[]>;

/** Longer than anything takes: only what hangs is ended by it. */
const waitMsMax = 180_000;
const lookEveryMs = 20;
const timing = { startupMs: [50, 100], podStartMs: [50, 150], podStopMs: [50, 150] } as const;

/** A cluster over HTTPS, with our kinds installed, and what was asked of it. */
export class WatchedCluster {
  readonly cluster: ServedCluster;
  readonly kubeconfig: string;
  readonly #removals: Map<string, string[]>;

  constructor(cluster: ServedCluster, kubeconfig: string, removals: Map<string, string[]>) {
    this.cluster = cluster;
    this.kubeconfig = kubeconfig;
    this.#removals = removals;
  }

  get removals(): Removals {
    return this.#removals;
  }

  /** Whether the pods of no workload but those named are left on a node. */
  isDrained(nodeName: string, ...left: readonly string[]): boolean {
    const pods = this.cluster.api.list('pods').filter(({ spec }) => spec.nodeName === nodeName);
    return pods.every(({ metadata }) => left.includes(metadata.labels?.app ?? ''));
  }
}

/** Starts it; it is at rest when this resolves. */
export async function startCluster(
  t: TestContext,
  topology: Topology,
  {
    around = (exchange) => exchange,
    ...options
  }: Pick<ServedClusterOptions, 'attachTiming' | 'evictionRequestMs'> & {
    /** Sees the requests of programs. */
    readonly around?: (exchange: Exchange) => Exchange;
  } = {},
): Promise<WatchedCluster> {
  const apiServer = { callWebhook: callOverHttps };
  const base = { clock: new RealClock(), seed: 1, timing, topology, apiServer };
  const cluster = new ServedCluster({ ...base, ...options });
  await installDefinitions(cluster.api, customResourceDefinitions());
  const removals = new Map<string, string[]>();
  const certificate = createCertificate(Date.now());
  const exchange = around(recording(cluster.exchange, removals));
  const server = await startHttps({ exchange, certificate });
  const directory = mkdtempSync(join(tmpdir(), 'taintmgr-drain-test-'));
  const kubeconfig = join(directory, 'kubeconfig');
  writeKubeconfig(kubeconfig, { server: server.url, ca: certificate.ca, token: 'any' });
  cluster.start();
  t.after(async () => {
    cluster.stop();
    await server.close();
    rmSync(directory, { recursive: true });
  });
  await until('the cluster to be up', () => cluster.isIdle());
  return new WatchedCluster(cluster, kubeconfig, removals);
}

function recording(exchange: Exchange, removals: Map<string, string[]>): Exchange {
  return (request, sink) => {
    const { method, path, headers, body } = request;
    const [, name] = /\/pods\/([^/?]+)(?:\/eviction)?(?:\?|$)/.exec(path) ?? [];
    const isEviction = method === 'POST' && /\/eviction(\?|$)/.test(path);
    if (name !== undefined && (isEviction || method === 'DELETE')) {
      const [, uid = name] = /"uid":"([^"]+)"/.exec(String(body ?? '')) ?? [];
      const [agent = ''] = (headers['user-agent'] ?? '').split('/');
      removals.set(uid, [...(removals.get(uid) ?? []), agent]);
    }
    return exchange(request, sink);
  };
}

/** A program under way. */
export interface Program {
  readonly child: ChildProcess;
  readonly out: () => string;
  /** Resolves when what it has written matches. */
  saw(pattern: RegExp): Promise<void>;
  /** Its exit code; null: a signal ended it. */
  readonly ended: Promise<number | null>;
}

/** For a controller whose pages nobody asks for: it wants no port, which others may have. */
export const servesNobody = '--secure-port=0';

const apps = { controller: 'controller', plugin: 'kubectl-taintmgr' } as const;

/** Starts one of our programs as its own process. */
export function start(
  t: TestContext,
  app: keyof typeof apps,
  kubeconfig: string,
  ...args: readonly string[]
): Program {
  return startWith(t, app, { KUBECONFIG: kubeconfig }, ...args);
}

/** The same with more in its environment. */
export function startWith(
  t: TestContext,
  app: keyof typeof apps,
  environment: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Program {
  const main = fileURLToPath(
    new URL(`../../../../../apps/${apps[app]}/src/main.ts`, import.meta.url),
  );
  // Nobody else evicts here.
  const alone = { TAINTMGR_KUBE_CONTROLLER_MANAGER_RUNS: 'none' };
  const child = spawn(process.execPath, ['-C', '@taintmgr/source', main, ...args], {
    env: { ...process.env, ...alone, ...environment },
  });
  t.after(() => child.kill('SIGKILL'));
  let out = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      out += chunk;
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return {
    child,
    ended,
    out: () => out,
    saw: (pattern) =>
      until(
        `${pattern} of ${app}`,
        () => pattern.test(out),
        () => out,
      ),
  };
}

/** The controller, which has published itself when this resolves. */
export async function startController(
  t: TestContext,
  { kubeconfig, cluster }: WatchedCluster,
  controllers = 'node-drain-controller,taint-eviction-controller',
): Promise<Program> {
  const flags = ['--mode=evict', `--controllers=${controllers}`, '-v=4', servesNobody];
  const controller = start(t, 'controller', kubeconfig, ...flags);
  const isPublished = (): boolean =>
    cluster.api.list('taintmanagers.taintmgr.dev').some(({ status }) => {
      const isThis = [...(status?.controllers ?? [])].sort().join() === controllers;
      return isThis && status.conditions?.some((one: object) => isLeading(one));
    });
  await until('the controller to publish itself', isPublished, controller.out);
  return controller;
}

function isLeading({
  type,
  status,
}: {
  readonly type?: string;
  readonly status?: string;
}): boolean {
  return type === 'Leading' && status === 'True';
}

/** Resolves when the condition holds; rejects when that takes too long. */
export async function until(
  what: string,
  condition: () => boolean,
  given: () => string = () => '',
): Promise<void> {
  const lastLook = Date.now() + waitMsMax;
  while (!condition()) {
    assert.ok(Date.now() < lastLook, `waited ${waitMsMax / 1000} s for ${what}\n${given()}`);
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
}
