// What a NodeDrain writes on a node, where the node is another one before the answer comes.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DrainWrites } from '../../../src/drain/marks.ts';

const undo = { kind: 'node', nodeName: 'n1', write: { kind: 'undo' } } as const;
const cordon = { kind: 'node', nodeName: 'n1', write: { kind: 'cordon' } } as const;
const failed = { kind: 'failed', status: 500, message: 'no', retryAfter: null } as const;

/** A write that is under way while its node goes and another one comes under the name. */
function outrun(): { readonly writes: DrainWrites; readonly take: () => readonly string[] } {
  const writes = new DrainWrites('write');
  const take = (): readonly string[] => writes.take(0, () => true).map(({ id }) => id);
  writes.want(0, { ...undo });
  assert.deepEqual(take(), ['write-1']);
  writes.forget('n1');
  return { writes, take };
}

describe('the answer about a node that is gone', () => {
  for (const outcome of [{ kind: 'done' }, failed] as const) {
    it(`does not count for another one of its name: ${outcome.kind}`, () => {
      const { writes, take } = outrun();
      writes.want(0, { ...undo });
      // One write of a name at a time: the second could be overtaken by the first.
      assert.deepEqual(take(), []);
      assert.equal(writes.isUndoing('n1'), true);
      writes.settle(0, 'write-1', outcome);
      assert.equal(writes.isUndoing('n1'), true);
      assert.deepEqual(take(), ['write-2']);
      writes.settle(0, 'write-2', { kind: 'done' });
      assert.equal(writes.isUndoing('n1'), false);
    });
  }

  it('counts for what is wanted otherwise as little', () => {
    const { writes, take } = outrun();
    writes.want(0, cordon);
    writes.settle(0, 'write-1', { kind: 'done' });
    assert.deepEqual(take(), ['write-2']);
  });

  it('leads to nothing where nobody wants anything of the next one', () => {
    const { writes, take } = outrun();
    writes.settle(0, 'write-1', failed);
    assert.equal(writes.isUndoing('n1'), false);
    assert.deepEqual(take(), []);
  });
});
