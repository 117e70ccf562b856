import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { it } from 'node:test';
import { nodePressureRules, type Rule } from '@taintmgr/core';

it('differences from the kubelet have names of their own and proofs that exist', () => {
  const rules: readonly Rule[] = nodePressureRules;
  const names = rules.map(({ name }) => name);
  assert.deepEqual([...new Set(names)], names);
  const missing = rules
    .flatMap(({ proof }) => proof.split(', '))
    .filter((path) => !existsSync(new URL(`../${path}`, import.meta.url)));
  assert.deepEqual(missing, []);
});
