import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { claimFaults } from '../proof/claims.ts';
import { type ProofRecord, proofPage, type Result, rowFaults } from '../proof/page.ts';
import { rows } from '../proof/rows.ts';

// What npm run proof has written last, and the claims that rest on it.

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const record: ProofRecord = JSON.parse(read('scripts/proof/record.json'));
const readme = read('README.md');
const { scripts } = JSON.parse(read('package.json'));

describe('docs/proof.md', () => {
  it('shows the last results', () => {
    assert.equal(read('docs/proof.md'), proofPage(rows, record));
  });

  for (const row of rows) {
    it(`${row.id} has commands that exist, and has not failed`, () => {
      const programs = row.commands.flatMap((command) =>
        Array.from(command.matchAll(/npm run (?:-s )?([\w:-]+)/g), ([, name = '']) => name),
      );
      assert.deepEqual(
        programs.filter((name) => !Object.hasOwn(scripts, name)),
        [],
      );
      const result = record.results[row.id];
      if (result !== undefined) assert.deepEqual(rowFaults(row, result), []);
    });
  }

  it('counts no seed twice', () => {
    let next = 1;
    for (const { from, count } of record.seeds) {
      assert.equal(from, next);
      next += count;
    }
  });
});

describe('claims of the README', () => {
  it('have rows that passed', () => {
    assert.deepEqual(claimFaults(readme, rows, record), []);
  });

  const changed: readonly (readonly [string, (text: string) => string, RegExp])[] = [
    [
      'a claim without a row',
      (text) => text.replace('\n- **[Limits]', '\n- **Pods** come back.\n- **[Limits]'),
      /^"- Pods come back\." has no row in docs\/proof\.md$/,
    ],
    [
      'a promise without a row in another section',
      (text) => text.replace('\n## Ask it\n', '\n## Ask it\n\nThe answer is never wrong.\n'),
      /^"The answer is never wrong\." has no row/,
    ],
    [
      'a figure without a row',
      (text) => text.replace('\n## Ask it\n', '\n## Ask it\n\nThe answer takes 9 ms.\n'),
      /^"The answer takes 9 ms\." has no row/,
    ],
    [
      'a paragraph without a row above the first section',
      (text) => text.replace('\n- **[Deadlines]', '\nPods come back.\n\n- **[Deadlines]'),
      /^"Pods come back\." has no row/,
    ],
    [
      'a heading that promises',
      (text) => text.replace('\n## Ask it\n', '\n## Ask it a million times\n'),
      /^"## Ask it a million times" has no row/,
    ],
    [
      'a figure in words in a list of stars',
      (text) => text.replace('\n## Ask it\n', '\n## Ask it\n\n* It is ten times faster.\n'),
      /^"It is ten times faster\." has no row/,
    ],
    [
      'a link to no row',
      (text) => text.replace('proof.md#limits', 'proof.md#no-limits'),
      /^docs\/proof\.md has no row no-limits$/,
    ],
    [
      'another figure',
      (text) => text.replace('takes 102 s', 'takes 1,000 s'),
      /^"1,000 s" is no figure of row drain$/,
    ],
    [
      'another unit',
      (text) => text.replace('takes 102 s', 'takes 102 ms'),
      /^"102 ms" is no figure of row drain$/,
    ],
    [
      'another scoreboard',
      (text) => text.replace(/(pods evicted +81 +)11/, '$17'),
      /^"Wrong taint: pods evicted .* is not what row demo printed$/,
    ],
    [
      'a scoreboard without its worst line',
      (text) => text.replace(/^Zone outage: pod-minutes lost .*\n/m, ''),
      /^the scoreboard leaves out "Zone outage: pod-minutes lost"/,
    ],
  ];
  for (const [name, change, fault] of changed) {
    it(`${name} is found`, () => {
      const planted = change(readme);
      assert.notEqual(planted, readme);
      const [only = '', ...others] = claimFaults(planted, rows, record);
      assert.match(only, fault);
      assert.deepEqual(others, []);
    });
  }

  const worse: readonly (readonly [string, Partial<Result>, string])[] = [
    ['failed', { status: 3 }, 'a command ended with 3'],
    ['had other commands', { commands: ['true'] }, 'its commands have changed since it ran'],
    ['prints less', { figures: {} }, 'passed: not printed'],
    [
      'prints a worse figure',
      { figures: { passed: '40 of 41' } },
      'passed: 40 of 41, want at least 100 %',
    ],
  ];
  for (const [name, change, fault] of worse) {
    it(`a row that ${name} is found, and shown as FAILED`, () => {
      const result = record.results.undo ?? assert.fail('no result');
      const results = { ...record.results, undo: { ...result, ...change } };
      const [first] = claimFaults(readme, rows, { ...record, results });
      assert.equal(first, `row undo failed: ${fault}`);
      assert.ok(proofPage(rows, { ...record, results }).includes(`**FAILED** (${fault}`));
    });
  }
});

describe('npm run proof', () => {
  const wrong: readonly (readonly [flags: string, message: RegExp])[] = [
    ['no-such-row', /^error: no row is called "no-such-row", want some of demo, deadlines, /],
    ['--seeds none', /^error: --seeds: got "none", want a whole number from 1$/m],
    ['--fast', /^error: Unknown option '--fast'/],
  ];
  for (const [flags, message] of wrong) {
    it(`refuses ${flags}`, () => {
      const main = fileURLToPath(new URL('scripts/proof.ts', root));
      const command = ['-C', '@taintmgr/source', main, ...flags.split(' ')];
      const { status, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8' });
      assert.match(stderr, message);
      assert.equal(status, 2);
    });
  }
});
