import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import {
  artifactOf,
  artifactTable,
  readChecksums,
  sizeText,
  writeChecksums,
  writeTarball,
} from '../release/artifacts.ts';
import {
  type BundledPackage,
  bundledPackages,
  licenseFaults,
  noticesOf,
  programs,
  type Sbom,
  sbomOf,
} from '../release/bundled.ts';
import { checkTag, parseReleaseFlags } from '../release/flags.ts';
import { differences, packPackage } from '../release/make.ts';
import { releasePlan } from '../release/publish.ts';

const root = new URL('../../', import.meta.url);

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'taintmgr-release-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

const yaml: BundledPackage = {
  name: 'yaml',
  version: '2.9.1',
  license: 'ISC',
  folder: new URL('node_modules/yaml', root).pathname,
};

describe('the flags of a release', () => {
  const flags = (...args: readonly string[]) => parseReleaseFlags(args, {});
  for (const [args, message] of [
    [[], /^want one of --dry-run, .*, and --publish TARGET,\.\.\.$/],
    [['--dry-run', '--publish', 'npm'], /^want one of --dry-run/],
    [
      ['--publish', 'npn'],
      '--publish: got "npn", want npm or jsr or image or chart or github or krew',
    ],
    [['--dry-run', '--programs', 'some'], '--programs: got "some", want all or own or none'],
    [['--dry-run', '--repository', 'here'], '--repository: got "here", want OWNER/NAME'],
  ] as const) {
    it(`refuse ${args.join(' ') || 'nothing'}`, () => {
      assert.throws(() => flags(...args), { message });
    });
  }

  it('take the repository of the workflow', () => {
    const { repository } = parseReleaseFlags(['--dry-run'], { GITHUB_REPOSITORY: 'a/b' });
    assert.equal(repository, 'a/b');
  });
});

describe('a release of version 0.1.0', () => {
  for (const [where, env, isRefused] of [
    ['on a machine of ours', {}, false],
    ['for the tag v0.1.0', { GITHUB_REF_TYPE: 'tag', GITHUB_REF_NAME: 'v0.1.0' }, false],
    ['for the tag v0.2.0', { GITHUB_REF_TYPE: 'tag', GITHUB_REF_NAME: 'v0.2.0' }, true],
    ['for the tag v0.1.0-rc.1', { GITHUB_REF_TYPE: 'tag', GITHUB_REF_NAME: 'v0.1.0-rc.1' }, true],
    ['in a pull request', { GITHUB_REF_TYPE: 'branch', GITHUB_REF_NAME: '12/merge' }, false],
  ] as const) {
    it(`is ${isRefused ? 'refused' : 'made'} ${where}`, () => {
      const check = () => checkTag('0.1.0', env);
      if (isRefused) assert.throws(check, /^Error: the tag is v0\.\S+, and .* version 0\.1\.0: /);
      else assert.doesNotThrow(check);
    });
  }

  it('is refused before anything is made', () => {
    // Were it not refused, there would be nothing to publish.
    const nothing = ['--folder', 'no-such-folder'];
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['-C', '@taintmgr/source', 'scripts/release.ts', '--publish', 'npm', ...nothing],
      {
        cwd: root,
        encoding: 'utf8',
        env: { ...process.env, GITHUB_REF_TYPE: 'tag', GITHUB_REF_NAME: 'v99.0.0' },
      },
    );
    assert.deepEqual([status, stdout], [1, '']);
    assert.match(stderr, /^error: the tag is v99\.0\.0, /);
  });
});

describe('the plan of a release', () => {
  const tarballs = [
    'core',
    'sim-cluster',
    'api-server',
    'k8s-adapter',
    'controller',
    'kubectl-taintmgr',
  ];
  const planOf = (version: string, ...more: readonly string[]) => {
    const files = [...tarballs.map((name) => `taintmgr-${name}-${version}.tgz`), ...more];
    return releasePlan({ version, repository: 'taintmgr/taintmgr', folder: './release', files });
  };

  it('is what docs/releases.md shows', () => {
    const plan = planOf('0.1.0', 'taintmgr-0.1.0.tgz', 'taintmgr.yaml');
    const shown = plan.map(({ to, command }) => `${to}\n  ${command.join(' ')}\n`).join('');
    const page = readFileSync(new URL('docs/releases.md', root), 'utf8');
    assert.ok(page.includes(`\`\`\`\n${shown}\`\`\`\n`), shown);
  });

  it('gives nobody what is not final who does not ask for it', () => {
    const plan = planOf('1.0.0-rc.1', 'taintmgr.yaml');
    const npm = plan.filter(({ target }) => target === 'npm');
    assert.ok(npm.length > 0);
    for (const { command } of npm) assert.match(command.join(' '), / --tag next$/);
    assert.deepEqual(
      plan.filter(({ target }) => target === 'krew'),
      [],
    );
  });

  it('is none where a package is missing', () => {
    assert.throws(
      () => releasePlan({ version: '0.1.0', repository: 'a/b', folder: './release', files: [] }),
      { message: './release has no taintmgr-core-0.1.0.tgz' },
    );
  });
});

describe('what a release has made', () => {
  it('is listed, and read again only as it was listed', (t) => {
    const folder = folderOf(t);
    writeFileSync(join(folder, 'a.tgz'), 'a');
    const artifacts = [artifactOf(join(folder, 'a.tgz'))];
    writeChecksums(folder, artifacts);
    assert.deepEqual(readChecksums(folder), artifacts);
    assert.equal(
      artifactTable(artifacts),
      `  SIZE  ${'SHA256'.padEnd(64)}  FILE\n0.0 kB  ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb  a.tgz\n`,
    );
    writeFileSync(join(folder, 'a.tgz'), 'b');
    assert.throws(() => readChecksums(folder), /a\.tgz: sha256 is 3e23e8\w+, want ca9781/);
  });

  it('is compared file by file', () => {
    const file = (name: string, sha256: string) => ({ file: name, bytes: 1, sha256 });
    const both = [file('a', '1'), file('b', '2')];
    assert.deepEqual(differences(both, both), ['made two times, with the same checksums: 2 files']);
    assert.deepEqual(differences(both, [file('a', '1'), file('b', '3')]), [
      'made two times, with two checksums: b',
    ]);
  });

  it('is the same archive whenever and by whomever its files were written', async (t) => {
    const sums = [];
    for (const name of ['one', 'two']) {
      const folder = join(folderOf(t), name);
      mkdirSync(join(folder, 'in'), { recursive: true });
      for (const file of name === 'one' ? ['a', 'b'] : ['b', 'a']) {
        writeFileSync(join(folder, 'in', file), file);
      }
      const archive = join(folder, 'archive.tgz');
      await writeTarball(archive, join(folder, 'in'), name === 'one' ? ['a', 'b'] : ['b', 'a']);
      sums.push(artifactOf(archive).sha256);
    }
    assert.equal(sums[0], sums[1]);
  });

  it('has sizes as registries write them', () => {
    assert.deepEqual([999_949, 45_592_032].map(sizeText), ['999.9 kB', '45.6 MB']);
  });
});

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
      components: [component('yaml', '2.9.1'), component('fast-check', '4.0.0')],
      dependencies: [{ ref: 'yaml@2.9.1', dependsOn: ['fast-check@4.0.0'] }],
    };
    const program = {
      name: '@taintmgr/controller',
      version: '0.1.0',
      packages: [yaml],
      node: '24.21.0',
      committed: '2026-11-23T04:37:35.000Z',
    };
    const sbom = sbomOf(program, installed);
    assert.deepEqual(
      sbom.components.map(({ purl }) => purl),
      ['pkg:npm/yaml@2.9.1', 'pkg:generic/node@24.21.0'],
    );
    assert.equal(sbom.metadata.component.purl, 'pkg:npm/%40taintmgr/controller@0.1.0');
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

it('JSR gets the doors that npm gets', () => {
  const read = (file: string) => JSON.parse(readFileSync(new URL(file, root), 'utf8'));
  const { name, version, license, exports } = read('packages/core/package.json');
  const doors = Object.entries<{ '@taintmgr/source': string } | string>(exports).flatMap(
    ([door, target]) => (typeof target === 'string' ? [] : [[door, target['@taintmgr/source']]]),
  );
  const { publish, ...jsr } = read('packages/core/jsr.json');
  assert.deepEqual(jsr, { name, version, license, exports: Object.fromEntries(doors) });
});

describe('a package', () => {
  const tarballOf = (t: TestContext, bundled?: readonly BundledPackage[]) => {
    const [from, to] = [folderOf(t), folderOf(t)];
    const manifest = {
      name: '@taintmgr/example',
      version: '0.1.0',
      files: ['dist'],
      scripts: { build: 'tsup' },
      dependencies: { yaml: '^2.9.1' },
      devDependencies: { tsup: '^9.0.0' },
    };
    writeFileSync(join(from, 'package.json'), JSON.stringify(manifest));
    mkdirSync(join(from, 'dist'));
    writeFileSync(join(from, 'dist/index.js'), '');
    writeFileSync(join(from, 'secret.txt'), 'not shipped');
    const tarball = packPackage({ folder: from, to, repository: 'a/b', bundled });
    execFileSync('tar', ['-xzf', tarball, '-C', to]);
    const read = (file: string) => readFileSync(join(to, 'package', file), 'utf8');
    return {
      files: readdirSync(join(to, 'package')).sort(),
      published: JSON.parse(read('package.json')),
    };
  };

  it('that is a program has what it needs in it, and says under which licenses', (t) => {
    const { files, published } = tarballOf(t, [yaml]);
    assert.deepEqual(files, ['THIRD-PARTY-NOTICES', 'dist', 'package.json']);
    assert.equal(published.dependencies, undefined);
    assert.equal(published.scripts, undefined);
    assert.equal(published.devDependencies, undefined);
  });

  it('that is a library names what it needs, and the repository it is from', (t) => {
    const { files, published } = tarballOf(t);
    assert.deepEqual(files, ['dist', 'package.json']);
    assert.deepEqual(published.dependencies, { yaml: '^2.9.1' });
    assert.equal(published.repository.url, 'git+https://github.com/a/b.git');
  });
});
