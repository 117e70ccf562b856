import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const bench = fileURLToPath(new URL('../../src/bench/controller.ts', import.meta.url));

it('measures nothing where --only names nothing that it knows', () => {
  const words = ['-C', '@taintmgr/source', bench, '--only', 'bare request loop;bare'];
  const { status, stdout, stderr } = spawnSync(process.execPath, words);
  assert.deepEqual([status, String(stdout)], [2, '']);
  assert.match(
    String(stderr),
    /^--only: no evictor is called "bare"; there are: bare request loop; [^\n]*\n$/,
  );
});
