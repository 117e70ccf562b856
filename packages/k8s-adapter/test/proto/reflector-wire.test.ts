import assert from 'node:assert/strict';
import { after, describe, it, type TestContext } from 'node:test';
import { type Mode, modes } from '../world/reflector/follower.ts';
import {
  answering,
  chopped,
  compressed,
  cutOff,
  type Line,
  mislabelled,
  repeating,
  silent,
  trickling,
  watchReply,
} from '../world/reflector/troubled-lines.ts';
import { RuntimeProcess, WireWorld } from '../world/reflector/wire-world.ts';
import { runtimes } from '../world/runtimes.ts';

// What goes wrong on real sockets, on every runtime, in both formats. Servers are on Node.

interface Case {
  readonly name: string;
  /** The server has no HTTP/2. */
  readonly http1?: boolean;
  /** What goes wrong from the beginning. */
  readonly line?: (world: WireWorld, mode: Mode) => Line;
  /** What goes wrong once the list is complete. */
  readonly story?: (world: WireWorld) => void;
  /** What people are told. */
  readonly tells?: RegExp;
  /** How often everything is listed altogether; left out: once. */
  readonly lists?: number;
}

const html = '<html>bad gateway</html>\n';
const watch = 'watch=true';
/** Told where nothing comes, and where this machine is too busy. */
const slowness = /nothing heard for|no sign of life/;

const cases: readonly Case[] = [
  { name: 'nothing goes wrong' },
  { name: 'nothing goes wrong with HTTP/1.1', http1: true },
  ...[false, true].flatMap((http1): Case[] => {
    const by = http1 ? ' (HTTP/1.1)' : '';
    return [
      {
        name: `the connection is reset${by}`,
        http1,
        story: ({ server }) => server.breakAll(),
        tells: /^none .*, then watch/m,
      },
      {
        name: `the connection is closed${by}`,
        http1,
        story: ({ server }) => server.closeAll(),
        tells: /^none .*, then watch/m,
      },
      {
        name: `the stream is reset in the middle of an event${by}`,
        http1,
        line: () => cutOff(watch, 2, 700, 'reset'),
        tells: /^none .*, then (watch|list)/m,
        lists: 2,
      },
      {
        name: `the stream ends in the middle of an event${by}`,
        http1,
        line: () => cutOff(watch, 2, 700, 'end'),
        tells: /half an event, then (watch|list)/,
        lists: 2,
      },
    ];
  }),
  {
    name: 'nobody takes connections for a while',
    story: ({ wire, clock }) => {
      wire.cut();
      clock.after(20_000, () => wire.mend());
    },
    tells: /refused|ECONN|connect/i,
  },
  {
    name: 'the connection falls silent',
    story: ({ wire }) => {
      wire.silence();
      wire.mend();
    },
    tells: /no sign of life for .*, then watch/,
  },
  {
    name: 'the connection falls silent (HTTP/1.1)',
    http1: true,
    story: ({ wire }) => {
      wire.silence();
      wire.mend();
    },
    tells: /nothing heard for .*, then watch/,
  },
  {
    name: 'the server says GOAWAY, and keeps what is under way',
    story: ({ sessions }) => {
      for (const session of sessions) session.goaway(0);
    },
  },
  {
    name: 'the server says GOAWAY and goes',
    story: ({ sessions }) => {
      for (const session of sessions) session.destroy();
    },
    tells: /^none .*, then watch/m,
  },
  {
    name: 'answers are compressed though nobody asked',
    line: () => compressed('leases', 2),
    tells: /encoded as gzip, which was not requested/,
  },
  {
    name: 'an answer is in another format than it says',
    line: () => mislabelled('leases', 2),
    tells: /an endless event|not a watch event|is no list of leases|does not speak JSON/,
    lists: 2,
  },
  {
    name: 'a page of HTML comes',
    line: () => answering('leases', 2, { status: 200, body: [html] }),
    tells: /not a watch event|is no list of leases|does not speak JSON/,
  },
  ...[302, 401, 403, 410, 429, 500, 502, 503].map(
    (status): Case => ({
      name: `answers are ${status}`,
      line: () => answering('leases', 2, { status, headers: { 'retry-after': '2' }, body: [html] }),
      tells: new RegExp(`^${status} <html>bad gateway</html>, then list`),
    }),
  ),
  ...[410, 500].map(
    (code): Case => ({
      name: `the error ${code} comes in the stream`,
      line: (_, { protobuf }) =>
        answering(watch, 2, watchReply(protobuf, 'ERROR', { code, message: 'etcd: gone' })),
      tells: /^(410|500) etcd: gone, then list/,
      lists: 2,
    }),
  ),
  {
    name: 'no answer comes at all',
    line: () => silent('leases', 1, false),
    tells: slowness,
  },
  {
    name: 'an answer has a head and no more',
    line: () => silent('leases', 1, true),
    tells: slowness,
  },
  { name: 'answers trickle in', line: ({ clock }) => trickling(clock, 50, 20) },
  { name: 'each byte comes for itself', line: () => chopped(1) },
  { name: 'old events come again after newer ones', line: repeating },
  {
    name: 'objects are large',
    story: ({ leases }) => {
      for (let n = 0; n < 10; n++) leases.create(1_000_000);
    },
  },
  {
    name: 'a watch begins where the server has forgotten',
    story: ({ leases, server }) => {
      server.breakAll();
      leases.churn();
      leases.api.compact();
    },
    tells: /^410 too old resource version.*, then list/m,
    lists: 2,
  },
];

for (const runtime of runtimes) {
  describe(`reflector on ${runtime.name}`, { concurrency: 8 }, () => {
    const process = new RuntimeProcess(runtime);
    after(() => process.end());
    for (const [what, mode] of modes.filter(([, { streamLists }]) => streamLists)) {
      for (const given of cases) {
        it(`${given.name}, ${what}`, (t) => play(t, process, given, mode));
      }
    }
  });
}

async function play(
  t: TestContext,
  runtime: RuntimeProcess,
  { http1 = false, line, story, tells, lists = 1 }: Case,
  mode: Mode,
): Promise<void> {
  const world = new WireWorld(mode);
  if (line) world.line = line(world, mode);
  await world.start(t, runtime, mode, http1);
  await world.complete();
  story?.(world);
  world.leases.churn();
  if (tells) await world.told(tells);
  await world.complete();
  world.leases.churn();
  await world.complete();
  const { setbacks } = world;
  assert.ok(world.lists <= lists, `${world.lists} lists: ${setbacks.join('; ')}`);
  const unexpected = setbacks.filter((setback) => !slowness.test(setback));
  if (!tells) assert.deepEqual(unexpected, []);
}
