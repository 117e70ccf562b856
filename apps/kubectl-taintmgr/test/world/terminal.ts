import { execute } from './plugin.ts';
import { type Result, run } from './run.ts';

// What a user types. Starting kubectl and Node takes longer than what most commands do. So in each
// transcript the first call of the plugin goes by way of the machine's kubectl, as do lines that need
// a shell, and the others call the same program in this process.

/** How lines call the plugin, and what the plugin then gets as its first arguments. */
const calls: readonly (readonly [prefix: string, args: readonly string[]])[] = [
  ['kubectl taintmgr ', []],
  ['kubectl __complete taintmgr ', ['__complete']],
];
const withoutErrors = / 2>\/dev\/null$/;

/** Plays the lines of one transcript, in the environment of this process. */
export function terminal(): (line: string) => Promise<Result> {
  const seen = new Set<string>();
  return async (line) => {
    const [prefix, args = []] = calls.find(([start]) => line.startsWith(start)) ?? [''];
    const words = plainWords(line.slice(prefix.length).replace(withoutErrors, ''));
    const isFirst = !seen.has(prefix);
    seen.add(prefix);
    if (prefix === '' || isFirst || words === null) return await execute('sh', ['-c', line]);
    const result = await run(...args, ...words);
    return withoutErrors.test(line) ? { ...result, err: '' } : result;
  };
}

/** The words of a line as a shell reads them; null for a line that only a shell can read. */
function plainWords(line: string): readonly string[] | null {
  if (/[\\"`$|&;<>()*?#~\n]/.test(line.replace(/'[^']*'/g, ''))) return null;
  const words = line.match(/(?:'[^']*'|[^\s'])+/g) ?? [];
  return words.map((word) => word.replace(/'([^']*)'/g, '$1'));
}
