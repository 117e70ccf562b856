import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { CommanderError } from '@commander-js/extra-typings';
import { ApiError, ConnectionError, KubeconfigError } from '@taintmgr/k8s-adapter';
import { UsageError } from '@taintmgr/k8s-adapter/command-line';
import { endingOf, errorLines, exitCode } from '../../src/cli/exit.ts';
import { run } from '../world/run.ts';

function apiError(status: number, reason: string, message: string): ApiError {
  const about = { retryAfter: null, causes: [], name: '', kind: '' };
  return new ApiError({ status, reason, message, ...about });
}

it('exit codes stay as scripts know them', () => {
  assert.deepEqual(exitCode, {
    ...{ done: 0, error: 1, found: 1, noAnswer: 2, blocked: 2, exceeded: 2, different: 2 },
    ...{ unhealthy: 2, timeout: 3, interrupted: 130 },
  });
});

describe('errorLines', () => {
  const cases: readonly (readonly [name: string, error: unknown, lines: string | null])[] = [
    [
      'what the server refuses, in its words',
      apiError(404, 'NotFound', 'pods "x" not found'),
      'Error from server (NotFound): pods "x" not found',
    ],
    [
      'a node that is not there, with who tells of one that is gone',
      apiError(404, 'NotFound', 'nodes "x" not found'),
      'Error from server (NotFound): nodes "x" not found\n' +
        'hint: which pods left it, if it is gone: kubectl taintmgr history node x',
    ],
    [
      'missing rights, with where to look',
      apiError(403, 'Forbidden', 'pods is forbidden'),
      'Error from server (Forbidden): pods is forbidden\n' +
        'hint: kubectl auth can-i --list shows what the current user may do',
    ],
    [
      'no right to nodes, with what can be asked all the same',
      apiError(403, 'Forbidden', 'nodes "n1" is forbidden'),
      'Error from server (Forbidden): nodes "n1" is forbidden\n' +
        'hint: kubectl auth can-i --list shows what the current user may do\n' +
        'hint: without nodes: explain deployment NAME, explain pod NAME, pending and history, with -n NAMESPACE',
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
    ['several faults', new UsageError(['a\nb', 'c']), 'error: a^Jb\nerror: c'],
    [
      'more faults than anybody reads',
      new UsageError(Array.from({ length: 200_000 }, (_, index) => `fault ${index}`)),
      `${Array.from({ length: 20 }, (_, index) => `error: fault ${index}\n`).join('')}error: and 199980 more`,
    ],
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

describe('a file with many faults', () => {
  const directory = mkdtempSync(join(tmpdir(), 'taintmgr-exit-'));
  after(() => rmSync(directory, { recursive: true }));
  const of = (kind: string, number: number): string => {
    const head = `apiVersion: taintmgr.dev/v1alpha1\nkind: ${kind}\n`;
    const fields = Array.from({ length: number }, (_, index) => `f${index}: 1`);
    const file = join(directory, `${kind}.yaml`);
    const spec = `metadata: {name: x}\nspec: {${fields.join(', ')}}`;
    // Nodes without a spec, which no simulation can take.
    const nodes = fields.map((field) => {
      const [name] = field.split(':');
      return { apiVersion: 'v1', kind: 'Node', metadata: { name } };
    });
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: nodes });
    writeFileSync(file, kind === 'List' ? list : `${head}${spec}\n`);
    return file;
  };
  const commands: readonly (readonly [kind: string, command: string])[] = [
    ['EvictionPolicy', 'explain node n1 --policy'],
    ['List', 'simulate -f'],
    ['NodeDrain', 'drain-by-taint --dry-run=client -f'],
  ];
  for (const [kind, command] of commands) {
    it(`has a line for each, and at last their number: ${command}`, async () => {
      const where = ['--kubeconfig=/dev/null', '--server=http://127.0.0.1:1'];
      const told = async (number: number): Promise<readonly string[]> => {
        const { code, err } = await run(...command.split(' '), of(kind, number), ...where);
        assert.equal(code, 1);
        return err.trimEnd().split('\n');
      };
      const lines = await told(2);
      assert.match(lines[0] ?? '', /^error: \S+:\d+:\d+: .*f0/);
      assert.match(lines[1] ?? '', /^error: \S+:\d+:\d+: .*f1/);
      const cut = await told(50);
      assert.equal(cut.length, 21);
      assert.match(cut[20] ?? '', /^error: and 3\d more$/);
    });
  }
});
