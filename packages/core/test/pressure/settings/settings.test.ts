import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseEvictionFlag } from '@taintmgr/core/pressure';

describe('flags', () => {
  it('are pairs', () => {
    assert.deepEqual(parseEvictionFlag('memory.available<1Gi,, nodefs.available < 10% ', '<'), {
      'memory.available': '1Gi',
      'nodefs.available': '10%',
    });
    assert.deepEqual(parseEvictionFlag('a=1m,a=2m', '='), { a: '2m' });
    assert.deepEqual(parseEvictionFlag('', '='), {});
  });

  it('are refused in the kubelet’s words', () => {
    assert.throws(() => parseEvictionFlag('memory.available', '<'), {
      message: 'malformed pair, expect string<string',
    });
    assert.throws(() => parseEvictionFlag('memory.available<1m', '='), {
      message: 'malformed pair, expect string=string',
    });
  });
});
