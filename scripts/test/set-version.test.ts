import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { naming, withVersion } from '../set-version.ts';
import { repository } from '../tidy/tree.ts';

const root = new URL('../../', import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, root), 'utf8');
const { version } = JSON.parse(read('packages/core/package.json'));

for (const file of naming) {
  test(`${file} names the version of the packages`, () => {
    assert.ok(read(file).includes(version));
    assert.equal(withVersion(read(file), version), read(file));
    assert.ok(withVersion(read(file), '9.8.7-rc.1').includes('9.8.7-rc.1'));
  });
}

/**
 * What is written anew by a command of its own, and what is of one version on purpose: test data, the plan
 * in docs/releases.md, the versions of Node, the results of proof.
 */
const others =
  /^deploy\/helm\/|^docs\/releases\.md$|^scripts\/(node-programs|proof\/record)\.json$|(^|\/)(package(-lock)?\.json|CHANGELOG\.md)$|\/test\//;

test('no other file names the version of the packages', () => {
  const { files, read } = repository(fileURLToPath(root));
  const texts = files.filter((file) => /\.(md|ts|mjs|json|ya?ml)$|Dockerfile$/.test(file));
  const named = texts.filter((file) => withVersion(read(file), '9.8.7') !== read(file));
  assert.deepEqual(
    named.filter((file) => !others.test(file)),
    [...naming],
  );
});

/** The files that `npm run version` reads, in a repository of their own. */
class Repository {
  readonly folder: string;

  constructor(t: TestContext) {
    this.folder = mkdtempSync(join(tmpdir(), 'version-'));
    t.after(() => rmSync(this.folder, { recursive: true }));
    const packages = ['packages/core', 'apps/controller', 'apps/kubectl-taintmgr'];
    const manifests = packages.map((folder) => `${folder}/package.json`);
    for (const file of [...naming, ...manifests, '.changeset/config.json', 'CHANGELOG.md']) {
      mkdirSync(dirname(join(this.folder, file)), { recursive: true });
      cpSync(new URL(file, root), join(this.folder, file));
    }
    this.write('package.json', JSON.stringify({ private: true, workspaces: packages }));
    this.write('package-lock.json', '{}');
    for (const folder of packages) {
      const { name, version } = JSON.parse(this.read(`${folder}/package.json`));
      this.write(`${folder}/package.json`, JSON.stringify({ name, version }, null, 2));
    }
    this.git('init', '--quiet', '--initial-branch=main');
  }

  read(file: string): string {
    return readFileSync(join(this.folder, file), 'utf8');
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.folder, file), text);
  }

  git(...args: readonly string[]): void {
    const who = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
    execFileSync('git', [...who, ...args], { cwd: this.folder });
  }

  /** What `npm run version` prints to stderr. */
  version(): string {
    const script = fileURLToPath(new URL('scripts/set-version.ts', root));
    return spawnSync(process.execPath, [script], { cwd: this.folder, encoding: 'utf8' }).stderr;
  }
}

test('changesets become the next version, everywhere, and one section', (t) => {
  const repository = new Repository(t);
  const changelog = repository.read('CHANGELOG.md');
  repository.write('.changeset/a.md', '---\n"@taintmgr/core": minor\n---\n\nPods wait.\n');
  repository.write('.changeset/b.md', '---\n"@taintmgr/controller": patch\n---\n\nNo leak.\n');
  assert.equal(repository.version(), '');
  const next = version.replace(
    /^(\d+)\.(\d+)\..*/,
    (_: string, x: string, y: string) => `${x}.${+y + 1}.0`,
  );
  for (const folder of ['packages/core', 'apps/controller', 'apps/kubectl-taintmgr']) {
    assert.equal(JSON.parse(repository.read(`${folder}/package.json`)).version, next);
    assert.ok(!readdirSync(join(repository.folder, folder)).includes('CHANGELOG.md'));
  }
  for (const file of naming) assert.ok(repository.read(file).includes(next), file);
  assert.deepEqual(readdirSync(join(repository.folder, '.changeset')), ['config.json']);
  const section = repository.read('CHANGELOG.md').replace(/ - \d{4}-\d\d-\d\d/, ' - DATE');
  const head = `## ${next} - DATE\n\n### Changes\n\n- Pods wait. (core)\n\n### Fixes\n\n- No leak. (controller)\n\n`;
  assert.equal(section, changelog.replace(/^## /m, `${head}## `));
});

test('without changesets, a version without a tag gets the date of today, and one with a tag stays', (t) => {
  const repository = new Repository(t);
  const dated = repository.read('CHANGELOG.md').replace(/^(## .* - ).*$/m, '$12001-01-01');
  repository.write('CHANGELOG.md', dated);
  assert.equal(repository.version(), '');
  assert.doesNotMatch(repository.read('CHANGELOG.md'), /2001-01-01/);
  repository.git('add', '--all');
  repository.git('commit', '--quiet', '--message=x');
  repository.git('tag', `v${version}`);
  repository.write('CHANGELOG.md', dated);
  assert.match(
    repository.version(),
    /^error: \.changeset has no change since .*, which has a tag: npm run changeset/,
  );
  assert.equal(repository.read('CHANGELOG.md'), dated);
});
