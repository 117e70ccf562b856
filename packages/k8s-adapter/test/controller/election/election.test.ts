import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Election } from '../../../src/controller/election/election.ts';
import { defaultElectionTiming } from '../../../src/controller/election/election-options.ts';
import { formatMicroTime } from '../../../src/proto/lease-requests.ts';
import { random } from '../../world/random.ts';
import { testTranscripts } from '../../world/transcripts.ts';
import { runScript } from './election-script.ts';

describe('election transcripts', () => {
  testTranscripts(new URL('../../testdata/controller/election/', import.meta.url), runScript);
});

describe('election timing', () => {
  const cases: readonly [string, Partial<typeof defaultElectionTiming>, RegExp | null][] = [
    ['the defaults', {}, null],
    ['a short lease', { lease: 3000, renewDeadline: 2000, retry: 500 }, null],
    ['a lease of no whole seconds', { lease: 12_500 }, /whole seconds/],
    ['no lease at all', { lease: 0 }, /whole seconds/],
    ['no margin', { lease: 10_000 }, /\(10s\) must last longer than the renew deadline \(10s\)/],
    ['no room for a second try', { retry: 9000 }, /longer than 1.2 retry periods/],
    ['no retry period', { retry: 0 }, /retry period must be longer/],
  ];
  for (const [name, timing, expected] of cases) {
    it(name, () => {
      const whole = { ...defaultElectionTiming, ...timing };
      const lease = { namespace: 'kube-system', name: 'ctl' };
      const elect = () => new Election({ lease, identity: 'me', random: random(0), timing: whole });
      if (expected === null) assert.equal(elect().closed, true);
      else assert.throws(elect, { name: 'RangeError', message: expected });
    });
  }

  it('wants to know who stands', () => {
    const lease = { namespace: 'kube-system', name: 'ctl' };
    const elect = () => new Election({ lease, identity: '', random: random(0) });
    assert.throws(elect, { name: 'RangeError', message: 'the identity of a candidate is empty' });
  });

  it('is written with six digits, as MicroTime wants it', () => {
    const instant = Date.parse('2026-01-01T00:00:02.5Z');
    assert.equal(formatMicroTime(instant), '2026-01-01T00:00:02.500000Z');
    assert.equal(formatMicroTime(instant + 0.25), '2026-01-01T00:00:02.500000Z');
  });
});
