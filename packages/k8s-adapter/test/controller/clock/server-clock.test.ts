import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ServerClock } from '../../../src/controller/clock/server-clock.ts';

const start = Date.parse('2026-01-01T00:00:00Z');

/** What is told of one exchange, in milliseconds since the start by our time. */
interface Told {
  readonly sent: number;
  readonly heard: number;
  /** What the server's clock shows when it answers; its header says less. */
  readonly server: number;
  readonly status?: number;
}

function clockAfter(...exchanges: readonly Told[]): ServerClock {
  const clock = new ServerClock();
  for (const [index, { sent, heard, server, status = 200 }] of exchanges.entries()) {
    const id = String(index);
    clock.follow(start + sent, [{ kind: 'send', id, request: { path: '/' } }]);
    const headers = { date: new Date(start + server).toUTCString() };
    clock.handle(start + heard, { kind: 'head', id, status, headers });
  }
  return clock;
}

describe("the API server's clock", () => {
  const cases: readonly (readonly [name: string, exchanges: readonly Told[], ahead: number])[] = [
    ['is ours until we hear of it', [], 0],
    ['is ours where that can be', [{ sent: 200, heard: 300, server: 250 }], 0],
    ['may be a second off and nobody can tell', [{ sent: 0, heard: 0, server: 999 }], 0],
    ['is what it has reached for certain', [{ sent: 200, heard: 300, server: 60_700 }], 59_700],
    ['behind ours too', [{ sent: 200, heard: 300, server: -60_300 }], -61_300],
    [
      'is known better by more answers',
      [
        { sent: 200, heard: 200, server: 60_700 },
        { sent: 510, heard: 510, server: 61_010 },
      ],
      60_490,
    ],
    [
      'is not that of what stands before the server',
      [{ sent: 0, heard: 0, server: 60_000, status: 502 }],
      0,
    ],
    [
      'is the earlier one of two that contradict each other',
      [
        { sent: 0, heard: 0, server: 60_000 },
        { sent: 1000, heard: 1000, server: 1000 },
        { sent: 2000, heard: 2000, server: 62_000 },
      ],
      0,
    ],
    [
      'is the later one when the earlier one is old',
      [
        { sent: 0, heard: 0, server: 0 },
        { sent: 30_000, heard: 30_000, server: 90_000 },
      ],
      60_000,
    ],
    ['says nothing by an answer that lay about', [{ sent: 0, heard: 50_000, server: 100 }], 0],
  ];
  for (const [name, exchanges, ahead] of cases) {
    it(name, () => assert.equal(clockAfter(...exchanges).ahead, ahead));
  }

  const latest: readonly (readonly [string, readonly Told[], number])[] = [
    ['one answer alone', [{ sent: 3000, heard: 3000, server: 603_000 }], 0],
    [
      'two of the same second',
      [
        { sent: 3000, heard: 3000, server: 603_000 },
        { sent: 3500, heard: 3500, server: 603_500 },
      ],
      0,
    ],
    [
      'two that do not agree',
      [
        { sent: 3000, heard: 3000, server: 603_000 },
        { sent: 5000, heard: 5000, server: 905_000 },
      ],
      0,
    ],
    [
      'two that agree',
      [
        { sent: 3000, heard: 3000, server: 603_000 },
        { sent: 5000, heard: 5000, server: 605_000 },
      ],
      600_000,
    ],
    [
      'two that agree with what is believed',
      [
        { sent: 3000, heard: 3000, server: 3000 },
        { sent: 5000, heard: 5000, server: 5400 },
      ],
      0,
    ],
  ];
  for (const [name, exchanges, ahead] of latest) {
    it(`dates heartbeats by what was set forward after ${name}: ${ahead} ms`, () => {
      const before = { sent: 0, heard: 0, server: 0 };
      const { heard } = exchanges.at(-1) ?? before;
      const clock = clockAfter(before, ...exchanges);
      assert.equal(clock.latest(start + heard) - (start + heard), ahead);
      assert.equal(clock.ahead, 0, 'nothing else goes by it yet');
    });
  }

  it('that contradicts itself is settled by time alone', () => {
    const clock = clockAfter(
      { sent: 0, heard: 0, server: 0 },
      { sent: 10_000, heard: 10_000, server: 70_000 },
    );
    assert.deepEqual([clock.ahead, clock.nextWake()], [0, start + 30_000]);
    assert.equal(clock.handle(start + 29_999, { kind: 'tick' }), false);
    assert.equal(clock.handle(start + 30_000, { kind: 'tick' }), true);
    assert.deepEqual([clock.ahead, clock.nextWake()], [60_000, null]);
  });

  it('that contradicted itself is settled by an answer that does not', () => {
    const told = [
      { sent: 0, heard: 0, server: 0 },
      { sent: 4800, heard: 5000, server: 65_000 },
    ];
    assert.equal(clockAfter(...told).nextWake(), start + 30_000);
    const settled = clockAfter(...told, { sent: 4300, heard: 5000, server: 5600 });
    assert.deepEqual([settled.ahead, settled.nextWake()], [0, null]);
  });

  it('is not asked of an answer without a date, or with one that is none', () => {
    const clock = new ServerClock();
    for (const date of ['', 'soon', '1', 'Thu, 01 Foo 2026 00:00:00 GMT', '2026-01-01T00:00:00Z']) {
      clock.follow(start, [{ kind: 'send', id: date, request: { path: '/' } }]);
      const told = { kind: 'head', id: date, status: 200, headers: { date } } as const;
      assert.equal(clock.handle(start + 5000, told), false, date);
    }
  });

  it('is read from an answer that came as a whole, once', () => {
    const clock = new ServerClock();
    clock.follow(start, [{ kind: 'send', id: '1', request: { path: '/' } }]);
    const headers = { date: new Date(start + 60_700).toUTCString() };
    const answer = {
      kind: 'answer',
      id: '1',
      status: 200,
      headers,
      data: new Uint8Array(),
    } as const;
    assert.equal(clock.handle(start + 300, answer), true);
    assert.equal(clock.ahead, 59_700);
    const later = { date: new Date(start + 120_000).toUTCString() };
    assert.equal(clock.handle(start + 400, { ...answer, headers: later }), false);
  });

  it('is asked of few of the answers that come at the same time', () => {
    const headers = { date: new Date(start + 60_000).toUTCString() };
    /** Which of 300 requests, sent 100 at a time, are listened to: by the number of each. */
    const listened = Array.from({ length: 300 }, (_, asked) => asked).filter((asked) => {
      const clock = new ServerClock();
      for (const [index, at] of [0, 19, 20].entries()) {
        for (let one = 0; one < 100; one++) {
          const id = String(100 * index + one);
          clock.follow(start + at, [{ kind: 'send', id, request: { path: '/' } }]);
        }
      }
      return clock.handle(start + 100, { kind: 'head', id: String(asked), status: 200, headers });
    });
    assert.deepEqual(listened, [0, 1, 2, 3, 4, 5, 6, 7, 200]);
  });
});
