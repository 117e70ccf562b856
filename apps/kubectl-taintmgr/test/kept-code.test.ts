// Code that is kept compiled, by processes that run a file with it: bin/ has it as CommonJS.
import assert from 'node:assert/strict';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { execute } from './world/plugin.ts';

const keptCode = fileURLToPath(new URL('../bin/kept-code.js', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'taintmgr-kept-'));
const folder = join(home, 'kubectl-taintmgr');
const file = join(folder, `part-d-${process.version}-${process.arch}.code`);
const source = 'const late = () => "ran with " + process.argv[2]; console.log(late());';

/** As the build writes it. */
function inFunction(text: string): string {
  return `/* d */ (function (exports, require, module, __filename) {${text}\n})`;
}

/** Runs a source with what is kept of it; what it printed. */
async function run(text: string, argument: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const call = `require(${JSON.stringify(keptCode)}).runKept('/x/part.js', ${JSON.stringify(inFunction(text))}, ['part'], require)`;
  const starter = join(home, 'start.cjs');
  writeFileSync(starter, call);
  const all = { PATH: process.env.PATH, HOME: home, XDG_CACHE_HOME: home, ...env };
  const { out } = await execute(process.execPath, [starter, argument], all);
  return out;
}

describe('code that is kept', { skip: process.platform === 'win32' }, () => {
  beforeEach(() => rmSync(folder, { recursive: true, force: true }));
  after(() => rmSync(home, { recursive: true }));

  it('is written by the first run and used by the next, for nobody else to read', async () => {
    assert.equal(await run(source, 'one'), 'ran with one\n');
    assert.deepEqual(readdirSync(folder), [`part-d-${process.version}-${process.arch}.code`]);
    assert.deepEqual(
      [statSync(folder), statSync(file)].map(({ mode }) => mode & 0o777),
      [0o700, 0o600],
    );
    const { ino } = statSync(file);
    assert.equal(await run(source, 'two'), 'ran with two\n');
    assert.equal(statSync(file).ino, ino, 'nothing was to be written again');
  });

  it('is not believed when it is damaged, and written anew', async () => {
    mkdirSync(folder, { mode: 0o700 });
    writeFileSync(file, 'no code', { mode: 0o600 });
    assert.equal(await run(source, 'one'), 'ran with one\n');
    assert.notEqual(readFileSync(file, 'latin1'), 'no code');
  });

  it('is not believed when others could have written it', async () => {
    await run(source, 'one');
    const { ino } = statSync(file);
    chmodSync(file, 0o620);
    assert.equal(await run(source, 'two'), 'ran with two\n');
    const { ino: anew, mode } = statSync(file);
    assert.notEqual(anew, ino);
    assert.equal(mode & 0o777, 0o600);
  });

  it('is not kept of a run that failed', async () => {
    await run(`${source} process.exitCode = 1;`, 'one');
    assert.throws(() => readdirSync(folder), { code: 'ENOENT' });
  });

  it('is not kept where Node is told to keep none', async () => {
    const env = { NODE_DISABLE_COMPILE_CACHE: '1' };
    assert.equal(await run(source, 'one', env), 'ran with one\n');
    assert.throws(() => readdirSync(folder), { code: 'ENOENT' });
  });

  it('takes nothing away where it cannot be written', async () => {
    writeFileSync(folder, 'a file stands where the folder would');
    assert.equal(await run(source, 'one'), 'ran with one\n');
    assert.equal(readFileSync(folder, 'utf8'), 'a file stands where the folder would');
  });
});
