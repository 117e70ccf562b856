// Tolerations with Lt and Gt: as on a server whose feature gate for them was switched off again.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  ApiError,
  deployment,
  type KubeObject,
  node,
  PlainServer,
  pod,
  seededRandom,
  VirtualClock,
} from '../../src/index.ts';

const above = { key: 'level', operator: 'Gt', value: '5', effect: 'NoExecute' };
const plain = { key: 'level', operator: 'Exists', effect: 'NoExecute' };

function podWith(name: string, ...tolerations: readonly object[]): KubeObject {
  const one = pod('default', name, { spec: { nodeName: 'n1' } });
  return { ...one, spec: { ...one.spec, tolerations } };
}

/** A server that has taken over a pod and a Deployment that compare numbers. */
function loaded(): PlainServer {
  const api = new PlainServer({ clock: new VirtualClock(0), random: seededRandom(1) });
  const web = deployment('default', 'web', { replicas: 1 });
  const { template } = web.spec;
  const spec = { ...template.spec, tolerations: [above] };
  const workload = { ...web, spec: { ...web.spec, template: { ...template, spec } } };
  const { unloaded } = api.load([node('n1'), podWith('stored', above), workload]);
  assert.deepEqual(unloaded, []);
  return api;
}

function found(api: PlainServer, resource: string, name: string): KubeObject {
  const object = api.get(resource, 'default', name);
  assert.ok(object);
  return object;
}

const isUnsupported = (error: unknown): boolean =>
  error instanceof ApiError && /operator: Unsupported value: "Gt"/.test(error.message);

describe('tolerations with Lt and Gt', () => {
  it('are refused of a new pod, and of one that has none', () => {
    const api = loaded();
    assert.throws(() => api.create('pods', podWith('a', above)), isUnsupported);
    const stored = api.create('pods', podWith('b', plain));
    const spec = { ...stored.spec, tolerations: [plain, above] };
    assert.throws(() => api.update('pods', { ...stored, spec }), isUnsupported);
  });

  it('stay where they are stored, and more of them may come', () => {
    const api = loaded();
    const stored = found(api, 'pods', 'stored');
    const labelled = { ...stored, metadata: { ...stored.metadata, labels: { tier: 'a' } } };
    const after = api.update('pods', labelled);
    const below = { ...above, operator: 'Lt', value: '-7' };
    const spec = { ...after.spec, tolerations: [...after.spec.tolerations, below] };
    assert.ok(api.update('pods', { ...after, spec }));
  });

  for (const value of ['05', '+5', '1e3', '', '9223372036854775808']) {
    it(`compare whole numbers only: ${JSON.stringify(value)}`, () => {
      const api = loaded();
      const stored = found(api, 'pods', 'stored');
      const tolerations = [...stored.spec.tolerations, { ...above, value }];
      const spec = { ...stored.spec, tolerations };
      assert.throws(
        () => api.update('pods', { ...stored, spec }),
        /must be a valid decimal integer/,
      );
    });
  }

  it('stay in the template of a workload that is scaled', () => {
    const api = loaded();
    const stored = found(api, 'deployments', 'web');
    const after = api.update('deployments', { ...stored, spec: { ...stored.spec, replicas: 3 } });
    assert.equal(after.spec.replicas, 3);
  });
});
