import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readGoYaml } from '@taintmgr/k8s-adapter/manifests';
import { yamlLineOf, yamlOf } from '../../src/render/yaml.ts';

describe('YAML that is written', () => {
  const texts = [
    ...[
      'y',
      'N',
      'on',
      'Off',
      'yes',
      'true',
      'null',
      '~',
      '',
      '010',
      '0o17',
      '0O7',
      '0B11',
      '1_000',
    ],
    ...[
      '08',
      '1:30',
      '2001-01-01',
      '.5',
      '+1',
      '1e3',
      '.inf',
      '<<',
      '=',
      '-',
      'a: b',
      ' a',
      '*a',
      '\u0001',
    ],
  ];

  for (const [name, write] of [
    ['in blocks', yamlOf],
    ['in one line', yamlLineOf],
  ] as const) {
    it(`is read by kubectl as it was meant, ${name}`, () => {
      for (const text of texts) {
        const object = { value: text, list: [text], [text]: 1 };
        assert.deepEqual(readGoYaml(write(object)), object, write(object));
      }
    });
  }

  it('has quotes only where it needs them', () => {
    assert.equal(yamlOf({ a: ['b', '0o17', 'on', '12'] }), 'a:\n- b\n- "0o17"\n- "on"\n- "12"\n');
    assert.equal(yamlLineOf({ at: '1m', drain: { node: 'y' } }), '{at: 1m, drain: {node: "y"}}');
  });
});
