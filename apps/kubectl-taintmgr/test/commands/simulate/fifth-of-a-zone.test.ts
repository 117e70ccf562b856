import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ServedCluster } from '@taintmgr/api-server';
import { createEngine } from '@taintmgr/core';
import type { LimitRule } from '@taintmgr/core/policy';
import { Loop, VirtualDriver } from '@taintmgr/k8s-adapter';
import { Checkers, evictionDefaults } from '@taintmgr/oracle';
import {
  deployment,
  type KubeObject,
  seededRandom,
  type Topology,
  VirtualClock,
} from '@taintmgr/sim-cluster';
import { run } from '../../world/run.ts';
import { temporaryFiles } from '../../world/simulate-files.ts';

// The README's limit, and a taint that spreads over the nodes of a zone every 2 s: in the simulation, and
// with the controller's loop against a cluster whose checker reads the history of the API alone.

const { write: file } = temporaryFiles();
const limit: LimitRule = { per: 'zone', percent: 20, windowMs: 600_000, onLimit: 'queue' };
const staggerMs = 2_000;
const shown = 'topology.kubernetes.io/zone';

const topology: Topology = {
  region: 'r',
  zones: ['a', 'b'],
  nodesPerZone: 5,
  workloads: [deployment('shop', 'web', { replicas: 40 })],
  budgets: [],
};
const topologyFile = `
apiVersion: taintmgr.dev/v1alpha1
kind: Topology
region: r
nodes:
  - { zone: a, count: 5 }
  - { zone: b, count: 5 }
workloads:
  - { kind: Deployment, name: shop/web, replicas: 40 }
`;
const script = `
policies:
  - apiVersion: taintmgr.dev/v1alpha1
    kind: EvictionPolicy
    metadata: { name: all }
    spec: { limits: [{ per: Zone, percent: 20, window: 10m, onLimit: Queue }] }
events:
  - at: 10s
    taint: { zone: a, taint: "wrong=yes:NoExecute" }
    stagger: 2s
`;

it('the simulation and the controller evict a fifth of the zone within the window, and agree', async () => {
  const flags = [
    '-f',
    file('topology.yaml', topologyFile),
    '--script',
    file('events.yaml', script),
    '--until',
    '5m',
  ];
  const { code, out, err } = await run('simulate', ...flags, '-o', 'json');
  assert.equal(code, 0, err);
  const simulated: number = JSON.parse(out).runs[0].summary.evictions;
  const { evicted, there, violations } = controller();
  assert.deepEqual(violations, []);
  assert.equal(evicted, Math.floor(there / 5));
  assert.equal(simulated, evicted);
});

/** The controller's loop, with its counts kept in a lease, and a new one half way through. */
function controller() {
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const cluster = new ServedCluster({ clock, seed: 1, topology });
  const { windowMs = 0, percent = 0 } = limit;
  const windows = [{ per: 'zone', percent, windowMs }] as const;
  const checkers = new Checkers(cluster.api, { ...evictionDefaults, windows, mayStop: true });
  const { apiHistory } = checkers;
  const exchange = apiHistory.first.client(apiHistory.server(cluster.exchange));
  const start = (): VirtualDriver => {
    apiHistory.first.beginRun();
    const loop = new Loop({
      machine: createEngine({ limits: [limit], keepLimits: true }),
      random: seededRandom(1),
      limitsLease: { namespace: 'kube-system', name: 'limits' },
    });
    const driver = new VirtualDriver({ loop, clock, exchange, onNotice: () => {} });
    driver.feed({ kind: 'start' });
    return driver;
  };
  cluster.start();
  clock.advanceTo(clock.now() + 60_000);
  const inZone = (pod: KubeObject): boolean =>
    cluster.api.get('nodes', '', pod.spec.nodeName ?? '')?.metadata.labels?.[shown] === 'a';
  const before = cluster.api.list('pods').filter(inZone);
  const first = start();
  first.runUntil(clock.now() + 5_000);
  const nodes = cluster.api.list('nodes').filter((node) => node.metadata.labels?.[shown] === 'a');
  for (const [index, { metadata }] of nodes.entries()) {
    clock.after(index * staggerMs, () => {
      const node = cluster.api.get('nodes', '', metadata.name);
      assert.ok(node);
      const taints = [{ key: 'wrong', value: 'yes', effect: 'NoExecute' }];
      const { resourceVersion: _, ...unversioned } = node.metadata;
      cluster.api.update('nodes', {
        ...node,
        metadata: unversioned,
        spec: { ...node.spec, taints },
      });
    });
  }
  first.runUntil(clock.now() + 30_000);
  first.feed({ kind: 'stop' });
  start().runUntil(clock.now() + 240_000);
  const left = new Set(cluster.api.list('pods').map(({ metadata }) => metadata.uid));
  const evicted = before.filter(({ metadata }) => !left.has(metadata.uid)).length;
  return { evicted, there: before.length, violations: checkers.violations };
}
