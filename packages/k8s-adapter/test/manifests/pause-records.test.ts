import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fittedStatus } from '@taintmgr/k8s-adapter/kinds';
import { type PauseRecord, pauseRecords, withEarlier } from '../../src/manifests/pause-records.ts';
import { namesOf, night, pause, pauseManifest, Start } from '../world/remembered-pauses.ts';

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
