import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  createEngine,
  type Event,
  makeNode,
  makePod,
  type Node,
  type WorkingDrain,
} from '@taintmgr/core';
import { fc } from '../fast-check.ts';
import { itAnswersEvictions } from './script.ts';

const drain: WorkingDrain = { id: 'd1', taint: 'work:NoExecute', by: 'ann', heartbeat: '1' };

function nodeWith(drains: readonly WorkingDrain[]): Node {
  return { ...makeNode({ name: 'n1', taints: ['work:NoExecute'] }), drains };
}

// What the drains of one node do: a sign of life, waiting, the end of a run, the watch.
type Step = {
  readonly kind: 'heartbeat' | 'again' | 'wait' | 'lost' | 'current';
  readonly afterMs: number;
};

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('heartbeat', 'again', 'wait', 'lost', 'current'),
  afterMs: fc.constantFrom(1, 10_000, 30_000, 59_999),
});

describe('drains', () => {
  it('has a pod of a drain evicted never within 60 s of its last sign of life, and then at once', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const engine = createEngine();
        const sent: number[] = [];
        let [now, heartbeat, lastSign, isLost] = [0, 1, 0, false];
        const pass = (event: Event): void => {
          for (const command of engine.handle(now, event)) {
            if (command.kind === 'deletePod') sent.push(now);
          }
        };
        const run = (until: number): void => {
          for (let at = engine.nextWake(); at !== null && at <= until; at = engine.nextWake()) {
            now = Math.max(now, at);
            pass({ kind: 'tick' });
            if (sent.length > 0) return;
          }
          now = until;
        };
        pass({ kind: 'podUpsert', pod: makePod({ name: 'web-0', nodeName: 'n1' }) });
        pass({ kind: 'nodeUpsert', node: nodeWith([drain]) });
        pass({ kind: 'synced' });
        for (const { kind, afterMs } of steps) {
          run(now + afterMs);
          if (sent.length > 0) break;
          if (kind === 'heartbeat' && !isLost) [heartbeat, lastSign] = [heartbeat + 1, now];
          if (kind === 'lost') isLost = true;
          if (kind === 'current') [isLost, lastSign] = [false, isLost ? now : lastSign];
          if (kind === 'lost' || kind === 'current') {
            pass({ kind: 'view', current: kind === 'current' });
          } else if (kind !== 'wait') {
            const node = nodeWith([{ ...drain, heartbeat: String(heartbeat) }]);
            pass({ kind: 'nodeUpsert', node });
          }
        }
        if (isLost && sent.length === 0) {
          [isLost, lastSign] = [false, now];
          pass({ kind: 'view', current: true });
        }
        if (sent.length === 0) run(now + 60_000);
        assert.deepEqual(sent, [lastSign + 60_000]);
      }),
    );
  });
});

itAnswersEvictions('drains');
