// Manifests over a snapshot, which has no images, commands and environment.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { SimulationDocument } from '@taintmgr/page';
import { Cluster, deployment, VirtualClock } from '@taintmgr/sim-cluster';
import { collections } from '../../../../src/cluster/collections.ts';
import { keptOf } from '../../../../src/cluster/snapshot-shapes.ts';
import { run } from '../../../world/run.ts';
import { temporaryFiles } from '../../../world/simulate-files.ts';

const { write: file } = temporaryFiles();

/** A node with shop/web, its two pods made anew from what `kubectl get` and `snapshot` print. */
function printed(isSnapshot: boolean): string {
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const cluster = new Cluster({ clock, seed: 1 });
  cluster.addNode({ name: 'node-1', zone: 'zone-a' });
  cluster.start();
  clock.advanceTo(clock.now() + 60_000);
  cluster.api.create('namespaces', { metadata: { name: 'shop' } });
  const web = deployment('shop', 'web', { replicas: 2 });
  const template = { spec: { containers: [{ name: 'web', image: 'web:1', command: ['old'] }] } };
  const last = JSON.stringify({ kind: 'Deployment', spec: { template } });
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': last };
  cluster.api.create('deployments', { ...web, metadata: { ...web.metadata, annotations } });
  clock.advanceTo(clock.now() + 60_000);
  const objects = cluster.api.stored().flatMap(({ storeKey }) => cluster.api.list(storeKey));
  const items = objects.flatMap((object): readonly object[] => {
    const { apiVersion, kind: name } = object;
    if (!isSnapshot) return [object];
    const kind = collections.find((one) => one.kind === name)?.kind;
    return kind ? [{ apiVersion, kind, ...keptOf(kind, object) }] : [];
  });
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
}

async function applied(isSnapshot: boolean, container: string) {
  const source = file('cluster.json', printed(isSnapshot));
  const manifest = file(
    'web.yaml',
    `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: 'web:2', ${container}}]}
`,
  );
  const args = ['--until', '5m', '-o', 'json'];
  const { out, err } = await run('simulate', '-f', source, '--apply', manifest, ...args);
  const { applied, runs, notes }: SimulationDocument = JSON.parse(out || assert.fail(err));
  const { change, fields = [] } = applied?.[0] ?? {};
  assert.ok(notes.every((note) => !note.startsWith('nothing says what was applied last')));
  const isToldApart = notes.some((note) => note.startsWith('a snapshot has no images'));
  return { change, fields, seconds: runs[1]?.rollout?.seconds, isToldApart };
}

const command = "command: [web], env: [{name: A, value: '1'}]";

it('what a snapshot leaves out is no change', async () => {
  const { seconds, ...found } = await applied(true, command);
  assert.deepEqual(found, { change: 'unchanged', fields: [], isToldApart: true });
  assert.equal(seconds, 0);
});

it('what a snapshot has is one, and starts pods anew', async () => {
  const given = `${command}, resources: {requests: {cpu: 150m}}`;
  const { change, fields, seconds = 0 } = await applied(true, given);
  const path = 'spec.template.spec.containers[0].resources';
  assert.equal(change, 'changed');
  assert.ok(fields.length > 0 && fields.every((field) => field.startsWith(path)), fields.join());
  assert.ok(seconds > 1, String(seconds));
});

it('what kubectl prints has images, and another one starts pods anew', async () => {
  const { change, fields, isToldApart, seconds = 0 } = await applied(false, command);
  assert.deepEqual([change, isToldApart], ['changed', false]);
  assert.ok(fields.some((field) => field.includes('image')));
  assert.ok(seconds > 1, String(seconds));
});
