import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { type Taint, type Toleration, toleratesTaint } from '@taintmgr/core';
import { decidingToleration } from '../src/eviction/tolerations.ts';

// Recorded from Kubernetes 1.36.2: which of a pod's tolerations covers which taint, and which of
// them is used for each taint.
interface Vector {
  readonly id: number;
  readonly enableComparisonOperators: boolean;
  readonly taints: readonly Partial<Taint>[];
  readonly tolerations: readonly (Partial<Omit<Toleration, 'tolerationSeconds'>> & {
    readonly tolerationSeconds?: number | string | null;
  })[];
  readonly toleratesMatrix: readonly string[];
  readonly result: { readonly allTolerated: boolean; readonly usedTolerations: readonly number[] };
}

const lines = readFileSync(new URL('vectors/toleration-matching.jsonl', import.meta.url), 'utf8');
const vectors: readonly Vector[] = lines
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

function taintOf(taint: Vector['taints'][number]): Taint {
  return { key: '', value: '', effect: '', timeAdded: null, ...taint };
}

function tolerationOf(toleration: Vector['tolerations'][number]): Toleration {
  const { tolerationSeconds: seconds = null, ...rest } = toleration;
  const tolerationSeconds = typeof seconds === 'string' ? BigInt(seconds) : seconds;
  return { key: '', operator: '', value: '', effect: '', ...rest, tolerationSeconds };
}

describe('toleration matching as recorded from Kubernetes 1.36.2', () => {
  it('finds the vectors', () => assert.equal(vectors.length, 4000));

  it('each toleration covers exactly the recorded taints', () => {
    for (const { id, enableComparisonOperators, taints, tolerations, toleratesMatrix } of vectors) {
      const options = { comparisonOperators: enableComparisonOperators };
      const matrix = taints.map((taint) =>
        tolerations
          .map((t) => Number(toleratesTaint(tolerationOf(t), taintOf(taint), options)))
          .join(''),
      );
      assert.deepEqual(matrix, toleratesMatrix, `vector ${id}`);
    }
  });

  it('the first toleration that covers a taint is the one that decides', () => {
    for (const { id, enableComparisonOperators, taints, result, ...vector } of vectors) {
      const tolerations = vector.tolerations.map(tolerationOf);
      const options = { comparisonOperators: enableComparisonOperators };
      const used = taints.map((taint) => decidingToleration(tolerations, taintOf(taint), options));
      const indexes = used.map((toleration) => toleration && tolerations.indexOf(toleration));
      const allTolerated = !indexes.includes(null);
      assert.equal(allTolerated, result.allTolerated, `vector ${id}`);
      assert.deepEqual(allTolerated ? indexes : [], result.usedTolerations, `vector ${id}`);
    }
  });
});
