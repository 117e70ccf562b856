import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { readManifest } from '../../src/kinds/manifest.ts';

interface Wrong {
  readonly name: string;
  readonly kind: string;
  readonly metadata?: object;
  readonly spec?: unknown;
  readonly says: readonly string[];
}

const file = new URL('../testdata/kinds/wrong-manifests.json', import.meta.url);
const wrong: readonly Wrong[] = JSON.parse(readFileSync(file, 'utf8'));

describe('a wrong manifest is refused in the words of the API server', () => {
  for (const { name, kind, metadata = {}, spec, says } of wrong) {
    it(`${kind}: ${name}`, () => {
      const named = {
        apiVersion: 'taintmgr.dev/v1alpha1',
        kind,
        metadata: { name: 'x', ...metadata },
      };
      const manifest = { ...named, spec };
      const judged = readManifest(manifest, 0);
      assert.deepEqual(
        judged.kind === 'refused' ? judged.faults.map(({ text }) => text) : [],
        says,
      );
    });
  }
});
