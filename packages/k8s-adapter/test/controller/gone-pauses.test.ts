import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Event } from '@taintmgr/core';
import type { EvictionPause } from '@taintmgr/core/policy';
import { fittedStatus, readManifest } from '@taintmgr/k8s-adapter/kinds';
import { engineSources } from '../../src/controller/engine-sources.ts';
import { GonePauses } from '../../src/controller/gone-pauses.ts';
import { FollowedObjects } from '../../src/manifests/followed.ts';
import { type PauseRecord, pauseRecords, withEarlier } from '../../src/manifests/pause-records.ts';
import type { Source, SourceEffect } from '../../src/pod-watch/source.ts';
import { listAt } from '../world/cluster-objects.ts';

// A pause that the leader remembers, and that is gone at the next start, is told as one that ends now.

const since = '2026-11-01T00:00:00Z';
const sinceMs = Date.parse(since);

function pauseManifest(name: string, spec: object, uid = `uid-${name}`): object {
  const metadata = { name, uid, resourceVersion: '1', creationTimestamp: since };
  return { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'EvictionPause', metadata, spec };
}

function pause(name: string, spec: object = {}, uid?: string): EvictionPause {
  const judged = readManifest(pauseManifest(name, spec, uid), 0);
  assert.ok(judged.kind === 'allowed' && judged.value.kind === 'EvictionPause');
  return judged.value.value;
}

type Effect = Event | SourceEffect;

/** The sources of a loop that starts, and a server that answers what is asked for. */
class Start {
  readonly events: Event[] = [];
  isSynced = false;
  readonly sources: readonly Source[];
  readonly #waiting = new Map<string, string>();

  /** `inFiles`: pauses that the process has from its files. */
  constructor(inFiles: readonly EvictionPause[] = []) {
    const policies = inFiles.map((value) => ({ kind: 'EvictionPause', value }) as const);
    const options = { random: () => 0.5, clusterPolicies: true, remembering: 'taintmgr', policies };
    this.sources = engineSources(options, new FollowedObjects());
    for (const source of this.sources) this.#note(source, source.handle(0, { kind: 'start' }));
  }

  get gone(): GonePauses {
    return this.sources.find((source) => source instanceof GonePauses) ?? assert.fail();
  }

  answer(resource: string, status: number, items: readonly object[] = []): void {
    const [id] = [...this.#waiting].find(([, path]) => path.includes(resource)) ?? assert.fail();
    this.#waiting.delete(id);
    const list = listAt(`/apis/taintmgr.dev/v1alpha1/${resource}`, '9', ...items);
    const body = JSON.stringify(list);
    for (const input of [
      { kind: 'head', id, status, headers: {} },
      { kind: 'chunk', id, data: body },
      { kind: 'end', id },
    ] as const) {
      for (const source of this.sources) this.#note(source, source.handle(1, input));
    }
  }

  /** All collections of policies, with these pauses. */
  read(...pauses: readonly object[]): void {
    this.answer('evictionpolicies', 200);
    this.answer('nodetaintrules', 200);
    this.answer('evictionpauses', 200, pauses);
  }

  remembered(records: readonly unknown[]): void {
    const metadata = { name: 'taintmgr', uid: 'm', resourceVersion: '1' };
    this.answer('taintmanagers', 200, [{ metadata, status: { pauseRecords: records } }]);
  }

  #note(source: Source, effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.kind === 'send') this.#waiting.set(effect.id, effect.request.path);
      else if (effect.kind === 'synced' && source === this.gone) this.isSynced = true;
      else if (effect.kind === 'pauseUpsert' || effect.kind === 'pauseDelete')
        this.events.push(effect);
    }
  }
}

function namesOf({ events }: Start): readonly string[] {
  return events.map((one) => {
    if (one.kind === 'pauseUpsert') return `+${one.pause.name}`;
    return one.kind === 'pauseDelete' ? `-${one.name}` : one.kind;
  });
}

const night = { scope: { namespaces: ['shop'], nodeSelector: { matchLabels: { pool: 'a' } } } };

describe('what the leader remembers of pauses', () => {
  const records = pauseRecords([pause('night', { ...night, until: '2026-11-02T00:00:00Z' })]);
  const cases: readonly [string, readonly object[], readonly string[]][] = [
    ['is gone', [], ['+gone/night', '-gone/night']],
    ['is there', [pauseManifest('night', night)], ['+night']],
    [
      'was made anew',
      [pauseManifest('night', night, 'u2')],
      ['+night', '+gone/night', '-gone/night'],
    ],
    [
      'holds less',
      [pauseManifest('night', { scope: { namespaces: ['x'] } })],
      ['+night', '+gone/night', '-gone/night'],
    ],
    [
      'holds health alone now',
      [pauseManifest('night', { ...night, deadlines: false, readiness: true })],
      ['+night', '+gone/night', '-gone/night'],
    ],
  ];
  for (const [name, there, told] of cases) {
    it(`is compared with what is there: one that ${name}`, () => {
      for (const first of ['records', 'pauses']) {
        const start = new Start();
        if (first === 'records') start.remembered(records);
        start.read(...there);
        if (first === 'pauses') start.remembered(records);
        assert.deepEqual(namesOf(start), told);
        assert.equal(start.isSynced, true);
        assert.equal(start.gone.nextWake(), null);
      }
    });
  }

  it('is not gone where it is in a file', () => {
    for (const [inFiles, told] of [
      [[pause('night', night)], []],
      [[pause('day', night)], ['+gone/night', '-gone/night']],
    ] as const) {
      const start = new Start(inFiles);
      start.read();
      start.remembered(records);
      const names = namesOf(start).filter((name) => name.includes('gone/'));
      assert.deepEqual(names, told);
    }
  });

  it('is told as it held, and stays written down until then', () => {
    const start = new Start();
    start.remembered(records);
    assert.equal(start.isSynced, false);
    assert.deepEqual(start.gone.unreported, records);
    start.read();
    assert.deepEqual(start.gone.unreported, []);
    const [event] = start.events;
    assert.ok(event?.kind === 'pauseUpsert');
    const { scope, since: from, until } = event.pause;
    assert.deepEqual(scope, pause('night', night).scope);
    assert.deepEqual([from, until], [sinceMs, sinceMs + 86_400_000]);
  });

  for (const status of [403, 404]) {
    it(`is nothing where it cannot be read: ${status}`, () => {
      const start = new Start();
      start.answer('taintmanagers', status);
      start.read();
      assert.deepEqual([namesOf(start), start.isSynced], [[], true]);
      assert.equal(start.gone.nextWake(), null);
    });
  }

  it('is waited for where the server fails', () => {
    const start = new Start();
    start.answer('taintmanagers', 500);
    start.read();
    assert.equal(start.isSynced, false);
    assert.notEqual(start.gone.nextWake(), null);
  });

  it('holds everything where nobody can read what it held', () => {
    const start = new Start();
    start.remembered([
      { name: 'long', scope: '{"zones":["eu/1...' },
      { name: 'old', since: 'yesterday', until: 7 },
      'odd',
    ]);
    start.read();
    const told = start.events.flatMap((one) => (one.kind === 'pauseUpsert' ? [one.pause] : []));
    assert.deepEqual(
      told.map(({ scope, since: from, until }) => [scope.zones, from, until]),
      Array.from({ length: 3 }, () => [[], 0, null]),
    );
  });
});

describe('what is written of pauses', () => {
  it('are those that hold deadlines', () => {
    const health = pause('health', { deadlines: false, readiness: true });
    const [record, ...others] = pauseRecords([health, pause('all')]);
    assert.deepEqual(record, {
      name: 'all',
      uid: 'uid-all',
      since: '2026-11-01T00:00:00.000Z',
      scope: '{}',
    });
    assert.deepEqual(others, []);
  });

  it('has room for many, which become one that held everything', () => {
    const many = Array.from({ length: 70 }, (_, index) =>
      pause(`p${index}`, { ...night, until: `2026-11-02T00:00:${10 + (index % 50)}Z` }),
    );
    const records = pauseRecords(many);
    assert.equal(records.length, 64);
    const last: PauseRecord = {
      name: '7 more',
      since: '2026-11-01T00:00:00.000Z',
      until: '2026-11-02T00:00:29.000Z',
    };
    assert.deepEqual(records.at(-1), last);
    assert.deepEqual(fittedStatus('TaintManager', { pauseRecords: records }).leftOut, {});
  });

  it('keeps what the engine has not heard of, once, beside a pause of its name', () => {
    const [there, anew, other] = pauseRecords([
      pause('night', night),
      pause('night', night, 'u2'),
      pause('day', night),
    ]);
    assert.ok(there && anew && other);
    assert.deepEqual(withEarlier([there, other], [there]), [other, there]);
    // Each start is killed before the engine has heard: the name does not grow.
    let records = withEarlier([there], [anew]);
    for (let restart = 0; restart < 20; restart += 1) records = withEarlier(records, [anew]);
    assert.deepEqual(records, [{ ...there, name: 'gone/night' }, anew]);
    assert.deepEqual(fittedStatus('TaintManager', { pauseRecords: records }).leftOut, {});
    const start = new Start();
    start.remembered(records);
    start.read(pauseManifest('night', night, 'u2'));
    assert.deepEqual(namesOf(start), ['+night', '+gone/night', '-gone/night']);
  });

  it('leaves a scope out that is too long', () => {
    const namespaces = Array.from({ length: 128 }, (_, index) => `${'n'.repeat(58)}-${index}`);
    const [record] = pauseRecords([pause('long', { scope: { namespaces } })]);
    assert.equal(record?.scope, undefined);
  });
});
