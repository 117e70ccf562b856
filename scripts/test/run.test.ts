import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const run = fileURLToPath(new URL('../run.mjs', import.meta.url));

/** What a task that cannot begin says, and with which code it ends. */
function refused(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [run, ...args]);
  assert.deepEqual([status, String(stdout)], [1, '']);
  return String(stderr);
}

it('begins no bench where the name of one is none', () => {
  const said = refused('bench', 'controller', '--help');
  assert.match(
    said,
    /^taintmgr: no bench is called "--help"; .* controller; "npm run tidy -- --files" lists/,
  );
});

it('says which tasks there are', () => {
  assert.match(refused('tset'), /^taintmgr: unknown task "tset", want one of demo, .* check\n$/);
});
