// Measures the time to drain a node of 500 pods that stop within a second: by kubectl drain, by
// drain-by-taint, and by a NodeDrain that the controller carries out, one after the other, each on
// a separate cluster over HTTPS. npm run bench -- drain; alone it takes --pods 500
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  createCertificate,
  installDefinitions,
  ServedCluster,
  startHttps,
  writeKubeconfig,
} from '@taintmgr/api-server';
import { customResourceDefinitions } from '@taintmgr/k8s-adapter/kinds';
import { deployment, RealClock } from '@taintmgr/sim-cluster';
import { printTable } from './measure.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const node = 'a-1';
const source = ['-C', '@taintmgr/source'];
const timing = { startupMs: [50, 100], podStartMs: [50, 150], podStopMs: [1000, 1000] } as const;

interface Site {
  readonly cluster: ServedCluster;
  readonly directory: string;
  readonly env: NodeJS.ProcessEnv;
  close(): Promise<void>;
}

/** A way of draining; the controller runs only where it is needed. */
interface Way {
  readonly name: string;
  readonly command: readonly string[];
  readonly needsController?: true;
}

const ways: readonly Way[] = [
  { name: 'kubectl drain', command: ['kubectl', 'drain', node] },
  {
    name: 'drain-by-taint',
    command: ['kubectl', 'taintmgr', 'drain-by-taint', 'maintenance=bench:NoSchedule', node],
  },
  {
    name: 'drain-by-taint --server-side',
    command: [
      ...['kubectl', 'taintmgr', 'drain-by-taint', 'maintenance=bench', node],
      ...['--server-side', '--name', 'bench'],
    ],
    needsController: true,
  },
];

/** A node with all pods on it, and another. */
async function openSite(pods: number): Promise<Site> {
  const podSpec = {
    nodeSelector: { 'kubernetes.io/hostname': node },
    terminationGracePeriodSeconds: 1,
  };
  const workloads = [deployment('shop', 'web', { replicas: pods, podSpec })];
  const nodes = { capacity: { cpu: '1000', memory: '4000Gi', pods: '10000' } };
  const topology = { region: 'r', zones: ['a'], nodesPerZone: 2, nodes, workloads, budgets: [] };
  const cluster = new ServedCluster({ clock: new RealClock(), seed: 1, timing, topology });
  const certificate = createCertificate(Date.now());
  const server = await startHttps({ exchange: cluster.exchange, certificate });
  const directory = mkdtempSync(join(tmpdir(), 'taintmgr-drain-bench-'));
  const kubeconfig = join(directory, 'kubeconfig');
  writeKubeconfig(kubeconfig, { server: server.url, ca: certificate.ca, token: 'any' });
  await installDefinitions(cluster.api, customResourceDefinitions());
  cluster.start();
  while (countOn(cluster) < pods) await setTimeout(100);
  const PATH = `${installPlugin(directory)}${delimiter}${process.env.PATH}`;
  const env = { ...process.env, PATH, HOME: directory, KUBECONFIG: kubeconfig };
  const close = async (): Promise<void> => {
    cluster.stop();
    await server.close();
    rmSync(directory, { recursive: true });
  };
  return { cluster, directory, env, close };
}

/** Puts the plugin where kubectl finds it. */
function installPlugin(directory: string): string {
  const bin = join(directory, 'bin');
  mkdirSync(bin);
  symlinkSync(process.execPath, join(bin, 'node'));
  const main = join(root, 'apps/kubectl-taintmgr/src/main.ts');
  const launch = `#!/bin/sh\nexec '${process.execPath}' ${source.join(' ')} '${main}' "$@"\n`;
  writeFileSync(join(bin, 'kubectl-taintmgr'), launch, { mode: 0o755 });
  return bin;
}

/** Pods that run on the node. */
function countOn({ api }: ServedCluster): number {
  return api.list('pods').filter(({ spec, status }) => {
    return spec.nodeName === node && status?.phase === 'Running';
  }).length;
}

async function startController({ cluster, env }: Site): Promise<ChildProcess> {
  const main = join(root, 'apps/controller/src/main.ts');
  const flags = ['--controllers=node-drain-controller', '--mode=evict', '--secure-port=0'];
  const child = spawn(process.execPath, [...source, main, ...flags], { env, stdio: 'ignore' });
  const isThere = (): boolean =>
    cluster.api.list('taintmanagers.taintmgr.dev').some(({ status }) => status?.renewTime);
  while (!isThere() && child.exitCode === null) await setTimeout(100);
  if (child.exitCode !== null) throw new Error(`the controller ended with ${child.exitCode}`);
  return child;
}

async function time(way: Way, pods: number): Promise<readonly string[]> {
  const site = await openSite(pods);
  const controller = way.needsController ? await startController(site) : null;
  try {
    const began = performance.now();
    const [command = '', ...args] = way.command;
    const child = spawn(command, args, { env: site.env, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (part: Buffer) => {
        said += part;
      });
    }
    const code = await new Promise((resolve) => child.once('close', resolve));
    const seconds = (performance.now() - began) / 1000;
    const left = countOn(site.cluster);
    if (code !== 0 || left > 0) throw new Error(`${way.name}: ${code}, ${left} left\n${said}`);
    return [way.name, seconds.toFixed(1), (pods / seconds).toFixed(0)];
  } finally {
    controller?.kill('SIGTERM');
    await site.close();
  }
}

const { values } = parseArgs({ options: { pods: { type: 'string', default: '500' } } });
const [load = 0] = loadavg();
process.stdout.write(`drain: a node of ${values.pods} pods; load before it: ${load.toFixed(1)}\n`);
const rows: (readonly string[])[] = [];
for (const way of ways) rows.push(await time(way, Number(values.pods)));
printTable(['', 'seconds', 'pods/s'], rows);
