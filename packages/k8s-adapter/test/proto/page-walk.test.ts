import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiClient } from '../../src/client/client.ts';
import { PageWalk } from '../../src/proto/page-walk.ts';
import { Reflector } from '../../src/proto/reflector.ts';
import type { ApiRequest } from '../../src/proto/requests.ts';
import type { Sink } from '../../src/transport/sink.ts';
import { listJson, podJson } from '../world/cluster-objects.ts';
import { random } from '../world/random.ts';
import { podReflector } from '../world/reflector/pod-reflector.ts';

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
