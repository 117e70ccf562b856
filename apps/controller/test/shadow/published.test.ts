import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ShadowReport, ShadowRow } from '@taintmgr/core/shadow';
import { fittedStatus, readManifest } from '@taintmgr/k8s-adapter/kinds';
import { publishedShadow } from '../../src/shadow/published.ts';

const since = Date.UTC(2026, 0, 2, 3, 4, 5);

function row(name: string, same: number): ShadowRow {
  return { name, same, earlier: 1, later: 0, kept: 0, onlyTaintmgr: 0, budgetsAsked: 1 };
}

const report: ShadowReport = {
  since,
  counts: { same: 3, earlier: 2, later: 1, kept: 4, onlyTaintmgr: 5, budgetsAsked: 6 },
  earlierBy: { meanMs: 3_949, maxMs: 4_001 },
  laterBy: null,
  ...{ following: 7, notDeleted: 8, leftOtherwise: 9, givenUp: 10 },
  taints: [row('spot', 1)],
  namespaces: [
    ...Array.from({ length: 30 }, (_, index) => row(`ns${index}`, 1)),
    row('(others)', 5),
  ],
  policies: [],
  reasons: [{ verdict: 'kept', reason: 'KeptByPolicy', pods: 4 }],
  recent: Array.from({ length: 12 }, (_, index) => ({
    pod: { namespace: 'shop', name: `web-${index}`, uid: '', nodeName: 'n1' },
    at: since,
    verdict: 'kept' as const,
    byMs: null,
    asksBudgets: false,
    ...{ taint: 'spot', policy: 'databases', reason: 'KeptByPolicy' as const, message: 'm' },
  })),
};

it('the report is published as the definition of TaintManager has it, nothing cut', () => {
  const shadow = publishedShadow(report);
  const fitted = fittedStatus('TaintManager', { shadow });
  assert.deepEqual(fitted, { value: { shadow }, leftOut: {} });
  const metadata = { name: 'taintmgr-shadow' };
  const object = { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'TaintManager', metadata };
  const read = readManifest({ ...object, status: { shadow } }, 0);
  assert.ok(read.kind === 'allowed' && read.value.kind === 'TaintManager');
  assert.deepEqual(read.value.value.status?.shadow, shadow);
});

it('what there is no room for is one row, and adds up', () => {
  const { namespaces = [], recent = [], earlierSeconds, since: at } = publishedShadow(report);
  assert.equal(namespaces.length, 21);
  // 30 of one pod each and 5 others, without the 20 that have rows of their own.
  assert.deepEqual(namespaces.at(-1), { ...row('(others)', 15), earlier: 11, budgetsAsked: 11 });
  assert.deepEqual(
    recent.map(({ pod }) => pod),
    Array.from({ length: 10 }, (_, index) => `web-${index}`),
  );
  assert.deepEqual([at, earlierSeconds], ['2026-01-02T03:04:05Z', { mean: 3.9, most: 4 }]);
});
