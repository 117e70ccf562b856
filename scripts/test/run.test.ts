import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

it('shows of a whole run what fails, what that file wrote to stderr, and the sum', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'taintmgr-progress-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const tested = (name: string, body: string): string => {
    const file = join(folder, `${name}.test.ts`);
    writeFileSync(file, `import { it } from 'node:test';\n${body}`);
    return file;
  };
  const reporter = fileURLToPath(new URL('../test-progress.mjs', import.meta.url));
  const files = [
    tested('good', `console.error('of no interest');\nit('holds', () => {});`),
    tested(
      'bad',
      `console.error('the reason');\nit('breaks', () => { throw new Error('wrong'); });`,
    ),
    tested('ends', `throw new Error('it cannot begin');`),
  ];
  const flags = ['--test', `--test-reporter=${reporter}`, '--test-reporter-destination=stdout'];
  // Else the runner takes this process for one of its own files.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { status, stdout } = spawnSync(process.execPath, [...flags, ...files], { env });
  const shown = String(stdout);
  assert.equal(status, 1);
  assert.match(shown, /breaks[\s\S]*Error: wrong/);
  assert.match(shown, /stderr of \S*bad\.test\.ts:\nthe reason\n/);
  assert.match(shown, /stderr of \S*ends\.test\.ts:\n[\s\S]*it cannot begin/);
  assert.doesNotMatch(shown, /of no interest/);
  assert.match(shown, /\n1 tests passed, 2 failed, 0 skipped, 0 to do in \d+ s\n$/);
});
