import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CommanderError } from '@commander-js/extra-typings';
import { parseOptions } from '../src/options.ts';
import { version } from '../src/version.ts';

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** How a command line that names no work ends, and what is printed. */
function end(...argv: readonly string[]): Ended {
  let out = '';
  let err = '';
  const writeOut = (text: string): void => {
    out += text;
  };
  const writeErr = (text: string): void => {
    err += text;
  };
  try {
    parseOptions(argv, { writeOut, writeErr });
  } catch (error) {
    assert.ok(error instanceof CommanderError);
    return { code: error.exitCode, out, err };
  }
  return assert.fail(`${argv.join(' ')} was accepted`);
}

describe('options', () => {
  const defaults = {
    connection: {},
    simulate: false,
    seed: 1,
    config: null,
    engine: {},
    logFormat: 'text',
    verbosity: 0,
  };
  const good: readonly (readonly [line: string, options: object])[] = [
    ['', {}],
    ['--simulate --seed=7', { simulate: true, seed: 7 }],
    [
      '--mode=evict --concurrent-evictions 5 --semantics upstream-1.36 --config c.yaml',
      {
        config: 'c.yaml',
        engine: { mode: 'evict', evictionsInFlightMax: 5, semantics: 'upstream-1.36' },
      },
    ],
    ['--logging-format=json -v 4', { logFormat: 'json', verbosity: 4 }],
    ['--v=2', { verbosity: 2 }],
    [
      '--kubeconfig /k --context c -n ns -s https://h --as-group a --as-group b',
      {
        connection: {
          kubeconfig: '/k',
          context: 'c',
          namespace: 'ns',
          server: 'https://h',
          asGroup: ['a', 'b'],
        },
      },
    ],
  ];
  for (const [line, options] of good) {
    it(`takes ${line || 'nothing'}`, () => {
      const argv = line === '' ? [] : line.split(' ');
      assert.deepEqual(parseOptions(argv), { ...defaults, ...options });
    });
  }

  const bad: readonly (readonly [line: string, err: string])[] = [
    [
      '--mode=drop',
      "option '--mode <mode>' argument 'drop' is invalid. Allowed choices are delete, evict, evictThenDelete.",
    ],
    [
      '--logging-format=xml',
      "option '--logging-format <format>' argument 'xml' is invalid. Allowed choices are text, json.",
    ],
    [
      '--concurrent-evictions=0',
      "option '--concurrent-evictions <number>' argument '0' is invalid. Want a whole number from 1.",
    ],
    ['--seed=-1', "option '--seed <number>' argument '-1' is invalid. Want a whole number from 0."],
    ['--v=1.5', "option '-v, --v <level>' argument '1.5' is invalid. Want a whole number from 0."],
    ['--v=', "option '-v, --v <level>' argument '' is invalid. Want a whole number from 0."],
    ['--kubeconfig', "option '--kubeconfig <file>' argument missing"],
    ['--moed evict', "unknown option '--moed'\n(Did you mean --mode?)"],
    ['node-1', 'too many arguments. Expected 0 arguments but got 1: node-1.'],
    [
      '--simulate --kubeconfig=/k -s https://h',
      '--simulate starts its own cluster: leave out --kubeconfig, --server',
    ],
  ];
  for (const [line, err] of bad) {
    it(`refuses ${line}`, () => {
      const help = 'See taintmgr-controller --help for the flags.';
      assert.deepEqual(end(...line.split(' ')), {
        code: 1,
        out: '',
        err: `error: ${err}\n${help}\n`,
      });
    });
  }

  it('prints the version, and help that names every group', () => {
    assert.deepEqual(end('--version'), { code: 0, out: `${version}\n`, err: '' });
    const { code, out, err } = end('--help');
    assert.deepEqual([code, err], [0, '']);
    assert.match(
      out,
      /^Usage: taintmgr-controller \[options\]\n[\s\S]*--mode <mode>[\s\S]*\nConnection:\n[\s\S]*\nExamples:\n/,
    );
  });
});
