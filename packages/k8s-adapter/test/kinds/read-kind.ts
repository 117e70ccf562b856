// Manifests from the few fields that matter, and what is read from them.
import assert from 'node:assert/strict';
import { type PolicyObject, readManifest } from '../../src/kinds/manifest.ts';

export const now = 1_000;

export function manifest(
  kind: string,
  spec: unknown,
  others: object = {},
  metadata: object = {},
): object {
  return {
    apiVersion: 'taintmgr.dev/v1alpha1',
    kind,
    metadata: { name: 'one', ...metadata },
    ...(spec !== undefined && { spec }),
    ...others,
  };
}

/** What a sound manifest says. */
export function read(...given: Parameters<typeof manifest>): PolicyObject {
  const judged = readManifest(manifest(...given), now);
  assert.equal(judged.kind, 'allowed', JSON.stringify(judged));
  return judged.value;
}
