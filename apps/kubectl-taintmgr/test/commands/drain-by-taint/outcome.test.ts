import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DrainFailure, DrainNode } from '@taintmgr/core/drain';
import {
  type DrainResult,
  exitCodes,
  isNotDrained,
  resultOf,
} from '../../../src/commands/drain-by-taint/outcome.ts';
import { now } from '../../world/values.ts';

// What scripts go by: the result and the exit code of a drain whose nodes failed.

/** The worst first: where nodes failed for several reasons, the first of these counts. */
const endings: readonly (readonly [DrainFailure, DrainResult, number])[] = [
  ['ForeignEviction', 'Stopped', 1],
  ['Denied', 'Failed', 1],
  ['TaintRemoved', 'Failed', 1],
  ['AnotherDrain', 'Failed', 1],
  ['Blocked', 'Blocked', 2],
  ['PodsRefused', 'Blocked', 2],
  ['TimedOut', 'TimedOut', 3],
  ['StepTimedOut', 'TimedOut', 3],
  ['NotBegun', 'Blocked', 2],
];

function nodeWith(phase: DrainNode['phase']): DrainNode {
  const wave = { name: '', nodesAtOnceMax: null };
  return { name: 'n1', zone: '', wave, phase };
}

function failed(why: DrainFailure): DrainNode {
  return nodeWith({ kind: 'failed', why, at: now, message: null });
}

describe('the end of a drain', () => {
  for (const [index, [why, result, code]] of endings.entries()) {
    it(`${why}: ${result}, ${code}, before what is less bad`, () => {
      const nodes = endings.slice(index).map(([one]) => failed(one));
      const found = resultOf({ nodes: () => nodes.toReversed() });
      assert.deepEqual([found, exitCodes[found]], [result, code]);
      assert.equal(resultOf({ nodes: () => [failed(why)] }), result);
    });
  }

  it('is a success where every node is drained, or is no more', () => {
    const nodes = [
      nodeWith({ kind: 'drained', since: now, at: now }),
      nodeWith({ kind: 'vanished', at: now }),
    ];
    assert.deepEqual([resultOf({ nodes: () => nodes }), exitCodes.Drained], ['Drained', 0]);
    assert.deepEqual([...nodes, failed('TimedOut')].map(isNotDrained), [false, false, true]);
  });
});
