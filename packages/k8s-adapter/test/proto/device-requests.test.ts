import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  claimPath,
  devicePathsOf,
  deviceVersions,
  getTaintSourceRequest,
  servesDevices,
} from '../../src/proto/device-requests.ts';

function list(version: string, ...names: readonly string[]): object {
  const resources = names.map((name) => ({ name }));
  return { groupVersion: `resource.k8s.io/${version}`, resources };
}

describe('where devices are served', () => {
  it('goes by the newest version that can be read', () => {
    const versions = ['v1alpha3', 'v1beta2', 'v1', 'v2'].map((version) => ({ version }));
    assert.deepEqual(deviceVersions({ versions }), ['v1', 'v1beta2', 'v1alpha3']);
    assert.deepEqual(deviceVersions(null), []);
  });

  it('is another version for rules than for the others in Kubernetes 1.36', () => {
    const paths = devicePathsOf([
      list('v1', 'resourceclaims', 'resourceclaims/status', 'resourceslices'),
      list('v1beta2', 'devicetaintrules', 'resourceclaims', 'resourceslices'),
    ]);
    assert.deepEqual(paths, {
      resourceslices: '/apis/resource.k8s.io/v1/resourceslices',
      resourceclaims: '/apis/resource.k8s.io/v1/resourceclaims',
      devicetaintrules: '/apis/resource.k8s.io/v1beta2/devicetaintrules',
    });
    assert.equal(servesDevices(paths), true);
    assert.equal(
      claimPath(paths, 'shop', 'gpu'),
      '/apis/resource.k8s.io/v1/namespaces/shop/resourceclaims/gpu',
    );
    const of = (kind: 'rule' | 'slice'): string | undefined =>
      getTaintSourceRequest(paths, { kind, name: 'x', index: 0 })?.path;
    assert.equal(of('rule'), '/apis/resource.k8s.io/v1beta2/devicetaintrules/x');
    assert.equal(of('slice'), '/apis/resource.k8s.io/v1/resourceslices/x');
  });

  it('is nowhere without claims or slices; rules may be missing', () => {
    const withoutRules = devicePathsOf([list('v1', 'resourceclaims', 'resourceslices')]);
    assert.equal(servesDevices(withoutRules), true);
    assert.equal(getTaintSourceRequest(withoutRules, { kind: 'rule', name: 'r' }), null);
    const none = devicePathsOf([list('v1alpha3', 'devicetaintrules')]);
    assert.equal(servesDevices(none), false);
    assert.equal(claimPath(none, 'shop', 'gpu'), null);
    assert.equal(servesDevices(devicePathsOf([])), false);
  });
});
