import assert from 'node:assert/strict';
import { it } from 'node:test';
import { nodePlace, zoneKey, zoneName } from '../../src/model/zone.ts';

const zone = 'topology.kubernetes.io/zone';
const region = 'topology.kubernetes.io/region';
const oldZone = 'failure-domain.beta.kubernetes.io/zone';

it('is named for people and for metrics', () => {
  const labels = { [zone]: 'a', [region]: 'eu' };
  assert.deepEqual([zoneName(labels), zoneKey(labels)], ['eu/a', 'eu:\0:a']);
  assert.deepEqual([zoneName({ [zone]: 'a' }), zoneKey({ [zone]: 'a' })], ['a', ':\0:a']);
  assert.deepEqual([zoneName({}), zoneKey({})], ['', '']);
});

it('is that of an old label before that of the new one', () => {
  assert.deepEqual(nodePlace({ [zone]: 'new', [oldZone]: 'old' }), ['', 'old']);
});
