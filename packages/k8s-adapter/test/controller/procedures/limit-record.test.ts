// The record of limits as it is written and read: nothing of it is lost on the way, and no time is
// earlier than it was.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { LimitRecord } from '@taintmgr/core/policy';
import { LimitRecords, limitRecordFrom } from '../../../src/controller/procedures/limit-record.ts';

const lease = { namespace: 'taintmgr-system', name: 'limits' };
const at = 1_700_000_000_000;

/** What somebody reads of what is written. */
function writtenAndRead(record: LimitRecord): LimitRecord | null {
  const { first } = new LimitRecords(lease).task({
    ...{ kind: 'keepLimits', id: 'limits/1' },
    ...{ record, resumed: false },
  });
  assert.equal(first.kind, 'send');
  return first.kind === 'send'
    ? limitRecordFrom(JSON.parse(first.request.body ?? '')).record
    : null;
}

it('is read as it was written, to the second', () => {
  const trip = { since: at, limit: 'pods' as const, count: null };
  const record: LimitRecord = {
    'total@60s': {
      evicted: [
        [at, 2],
        [at + 4_000, 1],
      ],
      of: 9,
      sizes: [
        [at, 9],
        [at + 4_000, 8],
      ],
      tripped: trip,
      begun: ['uid-1'],
    },
    'node=n1 policy=few@20s': { evicted: [], of: null, tripped: null },
  };
  assert.deepEqual(writtenAndRead(record), record);
  const odd: LimitRecord = {
    'total@60s': { evicted: [[at + 1, 2]], of: 9, sizes: [[at + 1, 9]], tripped: null },
  };
  assert.deepEqual(writtenAndRead(odd)?.['total@60s'], {
    ...{ of: 9, tripped: null },
    ...{ evicted: [[at + 1_000, 2]], sizes: [[at + 1_000, 9]] },
  });
});
