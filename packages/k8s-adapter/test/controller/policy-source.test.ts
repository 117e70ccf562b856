import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Event } from '@taintmgr/core';
import { type PolicyObject, readManifest } from '@taintmgr/k8s-adapter/kinds';
import { engineSources } from '../../src/controller/engine-sources.ts';

function policy(name: string, match: object): PolicyObject {
  const spec = { action: 'Keep', match };
  const manifest = {
    apiVersion: 'taintmgr.dev/v1alpha1',
    kind: 'EvictionPolicy',
    metadata: { name },
    spec,
  };
  const judged = readManifest(manifest, 0);
  assert.equal(judged.kind, 'allowed');
  return judged.value;
}

/** The collections that are read, and what the machine hears before any of them is. */
function begin(policies: readonly PolicyObject[]): readonly [string, string] {
  const sources = engineSources({ random: () => 0, policies });
  const resources = sources.flatMap((source) => source.status()).map(({ resource }) => resource);
  const heard = sources.flatMap((source) => source.handle(0, { kind: 'start' }));
  const isPolicy = (effect: { kind: string }): effect is Event => effect.kind === 'policyUpsert';
  return [
    resources.join(' '),
    heard
      .filter(isPolicy)
      .map((event) => JSON.stringify(event))
      .join(),
  ];
}

it('policies of files are told once, before anything that is read', () => {
  const keep = policy('keep', {});
  const [resources, events] = begin([keep]);
  assert.equal(resources, 'nodes pods');
  assert.equal(events, JSON.stringify({ kind: 'policyUpsert', policy: keep.value }));
  const [source] = engineSources({ random: () => 0, policies: [keep] });
  assert.equal(source?.handle(0, { kind: 'tick' }).length, 0);
  assert.deepEqual(source?.handle(0, { kind: 'start' }).at(-1), { kind: 'synced' });
  assert.deepEqual(source?.handle(0, { kind: 'start' }), []);
});

it('namespaces are read where a policy selects them', () => {
  assert.equal(begin([])[0], 'nodes pods');
  assert.equal(begin([policy('a', { namespaces: ['shop'] })])[0], 'nodes pods');
  assert.equal(begin([policy('a', { namespaceSelector: {} })])[0], 'nodes pods namespaces');
});
