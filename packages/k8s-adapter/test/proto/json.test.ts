import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseToWriteBack } from '../../src/proto/json.ts';

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
