// The writes to one node: when the next one of a purpose may begin.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defaultLifecycleConfig } from '../../src/lifecycle/config.ts';
import type { Need } from '../../src/lifecycle/node-needs.ts';
import { NodeWriter } from '../../src/lifecycle/node-reconciler.ts';
import { itAnswersNodes } from './script.ts';

/** A write of one purpose, with the taints that come and go. */
function need(taints: string): Need {
  const node = { name: 'n', uid: 'n' };
  const change = { node, add: [], remove: [], seen: null, because: [] };
  return {
    ...{ write: 'noSchedule', taints },
    command: (id, fresh) => ({ kind: 'changeTaints', id, ...change, fresh }),
  };
}

/** A writer that has put a taint on, and was told so at 10 ms. */
function written(): NodeWriter {
  const writer = new NodeWriter(defaultLifecycleConfig);
  const { id } = writer.begin('n', need('+a -')) as { readonly id: string };
  writer.settle(10, id, { kind: 'done' });
  return writer;
}

describe('a write that has succeeded', () => {
  it('is not made again before the watch had time to show it', () => {
    const next = written().next(20, 'n', [need('+a -')]);
    assert.deepEqual(next, { write: null, laterAt: 10_010 });
  });

  // A node that is cordoned and uncordoned in one breath would keep its taint for ten seconds.
  it('does not delay its contrary', () => {
    const next = written().next(20, 'n', [need('+ -a')]);
    assert.deepEqual(next, { write: 'noSchedule', laterAt: null });
  });
});

itAnswersNodes('refused refused-for-ever answer-late');
