// Fails where shipped sources have changed and no changeset says so: npm run changeset:check -- [REF]
// What counts is what has changed since REF, or else: on a branch since it left main, on main since the
// last release. Changesets itself says what is shipped (`changedFilePatterns`) and whether one is there.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A commit to compare with, and what it is to people. */
interface Base {
  readonly commit: string;
  readonly name: string;
}

const base = baseOf(process.argv[2]);
if (base === null) {
  process.stdout.write(
    'changesets: nothing to compare with, HEAD is all there is or sets the version\n',
  );
} else {
  process.stdout.write(`changesets: compared with ${base.name} (${base.commit.slice(0, 9)})\n`);
  const program = fileURLToPath(import.meta.resolve('@changesets/cli/bin.js'));
  const { status } = spawnSync(process.execPath, [program, 'status', `--since=${base.commit}`], {
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}

function baseOf(ref: string | undefined): Base | null {
  // A clone of one commit gets its history where it can; without a remote it stays as it is.
  if (git('rev-parse', '--is-shallow-repository') === 'true')
    git('fetch', '--quiet', '--unshallow');
  if (ref !== undefined) {
    const commit = git('merge-base', ref, 'HEAD');
    if (commit === null) throw new Error(`${ref} is no commit that HEAD has anything to do with`);
    return { commit, name: ref };
  }
  return branchPoint() ?? lastRelease();
}

/** Where the branch left main; null on main. */
function branchPoint(): Base | null {
  const head = git('rev-parse', 'HEAD');
  for (const name of ['origin/main', 'main']) {
    const commit = git('merge-base', name, 'HEAD');
    if (commit !== null && commit !== head) return { commit, name };
  }
  return null;
}

/** By its tag, else the commit that set the version; null where that is HEAD. */
function lastRelease(): Base | null {
  const tag = git('describe', '--tags', '--abbrev=0', '--match', '@*/*@*');
  if (tag !== null) return { commit: git('rev-list', '-1', tag) ?? tag, name: tag };
  const commit = git(
    'log',
    '-1',
    '--format=%H',
    '-G"version":',
    '--',
    'packages/core/package.json',
  );
  const isHead = commit === null || commit === '' || commit === git('rev-parse', 'HEAD');
  return isHead ? null : { commit, name: 'the commit that set the version' };
}

function git(...args: readonly string[]): string | null {
  const { status, stdout } = spawnSync('git', args, {
    encoding: 'utf8',
    // Nobody is there to type a password, or to wait for a remote that does not answer.
    env: { ...process.env, GIT_TERMINAL_PROMPT: '0' },
    timeout: 60_000,
  });
  return status === 0 ? stdout.trim() : null;
}
