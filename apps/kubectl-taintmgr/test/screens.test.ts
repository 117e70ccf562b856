import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { version } from '../src/cli/version.ts';
import { startDeviceCluster } from './world/device-cluster.ts';
import { runAt } from './world/run.ts';
import { keepRenewing } from './world/shop-cluster.ts';
import { startWithDefinitions, type TestCluster } from './world/test-cluster.ts';
import { fillTroubled, longNamespace, longNode, longPod } from './world/troubled-cluster.ts';

// What people see on terminals of three widths, in a cluster in trouble. REWRITE=1 writes the screens anew: look at
// them before you commit them.

const widths = [80, 100, 140];
const folder = new URL('./testdata/screens/', import.meta.url);

const drain =
  'drain-by-taint upgrade=1 --ignore-daemonsets --force --delete-emptydir-data --dry-run=client';
const simulate = 'simulate -f docs/scenarios/three-zones.yaml';

const screens: readonly (readonly [file: string, commands: readonly string[]])[] = [
  ['status', ['status']],
  ['doctor', ['doctor', 'doctor -f docs/commands/examples/shop.yaml']],
  ['pending', ['pending -n shop', `pending -n ${longNamespace}`]],
  ['history', ['history', 'history -n shop', 'history pod web-1']],
  ['explain-node', ['explain node node-a1', `explain node ${longNode}`]],
  ['explain-pod', ['explain pod web-1 -n shop', `explain pod ${longPod} -n ${longNamespace}`]],
  ['explain-nodes', ['explain nodes', 'explain zone zone-a', 'explain taint maintenance']],
  ['explain-workload', ['explain deployment web -n shop', 'explain namespace shop']],
  ['explain-policy', ['explain policy node/node-a1', 'explain policy web-1 -n shop']],
  ['explain-pressure', ['explain pressure node-a1']],
  ['help', ['', 'undo --help', 'drain node-a1 --ignore-daemonsets']],
  ['drain-by-taint', [`${drain} node-a1`, `${drain} ${longNode}`, 'undo', 'undo nope']],
  [
    'set-up',
    [
      'takeover status',
      'takeover disable --all',
      'install crds --dry-run=client',
      'version --client',
      'resume',
    ],
  ],
  [
    'simulate',
    [
      `${simulate} --script docs/scenarios/zone-outage.yaml --compare`,
      `${simulate} --script docs/scenarios/kernel-upgrade.yaml --until 10m --top 1`,
      `${simulate} --each zone --until 10m`,
      `${simulate} --script docs/scenarios/bad-health-checker.yaml --variant A=unchanged --variant B=docs/scenarios/variants`,
    ],
  ],
  [
    'simulate-recordings',
    [
      'simulate --verify docs/scenarios/real-zone-outage.jsonl.gz --seeds 3',
      'simulate --replay docs/scenarios/flight-of-another-build.jsonl',
    ],
  ],
];

/** Replaces the parts that differ between runs and versions. */
function steady(text: string): string {
  return text
    .replaceAll(version, '0.1.0')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '2026-01-01T00:00:00Z')
    .replace(/(?:\b\d+m)?\b\d+s ago( *)/g, (_, space: string) => `10s ago${space && '  '}`)
    .replace(/WHEN +STATE/, 'WHEN     STATE');
}

describe('screens of a cluster in trouble', { concurrency: 1 }, () => {
  let cluster: TestCluster;
  let endRenewing = (): void => {};
  before(async () => {
    process.chdir(fileURLToPath(new URL('../../../', import.meta.url)));
    cluster = await startWithDefinitions();
    fillTroubled(cluster);
    endRenewing = keepRenewing(cluster);
    process.env.KUBECONFIG = cluster.kubeconfig;
    mkdirSync(folder, { recursive: true });
  });
  after(() => {
    endRenewing();
    return cluster.stop();
  });

  for (const [name, commands] of screens) it(name, () => compareScreens(name, commands));

  it('a node with 500 pods, whose table fits too', async () => {
    for (const width of widths) {
      const { out, err } = await runAt(width, 'explain', 'node', 'big-1');
      assertFits(`${out}${err}`, width);
      assert.match(
        out,
        /^Name: +big-1\nPods: +300 of 500 to evict \(first overdue by 1d7h, last in 5d16h\)/,
      );
    }
  });
});

describe('screens of a cluster with devices', () => {
  let cluster: TestCluster;
  before(async () => {
    cluster = await startDeviceCluster();
    process.env.KUBECONFIG = cluster.kubeconfig;
  });
  after(() => cluster.stop());

  it('taint-device', () =>
    compareScreens('taint-device', [
      'taint-device gpu.example.com/n1 health=bad:NoExecute --name gpus --dry-run=client',
    ]));
});

async function compareScreens(name: string, commands: readonly string[]): Promise<void> {
  const parts: string[] = [];
  for (const command of commands) {
    for (const width of widths) {
      const { out, err } = await runAt(width, ...command.split(' ').filter((word) => word !== ''));
      const shown = `${out}${err}`;
      assertFits(shown, width);
      parts.push(`$ kubectl taintmgr ${command}   # ${width} columns\n${steady(shown)}`);
    }
  }
  compare(new URL(`${name}.txt`, folder), parts.join('\n'));
}

/** A line is no wider than the terminal, unless it is a word, or a command that is pasted. */
function assertFits(text: string, width: number): void {
  for (const line of text.split('\n')) {
    const isWhole = /^\S*:? *\S+$/.test(line.trim()) || /^ +(kubectl|npm|npx) /.test(line);
    assert.ok(line.length <= width || isWhole, `${width} columns: ${line}`);
  }
}

function compare(file: URL, text: string): void {
  if (process.env.REWRITE === '1') writeFileSync(file, text);
  const expected = readFileSync(file, 'utf8');
  const message = `${file.pathname} (rewrite it with REWRITE=1)`;
  assert.deepEqual(text.split('\n'), expected.split('\n'), message);
}
