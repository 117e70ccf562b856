// The program's help as bin/ keeps it ready, beside the same help as commander makes it.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { programHelp } from '../src/program.ts';
import { CapturedOutput } from './world/captured-output.ts';
import { execute } from './world/plugin.ts';
import { PseudoTerminal, withoutTerminal } from './world/pseudo-terminal.ts';

type WrapHelp = (text: string, columns: number) => string;

const bin = fileURLToPath(new URL('../bin/', import.meta.url));
const { wrapHelp } = createRequire(import.meta.url)('../bin/help.js') as { wrapHelp: WrapHelp };

async function helpOf(columns: number): Promise<string> {
  const interrupt = new AbortController().signal;
  return await programHelp({ output: new CapturedOutput(false), interrupt }, columns);
}

const ready = await helpOf(Number.MAX_SAFE_INTEGER);

const narrow = `${await helpOf(80)}\n`;

describe('help that was made ready', () => {
  const folder = mkdtempSync(join(tmpdir(), 'taintmgr-help-'));
  after(() => rmSync(folder, { recursive: true }));

  it('is wrapped as commander wraps it, however wide a terminal is', async () => {
    for (let columns = 0; columns <= 300; columns++) {
      assert.equal(wrapHelp(ready, columns), await helpOf(columns), `${columns} columns`);
    }
  });

  const starter = join(folder, 'start.cjs');
  writeFileSync(
    starter,
    `require(${JSON.stringify(join(bin, 'start.js'))}).start(process.argv.slice(2), {
      help: () => ${JSON.stringify(ready)},
      part: (name) => console.error('part ' + name) ?? process.exit(),
      everything: (word) => console.error('everything ' + word),
    });`,
  );
  const run = (...args: readonly string[]) => execute(process.execPath, [starter, ...args]);

  for (const words of [['--help'], ['-h'], ['help']]) {
    it(`is all that ${words} loads`, async () => {
      assert.deepEqual(await run(...words), { code: 0, out: narrow, err: '' });
    });
  }

  it('is an error where nothing was asked for', async () => {
    assert.deepEqual(await run(), { code: 1, out: '', err: narrow });
  });

  const others: readonly (readonly [args: readonly string[], loaded: string])[] = [
    [['help', 'explain'], 'everything help'],
    [['--help', '--color=never'], 'everything '],
    [[''], 'everything '],
    [['status', '--help'], 'everything status'],
    [['explain', '--help'], 'part explain'],
  ];
  for (const [args, loaded] of others) {
    it(`is not what ${JSON.stringify(args)} asks for`, async () => {
      assert.deepEqual(await run(...args), { code: 0, out: '', err: `${loaded}\n` });
    });
  }

  it('is left to the whole program where nobody takes it', { skip: withoutFull() }, async () => {
    const line = `'${process.execPath}' '${starter}' --help > /dev/full`;
    assert.equal((await execute('sh', ['-c', line])).err, 'everything \n');
  });

  it('is as wide as the terminal', { skip: withoutTerminal }, async () => {
    const line = `'${process.execPath}' '${starter}' --help`;
    const terminal = new PseudoTerminal(line, { PATH: process.env.PATH }, 'cols 75 rows 30');
    await terminal.saw(/disable-compression[^\n]*\n/);
    assert.equal(terminal.shown.replaceAll('\r', ''), `${await helpOf(75)}\n`);
  });
});

function withoutFull(): string | false {
  return process.platform !== 'linux' && 'there is no /dev/full';
}
