// Log lines of a dry run: what would have been done is not told as done.
import type { Line } from './line.ts';

const texts: ReadonlyMap<string, string> = new Map([
  ['caches synced, evictions start', 'caches synced, the dry run starts: nothing is evicted'],
  ['evicting', 'dry run: would evict'],
  ['evicted', 'dry run: would have evicted'],
]);

/** The line as a dry run says it. */
export function dryRunLine(said: Line): Line {
  return { ...said, message: texts.get(said.message) ?? said.message };
}
