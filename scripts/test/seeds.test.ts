import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

// npm run seeds, as a user runs it.

const main = fileURLToPath(new URL('../seeds.ts', import.meta.url));

function seeds(...args: readonly string[]): { code: number | null; out: string; err: string } {
  const command = ['-C', '@taintmgr/source', main, ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8' });
  return { code: status, out: stdout, err: stderr };
}

describe('npm run seeds', () => {
  it('tells how many seeds failed', () => {
    const { code, out } = seeds('--count', '2', '--seed', '4');
    assert.match(out, /^[1-9]\d* requests to delete or evict pods\n2 seeds, 0 failed\n$/);
    assert.equal(code, 0);
  });

  it('tells the same in two threads', () => {
    const one = seeds('--count', '4', '--jobs', '1');
    assert.deepEqual(seeds('--count', '4', '--jobs', '2'), { ...one, code: 0 });
    assert.match(one.out, /\n4 seeds, 0 failed\n$/);
  });

  it('tells the story when asked', () => {
    const { out } = seeds('--count', '1', '--seed', '4', '--verbose');
    assert.match(out, /^00:00:00\.000 {5}0\.000 {2}config \{/);
    assert.match(out, / all trouble ends\n/);
  });

  it('finds a planted fault', () => {
    const { code, out } = seeds('--sabotage', 'evicts a second early', '--count', '5');
    assert.match(out, /^evicts a second early: caught by "before its deadline" in seed 3: pod /);
    assert.equal(code, 0);
  });

  it('fails when a planted fault is not found', () => {
    const { code, out } = seeds('--sabotage', 'evicts a second early', '--count', '1');
    assert.deepEqual([code, out], [1, 'evicts a second early: not caught in 1 seeds\n']);
  });

  const wrong: readonly (readonly [flags: string, message: RegExp])[] = [
    ['--count 0', /^error: --count: got "0", want a whole number from 1 to 2147483647 \(allowed: /],
    ['--jobs two', /^error: --jobs: got "two", want a whole number from 1 to 64 /],
    ['--story tale', /^error: --story: no such "tale" /],
    ['--sabotage nothing', /^error: --sabotage: no such "nothing", want all or one of /],
    ['--seeds 3', /^error: Unknown option '--seeds'/],
  ];
  for (const [flags, message] of wrong) {
    it(`refuses ${flags}`, () => {
      const { code, out, err } = seeds(...flags.split(' '));
      assert.match(err, message);
      assert.deepEqual([code, out], [2, '']);
    });
  }
});
