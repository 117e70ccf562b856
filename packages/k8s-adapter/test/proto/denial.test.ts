import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noAnswer } from '../../src/proto/answer.ts';
import { isDeniedByAdmission, isMissing } from '../../src/proto/answer-fault.ts';

// What a failed request says of its object, by the API server's sentence and status.

const policy = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no";
const refused: [message: string, isDenied: boolean][] = [
  ['admission webhook "w.example.com" denied the request: pods "a" not found', true],
  ['admission webhook "w.example.com" denied the request without explanation', true],
  [`pods "a" is forbidden: ${policy}`, true],
  [`nodedrains.taintmgr.dev "a" is forbidden: ${policy}`, true],
  ['pods "a" is forbidden: User "u" cannot patch resource "pods/status"', false],
  ['pods "a" not found', false],
  ['Unauthorized', false],
  ['Internal error occurred: failed calling webhook "w.example.com": timeout', false],
];

describe('the refusal of a request', () => {
  for (const [message, isDenied] of refused) {
    it(`${isDenied ? 'is' : 'is not'} admission's: ${message}`, () => {
      assert.equal(isDeniedByAdmission(noAnswer(message)), isDenied);
      assert.equal(isMissing({ ...noAnswer(message), status: 404 }), !isDenied);
      assert.equal(isMissing({ ...noAnswer(message), status: 403 }), false);
    });
  }
});
