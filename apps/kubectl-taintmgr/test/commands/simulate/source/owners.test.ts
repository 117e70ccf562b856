// A snapshot without what owns its pods: as with it where that can be found out, else refused with what to read.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { Cluster, type KubeObject, threeZones, VirtualClock } from '@taintmgr/sim-cluster';
import { withReplicaSets } from '../../../../src/commands/simulate/source/owners.ts';
import { run } from '../../../world/run.ts';
import { temporaryFiles } from '../../../world/simulate-files.ts';

const { write } = temporaryFiles();
const kinds = [
  ...['nodes', 'leases', 'deployments', 'replicasets', 'statefulsets', 'daemonsets', 'jobs'],
  ...['poddisruptionbudgets', 'namespaces', 'pods'],
];
let objects: readonly KubeObject[] = [];

before(() => {
  const clock = new VirtualClock(Date.parse('2026-03-01T00:00:00Z'));
  const cluster = new Cluster({ clock, seed: 3, topology: threeZones });
  cluster.start();
  assert.ok(clock.advanceUntil(() => cluster.isIdle(), clock.now() + 120_000));
  objects = kinds.flatMap((resource) => cluster.api.list(resource));
});

function without(...left: readonly string[]): string {
  const items = objects.filter(({ kind }) => !left.includes(String(kind)));
  return write('cluster.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
}

const events = '{at: 1m, taint: {zone: zone-a, taint: "x=y:NoExecute"}}';

async function simulated(file: string, ...flags: readonly string[]) {
  const result = await run('simulate', '-f', file, '--event', events, '-o', 'json', ...flags);
  const { notes, runs } = JSON.parse(result.out || '{}');
  return { ...result, notes, runs };
}

describe('a snapshot without ReplicaSets', () => {
  it('is played as with them, where its Deployments are there', async () => {
    const whole = await simulated(without());
    const { runs, notes, err } = await simulated(without('ReplicaSet'));
    assert.deepEqual(runs, whole.runs, err);
    assert.ok(whole.runs[0].evictions.length > 0);
    assert.ok(notes.includes('3 ReplicaSets not there, made up from Deployments and pods'), err);
  });

  it('is refused without Deployments, and told what to read; --partial marks the rows', async () => {
    const file = without('ReplicaSet', 'Deployment', 'StatefulSet');
    const { code, err } = await simulated(file);
    assert.equal(code, 1);
    assert.equal(
      err,
      `error: ${file}: 12 pods of ReplicaSets and 3 pods of StatefulSets, and none of these is there, so they would not be replaced; ` +
        'give these too: kubectl get deployments,replicasets,statefulsets -A -o json > owners.json, and one more -f owners.json\n' +
        'Part of the cluster could not be taken; --partial simulates the rest.\n',
    );
    const { out } = await run('simulate', '-f', file, '--event', events, '--partial');
    assert.match(out, /^shop\/web-\S+ \? /m);
  });

  it('has those of both templates in the middle of a rollout', () => {
    const pods = objects.filter(({ kind, metadata: { labels, ownerReferences } }) => {
      return kind === 'Pod' && labels?.app === 'web' && ownerReferences?.[0]?.kind === 'ReplicaSet';
    });
    const deployment = objects.find(({ kind, metadata }) => {
      return kind === 'Deployment' && metadata.name === 'web';
    });
    assert.ok(deployment);
    const [first] = pods;
    assert.ok(first);
    const [container] = first.spec.containers;
    const [owner] = first.metadata.ownerReferences ?? [];
    const old: KubeObject = {
      ...first,
      metadata: {
        ...first.metadata,
        creationTimestamp: '2026-01-01T00:00:00Z',
        labels: { ...first.metadata.labels, 'pod-template-hash': 'old' },
        ownerReferences: [{ ...owner, name: 'web-old', uid: 'old' } as NonNullable<typeof owner>],
      },
      spec: { ...first.spec, containers: [{ ...container, image: 'older:1' }] },
    };
    const { objects: all, notes } = withReplicaSets([deployment, old, ...pods.slice(1)]);
    const sets = all.filter(({ kind }) => kind === 'ReplicaSet');
    assert.deepEqual(
      sets.map(({ metadata, spec }) => [metadata.name === 'web-old', spec.replicas]),
      [
        [true, 1],
        [false, pods.length - 1],
      ],
    );
    assert.equal(sets[0]?.spec.template.spec.containers[0].image, 'older:1');
    assert.deepEqual(sets[1]?.spec.template.spec, deployment.spec.template.spec);
    assert.match(notes.join(), /; 1 Deployment in the middle of a rollout$/);
  });
});
