// Log lines of a dry run: what would have been done is not told as done.
import type { Line } from './line.ts';

const texts: ReadonlyMap<string, string> = new Map([
  ['caches synced, evictions start', 'caches synced, the dry run starts: nothing is evicted'],
  ['evicting', 'dry run: would evict'],
  ['evicted', 'dry run: would have evicted'],
]);

/** The line as a dry run says it; `isOfWrite`: it reports something else that was written. */
export function dryRunLine(said: Line, isOfWrite = false): Line {
  const { message } = said;
  return { ...said, message: texts.get(message) ?? (isOfWrite ? `dry run: ${message}` : message) };
}
