// Node's own modules that a program loads after it has set flags of V8, which then has to compile them anew.
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
  const late = process.moduleLoadList.slice(before);
  require('node:fs').writeFileSync(__filename + '.json', JSON.stringify(late));
});
`;

/** Their names, as `NativeModule os`; `run` starts the program with these arguments of Node. A file is left in the folder. */
export async function lateModules(
  folder: string,
  run: (...hook: readonly string[]) => Promise<unknown>,
): Promise<readonly string[]> {
  const hook = join(folder, 'watching.cjs');
  writeFileSync(hook, watching);
  await run('--require', hook);
  const late: readonly string[] = JSON.parse(readFileSync(`${hook}.json`, 'utf8'));
  // Those that are Node's own business come with streams, and are small.
  return late.filter((name) => /^NativeModule (?!internal\/)/.test(name));
}
