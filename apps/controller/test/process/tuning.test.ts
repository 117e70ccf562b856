import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { it, mock } from 'node:test';
import { followHeap } from '../../src/process/tuning.ts';

const tuning = new URL('../../src/process/tuning.ts', import.meta.url);

/** What a program says that calls it, and nothing else. */
function calling(name: string): readonly [number | null, string] {
  const script = `(await import(${JSON.stringify(tuning)})).${name}()`;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script]);
  return [status, String(stderr)];
}

it('asks V8 for what it has: a flag that it does not know it would complain of at each start', () => {
  assert.deepEqual(calling('tuneForController'), [0, '']);
  assert.deepEqual(calling('followHeap'), [0, '']);
});

it('lets a small heap grow by more than a large one, which stays a large one', () => {
  mock.timers.enable({ apis: ['setInterval'] });
  const said: number[] = [];
  followHeap((percent) => said.push(percent));
  mock.timers.tick(1000);
  assert.deepEqual(said, [80]);
  const large: unknown[] = [new Array(25e6).fill(0.5)];
  mock.timers.tick(1000);
  assert.deepEqual(said, [80, 30]);
  large.pop();
  mock.timers.tick(5000);
  assert.deepEqual(said, [80, 30]);
  mock.timers.reset();
});
