import assert from 'node:assert/strict';
import { it } from 'node:test';
import { deviceTaintRuleFromJson, resourceClaimFromJson } from '../../src/proto/convert-devices.ts';
import { devicesFrom } from '../../src/survey/devices.ts';
import { PodDevices } from '../../src/survey/pod-devices.ts';
import { pod, podFactsOf } from '../world/values.ts';

it('does not say Keep where a rule of Kubernetes 1.33 selects by class', () => {
  const facts = podFactsOf(
    pod('train', { claims: [{ name: 'gpu', claim: 'gpu', origin: 'named' }] }),
  );
  const results = [{ request: 'gpu', driver: 'gpu.example.com', pool: 'n1', device: 'gpu-0' }];
  const claim = resourceClaimFromJson({
    metadata: { namespace: 'shop', name: 'gpu', uid: 'c' },
    spec: { devices: { requests: [{ name: 'gpu', exactly: {} }] } },
    status: {
      allocation: { devices: { results } },
      reservedFor: [{ resource: 'pods', name: 'train', uid: facts.pod.uid }],
    },
  });
  const spec = {
    deviceSelector: { deviceClassName: 'gpu' },
    taint: { key: 'health', effect: 'NoExecute' },
  };
  const rule = deviceTaintRuleFromJson({ metadata: { name: 'old' }, spec });
  const known = [
    { kind: 'resourceClaimUpsert', claim },
    { kind: 'deviceTaintRuleUpsert', rule },
  ] as const;
  const devices = new PodDevices(known, devicesFrom(known), { ours: null, upstream: true });
  const because = [{ code: 'DevicesUnknown', lacks: [], rule: 'old' }];
  assert.deepEqual(devices.decisionOn(facts), { kind: 'keep', because });
});
