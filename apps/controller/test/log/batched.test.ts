import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { batched } from '../../src/log/batched.ts';

const file = new URL('../../src/log/batched.ts', import.meta.url).href;

/** What a program writes that logs 1,000 lines and then does this. */
function written(end: string): string {
  const program = `
    import { batched } from '${file}';
    const { write, flush } = batched((text) => process.stderr.write(text));
    process.on('exit', flush);
    process.on('uncaughtException', () => { write('crashed\\n'); process.exit(1); });
    for (let n = 0; n < 1000; n++) write('line ' + n + '\\n');
    ${end}`;
  const flags = ['--input-type=module', '--eval', program];
  return spawnSync(process.execPath, flags, { encoding: 'utf8' }).stderr;
}

describe('log lines', () => {
  it('of one turn are written at once, and later ones soon after, in their order', async () => {
    const writes: string[] = [];
    let resolve = (): void => {};
    const second = new Promise<void>((settle) => {
      resolve = settle;
    });
    const { write } = batched((text) => {
      writes.push(text);
      if (writes.length === 2) resolve();
    });
    // What waits keeps no process alive, this one included.
    const busy = setInterval(() => {}, 1000);
    write('a\n');
    write('b\n');
    assert.deepEqual(writes, []);
    await turn();
    assert.deepEqual(writes, ['a\nb\n']);
    write('c\n');
    await turn();
    write('d\n');
    await second;
    clearInterval(busy);
    assert.deepEqual(writes, ['a\nb\n', 'c\nd\n']);
  });

  it('are not held back when they are many', () => {
    const writes: string[] = [];
    const { write } = batched((text) => void writes.push(text));
    for (let n = 0; n < 70_000; n++) write('x');
    assert.deepEqual(
      writes.map(({ length }) => length),
      [65_536],
    );
  });

  const lines = Array.from({ length: 1000 }, (_, n) => `line ${n}\n`).join('');
  for (const [how, end, last] of [
    ['at its end', '', ''],
    ['when it exits at once', 'process.exit(0);', ''],
    ['when it crashes', "throw new Error('a mistake');", 'crashed\n'],
    [
      'when it crashes later',
      "setImmediate(() => { throw new Error('a mistake'); });",
      'crashed\n',
    ],
  ] as const) {
    it(`are all there of a process ${how}`, () => {
      assert.equal(written(end), lines + last);
    });
  }
});
