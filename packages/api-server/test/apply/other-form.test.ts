// A field that becomes what it was not, such as a map where there was a text.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json, KubeObject } from '@taintmgr/sim-cluster';
import { changedFields, fieldsOf, freeForm, map, struct } from '@taintmgr/sim-cluster/server';

const shape = struct('Widget', { spec: 'any' });
const widget = (a: Json) =>
  ({ kind: 'Widget', metadata: { name: 'w' }, spec: { a } }) as KubeObject;
const at = (fields: object) => ({ 'f:spec': { 'f:a': fields } });

describe('a value of another form', () => {
  const cases: readonly (readonly [
    string,
    before: Json,
    after: Json,
    taken: object,
    gone: object | null,
  ])[] = [
    ['a map for a text', 'text', { b: 1 }, at({ '.': {}, 'f:b': {} }), null],
    ['a text for a map', { b: 1 }, 'text', at({}), at({ 'f:b': {} })],
    ['a list for a map', { b: { c: 1 } }, [1], at({}), at({ 'f:b': { '.': {}, 'f:c': {} } })],
    ['a text for an empty map', {}, 'text', at({}), null],
  ];
  for (const [name, before, after, taken, gone] of cases) {
    it(`is owned with all that is in it, and nobody owns what was there: ${name}`, () => {
      assert.deepEqual(changedFields(shape, widget(before), widget(after)), { taken, gone });
    });
  }
});

describe('what an applier owns of a map', () => {
  const cases = [
    ['whose values have fields', map(struct('', { b: 'int32' }))],
    ['that a definition leaves open', freeForm],
  ] as const;
  for (const [name, spec] of cases) {
    it(`has its members as fields, beside what is in them: ${name}`, () => {
      const configuration = { spec: { a: { b: 1 } } };
      assert.deepEqual(fieldsOf(struct('Widget', { spec }), configuration), {
        'f:spec': { 'f:a': { '.': {}, 'f:b': {} } },
      });
    });
  }

  it('of a kind of the server has its fields alone', () => {
    const spec = struct('', { a: 'any' });
    const configuration = { spec: { a: { b: { c: 1 } } } };
    assert.deepEqual(fieldsOf(struct('Widget', { spec }), configuration), {
      'f:spec': { 'f:a': { 'f:b': { 'f:c': {} } } },
    });
  });
});
