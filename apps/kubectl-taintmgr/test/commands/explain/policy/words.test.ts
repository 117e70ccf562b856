import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EvictionPolicy, PolicyVerdict } from '@taintmgr/core/policy';
import { readManifest } from '@taintmgr/k8s-adapter/kinds';
import { verdictText } from '../../../../src/commands/explain/policy.ts';

// The words for each verdict on a policy, with the names that manifests have.

function policy(name: string, spec: object): EvictionPolicy {
  const manifest = { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'EvictionPolicy' };
  const judged = readManifest({ ...manifest, metadata: { name }, spec }, 0);
  assert(judged.kind === 'allowed' && judged.value.kind === 'EvictionPolicy', name);
  return judged.value.value;
}

const plain = policy('plain', { action: 'Evict' });
const byName = policy('by-name', { action: 'Evict', match: { namespaces: ['a'] } });
const namespaceSelector = { matchLabels: { a: 'b' } };
const byLabel = policy('by-label', { action: 'Evict', match: { namespaceSelector } });
const byBoth = policy('by-both', {
  action: 'Evict',
  match: { namespaces: ['a'], namespaceSelector },
});
const first = policy('first', { action: 'Keep', priority: 10 });

const table: readonly (readonly [PolicyVerdict, EvictionPolicy, string])[] = [
  [{ kind: 'notMatched', part: 'taints' }, plain, 'does not match: taints'],
  [{ kind: 'notMatched', part: 'nodes' }, plain, 'does not match: nodeSelector'],
  [{ kind: 'notMatched', part: 'namespaces' }, byName, 'does not match: namespaces'],
  [{ kind: 'notMatched', part: 'namespaces' }, byLabel, 'does not match: namespaceSelector'],
  [
    { kind: 'notMatched', part: 'namespaces' },
    byBoth,
    'does not match: namespaces or namespaceSelector',
  ],
  [{ kind: 'notMatched', part: 'pods' }, plain, 'does not match: podSelector'],
  [{ kind: 'notMatched', part: 'podPriority' }, plain, 'does not match: podPriority'],
  [{ kind: 'outranked', by: 'first' }, plain, 'matches; first (priority 10) goes before'],
  [{ kind: 'onlyLimits' }, plain, 'matches; has no action, only limits'],
  [{ kind: 'unknownNamespace' }, byLabel, 'asks for labels of namespace shop, which are not known'],
];

describe('why a policy does not count', () => {
  for (const [verdict, one, text] of table) {
    it(text, () => assert.equal(verdictText(verdict, one, first, 'shop'), text));
  }
});
