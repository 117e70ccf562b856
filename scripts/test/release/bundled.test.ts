import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type BundledPackage,
  bundledPackages,
  licenseFaults,
  noticesOf,
  programs,
  type Sbom,
  sbomOf,
} from '../../release/bundled.ts';

const root = new URL('../../../', import.meta.url);
const yaml: BundledPackage = {
  name: 'yaml',
  version: '2.9.1',
  license: 'ISC',
  folder: new URL('node_modules/yaml', root).pathname,
};

describe('the packages in a program', () => {
  it('have licenses that are allowed, all of them', async () => {
    for (const entries of Object.values(programs)) {
      const packages = await bundledPackages(entries);
      assert.ok(packages.some(({ name }) => name === 'yaml'));
      assert.deepEqual(licenseFaults(packages), []);
    }
  });

  for (const [license, isAllowed] of [
    ['MIT', true],
    ['(MIT OR GPL-3.0-only)', true],
    ['MIT AND ISC', true],
    ['GPL-3.0-only', false],
    ['MIT AND AGPL-3.0-only', false],
    ['SEE LICENSE IN LICENSE.md', false],
    ['none', false],
  ] as const) {
    it(`${isAllowed ? 'may' : 'may not'} have the license ${license}`, () => {
      const faults = licenseFaults([{ ...yaml, license }]);
      assert.equal(faults.length, isAllowed ? 0 : 1);
      if (!isAllowed)
        assert.match(faults[0] ?? '', /^yaml 2\.9\.1: license ".*", want one of 0BSD, /);
    });
  }

  it('are named in the notices with their licenses', () => {
    const notices = noticesOf([yaml]);
    assert.match(
      notices,
      /\n\nyaml 2\.9\.1 \(ISC\)\nhttps:\/\/www\.npmjs\.com\/package\/yaml\n\nCopyright/,
    );
  });

  it('are what its CycloneDX document lists, with the Node in it', () => {
    const component = (name: string, version: string) => ({
      'bom-ref': `${name}@${version}`,
      type: 'library',
      name,
      version,
      purl: `pkg:npm/${name}@${version}`,
    });
    const installed: Sbom = {
      bomFormat: 'CycloneDX',
      specVersion: '1.5',
      serialNumber: 'urn:uuid:random',
      metadata: { timestamp: 'now', component: component('taintmgr', '0.0.0') },
      components: [
        { ...component('yaml', '2.9.1'), properties: [{ name: 'development', value: 'true' }] },
        component('fast-check', '4.0.0'),
      ],
      dependencies: [{ ref: 'yaml@2.9.1', dependsOn: ['fast-check@4.0.0'] }],
    };
    const program = {
      name: '@taintmgr/controller',
      version: '0.1.0',
      description: 'Evicts pods',
      packages: [yaml],
      node: '24.21.0',
      committed: '2026-11-23T04:37:35.000Z',
    };
    const sbom = sbomOf(program, installed);
    assert.deepEqual(
      sbom.components.map(({ purl }) => purl),
      ['pkg:npm/yaml@2.9.1', 'pkg:generic/node@24.21.0'],
    );
    assert.deepEqual(sbom.components[0]?.properties, []);
    assert.deepEqual(sbom.metadata.component, {
      'bom-ref': '@taintmgr/controller@0.1.0',
      type: 'application',
      name: '@taintmgr/controller',
      version: '0.1.0',
      description: 'Evicts pods',
      purl: 'pkg:npm/%40taintmgr/controller@0.1.0',
      properties: [],
    });
    assert.equal(sbom.metadata.timestamp, '2026-11-23T04:37:35.000Z');
    assert.deepEqual(sbom.dependencies, [
      { ref: '@taintmgr/controller@0.1.0', dependsOn: ['node@24.21.0', 'yaml@2.9.1'] },
      { ref: 'yaml@2.9.1', dependsOn: [] },
    ]);
    assert.match(
      sbom.serialNumber,
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    assert.deepEqual(sbomOf(program, { ...installed, serialNumber: 'other' }), sbom);
    const missing = { ...program, packages: [{ ...yaml, version: '3.0.0' }] };
    assert.throws(() => sbomOf(missing, installed), { message: 'npm sbom has no yaml@3.0.0' });
  });
});
