import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EventQueue } from '../../src/controller/event-recorder.ts';
import { fc } from '../world/fast-check.ts';

const step = fc.oneof(
  fc.integer().map((item) => ({ kind: 'push', item }) as const),
  fc.integer().map((item) => ({ kind: 'putBack', item }) as const),
  fc.constant({ kind: 'shift' } as const),
  fc.constant({ kind: 'clear' } as const),
);

describe('a queue of Events', () => {
  it('does what an array does', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const queue = new EventQueue<number>();
        const twin: number[] = [];
        for (const one of steps) {
          switch (one.kind) {
            case 'push':
              queue.push(one.item);
              twin.push(one.item);
              break;
            case 'putBack':
              queue.putBack(one.item);
              twin.unshift(one.item);
              break;
            case 'shift':
              assert.equal(queue.shift(), twin.shift());
              break;
            case 'clear':
              queue.clear();
              twin.length = 0;
          }
          assert.equal(queue.length, twin.length);
        }
      }),
    );
  });
});
