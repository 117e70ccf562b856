// Fields that are left out of objects play no part: the simulation is the same with them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Cluster, type KubeObject, threeZones, VirtualClock } from '@taintmgr/sim-cluster';
import { readScript } from '../../../../../src/commands/simulate/script/script.ts';
import { gather } from '../../../../../src/commands/simulate/source/input/gathering.ts';
import { snapshotSource } from '../../../../../src/commands/simulate/source/snapshot.ts';
import { simulate } from '../../../../../src/commands/simulate/stage/run.ts';

const script = `
events:
- {at: 1m, stopKubelet: {zone: zone-a}, lasts: 8m}
- {at: 3m, taint: {node: zone-b-1, taint: 'x=y:NoExecute'}}
`;
const until = 900_000;

/** A pod with all that people and kubelets write into one. */
function bulky(pod: KubeObject): KubeObject {
  const { metadata, spec, status } = pod;
  const containers = spec.containers.map((container: object) => ({
    ...container,
    env: [{ name: 'A', value: 'b' }],
    args: ['--flag'],
    command: ['server'],
    livenessProbe: { httpGet: { path: '/', port: 80 }, periodSeconds: 5 },
    readinessProbe: { exec: { command: ['true'] }, initialDelaySeconds: 7, periodSeconds: 3 },
    volumeMounts: [{ name: 'config', mountPath: '/config' }],
    securityContext: { runAsUser: 7 },
  }));
  const volumes = [
    { name: 'config', configMap: { name: 'config', items: [{ key: 'a', path: 'a' }] } },
    { name: 'scratch', emptyDir: {} },
  ];
  const applied = { 'kubectl.kubernetes.io/last-applied-configuration': '{}', note: 'kept' };
  const owner = { manager: 'm', operation: 'Update', time: metadata.creationTimestamp ?? '' };
  return {
    ...pod,
    metadata: { ...metadata, annotations: applied, managedFields: [{ ...owner, fieldsV1: {} }] },
    spec: { ...spec, containers, volumes, securityContext: { fsGroup: 7 } },
    status: {
      ...status,
      containerStatuses: status.containerStatuses.map((one: object) => ({ ...one, imageID: 'x' })),
    },
  } as KubeObject;
}

describe('an object that is cut down', () => {
  const clock = new VirtualClock(Date.parse('2026-03-01T00:00:00Z'));
  const cluster = new Cluster({ clock, seed: 3, topology: threeZones });
  cluster.start();
  assert.ok(clock.advanceUntil(() => cluster.isIdle(), clock.now() + 120_000));
  const kinds = ['nodes', 'leases', 'deployments', 'replicasets', 'statefulsets', 'daemonsets'];
  const others = [...kinds, 'jobs', 'poddisruptionbudgets', 'namespaces'];
  const whole = [
    ...others.flatMap((resource) => cluster.api.list(resource)),
    ...cluster.api.list('pods').map(bulky),
  ];

  for (const semantics of ['precise', 'upstream-1.36'] as const) {
    it(`is simulated as the whole one by the rules of ${semantics}`, () => {
      const gathered = gather('test', whole);
      assert.deepEqual(gathered.faults, []);
      assert.ok(JSON.stringify(gathered.objects).length < 0.9 * JSON.stringify(whole).length);
      const [cut, uncut] = [gathered.objects, whole].map((objects) => {
        const source = snapshotSource('test', { ...gathered, objects });
        const what = { source, policies: [], script: readScript('test', script, until) };
        return simulate({ ...what, seed: 1, until, semantics }).recording;
      });
      assert.ok((cut?.evictions.length ?? 0) > 0);
      assert.deepEqual(cut, uncut);
    });
  }
});
