import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Stage } from '../world/status-stage.ts';

// How long the status of policies waits after it was refused.

/** The status of two policies, whose writes are answered so. */
function refused(status: number, body: object = {}): Stage {
  const stage = new Stage();
  stage.answers.set('EvictionPolicy', { status, body });
  stage.put('EvictionPolicy', 'spot', { action: 'Evict' });
  stage.put('EvictionPolicy', 'other', { action: 'Keep' });
  stage.lead();
  return stage;
}

describe('a status that was refused', () => {
  it('waits as long as the API server asks for', () => {
    const stage = refused(429, { details: { retryAfterSeconds: 25 } });
    assert.deepEqual(stage.pass(51), [
      ...['0s spot', '0s evictionpolicies failed', '25s other', '50s spot'],
    ]);
  });

  it('is tried at once by one who leads again, whatever kept him from it before', () => {
    const stage = refused(403);
    stage.pass(10);
    stage.end('deposed');
    stage.answers.clear();
    stage.lead();
    assert.deepEqual(stage.pass(1), ['10s spot', '10.2s other']);
  });
});
