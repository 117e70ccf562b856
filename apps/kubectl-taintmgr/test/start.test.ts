// For which words code is kept, and for whom V8 is settled: bin/ has it as CommonJS.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { execute } from './world/plugin.ts';

const start = fileURLToPath(new URL('../bin/start.js', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'taintmgr-start-'));
const starter = join(home, 'starter.cjs');
const kept = join(home, 'kubectl-taintmgr');

/** As the build writes it: says whether what settles V8 came first. */
const source = `/* d */ (function (exports, require, module, __filename) {
  console.log(require('node:process').moduleLoadList.includes('NativeModule tls'));
})`;

describe('how the program is started', { skip: process.platform === 'win32' }, () => {
  afterEach(() => rmSync(home, { recursive: true }));

  const rows: readonly (readonly [args: readonly string[], kept: string, isSettled: boolean])[] = [
    [['explain', 'node', 'a'], 'explain-node-d', true],
    [['explain'], 'explain-d', true],
    [['status', 'words'], 'status-d', true],
    [['simulate'], 'simulate-d', false],
    [['--context=a', 'explain'], 'd', false],
    [['../a'], 'd', false],
  ];
  for (const [args, name, isSettled] of rows) {
    it(args.join(' '), async () => {
      mkdirSync(home, { recursive: true });
      const given = `{ file: 'main.js', source: ${JSON.stringify(source)}, load: require }`;
      writeFileSync(
        starter,
        `require(${JSON.stringify(start)}).start(process.argv.slice(2), ${given});`,
      );
      const env = { PATH: process.env.PATH, HOME: home, XDG_CACHE_HOME: home };
      const run = () => execute(process.execPath, [starter, ...args], env);
      // The second time with what was kept.
      for (const _ of ['first', 'second']) {
        assert.deepEqual(await run(), { code: 0, out: `${isSettled}\n`, err: '' });
        const file = `${name}-${process.version}-${process.arch}.code`;
        assert.deepEqual(readdirSync(kept), [file]);
      }
    });
  }
});
