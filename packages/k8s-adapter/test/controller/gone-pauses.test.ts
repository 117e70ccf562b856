import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pauseRecords } from '../../src/manifests/pause-records.ts';
import { namesOf, night, pause, pauseManifest, Start, since } from '../world/remembered-pauses.ts';

// A pause that the leader remembers, and that is gone at the next start, is told as one that ends now.

const sinceMs = Date.parse(since);

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
