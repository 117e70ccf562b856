// When maintenance windows are open, by the clocks of their time zones.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatTime, parseTime } from '@taintmgr/core/time';
import { openingAt } from '../../src/drain/windows.ts';

const hour = 3_600_000;
const berlin = { schedule: '0 2 * * SAT', timeZone: 'Europe/Berlin', duration: 2 * hour };
const nightly = { schedule: '30 2 * * *', timeZone: 'Europe/Berlin', duration: hour };
const utc = { schedule: '0 22 * * 1-5', timeZone: 'Etc/UTC', duration: hour };

/** What is open at a time, in one line. */
function at(time: string, ...windows: Parameters<typeof openingAt>[0]): string {
  const opening = openingAt(windows, parseTime(time) ?? assert.fail(time));
  if (opening.kind === 'open') return `open until ${formatTime(opening.until)}`;
  return opening.message;
}

describe('maintenance windows', () => {
  for (const [name, said, wanted] of [
    ['before', at('2026-11-28T00:59:59Z', berlin), 'opens Sat 2026-11-28 02:00 Europe/Berlin'],
    ['at the first instant', at('2026-11-28T01:00:00Z', berlin), 'open until 2026-11-28T03:00:00Z'],
    ['in its midst', at('2026-11-28T02:30:00Z', berlin), 'open until 2026-11-28T03:00:00Z'],
    ['in its last second', at('2026-11-28T02:59:59Z', berlin), 'open until 2026-11-28T03:00:00Z'],
    ['at the end', at('2026-11-28T03:00:00Z', berlin), 'opens Sat 2026-12-05 02:00 Europe/Berlin'],
    ['in summer', at('2026-07-04T00:30:00Z', berlin), 'open until 2026-07-04T02:00:00Z'],
    // On 29 March 2026 the clocks of Berlin go from 02:00 to 03:00.
    [
      'an hour that is left out',
      at('2026-03-29T00:45:00Z', nightly),
      'opens Sun 2026-03-29 03:00 Europe/Berlin',
    ],
    // On 25 October 2026 they go from 03:00 to 02:00.
    [
      'an hour that comes twice',
      at('2026-10-25T00:45:00Z', nightly),
      'open until 2026-10-25T01:30:00Z',
    ],
    [
      'the first of several',
      at('2026-11-27T20:00:00Z', berlin, utc),
      'opens Fri 2026-11-27 22:00 Etc/UTC',
    ],
    ['one of several', at('2026-11-27T22:10:00Z', berlin, utc), 'open until 2026-11-27T23:00:00Z'],
    [
      'never',
      at('2026-01-01T00:00:00Z', { ...utc, schedule: '0 0 30 2 *' }),
      'spec.windows[0] never opens',
    ],
  ] as const) {
    it(name, () => assert.equal(said, wanted));
  }

  for (const [name, window, words] of [
    [
      'a time zone that is none',
      { ...utc, timeZone: 'Europe/Berlni' },
      /^spec\.windows\[1\]: got schedule "0 22 \* \* 1-5", timeZone "Europe\/Berlni": .+/,
    ],
    [
      'an hour that is none',
      { ...utc, schedule: '0 25 * * *' },
      /^spec\.windows\[1\]: got schedule "0 25 \* \* \*", .+25/,
    ],
  ] as const) {
    it(`are all closed by ${name}`, () => {
      const opening = openingAt([berlin, window], parseTime('2026-11-28T02:00:00Z') ?? 0);
      assert.equal(opening.kind, 'unreadable');
      assert.match(opening.kind === 'unreadable' ? opening.message : '', words);
    });
  }
});
