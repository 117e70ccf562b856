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

const now = 1_000;
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

describe('what no kind has', () => {
  const faultsOf = (manifest: unknown): readonly string[] => {
    const judged = readManifest(manifest, now);
    return judged.kind === 'refused' ? judged.faults.map(({ text }) => text) : [];
  };
  const apiVersion = 'taintmgr.dev/v1alpha1';
  const sound = { apiVersion, kind: 'EvictionPause', metadata: { name: 'one' } };
  const want =
    'want EvictionPolicy, NodeTaintRule, EvictionPause, NodeDrain, TaintManager of taintmgr.dev/v1alpha1';
  const oldGrammar =
    'got policies without kind and apiVersion, want an EvictionPolicy of taintmgr.dev/v1alpha1 for each: key, value ' +
    'and effect are in spec.match.taints, mode is spec.action (Delete, Evict, EvictThenDelete), ' +
    'settle is spec.minTaintAge, the others are in spec';
  const cases: readonly (readonly [string, unknown, readonly string[]])[] = [
    ['nothing', null, [`got no kind and no apiVersion, ${want}`]],
    ['a list', [], [`got no kind and no apiVersion, ${want}`]],
    ...[
      { key: 'spot', settle: '10m' },
      [{ key: 'spot', mode: 'evict' }],
      { policies: [{ key: 'spot' }] },
      { eviction: { policies: [{ mode: 'evict' }] } },
    ].map((old) => ['the old grammar', old, [oldGrammar]] as const),
    ['no policy at all', { policies: [], replicas: 1 }, [`got no kind and no apiVersion, ${want}`]],
    [
      'another kind',
      { apiVersion, kind: 'Pause' },
      [`got kind "Pause" of "${apiVersion}", ${want}`],
    ],
    [
      'another version',
      { ...sound, apiVersion: 'taintmgr.dev/v1' },
      [`got kind "EvictionPause" of "taintmgr.dev/v1", ${want}`],
    ],
    ['a field beside spec', { ...sound, specs: {} }, ['unknown field "specs"']],
    [
      'a TaintManager with a spec',
      { ...sound, kind: 'TaintManager', spec: {} },
      ['unknown field "spec"'],
    ],
    [
      'no name',
      { ...sound, metadata: {} },
      ['metadata.name: Required value: name or generateName is required'],
    ],
    [
      'a name that is too long',
      { ...sound, metadata: { name: 'a'.repeat(254) } },
      [`metadata.name: Invalid value: "${'a'.repeat(254)}": must be no more than 253 bytes`],
    ],
    [
      'a member of every object',
      { ...sound, spec: { toString: 1 } },
      ['unknown field "spec.toString"'],
    ],
    [
      'a prototype',
      { ...sound, spec: JSON.parse('{"__proto__":{"readiness":true}}') },
      ['unknown field "spec.__proto__"'],
    ],
  ];
  for (const [name, manifest, says] of cases) {
    it(name, () => assert.deepEqual(faultsOf(manifest), says));
  }
  it('a bad name', () => {
    const [text = ''] = faultsOf({ ...sound, metadata: { name: 'Bad_Name' } });
    assert.match(
      text,
      /^metadata\.name: Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain/,
    );
  });
  it('all that is wrong is said at once', () => {
    const spec = { action: 'Evict', priority: -2000000, settle: '1m', match: { taints: [] } };
    assert.deepEqual(faultsOf({ ...sound, kind: 'EvictionPolicy', spec }), [
      'unknown field "spec.settle"',
      'spec.priority: Invalid value: -2000000: spec.priority in body should be greater than or equal to -1000000',
      'spec.match.taints: Invalid value: 0: spec.match.taints in body should have at least 1 items',
    ]);
  });
});
