import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { node, pod } from '../../src/builders.ts';
import type { Json, KubeObject } from '../../src/objects/kube-object.ts';
import { placementOf } from '../world/placements.ts';

type Fields = { readonly [field: string]: Json };

const asking = (requests: Fields): KubeObject =>
  pod('default', 'p', {
    spec: { containers: [{ name: 'c', image: 'i', resources: { requests } }] },
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
        const placement = placementOf();
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

it('is no matter of readiness: whoever looks after nodes taints those that are not ready', () => {
  const { status, ...rest } = node('n-1');
  const { conditions: _none, ...said } = status;
  const placement = placementOf({ ...rest, status: said });
  assert.equal(placement.best(asking({}))?.name, 'n-1');
});
