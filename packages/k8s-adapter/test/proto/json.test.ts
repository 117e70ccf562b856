import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseJson, parseToWriteBack } from '../../src/proto/json.ts';

// Runs on Bun and Deno too: what keeps the digits is the runtime's.

const texts = [
  '9223372036854775807',
  '-9223372036854775808',
  '9007199254740993',
  '1.0',
  '1e3',
  '0.1',
  '-0',
  '{"spec":{"tolerations":[{"tolerationSeconds":9223372036854775807}],"n":30}}',
  '[1.0,-0,12345678901234567890]',
  '{"a":-0,"b":{"c":2E5},"d":[7,0.10]}',
  '{"__proto__":{"a":1},"rawJSON":"5","text":"9223372036854775807"}',
];

describe('an object that is written back', () => {
  for (const text of texts) {
    it(`has every digit it was read with: ${text}`, () => {
      assert.equal(JSON.stringify(parseToWriteBack(text)), text);
    });
  }

  it('is nothing where the text is broken', () => {
    assert.equal(parseToWriteBack('{"a":'), undefined);
  });
});

describe('JSON whose values stand in each other', () => {
  const nested = (depth: number, inside: string): string =>
    `{"note":"${'[{'.repeat(50_000)}\\\\\\"]","a":${'['.repeat(depth)}${inside}${']'.repeat(depth)}}`;

  it('is read as deep as objects of the API are', () => {
    assert.deepEqual(parseJson(nested(900, '1')), JSON.parse(nested(900, '1')));
  });

  it('is none where they stand thousands deep, however they are cut', () => {
    for (const depth of [1_000, 100_000, 3_000_000]) {
      assert.equal(parseJson(nested(depth, '1')), undefined, `${depth}`);
      assert.equal(parseJson(nested(depth, '1').slice(0, -depth)), undefined, `${depth}, cut`);
    }
  });

  it('is none to write back, which takes the stack, where it is short', () => {
    const text = '[1.0,'.repeat(5_000) + '1'.concat(']'.repeat(5_000));
    assert.equal(parseToWriteBack(text), undefined);
  });
});
