import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { it } from 'node:test';

const tuning = new URL('../../src/process/tuning.ts', import.meta.url);

it('asks V8 for what it has: a flag that it does not know it would complain of at each start', () => {
  const script = `(await import(${JSON.stringify(tuning)})).tuneForController()`;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script]);
  assert.deepEqual([status, String(stderr)], [0, '']);
});
