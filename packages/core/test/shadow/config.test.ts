import assert from 'node:assert/strict';
import { it } from 'node:test';
import { resolveShadowConfig } from '../../src/shadow/config.ts';

it('fills in the defaults, and refuses what cannot be', () => {
  assert.equal(resolveShadowConfig().podsMax, 10_000);
  assert.equal(resolveShadowConfig({ podsMax: 5 }).podsMax, 5);
  const message = 'config.followMs: got 10, want a whole number from 5000';
  assert.throws(() => resolveShadowConfig({ followMs: 10 }), { name: 'RangeError', message });
});
