import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isEmptySelector, type LabelSelector, selects } from '../../src/model/selector.ts';

const labels = { app: 'web', tier: 'front' };
const cases: readonly (readonly [name: string, selector: LabelSelector, expected: boolean])[] = [
  ['nothing', {}, true],
  ['a label that is there', { matchLabels: { app: 'web' } }, true],
  ['another value', { matchLabels: { app: 'db' } }, false],
  ['a name that every object has', { matchLabels: { constructor: 'web' } }, false],
  ['In', { matchExpressions: [{ key: 'app', operator: 'In', values: ['db', 'web'] }] }, true],
  ['In, absent', { matchExpressions: [{ key: 'x', operator: 'In', values: ['db'] }] }, false],
  ['NotIn', { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['web'] }] }, false],
  ['NotIn, absent', { matchExpressions: [{ key: 'x', operator: 'NotIn', values: ['a'] }] }, true],
  ['Exists', { matchExpressions: [{ key: 'tier', operator: 'Exists' }] }, true],
  ['DoesNotExist', { matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] }, false],
  [
    'all of it',
    { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'x', operator: 'Exists' }] },
    false,
  ],
];
for (const [name, selector, expected] of cases) {
  it(`selects by ${name}`, () => assert.equal(selects(selector, labels), expected));
}

it('is empty where it asks for nothing', () => {
  assert.ok(isEmptySelector({}) && isEmptySelector({ matchLabels: {}, matchExpressions: [] }));
  assert.ok(!isEmptySelector({ matchExpressions: [{ key: 'a', operator: 'Exists' }] }));
});
