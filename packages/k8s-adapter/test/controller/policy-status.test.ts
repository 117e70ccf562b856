import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createEngine } from '@taintmgr/core';
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

const spec = { taint: { key: 'work' }, pods: { withoutController: true } };

describe('the status of a NodeDrain', () => {
  it('is written at once where it is new: before that nobody knows what it has still to evict', () => {
    const stage = new Stage(createEngine({ mode: 'evict', nodeDrains: true }));
    stage.lead();
    stage.put('NodeDrain', 'first', { nodes: ['n1'], ...spec });
    assert.deepEqual(stage.pass(0.1), ['0s first']);
    stage.pass(0.3);
    stage.put('NodeDrain', 'second', { nodes: ['n2'], ...spec });
    assert.deepEqual(stage.pass(0.1), ['0.4s second']);
    const { pods } = stage.status('NodeDrain', 'second') as { readonly pods: readonly unknown[] };
    assert.equal(pods.length, 2);
  });

  it('does not keep anybody busy while it is refused', () => {
    const stage = new Stage(createEngine({ mode: 'evict', nodeDrains: true }));
    stage.answers.set('NodeDrain', { status: 403 });
    stage.lead();
    stage.put('NodeDrain', 'first', { nodes: ['n1'], ...spec });
    assert.deepEqual(stage.pass(59), ['0s first', '0s nodedrains refused']);
  });
});
