import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiClient } from '../../src/client/client.ts';
import { PageWalk } from '../../src/proto/page-walk.ts';
import { Reflector } from '../../src/proto/reflector.ts';
import type { ApiRequest } from '../../src/proto/requests.ts';
import type { Sink } from '../../src/transport/sink.ts';
import { listJson, podJson } from '../world/cluster-objects.ts';
import { random } from '../world/random.ts';

/** A server that never comes to the end of its list; `page` counts from 0. */
interface Endless {
  readonly name: string;
  readonly token: (page: number) => string;
  readonly objects: number;
  readonly why: RegExp;
}

const servers: readonly Endless[] = [
  { name: 'gives the same token', token: () => 'x', objects: 500, why: /its continue token came/ },
  { name: 'gives two in turn', token: (page) => `${page % 2}`, objects: 500, why: /token came/ },
  { name: 'sends no objects', token: String, objects: 0, why: /more than 100 of its pages/ },
  { name: 'sends few objects', token: String, objects: 1, why: /more than 100 of its pages/ },
  {
    name: 'lets tokens grow',
    token: (page) => 'x'.repeat(100_000 + page),
    objects: 500,
    why: /a continue token of 100000 characters/,
  },
];

function pageOf({ token, objects }: Endless, page: number): string {
  const pods = Array.from({ length: objects }, (_, at) => podJson(`p${page}-${at}`, 'n', '3'));
  const metadata = { resourceVersion: '5', continue: token(page) };
  return JSON.stringify({ ...listJson('Pod', '5', ...pods), metadata });
}

/** How many pages are asked for without a pause, and what is said then. */
function reflected(server: Endless): readonly [pages: number, why: string] {
  const reflector = new Reflector({
    ...{ resource: 'pods', path: '/api/v1/pods', project: () => 1, random: random(0) },
    ...{ watch: true, selectors: {} },
  });
  let effects = reflector.handle(0, { kind: 'start' });
  for (let page = 0; page < 1000; page++) {
    const sent = effects.find(({ kind }) => kind === 'send');
    if (sent?.kind !== 'send') {
      const [notice] = effects.flatMap((effect) => (effect.kind === 'notice' ? effect.notice : []));
      return [page, notice?.kind === 'reconnecting' ? notice.failure.message : ''];
    }
    const data = new TextEncoder().encode(pageOf(server, page));
    effects = reflector.handle(0, { kind: 'answer', id: sent.id, status: 200, headers: {}, data });
  }
  return [1000, ''];
}

describe('a list without an end', () => {
  for (const server of servers) {
    it(`is given up, and asked for anew after a wait, where a server ${server.name}`, () => {
      const [pages, why] = reflected(server);
      assert.match(why, server.why);
      assert.ok(pages <= 102, `${pages} pages`);
    });

    it(`is an error of a command, where a server ${server.name}`, async () => {
      let pages = 0;
      const transport = {
        send: (_: ApiRequest, sink: Sink) => {
          const body = pageOf(server, pages);
          pages += 1;
          const timer = setImmediate(() => {
            sink.head(200, {});
            sink.data(body);
            sink.end();
          });
          return () => clearImmediate(timer);
        },
      };
      const client = new ApiClient({ transport, server: 'https://c' });
      await assert.rejects(client.list('/api/v1/pods'), server.why);
      const asked = pages;
      for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
      assert.ok(pages <= 110 && pages - asked <= 1, `${asked}, then ${pages} pages`);
    });
  }

  it('is one of more objects than any cluster has', () => {
    const walk = new PageWalk();
    const whys = Array.from({ length: 4001 }, (_, page) => walk.next(`${page}`, 500, 500));
    assert.deepEqual(
      [whys.slice(0, 4000).every((why) => why === null), whys[4000]],
      [true, 'the list has more than 2000000 objects'],
    );
  });
});

const known = podJson('a', 'n', '3');
const bookmark = { kind: 'Pod', apiVersion: 'v1', metadata: { resourceVersion: '4' } };

/** A reflector whose server has begun to stream its list, and the id of that. */
function loading(objectsMax = 2_000_000): {
  readonly reflector: Reflector<number>;
  readonly id: string;
} {
  const reflector = new Reflector({
    ...{ resource: 'pods', path: '/api/v1/pods', project: () => 1, random: random(0) },
    ...{ watch: true, selectors: {}, streamLists: true, objectsMax },
  });
  const [sent] = reflector.handle(0, { kind: 'start' });
  assert.ok(sent?.kind === 'send');
  reflector.handle(0, { kind: 'head', id: sent.id, status: 200, headers: {} });
  return { reflector, id: sent.id };
}

/** What was said last of what went wrong, and what is asked for after a minute. */
function afterwards(
  reflector: Reflector<number>,
  effects: ReturnType<Reflector<number>['handle']>,
  now: number,
): readonly [why: string, hungUp: boolean, next: string] {
  const [notice] = effects.flatMap((effect) => (effect.kind === 'notice' ? effect.notice : []));
  const next = reflector.handle(now + 60_000, { kind: 'tick' }).find(({ kind }) => kind === 'send');
  return [
    notice?.kind === 'reconnecting' ? notice.failure.message : '',
    effects.some(({ kind }) => kind === 'abort'),
    next?.kind === 'send' ? next.request.path : '',
  ];
}

describe('a streamed list without an end', () => {
  for (const [what, event] of [
    ['the same object', { type: 'ADDED', object: known }],
    ['objects that go', { type: 'DELETED', object: known }],
    ['bookmarks', { type: 'BOOKMARK', object: bookmark }],
  ] as const) {
    it(`is given up after as many events as pages may have objects, and read in pages: ${what}`, () => {
      const { reflector, id } = loading();
      let [events, effects] = [0, reflector.handle(0, { kind: 'tick' })];
      while (effects.length === 0 && events < 2_000_010) {
        events += 1;
        effects = reflector.handle(0, { kind: 'value', id, value: event });
      }
      assert.equal(events, 2_000_001);
      const why = 'the list has more than 2000000 objects';
      assert.deepEqual(afterwards(reflector, effects, 0), [why, true, '/api/v1/pods?limit=500']);
    });
  }

  it('is given up after eleven minutes, however slowly it goes on, and read in pages', () => {
    const { reflector, id } = loading();
    let [now, effects] = [0, reflector.handle(0, { kind: 'tick' })];
    while (effects.length === 0 && now < 3_600_000) {
      now += 1000;
      effects = [
        ...reflector.handle(now, { kind: 'chunk', id, data: ' ' }),
        ...reflector.handle(now, { kind: 'tick' }),
      ];
    }
    assert.equal(now, 660_000);
    const why = 'the list did not come to its end within 11m';
    assert.deepEqual(afterwards(reflector, effects, now), [why, true, '/api/v1/pods?limit=500']);
  });
});

describe('a page without an end', () => {
  it('is given up after eleven minutes, however slowly it goes on', () => {
    const reflector = podReflector(false);
    const [sent] = reflector.handle(0, { kind: 'start' });
    assert.ok(sent?.kind === 'send');
    const { id } = sent;
    reflector.handle(0, { kind: 'head', id, status: 200, headers: {} });
    let [now, effects] = [0, reflector.handle(0, { kind: 'tick' })];
    while (effects.length === 0 && now < 3_600_000) {
      now += 1000;
      effects = [
        ...reflector.handle(now, { kind: 'chunk', id, data: ' ' }),
        ...reflector.handle(now, { kind: 'tick' }),
      ];
    }
    assert.equal(now, 660_000);
    const why = 'the list did not come to its end within 11m';
    assert.deepEqual(afterwards(reflector, effects, now), [why, true, '/api/v1/pods?limit=500']);
  });
});

/** A reflector whose watch has begun. */
function watching(objectsMax?: number): {
  readonly reflector: Reflector<number>;
  readonly id: string;
} {
  const { reflector, id } = loading(objectsMax);
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  const end = { ...bookmark, metadata: { ...bookmark.metadata, annotations } };
  reflector.handle(0, { kind: 'value', id, value: { type: 'BOOKMARK', object: end } });
  assert.equal(reflector.state, 'Watching');
  return { reflector, id };
}

describe('a watch without an end', () => {
  it('is given up when no event comes, though bytes do, and is none that is complete', () => {
    const { reflector, id } = watching();
    const heardAt = reflector.heardAt;
    let [now, effects] = [0, reflector.handle(0, { kind: 'tick' })];
    while (effects.length === 0 && now < 3_600_000) {
      now += 1000;
      effects = [
        ...reflector.handle(now, { kind: 'chunk', id, data: '\n' }),
        ...reflector.handle(now, { kind: 'tick' }),
      ];
      if (now > 90_000) reflector.handle(now, { kind: 'alive', id, age: 10 });
    }
    assert.equal(now, 150_000);
    assert.equal(reflector.heardAt, heardAt);
    const [why, hungUp, next] = afterwards(reflector, effects, now);
    assert.deepEqual([why, hungUp], ['nothing heard for 2m30s', true]);
    assert.match(next, /resourceVersion=4/);
  });

  it('is given up when it brings more objects than any cluster has', () => {
    const { reflector, id } = watching(1000);
    let [events, effects] = [0, reflector.handle(0, { kind: 'tick' })];
    while (!effects.some(({ kind }) => kind === 'abort') && events < 2000) {
      events += 1;
      const value = { type: 'ADDED', object: podJson(`p${events}`, 'n', `${100 + events}`) };
      effects = reflector.handle(0, { kind: 'value', id, value });
    }
    assert.equal(events, 1002);
    const [why, , next] = afterwards(reflector, effects, 0);
    assert.equal(why, 'the list has more than 1000 objects');
    assert.match(next, /sendInitialEvents=true/, 'it lists anew');
  });
});

/** How the second page of three may fail. */
const failures: readonly (readonly [status: number | null, what: string])[] = [
  [403, 'it is refused'],
  [409, 'it is in conflict'],
  [429, 'it is too much'],
  [500, 'it fails'],
  [503, 'nobody is there'],
  [null, 'the connection breaks'],
  [200, 'a gateway answers'],
];

function threePages(path: string): string {
  const from = Number(/continue=(\d)/.exec(path)?.[1] ?? 0);
  const pods = Array.from({ length: 500 }, (_, at) => podJson(`p${from}-${at}`, 'n', '3'));
  const metadata = { resourceVersion: '5', ...(from < 2 && { continue: `${from + 1}` }) };
  return JSON.stringify({ ...listJson('Pod', '5', ...pods), metadata });
}

const podReflector = (reportsEarly: boolean): Reflector<number> =>
  new Reflector({
    ...{ resource: 'pods', path: '/api/v1/pods', project: () => 1, random: random(0) },
    ...{ watch: true, selectors: {}, reportsEarly },
  });

describe('a list whose second page does not come', () => {
  for (const [status, what] of failures) {
    it(`is no list for a command: ${what}`, async () => {
      const transport = {
        send: ({ path }: ApiRequest, sink: Sink) => {
          const isSecond = path.includes('continue=1');
          const timer = setImmediate(() => {
            if (isSecond && status === null) sink.failed('reset');
            else {
              sink.head(isSecond ? (status ?? 0) : 200, {});
              sink.data(isSecond ? '{"message":"no"}' : threePages(path));
              sink.end();
            }
          });
          return () => clearImmediate(timer);
        },
      };
      const client = new ApiClient({ transport, server: 'https://c' });
      await assert.rejects(client.list('/api/v1/pods'));
    });

    it(`is read anew and whole by a reflector, which loses nothing: ${what}`, () => {
      for (const isEarly of [false, true]) {
        const reflector = podReflector(isEarly);
        let [isBroken, told, isSynced, now] = [false, 0, false, 0];
        let effects = reflector.handle(now, { kind: 'start' });
        for (let turn = 0; turn < 10 && !isSynced; turn++) {
          for (const { kind } of effects) {
            if (kind === 'upsert') told += 1;
            isSynced ||= kind === 'synced';
          }
          const sent = effects.find(({ kind }) => kind === 'send');
          if (sent?.kind !== 'send') {
            assert.equal(isSynced, reflector.state === 'Watching');
            if (!isSynced) assert.equal(told, isEarly ? 500 : 0);
            now += 60_000;
            effects = reflector.handle(now, { kind: 'tick' });
            continue;
          }
          const { id, request } = sent;
          const fails = !isBroken && request.path.includes('continue=1');
          isBroken ||= fails;
          const data = Buffer.from(fails ? '{"message":"no"}' : threePages(request.path));
          const code = fails ? (status ?? 0) : 200;
          effects =
            fails && status === null
              ? reflector.handle(now, { kind: 'failed', id, message: 'reset' })
              : reflector.handle(now, { kind: 'answer', id, status: code, headers: {}, data });
        }
        assert.ok(isSynced && isBroken);
        assert.equal(reflector.size, 1500);
      }
    });
  }
});
