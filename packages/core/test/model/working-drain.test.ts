import assert from 'node:assert/strict';
import { it } from 'node:test';
import { drainText, nodeDrainer, noExecuteFault } from '../../src/model/working-drain.ts';

it('is called by its name, and by whoever runs it', () => {
  assert.equal(drainText({ id: 'kernel', by: nodeDrainer }), 'NodeDrain kernel');
  assert.equal(drainText({ id: 'd1', by: 'alice' }), 'drain d1 by alice');
  assert.equal(drainText({ id: 'd1', by: '' }), 'drain d1');
});

it('puts no NoExecute taint where somebody else evicts for it, and says what helps', () => {
  const taint = { key: 'work', value: '', effect: 'NoExecute', timeAdded: null };
  const other = 'somebody evicts; use work:NoSchedule, for which no other controller evicts';
  assert.equal(noExecuteFault(taint, { text: 'somebody evicts', advice: '' }), other);
  const advised = noExecuteFault(taint, { text: 'somebody evicts', advice: 'stop it' });
  assert.equal(advised, `${other}, or stop it`);
});
