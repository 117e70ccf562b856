// What a manager owned and does not apply any more goes, but not with what others have in it.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { storedResource } from '@taintmgr/sim-cluster/server';
import { applyConfiguration } from '../../src/apply/apply.ts';

const resource = storedResource('configmaps');
const options = { resource, manager: 'kubectl', subresource: '', force: false, now: 0 };
const owned = (manager: string, fields: object) => ({
  manager,
  operation: 'Apply' as const,
  apiVersion: 'v1',
  time: '2026-01-01T00:00:00Z',
  fieldsType: 'FieldsV1' as const,
  fieldsV1: { 'f:data': { '.': {}, ...fields } },
});
const live = (others: object) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', managedFields: [owned('kubectl', { 'f:mine': {} })] },
  data: { mine: '1', ...others },
});
const configuration = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };

it('a map that is given up stays with what nobody owned in it', () => {
  const { object } = applyConfiguration(live({ theirs: '2' }), configuration, options);
  assert.deepEqual(object.data, { theirs: '2' });
});

it('a map that is given up goes when nothing is left in it', () => {
  const { object } = applyConfiguration(live({}), configuration, options);
  assert.equal('data' in object, false);
});
