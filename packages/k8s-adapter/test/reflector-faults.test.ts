import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FaultRule } from '@taintmgr/sim-cluster';
import type { ExchangeSink } from '../src/virtual.ts';
import { Follower, type Line, type Mode, modes } from './follower.ts';

// What goes wrong with lists and watches, and what a reflector makes of it. Each case is played in
// each mode.

interface Case {
  readonly name: string;
  /** What goes wrong from the beginning. */
  readonly faults?: readonly FaultRule[];
  readonly line?: () => Line;
  readonly historyLength?: number;
  /** What goes on while it is so; it has followed for a minute by then. */
  readonly story: (follower: Follower) => void;
  /** Complete again after this time without trouble; 60 s when left out. */
  readonly recoversWithin?: number;
  /** How often everything is listed altogether; 1 when left out. */
  readonly lists?: number;
  /** What people are told, each once at least; nothing else may be told. */
  readonly tells?: readonly RegExp[];
}

const watches = ['watch'];
const answered = (code: 409 | 410 | 429 | 500, verbs: readonly string[], times: number) =>
  ({ fault: { kind: 'answer', code }, verbs, times }) as const satisfies FaultRule;
const hiccup = (follower: Follower): void => {
  follower.api.faults.breakStreams();
  churn(follower);
};

const cases: readonly Case[] = [
  {
    name: 'an hour without a change, then one: few requests, no list',
    story: (follower) => {
      const before = follower.requests.length;
      follower.run(3_600_000);
      const requests = follower.requests.length - before;
      assert.ok(requests >= 6 && requests <= 12, `${requests} requests in an hour`);
      churn(follower);
    },
  },
  {
    name: 'the connection breaks',
    story: hiccup,
    tells: [/none connection reset, then watch/],
  },
  {
    name: 'the server is away for ten minutes',
    story: (follower) => {
      follower.api.faults.down = true;
      follower.run(300_000);
      churn(follower);
      follower.run(300_000);
      follower.api.faults.down = false;
    },
    tells: [/none connection reset, then watch/],
  },
  {
    name: 'the server restarts and has forgotten the past',
    historyLength: 5,
    story: (follower) => {
      follower.api.faults.down = true;
      churn(follower);
      follower.api.compact();
      follower.run(20_000);
      follower.api.faults.down = false;
    },
    lists: 2,
    tells: [/none connection reset, then watch/, /410 too old resource version.*, then list/],
  },
  {
    name: 'the watch is refused for now, with a time to wait',
    faults: [answered(429, watches, 3)],
    story: hiccup,
    tells: [/429 Too many requests.*, then (watch|list)/, /connection reset/],
  },
  {
    name: 'the watch is refused with 500',
    faults: [answered(500, watches, 3)],
    story: hiccup,
    tells: [/500 Internal error.*, then (watch|list)/, /connection reset/],
  },
  {
    name: 'the watch is told that its version is too old',
    story: (follower) => {
      follower.api.faults.add(answered(410, watches, 1));
      hiccup(follower);
    },
    lists: 2,
    tells: [/connection reset, then watch/, /410 too old resource version, then list/],
  },
  {
    name: 'the list is refused',
    faults: [answered(500, ['list', 'watch'], 4)],
    story: churn,
    tells: [/500 Internal error.*, then (list|watch)/],
  },
  {
    name: 'every request is lost half of the time',
    faults: [{ fault: { kind: 'refuse' }, probability: 0.5 }],
    story: hiccup,
    recoversWithin: 300_000,
    tells: [/none connection reset/],
  },
  {
    name: 'answers come late',
    faults: [{ fault: { kind: 'delay', ms: 20_000 }, times: 5 }],
    story: hiccup,
    recoversWithin: 200_000,
    tells: [/connection reset/],
  },
  {
    name: 'answers come too late',
    faults: [{ fault: { kind: 'delay', ms: 40_000 }, times: 3 }],
    story: hiccup,
    recoversWithin: 300_000,
    tells: [/nothing heard for 30s, then list/],
  },
  {
    name: 'the stream falls silent without an end',
    story: (follower) => {
      follower.api.faults.add({
        fault: { kind: 'halfOpen', afterMs: 500 },
        verbs: watches,
        times: 1,
      });
      follower.api.faults.breakStreams();
      follower.run(3000);
      churn(follower);
    },
    recoversWithin: 200_000,
    tells: [/connection reset/, /nothing heard for 2m30s, then watch/],
  },
  {
    name: 'watches end cleanly, soon and often',
    faults: [{ fault: { kind: 'cut', afterMs: 3000, how: 'end' }, verbs: watches, times: 20 }],
    story: churn,
    recoversWithin: 120_000,
  },
  {
    name: 'watches end at once: no storm of requests, no long time unwatched',
    story: (follower) => {
      const end = follower.api.faults.add({
        fault: { kind: 'cut', afterMs: 0, how: 'end' },
        verbs: watches,
      });
      follower.api.faults.breakStreams();
      const before = follower.requests.length;
      follower.run(120_000);
      const requests = follower.requests.length - before;
      assert.ok(requests >= 6 && requests <= 20, `${requests} requests in two minutes`);
      churn(follower);
      end();
    },
    tells: [/connection reset/, /the watch ended at once, then watch/],
  },
  {
    name: 'events come twice',
    faults: [{ fault: { kind: 'duplicate', chance: 1 } }],
    story: churn,
  },
  {
    name: 'objects are deleted and made anew during a gap',
    story: (follower) => {
      follower.api.faults.down = true;
      for (const chance of [0, 0.3, 0.9]) follower.replace(chance);
      follower.api.compact();
      follower.run(30_000);
      follower.api.faults.down = false;
    },
    lists: 2,
    tells: [/connection reset/, /410 too old/],
  },
  {
    name: 'something else answers where the API should',
    line: () => tampered('watch=true', '<html>bad gateway</html>\n', 3),
    story: hiccup,
    recoversWithin: 120_000,
    tells: [/connection reset/, /something that is not a watch event, then (watch|list)/],
    lists: Number.POSITIVE_INFINITY,
  },
  {
    name: 'a line is broken off',
    story: (follower) => {
      follower.line = cutOff('watch=true', 100);
      follower.api.faults.breakStreams();
      follower.run(5000);
      churn(follower);
      follower.line = (server) => server;
    },
    tells: [/connection reset/, /half a line, then (watch|list)/],
    lists: 2,
  },
  {
    name: 'chunks are cut anywhere',
    line: () => chopped(7),
    story: churn,
  },
  {
    name: 'an error of the server comes in the stream, again and again',
    line: () =>
      tampered(
        'watch=true',
        '{"type":"ERROR","object":{"kind":"Status","code":500,"message":"etcd: gone"}}\n',
        4,
      ),
    story: hiccup,
    recoversWithin: 120_000,
    tells: [/connection reset/, /500 etcd: gone, then (watch|list)/],
    lists: Number.POSITIVE_INFINITY,
  },
  {
    name: 'a list of thousands, changing while it is read',
    story: (follower) => {
      follower.api.faults.down = true;
      for (let n = 0; n < 3000; n++) follower.create();
      follower.api.compact();
      const change: Line = (server) => (request, sink) => {
        follower.touch(0.5);
        follower.delete(0.1);
        return server(request, sink);
      };
      follower.line = change;
      follower.api.faults.down = false;
      follower.run(60_000);
      follower.line = (server) => server;
    },
    lists: 2,
    tells: [/connection reset/, /410 too old/],
  },
];

for (const [what, mode] of modes) {
  describe(`reflector with ${what}`, () => {
    for (const { name, ...given } of cases) it(name, () => play(given, mode));

    const when: [string, (follower: Follower) => void][] = [
      ['before its first list is there', () => {}],
      ['while it watches', (follower) => follower.run(60_000)],
      [
        'while it waits',
        (follower) => {
          follower.run(1000);
          follower.api.faults.down = true;
        },
      ],
    ];
    for (const [name, before] of when) {
      it(`tells nothing after it was stopped ${name}`, () => {
        const follower = new Follower(mode);
        follower.create();
        follower.line = delayed(follower, 50);
        follower.start();
        before(follower);
        follower.feed({ kind: 'stop' });
        const told = follower.told.length;
        churn(follower);
        follower.run(600_000);
        assert.equal(follower.told.length, told);
        assert.equal(follower.reflector.nextWake(), null);
      });
    }

    it('tells nothing that stands behind the event on which it was stopped', () => {
      const follower = new Follower(mode);
      follower.start();
      follower.run(1000);
      for (let n = 0; n < 10; n++) follower.create();
      const told = follower.told.length;
      follower.feed({ kind: 'stop' });
      for (let n = 0; n < 500; n++) follower.create();
      assert.equal(follower.told.length, told);
    });

    it('remembers by bookmarks where it is, though nothing of its own changes', () => {
      const follower = new Follower(mode);
      follower.start();
      follower.create();
      follower.run(1000);
      follower.api.compact();
      follower.run(120_000);
      follower.api.faults.breakStreams();
      follower.create();
      follower.run(60_000);
      follower.assertComplete();
      assert.equal(follower.lists, 1);
    });
  });
}

function play(given: Omit<Case, 'name'>, mode: Mode): void {
  const { faults = [], line, historyLength, story, recoversWithin = 60_000 } = given;
  const follower = new Follower(mode, historyLength);
  for (let n = 0; n < 10; n++) follower.create();
  const ends = faults.map((rule) => follower.api.faults.add(rule));
  if (line) follower.line = line();
  follower.start();
  follower.run(60_000);
  story(follower);
  for (const end of ends) end();
  follower.run(recoversWithin);
  follower.assertComplete();
  const { lists = 1, tells = [] } = given;
  assert.ok(follower.lists <= lists, `${follower.lists} lists: ${follower.setbacks.join('; ')}`);
  for (const setback of follower.setbacks) {
    assert.ok(
      tells.some((pattern) => pattern.test(setback)),
      `unexpected: ${setback}`,
    );
  }
  for (const pattern of tells) {
    assert.ok(
      follower.setbacks.some((setback) => pattern.test(setback)),
      `${pattern} is missing: ${follower.setbacks.join('; ')}`,
    );
  }
}

/** A bit of everything. */
function churn(follower: Follower): void {
  follower.create();
  follower.touch(0.2);
  follower.replace(0.5);
  follower.delete(0.7);
  follower.touch(0.9);
}

/** The first answers to such requests are something else. */
function tampered(path: string, body: string, times: number): Line {
  let left = times;
  return (server) => (request, sink) => {
    if (!request.path.includes(path) || left === 0) return server(request, sink);
    left -= 1;
    sink.head(200, {});
    sink.data(body);
    sink.end();
    return () => {};
  };
}

/** Answers to such requests end after so many characters. */
function cutOff(path: string, length: number): Line {
  return (server) => (request, sink) => {
    if (!request.path.includes(path)) return server(request, sink);
    let left = length;
    const hangUp = server(request, {
      ...sink,
      head: (status, headers) => sink.head(status, headers),
      data: (chunk) => {
        sink.data(chunk.slice(0, left));
        left -= chunk.length;
        if (left > 0) return;
        hangUp();
        sink.end();
      },
    });
    return hangUp;
  };
}

/** Answers come in small pieces. */
function chopped(length: number): Line {
  return (server) => (request, sink) =>
    server(request, {
      ...sink,
      data: (chunk) => {
        for (let from = 0; from < chunk.length; from += length) {
          sink.data(chunk.slice(from, from + length));
        }
      },
    });
}

/** Everything takes a while. */
function delayed({ clock }: Follower, ms: number): Line {
  return (server) => (request, sink) => {
    const later = (tell: () => void): void => void clock.after(ms, tell);
    const slow: ExchangeSink = {
      head: (status, headers) => later(() => sink.head(status, headers)),
      data: (chunk) => later(() => sink.data(chunk)),
      end: () => later(() => sink.end()),
      reset: () => later(() => sink.reset()),
    };
    return server(request, slow);
  };
}
