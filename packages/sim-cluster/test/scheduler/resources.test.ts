import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pod } from '../../src/builders.ts';
import type { Json } from '../../src/objects/kube-object.ts';
import { amountOf, requestsOf } from '../../src/scheduler/resources.ts';

type Fields = { readonly [field: string]: Json };

describe('what a pod asks for', () => {
  const container = (requests: Fields = {}, more: Fields = {}): Fields => ({
    ...{ name: 'c', resources: { requests } },
    ...more,
  });
  const sidecar = { restartPolicy: 'Always' };
  const cases: readonly (readonly [name: string, spec: Fields, expected: Fields])[] = [
    ['nothing', { containers: [container()] }, {}],
    [
      'the sum of its containers',
      { containers: [container({ cpu: '1', memory: '1k' }), container({ cpu: '250m' })] },
      { cpu: 1250, memory: 1000 },
    ],
    [
      'a limit without a request',
      { containers: [{ name: 'c', resources: { limits: { cpu: '2' } } }] },
      { cpu: 2000 },
    ],
    [
      'its largest init container, where that is more',
      {
        containers: [container({ cpu: '1', memory: '3' })],
        initContainers: [
          container({ cpu: '2', memory: '1' }),
          container({ cpu: '3', memory: '2' }),
        ],
      },
      { cpu: 3000, memory: 3 },
    ],
    [
      'its containers and all sidecars',
      {
        containers: [container({ cpu: '1' })],
        initContainers: [container({ cpu: '2' }, sidecar), container({ cpu: '4' }, sidecar)],
      },
      { cpu: 7000 },
    ],
    [
      'an init container beside the sidecars before it alone',
      {
        containers: [container({ cpu: '1' })],
        initContainers: [
          container({ cpu: '2' }, sidecar),
          container({ cpu: '8' }),
          container({ cpu: '4' }, sidecar),
        ],
      },
      { cpu: 10_000 },
    ],
    [
      'what it says as a whole, in place of its containers, and its overhead',
      {
        containers: [container({ cpu: '4', memory: '1Ki', 'example.com/gpu': '1' })],
        resources: { requests: { cpu: '2' } },
        overhead: { cpu: '100m' },
      },
      { cpu: 2100, memory: 1024, 'example.com/gpu': 1 },
    ],
    [
      'its limit as a whole, where no container asks',
      { containers: [container()], resources: { limits: { memory: '1Ki' } } },
      { memory: 1024 },
    ],
    [
      'other resources in whole units',
      { containers: [container({ 'ephemeral-storage': '1500m', 'hugepages-2Mi': '4Mi' })] },
      { 'ephemeral-storage': 2, 'hugepages-2Mi': 4 * 2 ** 20 },
    ],
  ];
  for (const [name, spec, { cpu = 0, memory = 0, ...others }] of cases) {
    it(name, () => {
      const requests = requestsOf(pod('default', 'p', { spec }));
      const { cpu: gotCpu, memory: gotMemory } = requests;
      assert.deepEqual([gotCpu, gotMemory], [cpu, memory]);
      assert.deepEqual(Object.fromEntries(requests.others), others);
    });
  }

  it('counts 100m and 200Mi in scores for each container that does not say', () => {
    const containers = [container({ cpu: '1' }), container()];
    const { scored, sought } = requestsOf(pod('default', 'p', { spec: { containers } }));
    assert.deepEqual(scored, { cpu: 1100, memory: 400 * 2 ** 20 });
    assert.deepEqual(sought, scored);
  });

  it('is not read as another one with the same containers', () => {
    const containers = [container({ cpu: '1' })];
    const cpuOf = (spec: Fields): number => requestsOf(pod('default', 'p', { spec })).cpu;
    assert.equal(cpuOf({ containers }), 1000);
    assert.equal(cpuOf({ containers, overhead: { cpu: '1' } }), 2000);
    assert.equal(cpuOf({ containers }), 1000);
  });
});

describe('an amount', () => {
  const cases: readonly (readonly [string, string | number | undefined, number])[] = [
    ['cpu', '250m', 250],
    ['cpu', '0.1', 100],
    ['cpu', '0.0001', 1],
    ['cpu', 2, 2000],
    ['memory', '1.5Ki', 1536],
    ['memory', '100m', 1],
    ['memory', 'much', 0],
    ['pods', undefined, 0],
  ];
  for (const [resource, given, expected] of cases) {
    it(`${given} of ${resource}`, () => assert.equal(amountOf(resource, given), expected));
  }
});
