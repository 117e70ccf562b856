import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { podFromJson } from '../../src/proto/convert.ts';
import {
  deviceTaintRuleFromJson,
  resourceClaimFromJson,
  resourceSliceFromJson,
} from '../../src/proto/convert-devices.ts';

const timeAdded = '2026-11-29T03:31:04Z';
const at = Date.parse(timeAdded);

describe('objects of resource.k8s.io', () => {
  it('are read: a slice, of v1beta1 too', () => {
    const taints = [{ key: 'health', value: 'bad', effect: 'NoExecute', timeAdded }];
    const pool = { name: 'n1', generation: 3, resourceSliceCount: 1 };
    const object = (devices: readonly object[]): object => ({
      metadata: { name: 's' },
      spec: { driver: 'd.example.com', pool, devices },
    });
    const want = {
      ...{ name: 's', driver: 'd.example.com', pool: 'n1', generation: 3 },
      devices: [
        {
          name: 'gpu-0',
          taints: [{ key: 'health', value: 'bad', effect: 'NoExecute', timeAdded: at }],
        },
        { name: 'gpu-1', taints: [] },
      ],
    };
    const [v1, v1beta1] = [
      { name: 'gpu-0', taints },
      { name: 'gpu-0', basic: { taints } },
    ];
    assert.deepEqual(resourceSliceFromJson(object([v1, { name: 'gpu-1' }])), want);
    assert.deepEqual(resourceSliceFromJson(object([v1beta1, { name: 'gpu-1', basic: {} }])), want);
  });

  it('are read: a rule with and without a selector, and what kube-controller-manager says', () => {
    const condition = {
      ...{ type: 'EvictionInProgress', status: 'False', reason: 'Completed', message: 'm' },
      ...{ observedGeneration: 2, lastTransitionTime: timeAdded },
    };
    const rule = deviceTaintRuleFromJson({
      metadata: { name: 'r', uid: 'u', generation: 2 },
      spec: { deviceSelector: {}, taint: { key: 'health', effect: 'None', timeAdded } },
      status: { conditions: [condition] },
    });
    assert.deepEqual(rule, {
      ...{ name: 'r', uid: 'u', generation: 2 },
      selector: { driver: null, pool: null, device: null },
      taint: { key: 'health', value: '', effect: 'None', timeAdded: at },
      progress: {
        ...{ status: 'False', reason: 'Completed', message: 'm' },
        ...{ observedGeneration: 2, transitionAt: at },
      },
    });
    const bare = deviceTaintRuleFromJson({ spec: { taint: { key: 'a', effect: 'NoExecute' } } });
    assert.deepEqual([bare.selector, bare.progress], [null, null]);
    const byClass = { driver: 'd.example.com', deviceClassName: 'gpu' };
    const unread = deviceTaintRuleFromJson({ spec: { deviceSelector: byClass } });
    assert.deepEqual([unread.selector, unread.unreadSelection], [null, ['deviceClassName']]);
  });

  it('are read: a claim', () => {
    const toleration = {
      key: 'health',
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 9,
    };
    const device = { request: 'r0', driver: 'd', pool: 'n1', device: 'gpu-0' };
    const results = [{ ...device, tolerations: [toleration] }];
    const claim = {
      metadata: {
        ...{ namespace: 'ns', name: 'gpu', uid: 'u' },
        ownerReferences: [
          { kind: 'Other', uid: 'x' },
          { kind: 'Pod', uid: 'p', controller: true },
        ],
      },
      status: {
        allocation: { devices: { results } },
        reservedFor: [{ resource: 'pods', name: 'train-1', uid: 'p' }],
      },
    };
    assert.deepEqual(resourceClaimFromJson(claim), {
      ...{ namespace: 'ns', name: 'gpu', uid: 'u', ownerUid: 'p', reservedFor: ['p'] },
      allocated: [{ ...device, tolerations: [{ ...toleration, value: '' }] }],
    });
    const fresh = resourceClaimFromJson({ metadata: { name: 'gpu' }, status: {} });
    assert.deepEqual([fresh.allocated, fresh.ownerUid, fresh.reservedFor], [null, null, []]);
  });

  it('are read whatever is in them', () => {
    for (const value of [
      null,
      7,
      { spec: 7, status: [], metadata: '' },
      { spec: { devices: [7] } },
    ]) {
      assert.equal(resourceSliceFromJson(value).name, '');
      assert.equal(resourceClaimFromJson(value).allocated, null);
      assert.equal(deviceTaintRuleFromJson(value).selector, null);
    }
  });

  it('of a pod: its claims by name, by template, and by an extended resource', () => {
    const pod = podFromJson({
      spec: {
        resourceClaims: [
          { name: 'a', resourceClaimName: 'shared' },
          { name: 'b', resourceClaimTemplateName: 't' },
          { name: 'c', resourceClaimTemplateName: 't' },
        ],
      },
      status: {
        resourceClaimStatuses: [{ name: 'b', resourceClaimName: 'web-b-x1' }, { name: 'c' }],
        extendedResourceClaimStatus: { resourceClaimName: 'web-ext', requestMappings: [] },
      },
    });
    assert.deepEqual(pod.claims, [
      { name: 'a', claim: 'shared', origin: 'named' },
      { name: 'b', claim: 'web-b-x1', origin: 'template' },
      { name: 'c', claim: null, origin: 'template' },
      { name: 'web-ext', claim: 'web-ext', origin: 'extended' },
    ]);
    assert.equal(Object.hasOwn(podFromJson({ spec: {}, status: {} }), 'claims'), false);
  });
});
