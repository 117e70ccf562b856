import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiClient, type Transport } from '@taintmgr/k8s-adapter';
import type { Evictors } from '@taintmgr/k8s-adapter/client';
import { pod } from '@taintmgr/sim-cluster';
import {
  deviceKinds,
  devicePaths,
  hiddenText,
  rulesPathOf,
  servedDevices,
} from '../../src/survey/devices.ts';
import { podFacts } from '../../src/survey/facts.ts';
import { readPodDevices } from '../../src/survey/pod-devices.ts';
import { ClusterReader } from '../../src/survey/reader.ts';

// Which version of each kind is read, by what API servers of several releases serve.

const server = 'https://sim';

/** A reader of an API server whose discovery answers this, and nothing else. */
function readerOf(
  versions: Readonly<Record<string, readonly string[]>>,
  forbidden: string | null = null,
): ClusterReader {
  const send: Transport['send'] = ({ path }, sink) => {
    const [, version = ''] = /^\/apis\/resource\.k8s\.io\/?(.*)$/.exec(path) ?? [];
    const isThere = version === '' ? Object.keys(versions).length > 0 : version in versions;
    const isForbidden = version === forbidden;
    const refusal = { kind: 'Status', status: 'Failure', code: 403, reason: 'Forbidden' };
    const body = isForbidden
      ? refusal
      : !isThere
        ? { kind: 'Status', status: 'Failure', code: 404, reason: 'NotFound' }
        : version === ''
          ? { kind: 'APIGroup', versions: Object.keys(versions).map((one) => ({ version: one })) }
          : {
              ...{ kind: 'APIResourceList', groupVersion: `resource.k8s.io/${version}` },
              resources: versions[version]?.map((name) => ({ name })),
            };
    sink.head(isForbidden ? 403 : isThere ? 200 : 404, { 'content-type': 'application/json' });
    sink.data(JSON.stringify(body));
    sink.end();
    return () => undefined;
  };
  return new ClusterReader(new ApiClient({ transport: { send }, server }));
}

const unseen = { kind: 'unknown', who: null, evidence: [] } as const;
const nobodySeen: Evictors = {
  upstream: {
    'taint-eviction-controller': unseen,
    'node-lifecycle-controller': unseen,
    'device-taint-eviction-controller': unseen,
  },
  taintmgr: unseen,
};

const claims = ['resourceclaims', 'resourceclaims/status', 'resourceslices', 'deviceclasses'];
const at = (version: string, kind: string): string => `/apis/resource.k8s.io/${version}/${kind}`;

describe('the kinds of resource.k8s.io', () => {
  const cases: readonly (readonly [
    name: string,
    versions: Parameters<typeof readerOf>[0],
    paths: readonly (string | null)[] | null,
  ])[] = [
    [
      '1.37',
      { v1: [...claims, 'devicetaintrules'], v1beta2: claims, v1alpha3: ['devicetaintrules'] },
      [at('v1', 'resourceslices'), at('v1', 'resourceclaims'), at('v1', 'devicetaintrules')],
    ],
    [
      '1.36 with v1beta2 switched on',
      { v1alpha3: ['devicetaintrules'], v1: claims, v1beta2: [...claims, 'devicetaintrules'] },
      [at('v1', 'resourceslices'), at('v1', 'resourceclaims'), at('v1beta2', 'devicetaintrules')],
    ],
    [
      '1.33 with v1alpha3 switched on',
      { v1beta1: claims, v1alpha3: ['devicetaintrules'] },
      [
        at('v1beta1', 'resourceslices'),
        at('v1beta1', 'resourceclaims'),
        at('v1alpha3', 'devicetaintrules'),
      ],
    ],
    ['1.36', { v1: claims }, [at('v1', 'resourceslices'), at('v1', 'resourceclaims'), null]],
    ['1.30', {}, null],
    ['a group of other kinds', { v1: ['others'] }, null],
  ];
  for (const [name, versions, paths] of cases) {
    it(name, async () => {
      const found = await devicePaths(readerOf(versions));
      const { resourceslices, resourceclaims, devicetaintrules } = found ?? {};
      assert.deepEqual(found && [resourceslices, resourceclaims, devicetaintrules], paths);
      if (!paths?.[2]) assert.throws(() => rulesPathOf(found), /does not serve DeviceTaintRules/);
    });
  }

  for (const forbidden of ['', 'v1']) {
    it(`are unknown where /apis/resource.k8s.io/${forbidden} may not be read`, async () => {
      const reader = readerOf({ v1: [...claims, 'devicetaintrules'] }, forbidden);
      assert.equal(await servedDevices(reader), 'hidden');
      const resourceClaims = [{ name: 'gpu', resourceClaimName: 'gpu-a' }];
      const facts = podFacts(pod('shop', 'train-1', { spec: { nodeName: 'n1', resourceClaims } }));
      const found = await readPodDevices(reader, [facts], nobodySeen, []);
      const because = [{ code: 'DevicesUnknown', lacks: deviceKinds }];
      assert.deepEqual(found?.decisionOn(facts), { kind: 'keep', because });
    });
  }

  it('are named where they may not be read', () => {
    assert.equal(hiddenText(['pods']), 'you may not list pods');
    assert.equal(hiddenText(['a', 'b', 'c']), 'you may not list a, b and c');
  });
});
