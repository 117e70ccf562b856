// Which file the arguments start: bin/ has it as CommonJS.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { execute } from './world/plugin.ts';

const start = fileURLToPath(new URL('../bin/start.js', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'taintmgr-start-'));

/** As the build writes them. */
function inFunction(source: string): string {
  return `(function (exports, require, module, __filename) {${source}\n})`;
}

const source = inFunction(`console.log('explains with ' + require('node:path').sep);`);

/** What is printed for these arguments. */
async function printed(...args: readonly string[]): Promise<string> {
  const starter = join(home, 'starter.cjs');
  writeFileSync(
    starter,
    `const source = ${JSON.stringify(source)};
    require(${JSON.stringify(start)}).start(process.argv.slice(2), {
      part: (name) => ({ file: name + '.js', source, digest: 'd' }),
      load: require,
      help: () => 'help',
      everything: (command) => console.log('everything for ' + command),
    });`,
  );
  const env = { PATH: process.env.PATH, HOME: home, XDG_CACHE_HOME: home };
  const { out, err } = await execute(process.execPath, [starter, ...args], env);
  return out + err;
}

describe('what the arguments start', () => {
  after(() => rmSync(home, { recursive: true }));

  const rows: readonly (readonly [args: readonly string[], printed: string])[] = [
    [['explain', 'node'], 'explains with /\n'],
    [['explain'], 'explains with /\n'],
    [['status'], 'everything for status\n'],
    [['--context=a', 'explain'], 'everything for \n'],
    [['--help'], 'help\n'],
  ];
  for (const [args, wanted] of rows) {
    it(args.join(' '), async () => {
      const isPosix = process.platform !== 'win32';
      const expected = isPosix ? wanted : wanted.replace('/', '\\');
      // The second time with what was kept.
      assert.equal(await printed(...args), expected);
      assert.equal(await printed(...args), expected);
    });
  }
});
