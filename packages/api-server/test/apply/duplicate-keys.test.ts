import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
// @boundaries-ignore the cluster's own tests live in the same world
import { applyType } from '../../../sim-cluster/test/world/client.ts';
import { fixture, podNamed, pods } from '../world/api-fixture.ts';

const container = { name: 'c', image: 'i' };
const reference = { apiVersion: 'v1', kind: 'Pod', name: 'o', uid: 'u' };

describe('an applied configuration', () => {
  const cases: readonly (readonly [name: string, metadata: object, spec: object, text: string])[] =
    [
      [
        'keys',
        {},
        { containers: [container, { ...container, image: 'other' }] },
        '.spec.containers: duplicate entries for key [name="c"]',
      ],
      [
        'keys of which one has its default',
        { namespace: 'default' },
        {
          containers: [
            { ...container, ports: [{ containerPort: 1 }, { containerPort: 1, protocol: 'TCP' }] },
          ],
        },
        '.spec.containers[name="c"].ports: duplicate entries for key [containerPort=1,protocol="TCP"]',
      ],
      [
        'values of a set',
        { finalizers: ['example.com/f', 'example.com/f'] },
        { containers: [container] },
        '.metadata.finalizers: duplicate entries for key [="example.com/f"]',
      ],
      [
        'several keys',
        { ownerReferences: [reference, reference] },
        { containers: [container, container, container] },
        `errors:
  .metadata.ownerReferences: duplicate entries for key [uid="u"]
  .spec.containers: duplicate entries for key [name="c"]
  .spec.containers: duplicate entries for key [name="c"]`,
      ],
    ];
  for (const [name, metadata, spec, text] of cases) {
    it(`that has ${name} twice is refused, also for a new object`, () => {
      const { client } = fixture();
      const given = { ...podNamed('x', spec, metadata), apiVersion: 'v1', kind: 'Pod' };
      const apply = () =>
        client.patch(`${pods}/x`, given, applyType, { query: { fieldManager: 'm' } });
      const place = 'namespace' in metadata ? 'default' : '';
      const message = `failed to create typed patch object (${place}/x; /v1, Kind=Pod): ${text}`;
      const first = apply();
      client.post(pods, podNamed('x'));
      for (const { status, body } of [first, apply()]) {
        assert.deepEqual([status, body.message], [400, message]);
      }
    });
  }
});
