// `npm run demo`: a cluster, the controller, and what happens on screen.
import { parseArgs } from 'node:util';
import { runController } from '@taintmgr/controller/src/process/run-controller.ts';
import { stopSignal } from '@taintmgr/controller/src/process/stop-signal.ts';
import { version } from '@taintmgr/controller/src/version.ts';
import { ApiClient, HttpTransport, loadKubeconfig } from '@taintmgr/k8s-adapter';
import { type EmbeddedCluster, startEmbedded } from '@taintmgr/sim-cluster';
import { Expectations, type Result } from './expectations.ts';
import { noticeText } from './notice-text.ts';
import { playScenario } from './scenario.ts';
import { Screen } from './screen.ts';
import { topology } from './topology.ts';

const usage = `Shows what taintmgr does, on an embedded cluster, in half a minute.

Usage: npm run demo [-- flags]

  --keep          leave the cluster and the controller running afterwards
  --seed NUMBER   seed of the cluster; default 1
  -h, --help      print this help and exit
`;

/** Everything in the demo takes seconds, where a real cluster takes its time. */
const pace = {
  nodeMonitorGraceMs: 3000,
  timing: {
    heartbeatMs: 1000,
    startupMs: [200, 800],
    podStartMs: [300, 1000],
    podStopMs: [200, 800],
  },
} as const;
/** Exit code after Ctrl-C. */
const interrupted = 130;
const waitMsMax = 30_000;
const lookEveryMs = 50;

interface Flags {
  readonly keep: boolean;
  readonly seed: number;
}

process.exitCode = await main();

async function main(): Promise<number> {
  const flags = readFlags();
  if (typeof flags === 'number') return flags;
  const embedded = await startEmbedded({ topology, seed: flags.seed, ...pace });
  const stop = new AbortController();
  stopSignal(interrupted, () => stop.abort());
  const screen = new Screen(embedded.cluster);
  try {
    const controller = startController(embedded, screen, stop.signal);
    const results = await Promise.race([play(embedded, screen, stop.signal), controller]);
    screen.close();
    const code = results ? summarize(results) : interrupted;
    if (flags.keep && results) {
      inviteToTry(embedded);
      await controller;
    }
    stop.abort();
    await controller;
    return code;
  } finally {
    screen.close();
    await embedded.stop();
  }
}

/** The real controller, over HTTPS, asking disruption budgets. */
async function startController(
  { kubeconfig }: EmbeddedCluster,
  screen: Screen,
  signal: AbortSignal,
): Promise<null> {
  await runController({
    cluster: await loadKubeconfig({ kubeconfig }),
    engine: { mode: 'evict' },
    signal,
    onNotice: (notice, now) => {
      const text = noticeText(notice, now);
      if (text !== null) screen.line('controller', text);
    },
  });
  return null;
}

async function play(
  { cluster, kubeconfig }: EmbeddedCluster,
  screen: Screen,
  signal: AbortSignal,
): Promise<readonly Result[]> {
  const expectations = new Expectations();
  cluster.api.subscribe(({ resource, object }) => {
    expectations.observe(resource, object, cluster.api.clock.now());
  });
  const { access } = await loadKubeconfig({ kubeconfig });
  const transport = new HttpTransport(access, `taintmgr-demo/${version}`);
  const client = new ApiClient({ transport, server: access.server, signal });
  screen.line(
    'scenario',
    'a cluster of three zones starts: nine nodes, five workloads, one budget',
  );
  await until('the cluster to be up', () => cluster.isIdle());
  screen.line('scenario', `up: ${cluster.api.list('pods').length} pods run`);
  await playScenario({
    cluster,
    client,
    expectations,
    until,
    say: (text) => screen.line('scenario', text),
    pause: (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000)),
  });
  transport.close();
  return expectations.results();
}

function until(what: string, condition: () => boolean): Promise<void> {
  const lastLook = Date.now() + waitMsMax;
  return new Promise((resolve, reject) => {
    const look = (): void => {
      if (condition()) resolve();
      else if (Date.now() < lastLook) setTimeout(look, lookEveryMs);
      else reject(new Error(`waited ${waitMsMax / 1000} s for ${what}`));
    };
    look();
  });
}

/** Prints expectation beside outcome; the exit code. */
function summarize(results: readonly Result[]): number {
  const lines = results.map(({ ok, name, nodeName, expected, happened }) => {
    const pod = `${name} on ${nodeName}`.padEnd(42);
    return `${ok ? 'ok   ' : 'WRONG'}  ${pod} ${happened.padEnd(20)} expected: ${expected}`;
  });
  const count = (start: string): number =>
    results.filter(({ happened }) => happened.startsWith(start)).length;
  const wrong = results.filter(({ ok }) => !ok).length;
  const counts = `${count('evicted')} evicted, ${count('kept')} kept, ${count('called off')} called off`;
  const end = wrong === 0 ? 'as expected' : `${wrong} not as expected`;
  process.stdout.write(`\n${lines.join('\n')}\n\n${counts}: ${end}\n`);
  return wrong === 0 ? 0 : 1;
}

function inviteToTry({ kubeconfig }: EmbeddedCluster): void {
  process.stdout.write(`
The cluster and the controller stay up until Ctrl-C. In another terminal:

  export KUBECONFIG=${kubeconfig}
  kubectl get nodes,pods,pdb -A -o wide
  kubectl taint nodes zone-c-1 maintenance=kernel:NoSchedule maintenance=kernel:NoExecute
  npm run -s kubectl-taintmgr -- explain node zone-c-1

`);
}

/** The exit code instead where there is nothing to play. */
function readFlags(): Flags | number {
  const options = {
    keep: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', short: 'h' },
  } as const;
  try {
    const { keep, seed, help } = parseArgs({ options }).values;
    if (help) {
      process.stdout.write(usage);
      return 0;
    }
    if (!/^\d{1,9}$/.test(seed)) throw new Error(`--seed: got "${seed}", want a whole number`);
    return { keep, seed: Number(seed) };
  } catch (error) {
    process.stderr.write(`error: ${error instanceof Error ? error.message : error}\n`);
    return 1;
  }
}
