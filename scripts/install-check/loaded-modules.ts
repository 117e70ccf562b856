// Which of Node's own modules a program loads: after it has set flags of V8, which then has to compile them
// anew, and those that nobody asked for.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const watching = `
const v8 = require('node:v8');
const { setFlagsFromString } = v8;
let before = Infinity;
v8.setFlagsFromString = (flag) => {
  before = Math.min(before, process.moduleLoadList.length);
  setFlagsFromString(flag);
};
process.on('exit', () => {
  const { moduleLoadList: all } = process;
  require('node:fs').writeFileSync(__filename + '.json', JSON.stringify({ all, late: all.slice(before) }));
});
`;

interface Loaded {
  readonly all: readonly string[];
  readonly late: readonly string[];
}

/** Those that came after the flags, as `NativeModule os`; `run` starts the program with these arguments of Node. */
export async function lateModules(folder: string, run: Run): Promise<readonly string[]> {
  const { late } = await loadedBy(folder, run);
  // Those that are Node's own business come with streams, and are small.
  return late.filter((name) => /^NativeModule (?!internal\/)/.test(name));
}

/** What Node has for the web, which takes 14 MB and comes with `import` of its module for HTTP, used or not. */
export async function webModules(folder: string, run: Run): Promise<readonly string[]> {
  const { all } = await loadedBy(folder, run);
  return all.filter((name) => name.includes('undici'));
}

type Run = (...hook: readonly string[]) => Promise<unknown>;

/** A file is left in the folder. */
async function loadedBy(folder: string, run: Run): Promise<Loaded> {
  const hook = join(folder, 'watching.cjs');
  writeFileSync(hook, watching);
  await run('--require', hook);
  return JSON.parse(readFileSync(`${hook}.json`, 'utf8'));
}
