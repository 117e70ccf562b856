import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { dryRunLine, fieldsOf, line, logKeys } from '../../src/log/line.ts';
import { createLogger } from '../../src/log/logger.ts';

const source = fileURLToPath(new URL('../../src/', import.meta.url));

describe('keys of log lines', () => {
  it('that are not known do not compile', () => {
    const log = createLogger({ format: 'json', verbose: true, write: () => {} });
    const fields = { pod: 'shop/web-0', nonsense: 1 };
    // @ts-expect-error: as a literal
    log.info({ nonsense: 1 }, 'evicted');
    // @ts-expect-error: by way of a variable
    log.info(fields, 'evicted');
    // @ts-expect-error: in a line that is written later
    line('info', 'evicted', fields);
    // @ts-expect-error: by a spread, where it may be left out
    line('info', 'evicted', { ...(log && { nonsense: 1 }) });
    // @ts-expect-error: in fields of a line to come
    fieldsOf({ pod: 'shop/web-0', ...(log && { nonsense: 1 }) });
    // @ts-expect-error: for all lines of a logger
    log.child(fields);
  });

  it('are all used', () => {
    const files = globSync('**/*.ts', { cwd: source }).filter((name) => name !== 'log/line.ts');
    const text = files.map((name) => readFileSync(`${source}${name}`, 'utf8')).join('\n');
    const unused = Object.keys(logKeys).filter((key) => !new RegExp(`\\b${key}\\b`).test(text));
    assert.deepEqual(unused, []);
  });
});

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

it('what a dry run plans or holds is marked once', () => {
  const planned = line('info', 'eviction scheduled', { in: '5m' });
  const marked = dryRunLine(planned, true);
  assert.equal(marked.message, 'dry run: eviction scheduled');
  assert.deepEqual(dryRunLine(marked, true), marked);
});
