import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { encodeObject } from '@taintmgr/api-server';
import {
  kubeletAddressFromJson,
  ownCondition,
  ownTaintKey,
  pressureKinds,
  pressureNodeFromJson,
  pressurePodFromJson,
  pressureTypeOf,
} from '../../src/pressure/convert.ts';
import { objectFromProtobuf } from '../../src/proto/protobuf.ts';

describe('what the machine is told of a pod', () => {
  it('is what ranks and limits need', () => {
    const pod = pressurePodFromJson({
      metadata: { namespace: 'shop', name: 'db', uid: 'u1', generation: 2 },
      spec: {
        nodeName: 'n1',
        priority: 7,
        terminationGracePeriodSeconds: 45,
        overhead: { memory: '10Mi' },
        resources: { requests: { cpu: '1' } },
        containers: [{ name: 'c', resources: { requests: { memory: '1Gi' }, limits: { cpu: 2 } } }],
        initContainers: [{ name: 'i' }, { name: 's', restartPolicy: 'Always' }],
        volumes: [
          { name: 'a', emptyDir: { sizeLimit: '1Gi' } },
          { name: 'b', emptyDir: { medium: 'Memory' } },
          { name: 'c', configMap: { name: 'x' } },
        ],
      },
      status: { phase: 'Running', qosClass: 'Burstable' },
    });
    assert.deepEqual(pod, {
      namespace: 'shop',
      name: 'db',
      uid: 'u1',
      nodeName: 'n1',
      phase: 'Running',
      deletionTimestamp: null,
      generation: 2,
      priority: 7,
      isStatic: false,
      isMirror: false,
      gracePeriodSeconds: 45,
      qosClass: 'Burstable',
      containers: [{ name: 'c', requests: { memory: '1Gi' }, limits: { cpu: '2' } }],
      initContainers: [{ name: 'i' }, { name: 's', sidecar: true }],
      resources: { requests: { cpu: '1' } },
      overhead: { memory: '10Mi' },
      volumes: [
        { name: 'a', kind: 'emptyDir', sizeLimit: '1Gi' },
        { name: 'b', kind: 'emptyDir', medium: 'Memory' },
        { name: 'c', kind: 'configMap' },
      ],
    });
  });

  const sources: readonly (readonly [annotations: object, isStatic: boolean, isMirror: boolean])[] =
    [
      [{}, false, false],
      [{ 'kubernetes.io/config.source': 'api' }, false, false],
      [{ 'kubernetes.io/config.source': 'file' }, true, false],
      [{ 'kubernetes.io/config.mirror': '' }, false, true],
    ];
  for (const [annotations, isStatic, isMirror] of sources) {
    it(`takes ${JSON.stringify(annotations)} for static ${isStatic}, mirror ${isMirror}`, () => {
      const pod = pressurePodFromJson({ metadata: { annotations } });
      assert.deepEqual([pod.isStatic, pod.isMirror], [isStatic, isMirror]);
    });
  }

  it('is something for whatever the server sends', () => {
    for (const value of [null, 3, [], { spec: { containers: {}, volumes: [null] } }]) {
      assert.equal(pressurePodFromJson(value).uid, '');
    }
  });
});

describe('conditions', () => {
  const condition = (type: string, status: string) => {
    const told = { type, status, reason: '', message: '' };
    return { ...told, heartbeatAt: null, transitionAt: null };
  };

  it('of our own types are taken over, those of kubelets are theirs', () => {
    const conditions = [
      condition('MemoryPressure', 'True'),
      condition('taintmgr.dev/DiskPressure', 'True'),
      condition('taintmgr.dev/PIDPressure', 'False'),
      condition('taintmgr.dev/Other', 'True'),
    ];
    const node = pressureNodeFromJson({ metadata: { name: 'n1' }, status: { conditions } });
    assert.deepEqual(node.conditions, ['DiskPressure']);
  });

  it('are written in our own name', () => {
    const { type, reason } = ownCondition(condition('MemoryPressure', 'True'));
    assert.equal(type, 'taintmgr.dev/MemoryPressure');
    assert.equal(reason, 'KubeletHasInsufficientMemory');
    assert.equal(pressureTypeOf(type), 'MemoryPressure');
    assert.equal(ownTaintKey('MemoryPressure'), 'taintmgr.dev/memory-pressure');
  });
});

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
