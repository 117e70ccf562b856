import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type BundledPackage,
  bundledPackages,
  licenseFaults,
  noticesOf,
  programs,
  sbomOf,
} from '../../release/bundled.ts';

const root = new URL('../../../', import.meta.url);
const yaml: BundledPackage = {
  name: 'yaml',
  version: '2.9.1',
  license: 'ISC',
  folder: new URL('node_modules/yaml', root).pathname,
  integrity: 'sha512-AAEC/w==',
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
    const program = {
      name: '@taintmgr/controller',
      version: '0.1.0',
      description: 'Evicts pods',
      packages: [yaml, { ...yaml, name: '@a/b', version: '1.0.0', license: '(MIT OR ISC)' }],
      node: '24.21.0',
      committed: '2026-11-23T04:37:35.000Z',
    };
    const id = (one: string) => [{ license: { id: one } }];
    const hashes = [{ alg: 'SHA-512', content: '000102ff' }];
    const [library, platform] = ['library', 'platform'];
    const { serialNumber, ...content } = Object(sbomOf(program));
    assert.deepEqual(content, {
      $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
      bomFormat: 'CycloneDX',
      specVersion: '1.5',
      version: 1,
      metadata: {
        timestamp: '2026-11-23T04:37:35.000Z',
        component: {
          'bom-ref': '@taintmgr/controller@0.1.0',
          type: 'application',
          name: '@taintmgr/controller',
          version: '0.1.0',
          description: 'Evicts pods',
          licenses: id('Apache-2.0'),
          purl: 'pkg:npm/%40taintmgr/controller@0.1.0',
        },
      },
      components: [
        {
          ...{ 'bom-ref': 'yaml@2.9.1', type: library, name: 'yaml', version: '2.9.1' },
          ...{ purl: 'pkg:npm/yaml@2.9.1', hashes, licenses: id('ISC') },
        },
        {
          ...{ 'bom-ref': '@a/b@1.0.0', type: library, name: '@a/b', version: '1.0.0' },
          ...{ purl: 'pkg:npm/%40a/b@1.0.0', hashes, licenses: [{ expression: '(MIT OR ISC)' }] },
        },
        {
          ...{ 'bom-ref': 'node@24.21.0', type: platform, name: 'node', version: '24.21.0' },
          ...{ purl: 'pkg:generic/node@24.21.0', licenses: id('MIT') },
          cpe: 'cpe:2.3:a:nodejs:node.js:24.21.0:*:*:*:*:*:*:*',
        },
      ],
      dependencies: [
        {
          ref: '@taintmgr/controller@0.1.0',
          dependsOn: ['@a/b@1.0.0', 'node@24.21.0', 'yaml@2.9.1'],
        },
      ],
    });
    assert.match(
      serialNumber,
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    assert.deepEqual(sbomOf(program), { ...content, serialNumber });
  });
});
