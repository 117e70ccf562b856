import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ok, Stage } from './event-stage.ts';

describe('a namespace whose Events nobody takes', () => {
  const hooked = { namespace: 'hooked' };
  const calm = { namespace: 'calm' };

  it('holds up those of no other, answered with 500', () => {
    const stage = new Stage();
    const waits: number[] = [];
    stage.record('x', hooked);
    for (let round = 0; round < 11; round++) {
      const [id = ''] = [...stage.requests.keys()].slice(-1);
      assert.deepEqual(stage.answer(id, 500, 'failed calling webhook'), []);
      const failedAt = stage.now;
      // The others are written at once, however often that one fails.
      for (const name of ['a', 'b', 'c']) {
        const [sent = ''] = stage.record(`of ${name} ${round}`, { ...calm, name });
        assert.match(sent, new RegExp(`POST "of ${name} ${round}" x1`));
        assert.deepEqual(stage.answer(sent.split(' ')[0] ?? '', ok), ['recorded x1']);
      }
      while (!stage.pass(100).some((line) => line.includes('POST "x"'))) {
        assert.ok(stage.now - failedAt < 31_000);
      }
      waits.push(stage.now - failedAt);
    }
    assert.ok((waits[0] ?? 0) < 1_000, `${waits}`);
    assert.ok((waits[10] ?? 0) >= 15_000, `${waits}`);
  });

  it('holds up those of no other, without an answer', () => {
    const stage = new Stage();
    for (let n = 0; n < 40; n++) stage.record('x', { ...hooked, name: `p${n}` });
    assert.equal(stage.requests.size, 10);
    const [sent = ''] = stage.record('y', calm);
    assert.match(sent, /POST "y" x1$/);
    assert.deepEqual(stage.answer(sent.split(' ')[0] ?? '', ok), ['recorded x1']);
    // From now on one of it is under way at a time.
    const told = stage.pass(61_000);
    assert.equal(told.filter((line) => line.endsWith('abort')).length, 11, told.join('\n'));
    assert.match(stage.record('z', calm)[0] ?? '', /POST "z" x1$/);
  });

  it('is written as before once one of its Events was taken', () => {
    const stage = new Stage();
    for (let n = 0; n < 5; n++) stage.record('x', { ...hooked, name: `p${n}` });
    const first = [...stage.requests.keys()];
    for (const id of first) stage.answer(id, 500);
    const again = stage.pass(2_000).map((line) => line.split(' ')[0] ?? '');
    assert.equal(again.length, 1);
    const told = stage.answer(again[0] ?? '', ok);
    assert.equal(told.filter((line) => line.includes('POST')).length, 4, told.join('\n'));
  });

  it('is one of so many that the server itself must be ill: all wait then', () => {
    const stage = new Stage();
    for (let n = 0; n <= 64; n++) {
      const [sent = ''] = stage.record('x', { namespace: `ns${n}` });
      stage.answer(sent.split(' ')[0] ?? '', 500);
    }
    assert.deepEqual(stage.record('y', calm), []);
  });
});
