import assert from 'node:assert/strict';
import type { FaultRule } from '@taintmgr/sim-cluster';
import type { Follower } from './follower.ts';
import type { Case } from './reflector-case.ts';
import {
  answering,
  chopped,
  cutOff,
  mislabelled,
  type Reply,
  repeating,
  silent,
  trickling,
  watchReply,
} from './troubled-lines.ts';

// What goes wrong with lists and watches, and what a reflector makes of it. Each case is played in
// each mode, on each runtime.

const watches = ['watch'];
const always = Number.POSITIVE_INFINITY;
const page: Reply = { status: 200, body: ['<html>bad gateway</html>\n'] };
const answered = (code: 409 | 410 | 429 | 500, verbs: readonly string[], times: number) =>
  ({ fault: { kind: 'answer', code }, verbs, times }) as const satisfies FaultRule;
const churn = ({ leases }: Follower): void => leases.churn();
const hiccup = (follower: Follower): void => {
  follower.api.faults.breakStreams();
  churn(follower);
};
const reset = /none connection reset, then watch/;
const anyReset = /connection reset/;

/** What a server may answer instead of a watch, and what people are told of it. */
const refusals: readonly (readonly [string, Reply, RegExp])[] = [
  ['401', { status: 401, body: ['Unauthorized'] }, /401 Unauthorized, then (watch|list)/],
  ['403', { status: 403, body: ['{"message":"pods is forbidden"}'] }, /403 pods is forbidden/],
  ['404', { status: 404, body: ['404 page not found'] }, /404 404 page not found, then list/],
  ['410', { status: 410, body: ['{"reason":"Expired"}'] }, /410 HTTP status 410, then list/],
  ['503', { status: 503, body: ['<html>no backend</html>'] }, /503 <html>no backend/],
  ['504', { status: 504, body: [] }, /504 HTTP status 504/],
  ['a way elsewhere', { status: 302, headers: { location: '/' }, body: [] }, /302 HTTP status 302/],
];

/** What a watch may tell that is nothing. */
const junk: readonly (readonly [string, string, object])[] = [
  ['of a type that is none', 'WHAT', { metadata: { name: 'a', uid: 'u', resourceVersion: '9' } }],
  ['about an object without a name', 'ADDED', { metadata: { uid: 'u', resourceVersion: '9' } }],
  ['about an object without a version', 'ADDED', { metadata: { name: 'a', uid: 'u' } }],
  ['that is a bookmark of nowhere', 'BOOKMARK', { metadata: {} }],
];

export const cases: readonly Case[] = [
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
  { name: 'the connection breaks', story: hiccup, tells: [reset] },
  {
    name: 'the server is away for ten minutes',
    story: (follower) => {
      follower.api.faults.down = true;
      follower.run(300_000);
      churn(follower);
      follower.run(300_000);
      follower.api.faults.down = false;
    },
    tells: [reset],
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
      follower.run(40_000);
      // However long it was away: it answers, and asks for a list.
      const waits = follower.notices.flatMap((notice) =>
        notice.kind === 'reconnecting' && notice.failure.status === 410 ? [notice.wait] : [],
      );
      assert.equal(waits.length, 1);
      assert.ok(
        waits.every((wait) => wait <= 1600),
        `it waits for ${waits}`,
      );
    },
    lists: 2,
    tells: [reset, /410 too old resource version.*, then list/],
  },
  {
    name: 'each watch is told that its version is too old',
    faults: [answered(410, watches, always)],
    story: (follower) => {
      follower.run(600_000);
      const { lists } = follower;
      assert.ok(lists >= 10 && lists <= 40, `${lists} lists in eleven minutes`);
    },
    lists: always,
    tells: [/410 .*, then list/],
  },
  {
    name: 'the watch is refused for now, with a time to wait',
    faults: [answered(429, watches, 3)],
    story: hiccup,
    tells: [/429 Too many requests.*, then (watch|list)/, anyReset],
  },
  {
    name: 'the server asks for a longer time to wait',
    line: () =>
      answering('watch=true', 1, { status: 429, headers: { 'retry-after': '45' }, body: [] }),
    story: (follower) => {
      assert.ok(follower.requests.length >= 2);
      const waits = follower.notices.flatMap((notice) =>
        notice.kind === 'reconnecting' ? [notice.wait] : [],
      );
      assert.deepEqual(waits, [45_000]);
      churn(follower);
    },
    lists: 2,
    tells: [/429 HTTP status 429, then (watch|list)/],
  },
  {
    name: 'the watch is refused with 500',
    faults: [answered(500, watches, 3)],
    story: hiccup,
    tells: [/500 Internal error.*, then (watch|list)/, anyReset],
  },
  ...refusals.map(
    ([what, reply, told]): Case => ({
      name: `a watch is answered with ${what}`,
      line: () => answering('watch=true', 3, reply),
      story: churn,
      recoversWithin: 120_000,
      lists: always,
      tells: [told],
    }),
  ),
  {
    name: 'the watch is told that its version is too old',
    story: (follower) => {
      follower.api.faults.add(answered(410, watches, 1));
      hiccup(follower);
    },
    lists: 2,
    tells: [reset, /410 too old resource version, then list/],
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
    tells: [anyReset],
  },
  {
    name: 'answers come too late',
    faults: [{ fault: { kind: 'delay', ms: 40_000 }, times: 3 }],
    story: hiccup,
    recoversWithin: 300_000,
    tells: [/nothing heard for 30s, then list/],
  },
  {
    name: 'no answer comes at all',
    line: () => silent('leases', 2, false),
    story: churn,
    recoversWithin: 120_000,
    tells: [/nothing heard for 30s, then list/],
  },
  {
    name: 'answers have a head and no more',
    line: () => silent('leases', 2, true),
    story: churn,
    recoversWithin: 300_000,
    lists: 2,
    tells: [/nothing heard for (30s|2m30s), then (list|watch)/],
  },
  {
    name: 'answers trickle in',
    line: (_, { clock }) => trickling(clock, 100, 3000),
    story: (follower) => {
      follower.run(300_000);
      churn(follower);
      follower.run(200_000);
    },
    recoversWithin: 300_000,
  },
  {
    name: 'the stream falls silent without an end',
    story: (follower) => {
      const fault = { kind: 'halfOpen', afterMs: 500 } as const;
      follower.api.faults.add({ fault, verbs: watches, times: 1 });
      follower.api.faults.breakStreams();
      follower.run(3000);
      churn(follower);
    },
    recoversWithin: 200_000,
    tells: [anyReset, /nothing heard for 2m30s, then watch/],
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
      const fault = { kind: 'cut', afterMs: 0, how: 'end' } as const;
      const end = follower.api.faults.add({ fault, verbs: watches });
      follower.api.faults.breakStreams();
      const before = follower.requests.length;
      follower.run(120_000);
      const requests = follower.requests.length - before;
      assert.ok(requests >= 6 && requests <= 20, `${requests} requests in two minutes`);
      churn(follower);
      end();
    },
    tells: [anyReset, /the watch ended at once, then watch/],
  },
  {
    name: 'events come twice',
    faults: [{ fault: { kind: 'duplicate', chance: 1 } }],
    story: churn,
  },
  {
    name: 'old events and bookmarks come again after newer ones',
    line: repeating,
    story: (follower) => {
      churn(follower);
      follower.run(150_000);
      churn(follower);
      hiccup(follower);
    },
    tells: [reset],
  },
  {
    name: 'objects are deleted and made anew during a gap',
    story: (follower) => {
      follower.api.faults.down = true;
      for (const chance of [0, 0.3, 0.9]) follower.leases.replace(chance);
      follower.api.compact();
      follower.run(30_000);
      follower.api.faults.down = false;
    },
    lists: 2,
    tells: [anyReset, /410 too old/],
  },
  {
    name: 'something else answers where the API should',
    line: () => answering('watch=true', 3, page),
    story: hiccup,
    recoversWithin: 120_000,
    tells: [anyReset, /something that is not a watch event, then (watch|list)/],
    lists: always,
  },
  {
    name: 'the list is no list',
    line: () => answering('leases', 3, page),
    story: churn,
    recoversWithin: 120_000,
    tells: [
      /is no list of leases|does not speak JSON, then list|not a watch event, then (watch|list)/,
    ],
  },
  {
    name: 'an answer is in another format than it says',
    line: () => mislabelled('leases', 4),
    story: churn,
    recoversWithin: 120_000,
    lists: always,
    tells: [/an endless event|not a watch event|is no list of leases|does not speak JSON/],
  },
  ...junk.map(
    ([what, type, object]): Case => ({
      name: `an event comes ${what}`,
      line: ({ protobuf }) =>
        answering('watch=true', 2, watchReply(protobuf, type, { ...object, kind: 'Lease' })),
      story: churn,
      recoversWithin: 120_000,
      lists: always,
      tells: [/the watch sent something that is not a watch event, then list/],
    }),
  ),
  {
    name: 'an event has no end',
    line: ({ protobuf }) => {
      const { status, headers = {} } = watchReply(protobuf, 'ERROR', {});
      const endless = protobuf ? Uint8Array.of(255, 255, 255, 255) : 'x'.repeat(17_000_000);
      return answering('watch=true', 1, { status, headers, body: [endless] });
    },
    story: churn,
    lists: 2,
    tells: [/the watch sent an endless (line|event), then list/],
  },
  {
    name: 'an event is broken off',
    story: (follower) => {
      follower.line = cutOff('watch=true', always, 100, 'end');
      follower.api.faults.breakStreams();
      follower.run(5000);
      churn(follower);
      follower.line = (server) => server;
    },
    tells: [anyReset, /half an event, then (watch|list)/],
    lists: 2,
  },
  {
    name: 'the connection breaks in the middle of an event',
    line: () => cutOff('watch=true', 3, 1000, 'reset'),
    story: churn,
    recoversWithin: 120_000,
    lists: 2,
    tells: [/none connection reset, then (watch|list)/],
  },
  { name: 'chunks are cut anywhere', line: () => chopped(7), story: churn },
  { name: 'each byte comes for itself', line: () => chopped(1), story: churn },
  {
    name: 'objects are as large as they may be',
    story: (follower) => {
      for (let n = 0; n < 5; n++) follower.leases.create(2_900_000);
      hiccup(follower);
      follower.line = chopped(16_384);
      follower.api.compact();
      hiccup(follower);
    },
    lists: 2,
    tells: [anyReset, /410 too old/],
  },
  ...[410, 500].map(
    (code): Case => ({
      name: `the error ${code} comes in the stream, again and again`,
      line: ({ protobuf }) =>
        answering('watch=true', 4, watchReply(protobuf, 'ERROR', { code, message: 'etcd: gone' })),
      story: hiccup,
      recoversWithin: 120_000,
      tells: [anyReset, /(410|500) etcd: gone, then list/],
      lists: always,
    }),
  ),
  {
    name: 'a list of thousands, changing while it is read',
    story: (follower) => {
      follower.api.faults.down = true;
      for (let n = 0; n < 3000; n++) follower.leases.create();
      follower.api.compact();
      follower.line = (server) => (request, sink) => {
        follower.leases.touch(0.5);
        follower.leases.delete(0.1);
        return server(request, sink);
      };
      follower.api.faults.down = false;
      follower.run(60_000);
      follower.line = (server) => server;
    },
    lists: 2,
    tells: [anyReset, /410 too old/],
  },
];
