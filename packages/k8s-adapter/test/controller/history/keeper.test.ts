import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ring } from '../../../src/controller/history/ring.ts';
import { gzip } from '../../../src/driver/gzip.ts';
import { HistorySearch } from '../../../src/history/search.ts';
import { segmentObject } from '../../../src/history/segment.ts';
import type { ApiRequest } from '../../../src/proto/requests.ts';
import { ConfigMaps, Controller, podOf, start } from './stage.ts';

const path = '/api/v1/namespaces/system/configmaps';
const first = `${path}/taintmgr-controller-history-0`;

/** A leader that has read what there is, and written its gap. */
function leading(server: ConfigMaps, name = 'a', now = start): Controller {
  const controller = new Controller(name);
  controller.now = now;
  controller.lead(now);
  controller.settle(now, server);
  controller.run(now, server);
  return controller;
}

function said(sent: ReadonlyMap<string, ApiRequest>): readonly string[] {
  return [...sent.values()].map(({ method, path: asked }) => `${method} ${asked}`);
}

describe('a leader', () => {
  it('reads every segment, one after the other, before it writes', () => {
    const server = new ConfigMaps();
    const controller = new Controller('a');
    controller.lead(start);
    const asked: string[] = [];
    for (let turn = 0; turn < 24; turn++) {
      asked.push(...said(controller.sent));
      for (const [id, request] of [...controller.sent]) {
        controller.answer(start, id, server.answer(request));
      }
    }
    assert.deepEqual(
      asked,
      Array.from({ length: 24 }, (_, slot) => `GET ${path}/taintmgr-controller-history-${slot}`),
    );
    assert.deepEqual(said(controller.sent), []);
    const blocks = (): number | undefined => controller.keeper.kept?.blocks.length;
    assert.equal(blocks(), undefined);
    controller.tick(start);
    assert.equal(blocks(), 1);
    assert.deepEqual(said(controller.sent), [`POST ${path}`]);
  });

  it('goes on with as many as it can, however many somebody has written', () => {
    const server = new ConfigMaps();
    const by = { kind: 'unknown', source: 'deletion' };
    const lines = Array.from({ length: 21_000 }, (_, index) => {
      const uid = String(index).padStart(13, '0');
      return `${JSON.stringify({ namespace: 'shop', pod: 'web', uid, by, seenAt: start })}\n`;
    });
    const blocks = Array.from({ length: 21 }, (_, index) => {
      return gzip.pack(lines.slice(index * 1_000, (index + 1) * 1_000).join(''));
    });
    const segment = { sequence: 0, savedAt: start, savedBy: 'b', ended: true, blocks };
    const name = { namespace: 'system', name: 'taintmgr-controller-history-0' };
    server.write(first, JSON.stringify(segmentObject(name, segment, null)));
    const { notices } = leading(server);
    assert.deepEqual(notices, [{ kind: 'historyKept', departures: 20_000, notBelieved: [] }]);
  });

  it('writes news after two seconds, then at most every five, and else every ten minutes', () => {
    const server = new ConfigMaps();
    const controller = leading(server);
    const times: number[] = [];
    const write = server.write.bind(server);
    server.write = (name, body) => {
      times.push((controller.now - start) / 1_000);
      return write(name, body);
    };
    controller.run(start + 20_000, server);
    for (let second = 20; second < 32; second++) {
      controller.evict(controller.now, podOf(second));
      controller.run(start + second * 1_000 + 1_000, server);
    }
    controller.run(start + 700_000, server);
    assert.deepEqual(times, [22, 27, 32, 632]);
  });

  it('sends nothing once it leads no more, and goes on where it was when it leads again', () => {
    const server = new ConfigMaps();
    const controller = leading(server);
    controller.evict(start, podOf(1));
    controller.run(start + 6_000, server);
    controller.evict(start + 6_000, podOf(2));
    controller.leads = false;
    controller.run(start + 20_000, server);
    assert.deepEqual(said(controller.sent), []);
    controller.lead(start + 20_000, false);
    assert.equal(controller.keeper.nextWake(), null);
    assert.equal(controller.keeper.kept, null);
    controller.lead(start + 21_000);
    controller.settle(start + 21_000, server);
    controller.run(start + 40_000, server);
    assert.deepEqual(
      server.search().departures.map(({ uid }) => uid),
      [podOf(1).uid, podOf(2).uid],
    );
  });

  it('writes all at its end, and the next one knows since when nobody looked', () => {
    const server = new ConfigMaps();
    const controller = leading(server);
    controller.evict(start, podOf(1));
    controller.perform(controller.keeper.end(start + 1_000));
    assert.deepEqual(said(controller.sent), [`PUT ${first}`]);
    controller.settle(start + 1_000, server);
    assert.deepEqual(controller.keeper.end(start + 1_000), []);
    leading(server, 'b', start + 9_000);
    const { departures, gaps } = server.search();
    assert.equal(departures.length, 1);
    assert.deepEqual(gaps, [
      { to: start, why: 'leaderChanged', leader: 'a' },
      { from: start + 1_000, to: start + 9_000, why: 'leaderChanged', leader: 'b' },
    ]);
  });
});

describe('a namespace of which more left than are kept', () => {
  const others = (controller: Controller, from: number, to: number): void => {
    for (let index = from; index < to; index++) {
      const disruption = { reason: 'EvictionByEvictionAPI', manager: null };
      const pod = podOf(index, { namespace: 'shop', deletionTimestamp: start, disruption });
      controller.witness.hear(controller.now, { kind: 'podUpsert', pod });
    }
  };
  const gap = { why: 'tooMany', leader: 'a', namespace: 'shop' };

  it('has a gap in what is served, and in what is stored when the leader ends', () => {
    const server = new ConfigMaps();
    const controller = leading(server);
    others(controller, 0, 1_007);
    const search = new HistorySearch({});
    for (const line of controller.keeper.kept?.lines ?? []) search.readLine(line);
    assert.deepEqual(search.found.gaps, [{ from: start, to: start, ...gap, count: 7 }]);
    controller.perform(controller.keeper.end(start));
    controller.settle(start, server);
    assert.deepEqual(server.search().gaps.slice(1), search.found.gaps);
  });

  it('has one gap, also where it grows, and where the leader crashes a minute later', () => {
    const server = new ConfigMaps();
    const controller = leading(server);
    others(controller, 0, 1_001);
    controller.run(start + 30_000, server);
    others(controller, 1_001, 1_004);
    controller.run(start + 95_000, server);
    assert.deepEqual(server.search().gaps.slice(1), [
      { from: start, to: start + 30_000, ...gap, count: 4 },
    ]);
  });
});

describe('what goes wrong', () => {
  const kept = { kind: 'historyKept', departures: 0, notBelieved: [] } as const;
  const object = 'system/taintmgr-controller-history-0';

  it('is said once: without the right it is in memory, and stored when there is one', () => {
    const server = new ConfigMaps();
    server.refuses = 403;
    const controller = leading(server);
    controller.evict(start, podOf(1));
    controller.run(start + 200_000, server);
    assert.deepEqual(
      controller.notices.map((notice) => [notice.kind, 'object' in notice && notice.object]),
      [['historyNotKept', object]],
    );
    assert.deepEqual(server.writes, 0);
    assert.equal(controller.keeper.kept?.blocks.length, 1);
    server.refuses = null;
    controller.run(start + 300_000, server);
    assert.deepEqual(controller.notices.at(-1), kept);
    assert.equal(server.search().departures.length, 1);
  });

  it('is said where there is no such namespace', () => {
    const server = new ConfigMaps();
    server.refuses = 404;
    const controller = leading(server);
    controller.run(start + 60_000, server);
    assert.deepEqual(
      controller.notices.map(({ kind }) => kind),
      ['historyKept', 'historyNotKept'],
    );
  });

  it('is tried again after five seconds, and after a minute where it was refused', () => {
    for (const [status, wait] of [
      [500, 5_000],
      [403, 60_000],
    ] as const) {
      const server = new ConfigMaps();
      const controller = leading(server);
      controller.evict(start, podOf(1));
      server.refuses = status;
      controller.run(start + 5_000, server);
      server.refuses = null;
      controller.run(start + 5_000 + wait - 1, server);
      assert.equal(server.search().departures.length, 0, String(status));
      controller.run(start + 5_000 + wait, server);
      assert.equal(server.search().departures.length, 1, String(status));
    }
  });

  const forged: readonly [string, { sequence: number; savedAt: number }][] = [
    ['a number that no leader comes to', { sequence: 1e12, savedAt: start }],
    ['a time that is to come', { sequence: 40, savedAt: start + 86_400_000 }],
  ];
  for (const [what, numbers] of forged) {
    it(`does not go on with a segment that has ${what}, and says so once`, () => {
      const server = new ConfigMaps();
      const before = leading(server);
      before.perform(before.keeper.end(start));
      before.settle(start, server);
      const segment = { ...numbers, savedBy: 'a', ended: true, blocks: [] };
      const name = { namespace: 'system', name: 'taintmgr-controller-history-16' };
      const text = JSON.stringify(segmentObject(name, segment, null));
      server.write(`${path}/${name.name}`, text);
      const next = leading(server, 'b', start + 60_000);
      next.evict(start + 60_000, podOf(1));
      next.run(start + 90_000, server);
      const notBelieved = [`system/${name.name}`];
      assert.deepEqual(next.notices, [{ ...kept, notBelieved }]);
      assert.equal(server.objects.get(`${path}/${name.name}`)?.body, text);
      const { departures, gaps } = server.search();
      assert.equal(departures.length, 1);
      const gap = { from: start, to: start + 60_000, why: 'leaderChanged', leader: 'b' };
      assert.deepEqual(gaps.at(-1), gap);
    });
  }

  it('goes on after the highest number that is believed, and the next leader too', () => {
    const ring = new Ring(gzip, 'a');
    const name = { namespace: 'system', name: 'any' };
    const facts = { savedBy: 'a', ended: true, blocks: ['x'.repeat(750_000)] };
    const sequence = start / 1_000;
    const object = segmentObject(name, { ...facts, sequence, savedAt: start }, null);
    assert.ok(ring.load(start, sequence % 24, object));
    ring.add([{ uid: 'a' }]);
    const write = ring.nextWrite(start + 1_000, false) ?? assert.fail();
    assert.equal(write.segment.sequence, sequence + 1);
    const next = new Ring(gzip, 'b');
    const written = segmentObject(name, write.segment, null);
    assert.ok(next.load(start + 1_000, write.slot, written));
    assert.deepEqual(next.blocks(), write.segment.blocks);
  });

  it('waits for no longer than five minutes, whatever the answer asks for', () => {
    const server = new ConfigMaps();
    const controller = leading(server);
    controller.evict(start, podOf(1));
    const answer = server.answer.bind(server);
    const details = { retryAfterSeconds: 1e9 };
    server.answer = () => ({ status: 429, value: { kind: 'Status', message: 'busy', details } });
    controller.run(start + 6_000, server);
    server.answer = answer;
    controller.run(start + 6_000 + 300_000, server);
    assert.equal(server.search().departures.length, 1);
  });

  it('merges a late write of the leader before', () => {
    const server = new ConfigMaps();
    const before = leading(server);
    before.evict(start, podOf(1));
    before.run(start + 4_999, server);
    before.tick(start + 5_000);
    const [late] = [...before.sent.values()];
    assert.equal(late?.method, 'PUT');
    const next = new Controller('b');
    next.lead(start + 20_000);
    for (let turn = 0; turn < 24; turn++) {
      for (const [id, request] of [...next.sent]) {
        next.answer(start + 20_000, id, server.answer(request));
      }
    }
    if (late) server.answer(late);
    next.evict(start + 20_000, podOf(2));
    next.now = start + 20_000;
    next.run(start + 40_000, server);
    assert.deepEqual(
      server.search().departures.map(({ uid }) => uid),
      [podOf(1).uid, podOf(2).uid],
    );
  });

  it('makes a ConfigMap anew that somebody has deleted, and writes over one that is none of ours', () => {
    const server = new ConfigMaps();
    const metadata = { name: 'taintmgr-controller-history-0' };
    const foreign = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { mine: 'yes' } };
    server.write(first, JSON.stringify(foreign));
    const controller = leading(server);
    controller.evict(start, podOf(1));
    controller.run(start + 6_000, server);
    assert.equal(server.search().departures.length, 1);
    server.objects.clear();
    controller.evict(start + 6_000, podOf(2));
    controller.run(start + 20_000, server);
    assert.equal(server.search().departures.length, 2);
  });
});
