import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { encodeObject } from '@taintmgr/sim-cluster';
import { kubeletAddressFromJson, pressureKinds, pressureNodeFromJson, pressurePodFromJson } from '../../src/pressure/convert.ts';
import { objectFromProtobuf } from '../../src/proto/protobuf.ts';

const requirements = { requests: { cpu: '100m', memory: '1Gi' }, limits: { memory: '2Gi' } };

const pod = {
  kind: 'Pod',
  metadata: {
    namespace: 'shop',
    name: 'db',
    uid: 'u1',
    generation: 2,
    annotations: { 'kubernetes.io/config.source': 'file' },
  },
  spec: {
    nodeName: 'n1',
    priority: 2_000_001_000,
    terminationGracePeriodSeconds: 45,
    overhead: { memory: '10Mi' },
    resources: requirements,
    containers: [{ name: 'c', image: 'i', resources: requirements }, { name: 'd' }],
    initContainers: [{ name: 'i' }, { name: 's', restartPolicy: 'Always' }],
    volumes: [
      { name: 'a', emptyDir: { sizeLimit: '1Gi' } },
      { name: 'b', emptyDir: { medium: 'Memory' } },
      { name: 'c', emptyDir: {} },
      { name: 'd', hostPath: { path: '/x' } },
      { name: 'e', secret: { secretName: 's' } },
      { name: 'f', persistentVolumeClaim: { claimName: 'p' } },
      { name: 'g', configMap: { name: 'x' } },
      { name: 'h', projected: { sources: [] } },
    ],
  },
  status: { phase: 'Running', qosClass: 'Burstable' },
};

const node = {
  kind: 'Node',
  metadata: { name: 'n1', uid: 'u-n1', labels: { pool: 'a' } },
  spec: {},
  status: {
    conditions: [{ type: 'taintmgr.dev/MemoryPressure', status: 'True' }],
    addresses: [
      { type: 'Hostname', address: 'n1' },
      { type: 'InternalIP', address: '10.0.0.7' },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: 10_251 } },
  },
};

describe('what the node pressure agent reads in protobuf', () => {
  const cases: readonly [{ readonly kind: string }, (object: unknown) => unknown][] = [
    [pod, pressurePodFromJson],
    [node, pressureNodeFromJson],
    [node, kubeletAddressFromJson],
  ];
  for (const [object, project] of cases) {
    it(`gives ${project.name} the same ${object.kind} as JSON`, () => {
      const read = objectFromProtobuf(encodeObject(object), pressureKinds);
      assert.deepEqual(project(read), project(object));
    });

    it(`gives ${project.name} the same ${object.kind} as JSON where nothing is in it`, () => {
      const bare = { kind: object.kind, metadata: { name: 'a', uid: 'u' } };
      const read = objectFromProtobuf(encodeObject(bare), pressureKinds);
      assert.deepEqual(project(read), project(bare));
    });
  }
});
