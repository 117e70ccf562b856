import assert from 'node:assert/strict';
import { it } from 'node:test';
import { validateConfigMap, validateConfigMapUpdate } from '../../src/validation/config-map.ts';

const metadata = { name: 'c', namespace: 'default' };
const wrong = (map: object): readonly string[] =>
  validateConfigMap({ metadata, ...map }).map(({ field, message }) => `${field}: ${message}`);

it('the keys of a ConfigMap are file names, each in one of its two maps', () => {
  assert.deepEqual(wrong({ data: { 'a.b-C_1': '' }, binaryData: { b: 'aGk=' } }), []);
  assert.deepEqual(wrong({ data: { '.': '' } }), [`data[.]: Invalid value: ".": must not be '.'`]);
  assert.deepEqual(wrong({ data: { '..a': '' } }), [
    `data[..a]: Invalid value: "..a": must not start with '..'`,
  ]);
  assert.deepEqual(wrong({ data: { ok: 'x' }, binaryData: { ok: 'aGk=' } }), [
    'data[ok]: Invalid value: "ok": duplicate of key present in binaryData',
  ]);
  assert.match(wrong({ binaryData: { 'a b': '' } }).join(), /^binaryData\[a b\].*valid config key/);
  assert.match(
    wrong({ data: { ['k'.repeat(254)]: '' } }).join(),
    /must be no more than 253 bytes$/,
  );
});

it('what an immutable ConfigMap holds stays, and so does that it is immutable', () => {
  const before = { metadata, immutable: true, data: { a: '1' }, binaryData: { b: 'aGk=' } };
  const fields = (next: object): readonly string[] =>
    validateConfigMapUpdate({ metadata, ...next }, before).map(({ field = '' }) => field);
  assert.deepEqual(fields({ ...before, metadata: { name: 'c', labels: { a: 'b' } } }), []);
  assert.deepEqual(fields({ data: { a: '2' } }), ['immutable', 'data', 'binaryData']);
  assert.deepEqual(validateConfigMapUpdate({ metadata }, { metadata, data: { a: '1' } }), []);
});
