import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { policyKinds } from '@taintmgr/k8s-adapter/kinds';
import { type KubeObject, node, pod, toleration } from '@taintmgr/sim-cluster';
import { parseAllDocuments } from 'yaml';
import { run } from '../world/run.ts';
import { temporaryFiles } from '../world/simulate-files.ts';
import { startWithDefinitions, type TestCluster } from '../world/test-cluster.ts';

// The commands that take policies print the same whether these are in the cluster or in files: here
// the recipes of the documentation, as they stand there, and as an API server gives them back.

const recipes = fileURLToPath(new URL('../../../../docs/policies/', import.meta.url));
const kinds = ['EvictionPolicy', 'NodeTaintRule', 'EvictionPause'] as const;
const tainted = '2026-10-01T00:00:00Z';

function resourceOf(kind: string): string {
  const known = kinds.find((one) => one === kind) ?? assert.fail(kind);
  return `${policyKinds[known].plural}.taintmgr.dev`;
}

/** What the files say, object by object. */
function manifests(): readonly KubeObject[] {
  const names = readdirSync(recipes).filter((name) => name.endsWith('.yaml'));
  return names.flatMap((name) => {
    const documents = parseAllDocuments(readFileSync(`${recipes}${name}`, 'utf8'));
    return documents.map((document) => document.toJS());
  });
}

/**
 * Without what goes on while one looks: names that have the time in them, durations, the age of a pause,
 * which one in a file does not have, and that what is due becomes overdue.
 */
function steady(text: string): string {
  return (
    text
      .replace(/drain-\d{8}-\d{6}-[0-9a-f]{4}/g, '<drain>')
      .replace(/\b(?:\d+[dhms])+\b/g, '<time>')
      .replaceAll('<time> ago', '-')
      // Those of files are named by the command line.
      .replace(/^Note: in force as in the cluster: .*\n/m, '')
      .replaceAll(', overdue by <time>', ' now')
      .replaceAll('overdue by <time>', 'now')
      .replaceAll('first now', 'next now')
      .replaceAll(/, \d+ overdue\b/g, '')
      .replaceAll(/ {2,}|-{2,}/g, '  ')
      // NODES, NOT READY, TAINTED and PENDING come before OVERDUE.
      .replaceAll(/( Normal(?: {2}\d+){4} {2})\d+/g, '$1-')
  );
}

/** Nodes with taints of the recipes, and pods of which some are kept. */
function fill({ api }: TestCluster): void {
  const zone = { 'topology.kubernetes.io/region': 'region-1' };
  const nodes = [
    ['a1', 'zone-a', 'example.com/reclaimed'],
    ['a2', 'zone-a', 'node.kubernetes.io/unreachable'],
    ['b1', 'zone-b', 'example.com/odd'],
  ] as const;
  for (const [name, zoneName, key] of nodes) {
    const labels = { ...zone, 'topology.kubernetes.io/zone': zoneName };
    const taints = [{ key, effect: 'NoExecute', timeAdded: tainted }];
    const made = node(name, { spec: { taints } });
    api.create('nodes', { ...made, metadata: { ...made.metadata, labels } });
    for (const app of ['web', 'db']) {
      // Longer than this takes on a slow machine: none is due in one answer and waits in another.
      const tolerations = [{ ...toleration('example.com/odd:NoExecute', 7200) }];
      const one = pod('default', `${app}-${name}`, { spec: { nodeName: name, tolerations } });
      api.create('pods', { ...one, metadata: { ...one.metadata, labels: { app } } });
    }
  }
}

describe('policies in the cluster and in files are the same', () => {
  const { write } = temporaryFiles();
  let cluster: TestCluster;
  /** What a snapshot holds while the policies are in the cluster. */
  let items: readonly KubeObject[] = [];

  const commands: readonly (readonly string[])[] = [
    ...['web-a1', 'db-a1', 'web-a2', 'web-b1'].map((name) => ['explain', 'policy', name]),
    ['explain', 'policy', 'node/a1'],
    ['simulate', '--until', '5m', '-o', 'wide'],
    ['explain', 'node', 'a1', '-o', 'wide'],
    ['explain', 'node', 'a2'],
    ['explain', 'pod', 'db-a1'],
    ['explain', 'taint', 'example.com/reclaimed:NoExecute'],
    ['explain', 'zone', 'zone-a'],
    ['pending', '-o', 'wide'],
    ['status'],
    ['drain-by-taint', 'maintenance=kernel:NoExecute', 'b1', '--force', '--dry-run'],
  ];
  const answers = new Map<string, string>();

  before(async () => {
    cluster = await startWithDefinitions();
    process.env.KUBECONFIG = cluster.kubeconfig;
    for (const manifest of manifests())
      cluster.api.create(resourceOf(manifest.kind ?? ''), manifest);
    fill(cluster);
    for (const args of commands) {
      const { code, out, err } = await run(...args);
      assert.equal(code, 0, err);
      answers.set(args.join(' '), steady(out));
    }
    items = JSON.parse((await run('snapshot')).out).items;
    for (const kind of kinds) {
      for (const { metadata } of cluster.api.list(resourceOf(kind))) {
        cluster.api.delete(resourceOf(kind), '', metadata.name);
      }
    }
  });
  after(() => cluster.stop());

  it('and make a difference', async () => {
    const { out } = await run('explain', 'policy', 'db-a1');
    assert.notEqual(out, answers.get('explain policy db-a1'));
    const simulated = await run('simulate', '--until', '5m', '-o', 'wide');
    assert.notEqual(simulated.out, answers.get('simulate --until 5m -o wide'));
  });

  for (const args of commands) {
    it(`for ${args.join(' ')}`, async () => {
      const { code, out, err } = await run(...args, '--policy', recipes);
      assert.equal(code, 0, err);
      assert.equal(steady(out), answers.get(args.join(' ')));
    });
  }

  it('for simulate -f of a snapshot with them, and of one without beside the files', async () => {
    const isPolicy = ({ kind = '' }: KubeObject): boolean => kinds.some((one) => one === kind);
    const list = (some: readonly KubeObject[]): string =>
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items: some });
    const without = items.filter((item) => !isPolicy(item));
    assert.ok(without.length < items.length);
    const path = write('snapshot.json', list(items));
    const whole = await run('simulate', '-f', path, '--until', '5m', '-o', 'json');
    write('snapshot.json', list(without));
    const more = ['--until', '5m', '-o', 'json', '--policy', recipes];
    const part = await run('simulate', '-f', path, ...more);
    const [a, b] = [whole, part].map(({ out }) => JSON.parse(out).runs);
    assert.deepEqual(a, b);
  });

  it('for doctor -f of what the cluster gave back, and of the files', async () => {
    const exported = items.filter(({ kind = '' }) => kinds.some((one) => one === kind));
    const file = write(
      'exported.json',
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items: exported }),
    );
    const found = async (path: string): Promise<readonly string[]> => {
      const { out } = await run('doctor', '-f', path, '-o', 'json');
      const { findings }: { findings: readonly Record<string, string>[] } = JSON.parse(out);
      return findings.map(({ level, about, message }) => `${level} ${about}: ${message}`).sort();
    };
    assert.deepEqual(await found(file), await found(recipes));
  });
});
