import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { node, pod } from '../../src/builders.ts';
import type { Json, KubeObject } from '../../src/objects/kube-object.ts';
import { requestsOf } from '../../src/scheduler/node-fit.ts';
import { Placement } from '../../src/scheduler/placement.ts';

type Fields = { readonly [field: string]: Json };

const asking = (requests: Fields): KubeObject =>
  pod('default', 'p', {
    spec: { containers: [{ name: 'c', image: 'i', resources: { requests } }] },
  });

describe('what a pod asks for', () => {
  const container = (resources?: Fields): Fields => ({
    name: 'c',
    ...(resources && { resources }),
  });
  const cases: readonly (readonly [
    name: string,
    spec: Fields,
    expected: readonly [cpu: number, memory: number],
  ])[] = [
    ['nothing', { containers: [container()] }, [0, 0]],
    [
      'the sum of its containers',
      {
        containers: [
          container({ requests: { cpu: '1', memory: '1k' } }),
          container({ requests: { cpu: '250m' } }),
        ],
      },
      [1250, 1_000_000],
    ],
    ['a limit without a request', { containers: [container({ limits: { cpu: '2' } })] }, [2000, 0]],
    [
      'the request, where there is a limit too',
      { containers: [container({ requests: { cpu: '1' }, limits: { cpu: '2' } })] },
      [1000, 0],
    ],
    [
      'its largest init container, where that is more',
      {
        containers: [container({ requests: { cpu: '1', memory: '3' } })],
        initContainers: [
          container({ requests: { cpu: '2', memory: '1' } }),
          container({ requests: { cpu: '3', memory: '2' } }),
        ],
      },
      [3000, 3000],
    ],
  ];
  for (const [name, spec, [cpu, memory]] of cases) {
    it(name, () =>
      assert.deepEqual(requestsOf(pod('default', 'p', { spec })), { cpu, memory, pods: 1 }),
    );
  }
});

describe('a node of 4 CPUs, 16Gi and three places', () => {
  const bound = (name: string, one: KubeObject): KubeObject => {
    return {
      ...one,
      metadata: { name, namespace: 'default' },
      spec: { ...one.spec, nodeName: 'n-1' },
    };
  };
  const half = asking({ cpu: '2', memory: '8Gi' });
  const cases: readonly (readonly [
    name: string,
    there: readonly KubeObject[],
    wants: Fields,
    change: Fields,
    fits: boolean,
  ])[] = [
    ['has room for all that is left', [half], { cpu: '2', memory: '8Gi' }, {}, true],
    ['has no room for more CPU', [half], { cpu: '2001m' }, {}, false],
    ['has no room for more memory', [half], { memory: '8193Mi' }, {}, false],
    ['has a third place', [half, half], {}, {}, true],
    ['has no fourth place', [half, half, asking({})], {}, {}, false],
    [
      'takes what asks for nothing, however full it is',
      [half, asking({ cpu: '9', memory: '99Gi' })],
      {},
      {},
      true,
    ],
    [
      'takes what asks for memory where CPU alone is short',
      [asking({ cpu: '9' })],
      { memory: '1Gi' },
      {},
      true,
    ],
    [
      'is avoided by preference alone',
      [],
      {},
      { taints: [{ key: 'k', effect: 'PreferNoSchedule' }] },
      true,
    ],
    ['is closed by NoSchedule', [], {}, { taints: [{ key: 'k', effect: 'NoSchedule' }] }, false],
    ['is closed by NoExecute', [], {}, { taints: [{ key: 'k', effect: 'NoExecute' }] }, false],
    ['is closed by a cordon', [], {}, { unschedulable: true }, false],
  ];
  for (const [name, there, wants, change, fits] of cases) {
    // Most pods are placed by rows of numbers; one that asks for a node in particular is not.
    for (const [kind, spec] of [
      ['', {}],
      [', for one that asks for a certain node', { nodeSelector: {} }],
    ] as const) {
      it(`${name}${kind}`, () => {
        const placement = new Placement();
        placement.setNode(
          node('n-1', {
            spec: change,
            status: { allocatable: { cpu: '4', memory: '16Gi', pods: '3' } },
          }),
        );
        for (const [at, one] of there.entries()) placement.setPod(`p-${at}`, bound(`p-${at}`, one));
        const wanted = asking(wants);
        const best = placement.best({ ...wanted, spec: { ...wanted.spec, ...spec } });
        assert.equal(best?.name ?? null, fits ? 'n-1' : null);
      });
    }
  }
});

it('a node of which nobody has said that it is ready takes no pods', () => {
  const { status, ...rest } = node('n-1');
  const { conditions: _none, ...said } = status;
  const placement = new Placement();
  placement.setNode({ ...rest, status: said });
  assert.equal(placement.best(asking({})), null);
  assert.equal(
    placement.refusal(asking({})),
    '0/1 nodes are available: 1 node(s) had untolerated taint(s).',
  );
});
