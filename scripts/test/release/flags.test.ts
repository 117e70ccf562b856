import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { emptyFolder, parseReleaseFlags } from '../../release/flags.ts';

/** A folder with a repository in it: `work/repository/README.md`. */
function folders(t: TestContext): { readonly work: string; readonly repository: string } {
  const work = mkdtempSync(join(tmpdir(), 'taintmgr-folder-'));
  t.after(() => rmSync(work, { recursive: true }));
  const repository = join(work, 'repository');
  mkdirSync(repository);
  writeFileSync(join(repository, 'README.md'), '');
  return { work, repository };
}

describe('the folder of a release', () => {
  for (const [what, path, refusal] of [
    ['the repository', '.', /holds the repository/],
    ['above the repository', '..', /holds the repository/],
    ['the root of the disk', '/', /holds the repository/],
    [
      'a folder with other files',
      '../photos',
      /photos has files that are not of a release, such as a\.jpg: /,
    ],
  ] as const) {
    it(`is not ${what}`, (t) => {
      const { work, repository } = folders(t);
      mkdirSync(join(work, 'photos'));
      writeFileSync(join(work, 'photos/a.jpg'), '');
      assert.throws(() => emptyFolder(join(repository, path), repository), refusal);
      assert.ok(existsSync(join(repository, 'README.md')));
      assert.ok(existsSync(join(work, 'photos/a.jpg')));
    });
  }

  it('is made, and emptied when a release is made in it again, whole or not', (t) => {
    const { repository } = folders(t);
    const folder = join(repository, 'deep/release');
    emptyFolder(folder, repository);
    writeFileSync(join(folder, 'half.tgz'), '');
    emptyFolder(folder, repository);
    assert.ok(!readdirSync(folder).includes('half.tgz'));
  });

  it('may be there, where it is empty', (t) => {
    const { repository } = folders(t);
    mkdirSync(join(repository, 'release'));
    emptyFolder(join(repository, 'release'), repository);
  });

  for (const [args, message] of [
    [['--folder', ''], '--folder: got "", want a folder for the release alone'],
    [
      ['--folder', 'out', '--archives', 'out/mac'],
      '--archives: got "out/mac", which is in the folder of the release',
    ],
  ] as const) {
    it(`is refused before anything is made: ${args.join(' ')}`, () => {
      assert.throws(() => parseReleaseFlags(['--dry-run', ...args], {}), { message });
    });
  }

  it('is looked at before anything is made, also the second one of two', (t) => {
    const { work } = folders(t);
    mkdirSync(join(work, 'out-again'));
    writeFileSync(join(work, 'out-again/a.jpg'), '');
    const { status, stderr } = spawnSync(
      process.execPath,
      [
        ...['-C', '@taintmgr/source', 'scripts/release.ts', '--dry-run', '--twice'],
        ...['--folder', join(work, 'out')],
      ],
      { cwd: new URL('../../../', import.meta.url), encoding: 'utf8' },
    );
    assert.equal(status, 1);
    assert.match(stderr, /^error: --folder: \S+out-again has files that are not of a release/);
  });
});

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
