import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pathOf } from '../../src/cli/arguments.ts';
import { readLabelSelector } from '../../src/cli/values.ts';
import { wholeProgram } from '../../src/program.ts';
import { CapturedOutput } from '../world/captured-output.ts';
import { run } from '../world/run.ts';

// What can be no name, as "$NODE" where nothing is set: a usage error before anybody is asked.

/** There is no such file: whoever asks a cluster says so. */
const nowhere = '--kubeconfig=/nope';

type Program = ReturnType<typeof wholeProgram>;

const program = wholeProgram({
  output: new CapturedOutput(false),
  interrupt: new AbortController().signal,
});

/** A command and those in it, at any depth. */
function commandsIn(command: Program): readonly Program[] {
  return [command, ...command.commands.flatMap(commandsIn)];
}

function usage(line: string): string {
  return `See kubectl taintmgr ${line} --help.\n`;
}

describe('an argument that is empty is refused', () => {
  for (const command of commandsIn(program)) {
    const path = pathOf(command);
    const filled = command.registeredArguments.map((one) => (one.name() === 'kind' ? 'job' : 'a'));
    for (const [at, argument] of command.registeredArguments.entries()) {
      for (const blank of ['', ' ', '\n']) {
        const before = filled.slice(0, at);
        const after = filled.slice(at + 1).filter((_, index) => {
          return command.registeredArguments[at + 1 + index]?.required;
        });
        it(`${path} ${[...before, JSON.stringify(blank)].join(' ')}`, async () => {
          const words = [...path.split(' '), ...before, blank, ...after];
          const result = await run(...words, nowhere);
          const err = `error: argument '${argument.name()}' is empty\n${usage(path)}`;
          assert.deepEqual(result, { code: 1, out: '', err });
        });
      }
    }
  }

  it('with 2 where 1 is an answer', async () => {
    assert.equal((await run('explain', 'node', '', '--exit-code', nowhere)).code, 2);
  });
});

const impossible = ['a/b', 'a b', 'Ab', '.', '..', 'a..b', '-', 'a\n', 'ä', 'a'.repeat(254)];

const named: readonly (readonly [path: string, argument: string, before?: string])[] = [
  ['explain node', 'names'],
  ['explain pod', 'names'],
  ['explain workload', 'name', 'job'],
  ['explain pressure', 'node'],
  ['drain-by-taint', 'nodes', 'k=v'],
  ['undo', 'nodes', 'drain-1'],
  ['takeover enable', 'namespaces'],
  ['takeover disable', 'namespaces'],
];

const want =
  "Want the name of an object: lower case letters, digits, '-' and '.', beginning and ending alphanumeric.";

describe('what no object can be called is refused', () => {
  for (const [path, argument, before] of named) {
    it(path, async () => {
      for (const name of impossible) {
        const words = [...path.split(' '), ...(before ? [before] : []), '--', name];
        assert.deepEqual(await run(nowhere, ...words), {
          ...{ code: 1, out: '' },
          err: `error: command-argument value '${name}' is invalid for argument '${argument}'. ${want}\n${usage(path)}`,
        });
      }
    });
  }

  for (const flag of ['--node', '--scratch']) {
    it(`takeover verify ${flag}, which may not be empty either`, async () => {
      for (const name of [...impossible, '', ' ']) {
        const words = ['takeover', 'verify', '--node=n1', `${flag}=${name}`, '--yes', nowhere];
        const { code, err } = await run(...words);
        assert.deepEqual([code, err.includes('is invalid') && err.includes(want)], [1, true], err);
      }
    });
  }

  it('but not a node that is named as kubectl names one', async () => {
    for (const line of ['drain-by-taint k=v node/n1 nodes/n2 no/n3', 'undo d1 node/n1']) {
      assert.match((await run(...line.split(' '), nowhere)).err, /\/nope: no such file/);
    }
    assert.match(
      (await run('undo', 'd1', 'node/node/n1', nowhere)).err,
      /'node\/node\/n1' is invalid/,
    );
  });

  it('resume pause/NAME', async () => {
    for (const name of ['', ' ', ...impossible]) {
      const { code, out, err } = await run('resume', `pause/${name}`, nowhere);
      assert.deepEqual([code, out], [1, '']);
      assert.match(err, /^error: got "pause\/.*, want pause\/NAME with the name of a pause\n$/);
    }
  });
});

describe('a selector that is empty', () => {
  for (const line of ['drain-by-taint k=v', 'undo drain-1']) {
    it(`selects no nodes for ${line}`, async () => {
      for (const selector of ['', ' ']) {
        const { code, out, err } = await run(...line.split(' '), '-l', selector, nowhere);
        assert.deepEqual([code, out], [1, '']);
        assert.match(err, /Want a label selector such as pool=blue; it is empty\.\nSee /);
      }
    });
  }
});

it('reads each form of a requirement', () => {
  const { matchExpressions } = readLabelSelector(
    '--x',
    'a=1, b==2,c!=3,d in (4, 5),e notin (6),f,!g,example.com/h=,i in (,j)',
  );
  assert.deepEqual(matchExpressions, [
    { key: 'a', operator: 'In', values: ['1'] },
    { key: 'b', operator: 'In', values: ['2'] },
    { key: 'c', operator: 'NotIn', values: ['3'] },
    { key: 'd', operator: 'In', values: ['4', '5'] },
    { key: 'e', operator: 'NotIn', values: ['6'] },
    { key: 'f', operator: 'Exists' },
    { key: 'g', operator: 'DoesNotExist' },
    { key: 'example.com/h', operator: 'In', values: [''] },
    { key: 'i', operator: 'In', values: ['', 'j'] },
  ]);
});

it('refuses what is none', () => {
  for (const text of ['', ',', 'a=b=c', 'a in b', 'a in (b', 'a~b', 'a,,b', '!', 'a in (b c)']) {
    assert.throws(() => readLabelSelector('--x', text), /^UsageError: --x: got /, text);
  }
});
