import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Reflector } from '../../src/proto/reflector.ts';
import { podJson } from '../world/cluster-objects.ts';
import { random } from '../world/random.ts';
import { podReflector } from '../world/reflector/pod-reflector.ts';

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
