// npm run changeset:check in small repositories of their own.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

const script = fileURLToPath(new URL('../changeset-check.ts', import.meta.url));
const config = fileURLToPath(new URL('../../.changeset/config.json', import.meta.url));
const source = 'packages/core/src/index.ts';
const changeset = '---\n"@taintmgr/core": minor\n---\n\nPods wait.\n';

/** Nothing of the user's own settings counts. */
const env = {
  ...process.env,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.com',
};

class Repository {
  readonly folder: string;

  constructor(t: TestContext) {
    this.folder = mkdtempSync(join(tmpdir(), 'changesets-'));
    t.after(() => rmSync(this.folder, { recursive: true }));
    this.git('init', '--quiet', '--initial-branch=main');
    mkdirSync(join(this.folder, '.changeset'));
    copyFileSync(config, join(this.folder, '.changeset/config.json'));
    const core = { name: '@taintmgr/core', version: '0.1.0' };
    this.commit({
      'package.json': JSON.stringify({ private: true, workspaces: ['packages/*'] }),
      'package-lock.json': '{}',
      'packages/core/package.json': JSON.stringify(core, null, 2),
      [source]: '',
    });
    this.git('tag', 'v0.0.0');
  }

  git(...args: readonly string[]): void {
    execFileSync('git', args, { cwd: this.folder, env });
  }

  commit(files: Readonly<Record<string, string>>): void {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.folder, file)), { recursive: true });
      writeFileSync(join(this.folder, file), text);
    }
    this.git('add', '--all');
    this.git('commit', '--quiet', '--message=x');
  }

  check(folder = this.folder, ...args: readonly string[]): number | null {
    return spawnSync(process.execPath, [script, ...args], { cwd: folder, env }).status;
  }
}

test('a branch that changes shipped sources needs a changeset', (t) => {
  const repository = new Repository(t);
  repository.git('checkout', '--quiet', '-b', 'work');
  repository.commit({ 'packages/core/test/a.test.ts': '', 'docs/a.md': '' });
  assert.equal(repository.check(), 0, 'only tests and documents have changed');
  repository.commit({ [source]: 'export const a = 1;' });
  assert.equal(repository.check(), 1, 'the changeset is forgotten');
  repository.commit({ '.changeset/pods-wait.md': changeset });
  assert.equal(repository.check(), 0);
});

test('a branch says with an empty changeset that users notice nothing', (t) => {
  const repository = new Repository(t);
  repository.git('checkout', '--quiet', '-b', 'work');
  repository.commit({ [source]: 'export const a = 1;', '.changeset/nothing.md': '---\n---\n' });
  assert.equal(repository.check(), 0);
});

test('nothing is asked without a tag of a release', (t) => {
  const repository = new Repository(t);
  repository.commit({ [source]: 'export const a = 1;' });
  assert.equal(repository.check(), 1);
  repository.git('tag', '--delete', 'v0.0.0');
  assert.equal(repository.check(), 0);
});

test('an old changeset does not count for a new branch', (t) => {
  const repository = new Repository(t);
  repository.commit({ '.changeset/pods-wait.md': changeset });
  repository.git('checkout', '--quiet', '-b', 'work');
  repository.commit({ [source]: 'export const a = 1;' });
  assert.equal(repository.check(), 1);
});

/** The commit that `npm run version` makes: changesets are gone. */
function setVersion(repository: Repository): void {
  rmSync(join(repository.folder, '.changeset/pods-wait.md'));
  const core = { name: '@taintmgr/core', version: '0.2.0' };
  repository.commit({
    'packages/core/package.json': JSON.stringify(core, null, 2),
  });
}

for (const where of ['main', 'work']) {
  test(`what comes after the commit that sets the version needs a changeset: on ${where}`, (t) => {
    const repository = new Repository(t);
    if (where === 'work') repository.git('checkout', '--quiet', '-b', 'work');
    repository.commit({ [source]: 'export const a = 1;', '.changeset/pods-wait.md': changeset });
    setVersion(repository);
    assert.equal(repository.check(), 0);
    repository.commit({ [source]: 'export const a = 2;' });
    assert.equal(repository.check(), 1);
    repository.commit({ '.changeset/pods-wait-longer.md': changeset });
    assert.equal(repository.check(), 0);
  });
}

test('a branch that sets the version is merged with what main has got meanwhile', (t) => {
  const repository = new Repository(t);
  repository.commit({ [source]: 'export const a = 1;', '.changeset/pods-wait.md': changeset });
  repository.git('checkout', '--quiet', '-b', 'work');
  setVersion(repository);
  repository.git('checkout', '--quiet', 'main');
  const more = { 'packages/core/src/more.ts': '', '.changeset/more.md': changeset };
  repository.commit(more);
  repository.git('checkout', '--quiet', '--detach', 'main');
  repository.git('merge', '--quiet', '--no-edit', 'work');
  assert.equal(repository.check(), 0);
});

test('main is compared with the last release, by its version or its tag', (t) => {
  const repository = new Repository(t);
  repository.commit({ [source]: 'export const a = 1;' });
  assert.equal(repository.check(), 1);
  repository.git('tag', '@taintmgr/core@0.1.1');
  assert.equal(repository.check(), 0);
  repository.commit({ [source]: 'export const a = 2;' });
  assert.equal(repository.check(), 1);
  assert.equal(repository.check(repository.folder, 'HEAD'), 0, 'compared with what was asked for');
  repository.commit({ '.changeset/pods-wait.md': changeset });
  assert.equal(repository.check(), 0);
});

/** A page of the report of the API. */
function pageOf(...declarations: readonly string[]): Readonly<Record<string, string>> {
  const sections = declarations.map((code) => {
    const [, name = ''] = /^\w+ (\w+)/m.exec(code) ?? [];
    return `### ${name}\n\n\`\`\`ts\n${code}\n\`\`\`\n`;
  });
  return { 'docs/reference/api/core.md': `# core\n\n${sections.join('\n')}` };
}

const [decide, wait] = ['function decide(now: Instant): void;', 'function wait(): void;'];
const patch = changeset.replace('minor', 'patch');
const major = changeset.replace('minor', 'major');
const breaking = changeset.replace('Pods wait', 'Breaking: pods wait');

for (const [what, version, declarations, text, passes] of [
  ['a removed member and a patch', '0.1.0', [decide], patch, false],
  ['a removed member and a minor', '0.1.0', [decide], changeset, false],
  ['a removed member and a minor that says so', '0.1.0', [decide], breaking, true],
  ['a changed signature and a minor', '0.1.0', ['function decide(): void;', wait], changeset, true],
  ['a changed signature and a patch', '0.1.0', ['function decide(): void;', wait], patch, false],
  [
    'a changed signature and a minor',
    '1.2.0',
    ['function decide(): void;', wait],
    changeset,
    false,
  ],
  ['a changed signature and a major', '1.2.0', ['function decide(): void;', wait], major, true],
  ['a new member and a patch', '0.1.0', [decide, wait, 'const nothing: null;'], patch, true],
  ['a new member and an empty one', '0.1.0', [decide, wait, 'const a: null;'], '---\n---\n', false],
  ['a new comment and an empty one', '0.1.0', [`/** Now. */\n${decide}`, wait], '---\n---\n', true],
] as const) {
  test(`the API since the last release, with ${what} after ${version}`, (t) => {
    const repository = new Repository(t);
    const core = { name: '@taintmgr/core', version };
    repository.commit({
      'packages/core/package.json': JSON.stringify(core),
      ...pageOf(decide, wait),
    });
    assert.equal(repository.check(), 0);
    repository.git('tag', `v${version}`);
    repository.git('checkout', '--quiet', '-b', 'work');
    repository.commit({
      [source]: 'export const a = 1;',
      ...pageOf(...declarations),
      '.changeset/a.md': text,
    });
    assert.equal(repository.check(), passes ? 0 : 1);
  });
}

test('a clone of one commit gets its history, and passes where nobody has it', (t) => {
  const repository = new Repository(t);
  repository.commit({ [source]: 'export const a = 1;' });
  const clone = join(repository.folder, 'clone');
  const from = pathToFileURL(repository.folder).href;
  repository.git('clone', '--quiet', '--depth=1', from, clone);
  assert.equal(repository.check(clone), 1);
  rmSync(clone, { recursive: true });
  repository.git('clone', '--quiet', '--depth=1', from, clone);
  execFileSync('git', ['remote', 'remove', 'origin'], { cwd: clone, env });
  assert.equal(repository.check(clone), 0);
});
