import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CommanderError } from '@commander-js/extra-typings';
import { ApiError, ConnectionError, KubeconfigError } from '@taintmgr/k8s-adapter';
import { endingOf, errorLines } from '../../src/cli/exit.ts';
import { UsageError } from '../../src/usage-error.ts';

function apiError(status: number, reason: string, message: string): ApiError {
  const about = { retryAfter: null, causes: [], name: '', kind: '' };
  return new ApiError({ status, reason, message, ...about });
}

describe('errorLines', () => {
  const cases: readonly (readonly [name: string, error: unknown, lines: string | null])[] = [
    [
      'what the server refuses, in its words',
      apiError(404, 'NotFound', 'nodes "x" not found'),
      'Error from server (NotFound): nodes "x" not found',
    ],
    [
      'missing rights, with where to look',
      apiError(403, 'Forbidden', 'nodes is forbidden'),
      'Error from server (Forbidden): nodes is forbidden\n' +
        'hint: kubectl auth can-i --list shows what the current user may do',
    ],
    [
      'credentials that are not valid',
      apiError(401, 'Unauthorized', 'Unauthorized'),
      'Error from server (Unauthorized): Unauthorized\n' +
        'hint: the credentials of the current context are not valid',
    ],
    [
      'a message that would steer the terminal',
      apiError(500, '', '\u001b]0;x\u0007\nnext'),
      'Error from server: ^[]0;x^G^Jnext',
    ],
    ['usage', new UsageError('name a node'), 'error: name a node'],
    ['a bad taint', new RangeError('invalid taint "x"'), 'error: invalid taint "x"'],
    ['a bad kubeconfig', new KubeconfigError('/x: no such file'), 'error: /x: no such file'],
    [
      'no answer',
      new ConnectionError('https://x', 'socket hang up'),
      'error: request to https://x failed: socket hang up; ' +
        'check that the API server runs and that --context names the right cluster',
    ],
    ['a mistake of ours', new TypeError('x is undefined'), null],
    ['not even an error', 'x', null],
  ];
  for (const [name, error, lines] of cases) {
    it(name, () => assert.equal(errorLines(error), lines));
  }
});

describe('endingOf', () => {
  const interrupt = AbortSignal.abort();
  const running = new AbortController().signal;
  const cases: readonly (readonly [string, unknown, AbortSignal, object | null])[] = [
    [
      '--help',
      new CommanderError(0, 'commander.helpDisplayed', ''),
      running,
      { lines: '', code: 0 },
    ],
    [
      'a bad flag, which commander has reported',
      new CommanderError(1, 'commander.unknownOption', 'x'),
      running,
      { lines: '', code: 1 },
    ],
    ['Ctrl-C', interrupt.reason, interrupt, { lines: 'error: interrupted', code: 130 }],
    [
      'an error that came before Ctrl-C had its effect',
      new UsageError('x'),
      interrupt,
      { lines: 'error: x', code: 1 },
    ],
    ['a mistake of ours', new TypeError('x'), running, null],
  ];
  for (const [name, error, signal, ending] of cases) {
    it(name, () => assert.deepEqual(endingOf(error, signal), ending));
  }
});
