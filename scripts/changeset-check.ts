// Fails if shipped sources have changed without a changeset: npm run changeset:check -- [REF] What
// counts is what has changed since REF, or else: on a branch since it left main, or since it set
// the version, on main since the last release. Without a tag of a release nothing is compared.
// Changesets itself says what is shipped (`changedFilePatterns`) and whether one is there. Fails too
// if the changesets since the last release raise the version by less than the changes of
// docs/reference/api, the report of the API, ask for, or if none names the breaking of a name that is gone.
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ApiChanges, apiChanges } from './api-changes.ts';
import { isBreaking, readChanges } from './changelog.ts';

/** A commit to compare with, and its name for people. */
interface Base {
  readonly commit: string;
  readonly name: string;
}

const base = baseOf(process.argv[2]);
if (base === null) {
  process.stdout.write(
    'changesets: nothing to compare with: no tag of a release, or HEAD is all there is or sets the version\n',
  );
} else {
  process.stdout.write(`changesets: compared with ${base.name} (${base.commit.slice(0, 9)})\n`);
  const program = fileURLToPath(import.meta.resolve('@changesets/cli/bin.js'));
  const { status } = spawnSync(process.execPath, [program, 'status', `--since=${base.commit}`], {
    stdio: 'inherit',
  });
  process.exitCode = status === 0 ? apiFault() : (status ?? 1);
}

/** 1 if the changesets raise the version by less than the changes of the API ask for; prints these. */
function apiFault(): 0 | 1 {
  const release = lastRelease();
  if (release === null) return 0;
  const { broken, added } = changesSince(release);
  const { version } = JSON.parse(readFileSync('packages/core/package.json', 'utf8'));
  const enough = version.startsWith('0.') ? ['minor', 'major'] : ['major'];
  const wanted = broken.length > 0 ? enough : ['patch', 'minor', 'major'];
  const changesets = readChanges('.changeset');
  const said = (changes: readonly string[], what: string): 1 => {
    const lines = changes.map((change) => `  ${change}\n`).join('');
    process.stdout.write(
      `error: .changeset: the API has changed since ${release.name}, and no changeset ${what}: npm run changeset\n${lines}`,
    );
    return 1;
  };
  const changes = [...broken, ...added];
  if (changes.length > 0 && !changesets.some(({ bump }) => wanted.includes(bump))) {
    return said(changes, `says ${wanted.join(' or ')}`);
  }
  // A changed declaration may only have grown; a name that is gone breaks its users.
  const removed = broken.filter((change) => change.endsWith('(removed)'));
  return removed.length > 0 && !changesets.some(isBreaking)
    ? said(removed, 'begins with "Breaking: "')
    : 0;
}

function changesSince({ commit }: Base): ApiChanges {
  const folder = 'docs/reference/api';
  const paths = git('ls-tree', '--name-only', commit, `${folder}/`)?.split('\n') ?? [];
  const before = paths
    .filter((path) => path.endsWith('.md'))
    .map((path) => [basename(path), git('show', `${commit}:${path}`) ?? ''] as const);
  if (before.length === 0) return { broken: [], added: [] };
  const after = globSync(`${folder}/*.md`).map(
    (path) => [basename(path), readFileSync(path, 'utf8')] as const,
  );
  return apiChanges(new Map(before), new Map(after));
}

function baseOf(ref: string | undefined): Base | null {
  // A clone of one commit gets its history if possible; without a remote it stays shallow.
  if (git('rev-parse', '--is-shallow-repository') === 'true')
    git('fetch', '--quiet', '--unshallow');
  if (releaseTag() === null) return null;
  if (ref !== undefined) {
    const commit = git('merge-base', ref, 'HEAD');
    if (commit === null) throw new Error(`${ref} is no commit that HEAD has anything to do with`);
    return { commit, name: ref };
  }
  const point = branchPoint();
  const release = lastRelease();
  if (point === null) return notHead(release);
  // The commit that sets the version has made a section of CHANGELOG.md of all changesets before it.
  const isOnBranch = release !== null && !isAncestor(release.commit, point.commit);
  return isOnBranch ? notHead(release) : point;
}

function notHead(base: Base | null): Base | null {
  return base?.commit === git('rev-parse', 'HEAD') ? null : base;
}

function isAncestor(commit: string, of: string): boolean {
  return git('merge-base', '--is-ancestor', commit, of) !== null;
}

/** The commit at which the branch left main; null on main. */
function branchPoint(): Base | null {
  const head = git('rev-parse', 'HEAD');
  for (const name of ['origin/main', 'main']) {
    const commit = git('merge-base', name, 'HEAD');
    if (commit !== null && commit !== head) return { commit, name };
  }
  return null;
}

/**
 * The last release: its tag, or the commit that set the version, the later of the two; null if
 * there is none.
 */
function lastRelease(): Base | null {
  const format = ['log', '-1', '--format=%H'];
  const set = git(...format, '-G"version":', '--', 'packages/core/package.json') || null;
  const tag = releaseTag();
  const tagged = tag === null ? null : git('rev-list', '-1', tag);
  if (tag !== null && tagged !== null && (set === null || isAncestor(set, tagged))) {
    return { commit: tagged, name: tag };
  }
  return set === null ? null : { commit: set, name: 'the commit that set the version' };
}

/** The latest before HEAD; null: there is none. */
function releaseTag(): string | null {
  return git('describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*', '--match', '@*/*@*');
}

function git(...args: readonly string[]): string | null {
  const { status, stdout } = spawnSync('git', args, {
    encoding: 'utf8',
    // No user can type a password here, or wait for a remote that does not answer.
    env: { ...process.env, GIT_TERMINAL_PROMPT: '0' },
    timeout: 60_000,
  });
  return status === 0 ? stdout.trim() : null;
}
