// Patches that would make an object another one.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
// @boundaries-ignore the cluster's own tests live in the same world
import { applyType, jsonPatch, merge, strategic } from '../../../sim-cluster/test/world/client.ts';
import { fixture } from '../world/api-fixture.ts';

const path = '/api/v1/namespaces/default/configmaps';

describe('a patch', () => {
  const cases: readonly (readonly [type: string, patch: object, why: string | null])[] = [
    [merge, { kind: 'Secret' }, 'converting (v1.Secret) to (core.ConfigMap): unknown conversion'],
    [
      merge,
      { apiVersion: 'v9' },
      'no kind "ConfigMap" is registered for version "v9" in scheme "pkg/api/legacyscheme/scheme.go:30"',
    ],
    [
      jsonPatch,
      [{ op: 'replace', path: '/kind', value: 'Secret' }],
      'converting (v1.Secret) to (core.ConfigMap): unknown conversion',
    ],
    [merge, { kind: 'ConfigMap', apiVersion: 'v1' }, null],
    [strategic, { kind: 'Secret', apiVersion: 'v9' }, null],
  ];
  for (const [type, patch, why] of cases) {
    it(`of the type ${type} with ${JSON.stringify(patch)} is ${why ? 'refused' : 'taken'}`, () => {
      const { client } = fixture();
      client.post(path, { metadata: { name: 'x' } });
      const { status, body } = client.patch(`${path}/x`, patch, type);
      if (why === null) {
        assert.deepEqual([status, body.kind, body.apiVersion], [200, 'ConfigMap', 'v1']);
        return;
      }
      const message: string = body.message ?? '';
      assert.deepEqual(
        [status, body.reason, message.endsWith(why)],
        [422, 'Invalid', true],
        message,
      );
    });
  }

  it('that applies to an object that is gone makes no other', () => {
    const { client } = fixture();
    const given = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'x', uid: '11111111-1111-4111-8111-111111111111' },
    };
    const { status, body } = client.patch(`${path}/x`, given, applyType, {
      query: { fieldManager: 'm' },
    });
    assert.deepEqual(
      [status, body.message],
      [
        409,
        'Operation cannot be fulfilled on configmaps "x": uid mismatch: the provided object specified uid 11111111-1111-4111-8111-111111111111, and no existing object was found',
      ],
    );
    assert.equal(client.get(`${path}/x`).status, 404);
  });
});
