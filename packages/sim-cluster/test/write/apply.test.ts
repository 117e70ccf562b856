import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiError } from '../../src/objects/errors.ts';
import type { KubeObject } from '../../src/objects/kube-object.ts';
import { fixture } from '../world/api-fixture.ts';

const container = { name: 'c', image: 'registry.example/a:1' };
const labels = { app: 'web' };

function deployment(spec: object = {}, podSpec: object = {}, metadata: object = {}): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'shop', ...metadata },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container], ...podSpec } },
      ...spec,
    },
  };
}

function budget(spec: object): KubeObject {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'web', namespace: 'shop' },
    spec: { selector: { matchLabels: labels }, ...spec },
  };
}

/** The same as if it had been applied by kubectl before. */
function known(object: KubeObject): KubeObject {
  const text = JSON.stringify(object);
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': text };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

const applied: readonly (readonly [
  what: string,
  present: KubeObject,
  manifest: KubeObject,
  read: (after: KubeObject) => unknown,
  expected: unknown,
])[] = [
  [
    'what a manifest does not name stays',
    deployment({ replicas: 3, minReadySeconds: 5 }),
    deployment({ replicas: 1 }),
    ({ spec }) => [spec.replicas, spec.minReadySeconds],
    [1, 5],
  ],
  [
    'what the last apply named goes, but for replicas',
    known(deployment({ replicas: 3, minReadySeconds: 5 }, { nodeSelector: { a: 'b', c: 'd' } })),
    deployment({}, { nodeSelector: { a: 'b' } }),
    ({ spec }) => [spec.replicas, spec.minReadySeconds, spec.template.spec.nodeSelector],
    [3, undefined, { a: 'b' }],
  ],
  [
    'containers are told apart by name',
    deployment({}, { containers: [container, { name: 'side', image: 'registry.example/b:1' }] }),
    deployment({}, { containers: [{ ...container, image: 'registry.example/a:2' }] }),
    ({ spec }) =>
      spec.template.spec.containers.map(({ name, image }: typeof container) => [name, image]),
    [
      ['c', 'registry.example/a:2'],
      ['side', 'registry.example/b:1'],
    ],
  ],
  [
    'a container that the last apply named goes',
    known(deployment({}, { containers: [container, { name: 'side', image: 'b:1' }] })),
    deployment(),
    ({ spec }) => spec.template.spec.containers.map(({ name }: typeof container) => name),
    ['c'],
  ],
  [
    'another strategy shuts out the first',
    deployment({ strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } }),
    deployment({ strategy: { type: 'Recreate' } }),
    ({ spec }) => spec.strategy,
    { type: 'Recreate' },
  ],
  [
    'another kind of volume shuts out the first',
    deployment({}, { volumes: [{ name: 'v', emptyDir: {} }] }),
    deployment({}, { volumes: [{ name: 'v', configMap: { name: 'm' } }] }),
    ({ spec }) => Object.keys(spec.template.spec.volumes[0]).sort(),
    ['configMap', 'name'],
  ],
  [
    'minAvailable shuts out maxUnavailable',
    budget({ maxUnavailable: 1 }),
    budget({ minAvailable: '100%' }),
    ({ spec }) => [spec.minAvailable, spec.maxUnavailable],
    ['100%', undefined],
  ],
  [
    'status, uid and times of a manifest count for nothing',
    deployment({ replicas: 2 }),
    {
      ...deployment({ replicas: 2 }, {}, { uid: 'x', resourceVersion: '1', generation: 9 }),
      status: { replicas: 7 },
    },
    ({ metadata, status }) => [metadata.generation, status?.replicas ?? 0],
    [1, 0],
  ],
];

describe('apply', () => {
  for (const [what, present, manifest, read, expected] of applied) {
    it(what, () => {
      const { api } = fixture();
      const plural = present.kind === 'Deployment' ? 'deployments' : 'poddisruptionbudgets';
      api.create('namespaces', { metadata: { name: 'shop' } });
      api.create(plural, present);
      api.apply(manifest);
      const after = api.get(plural, 'shop', 'web');
      assert.ok(after);
      assert.deepEqual(
        JSON.parse(JSON.stringify(read(after))),
        JSON.parse(JSON.stringify(expected)),
      );
    });
  }

  it('creates what is new, and its namespace, without what a server alone gives', () => {
    const { api } = fixture();
    const { before } = api.apply({ ...deployment(), status: { replicas: 7 } });
    assert.equal(before, null);
    assert.ok(api.get('namespaces', '', 'shop'));
    assert.equal(api.get('deployments', 'shop', 'web')?.status?.replicas ?? 0, 0);
  });

  it('writes nothing where nothing changes, however amounts are written', () => {
    const { api } = fixture({ brief: true });
    const limits = (cpu: string): object => ({
      containers: [{ ...container, resources: { limits: { cpu } } }],
    });
    api.apply(deployment({ replicas: 2 }, limits('500m')));
    const stored = api.get('deployments', 'shop', 'web');
    const { before, after } = api.apply(deployment({}, limits('0.5')));
    assert.equal(before, after);
    assert.equal(api.get('deployments', 'shop', 'web'), stored);
  });

  it('keeps fields that it does not know in what it does not change', () => {
    const { api } = fixture({ brief: true });
    const present = deployment({ replicas: 2 }, { ofTomorrow: { a: 1 } });
    const loaded = { ...present, metadata: { ...present.metadata, uid: 'u' } };
    assert.deepEqual(api.load([loaded]).unloaded, []);
    api.apply(deployment({ replicas: 3 }));
    const spec = api.get('deployments', 'shop', 'web')?.spec;
    assert.deepEqual([spec.replicas, spec.template.spec.ofTomorrow], [3, { a: 1 }]);
  });

  const refused: readonly (readonly [what: string, KubeObject, RegExp])[] = [
    ['a field that is none', deployment({ replica: 1 }), /unknown field "spec\.replica"/],
    ['a value of another type', deployment({ replicas: '3' }), /cannot unmarshal string/],
    ['another selector', deployment({ selector: { matchLabels: { app: 'x' } } }), /spec/],
    ['a budget of two kinds', budget({ minAvailable: 1, maxUnavailable: 1 }), /cannot be both set/],
  ];
  for (const [what, manifest, message] of refused) {
    it(`refuses ${what}`, () => {
      const { api } = fixture();
      api.apply(deployment());
      assert.throws(
        () => api.apply(manifest),
        (error) => error instanceof ApiError && message.test(error.message),
      );
    });
  }
});
