// What the status of a policy says of its expressions, as the real kube-controller-manager said it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { resources } from '@taintmgr/sim-cluster/server';
import { checkTypes } from '../../src/policy/type-checking.ts';

const file = new URL('../testdata/wire/12-admission-policy/type-checking.json', import.meta.url);
const [created, read] = JSON.parse(readFileSync(file, 'utf8')).exchanges;

test('every error of every expression, for each of the kinds', () => {
  const kinds = resources
    .filter(({ plural }) => plural === 'configmaps' || plural === 'deployments')
    .map(({ group, version, kind, schema }) => ({
      groupVersion: `${group}/${version}`,
      kind,
      schema,
    }));
  const { expressionWarnings } = read.response.body.status.typeChecking;
  assert.deepEqual(checkTypes(created.request.body, kinds), expressionWarnings);
});
