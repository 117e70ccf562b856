import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { it } from 'node:test';
import { followHeap } from '../../src/process/program.ts';

const program = new URL('../../src/process/program.ts', import.meta.url);

it('asks V8 for what it has: a flag that it does not know it would complain of at each start', () => {
  const script = `(await import(${JSON.stringify(program)})).tuneForController()`;
  const options = ['--conditions=@taintmgr/source', '--input-type=module', '-e'];
  const { status, stderr } = spawnSync(process.execPath, [...options, script]);
  assert.deepEqual([status, String(stderr)], [0, '']);
});

it('lets a small heap grow by more than a large one, which stays a large one', ({ mock }) => {
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
});
