import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createPressureMachine } from '@taintmgr/core/pressure';

it('time goes forward', () => {
  const machine = createPressureMachine();
  machine.handle(5, { kind: 'tick' });
  assert.throws(() => machine.handle(4, { kind: 'tick' }), /time goes forward/);
});

it('a wake is never before what was heard last', () => {
  const machine = createPressureMachine({
    settings: { evictionHard: { 'memory.available': '1Gi' } },
  });
  const node = { uid: 'n', labels: {}, conditions: [] };
  machine.handle(0, { kind: 'synced' });
  machine.handle(1000, { kind: 'pressureNode', node: { ...node, name: 'n1' } });
  machine.handle(2000, { kind: 'pressureNode', node: { ...node, name: 'n2' } });
  assert.equal(machine.nextWake(), 2000);
  machine.handle(2000, { kind: 'tick' });
  assert.equal(machine.nextWake(), null);
});
