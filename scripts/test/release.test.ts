import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { BundledPackage } from '../release/bundled.ts';
import { checkTag } from '../release/flags.ts';
import { compareReleases, packPackage } from '../release/make.ts';

const root = new URL('../../', import.meta.url);

const yaml: BundledPackage = {
  name: 'yaml',
  version: '2.9.1',
  license: 'ISC',
  folder: new URL('node_modules/yaml', root).pathname,
  integrity: 'sha512-AAAA',
};

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'taintmgr-release-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

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

describe('--twice', () => {
  const file = (name: string, sha256: string) => ({ file: name, bytes: 1, sha256 });
  const first = [file('a', '1'), file('b', '2')];
  for (const [what, second, fault] of [
    ['the same files', first, undefined],
    ['another checksum', [file('a', '1'), file('b', '3')], 'b: sha256 is 2, then 3'],
    ['a file less', [file('a', '1')], 'b: sha256 is 2, then none'],
    ['a file more', [...first, file('c', '3')], 'c: sha256 is none, then 3'],
  ] as const) {
    it(`${fault ? 'fails for' : 'accepts'} ${what}`, () => {
      const compare = () => compareReleases(first, second);
      if (!fault) compare();
      else assert.throws(compare, { message: `--twice: built differently:\n${fault}` });
    });
  }
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
      exports: { '.': { '@taintmgr/source': './src/index.ts', default: './dist/index.js' } },
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
    const { name: _, bugs, homepage, repository, ...rest } = published;
    assert.deepEqual(rest, {
      version: '0.1.0',
      exports: { '.': { default: './dist/index.js' } },
      files: ['dist'],
      dependencies: { yaml: '^2.9.1' },
    });
    assert.equal(repository.url, 'git+https://github.com/a/b.git');
    assert.equal(homepage, `https://github.com/a/b/tree/main/${repository.directory}#readme`);
    assert.equal(bugs, 'https://github.com/a/b/issues');
  });
});
