import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SimulationDocument } from '@taintmgr/page';
import { Cluster, deployment, pdb, VirtualClock } from '@taintmgr/sim-cluster';
import { run } from '../../../world/run.ts';
import { temporaryFiles } from '../../../world/simulate-files.ts';

const { write: file } = temporaryFiles();
const drain = '{at: 1m, drain: {node: node-1}}';

/** A cluster of three nodes as kubectl prints it: shop/web with 3 pods and a budget, shop/api with 2. */
function snapshot(): string {
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const nodes = ['node-1', 'node-2', 'node-3'].map((name) => ({ name, zone: 'zone-a' }));
  const cluster = new Cluster({ clock, seed: 1 });
  for (const node of nodes) cluster.addNode(node);
  cluster.start();
  clock.advanceTo(clock.now() + 60_000);
  cluster.api.create('namespaces', { metadata: { name: 'shop' } });
  cluster.api.create('deployments', deployment('shop', 'web', { replicas: 3 }));
  cluster.api.create('deployments', deployment('shop', 'api', { replicas: 2 }));
  cluster.api.create('poddisruptionbudgets', pdb('shop', 'web', { maxUnavailable: 1 }));
  clock.advanceTo(clock.now() + 60_000);
  const items = cluster.api.stored().flatMap(({ storeKey }) => cluster.api.list(storeKey));
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
}

const budget = (spec: string): string =>
  `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web, namespace: shop}, spec: {${spec}}}`;

const workload = (name: string, spec: string, podSpec = ''): string => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}, namespace: shop}
spec:
  ${spec}
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec: {containers: [{name: ${name}, image: 'registry.example/${name}:2'${podSpec}}]}
`;

async function played(manifests: string, ...args: readonly string[]) {
  const source = file('snapshot.json', snapshot());
  const applied = file('pr.yaml', manifests);
  return await run('simulate', '-f', source, '--apply', applied, '--event', drain, ...args);
}

async function documentOf(manifests: string): Promise<SimulationDocument> {
  const { code, out, err } = await played(manifests, '-o', 'json');
  assert.equal(code, 0, err);
  return JSON.parse(out);
}

const cases: readonly (readonly [what: string, manifests: string, lines: readonly RegExp[]])[] = [
  [
    'a budget that can never be kept',
    budget("minAvailable: '100%'"),
    [
      /^after: 1 changed \(PDB shop\/web\)$/m,
      /^PDB shop\/web allows no eviction after: 0 of 3 may be down$/m,
      /^after: \d evictions?, \d{2,} refused by PDBs/m,
    ],
  ],
  [
    'half of the replicas',
    '{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {replicas: 1}}',
    [
      /^after: 1 changed \(Deployment shop\/web\)$/m,
      /^events begin \ds after that, before as well$/m,
    ],
  ],
  [
    'nothing',
    budget('maxUnavailable: 1'),
    [/^after: nothing of it changes the cluster: 1 unchanged$/m],
  ],
  [
    'a new workload',
    workload('new', 'replicas: 2'),
    [/^after: 1 created \(Deployment shop\/new\)$/m, /shop\/new/],
  ],
  [
    'another image',
    workload('api', 'minReadySeconds: 5'),
    [/^after: 1 changed \(Deployment shop\/api\)$/m, /^events begin \d\ds after that/m],
  ],
  [
    'pods that fit nowhere',
    workload('api', '', ', resources: {requests: {cpu: 100}}'),
    [
      /^Deployment shop\/api does not come to rest after: 1 of 2 pods updated; 1 of its pods fits on no node: 0\/3 nodes are available: 3 Insufficient cpu/m,
    ],
  ],
  [
    'a class that is not there',
    workload('api', '').replace('spec: {containers', 'spec: {priorityClassName: gone, containers'),
    [
      /^Deployment shop\/api does not come to rest after: 0 of 2 pods updated; its pods are refused: there is no PriorityClass gone$/m,
    ],
  ],
];

describe('--apply lays over the cluster', () => {
  for (const [what, manifests, lines] of cases) {
    it(what, async () => {
      const { code, out, err } = await played(manifests);
      assert.equal(code, 0, err);
      const unwrapped = out.replaceAll('\n    ', ' ');
      for (const line of lines) assert.match(unwrapped, line);
    });
  }

  it('says which fields it changes, and what did not count', async () => {
    const config = '{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}';
    const { applied, runs, notes } = await documentOf(
      [workload('web', 'replicas: 1'), budget('maxUnavailable: 1'), config].join('\n---\n'),
    );
    const [before, after] = runs;
    assert.deepEqual(
      applied?.map(({ line, kind, change, fields }) => [line, kind, change, fields]),
      [
        [
          4,
          'Deployment',
          'changed',
          [
            'spec.replicas 3 -> 1',
            'spec.template.spec.containers[0].image registry.example/web:1.0 -> registry.example/web:2',
          ],
        ],
        [13, 'PodDisruptionBudget', 'unchanged', []],
      ],
    );
    assert.deepEqual([before?.name, after?.name], ['before', 'after']);
    assert.equal(before?.rollout?.seconds, after?.rollout?.seconds);
    assert.deepEqual(
      runs.map(({ summary }) => summary.workloads.find(({ name }) => name === 'web')?.wanted),
      [3, 1],
    );
    assert.ok(notes.includes('kinds of --apply that play no part are left out: ConfigMap 1'));
  });
});
