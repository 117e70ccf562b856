import assert from 'node:assert/strict';
import { it } from 'node:test';
import { dryRunLine } from '../../src/log/dry-run.ts';
import { line } from '../../src/log/line.ts';

// In a dry run nothing is told as done that would only be done.

for (const [message, told] of [
  ['caches synced, evictions start', 'caches synced, the dry run starts: nothing is evicted'],
  ['evicting', 'dry run: would evict'],
  ['evicted', 'dry run: would have evicted'],
  ['reading nodes failed, reconnecting', 'reading nodes failed, reconnecting'],
] as const) {
  it(`"${message}" of a dry run is "${told}"`, () => {
    assert.deepEqual(dryRunLine(line('info', message, {})), line('info', told, {}));
  });
}

it('"tainted node" of a dry run is said to be of one', () => {
  const said = dryRunLine(line('info', 'tainted node', {}), true);
  assert.deepEqual(said, line('info', 'dry run: tainted node', {}));
});
