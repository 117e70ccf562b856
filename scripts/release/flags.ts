// The flags of `npm run release`.
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { parseArgs } from 'node:util';
import { type Target, targets } from './publish.ts';

export interface ReleaseFlags {
  /** The output folder, from the root of the repository. */
  readonly folder: string;
  /** `OWNER/NAME` on GitHub. */
  readonly repository: string;
  /** The machines to make programs for: all that are possible here, this one, none. */
  readonly programs: 'all' | 'own' | 'none';
  /** A folder with archives that were made elsewhere, which this machine cannot make. */
  readonly archives?: string | undefined;
  /** Makes everything two times, and compares. */
  readonly twice: boolean;
  /** The targets to publish to; empty in a dry run, which makes a release and publishes nothing. */
  readonly publish: readonly Target[];
}

const programs = ['all', 'own', 'none'] as const;

/** Throws an error with the fault and the allowed values. */
export function parseReleaseFlags(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): ReleaseFlags {
  const { values } = parseArgs({
    args: [...args],
    options: {
      'dry-run': { type: 'boolean', default: false },
      publish: { type: 'string' },
      folder: { type: 'string', default: 'release' },
      repository: { type: 'string', default: env.GITHUB_REPOSITORY ?? 'taintmgr/taintmgr' },
      programs: { type: 'string', default: 'all' },
      archives: { type: 'string' },
      twice: { type: 'boolean', default: false },
    },
  });
  if (values['dry-run'] === (values.publish !== undefined)) {
    throw new Error(
      'want one of --dry-run, which makes a release and says where it would go, and --publish TARGET,...',
    );
  }
  if (!/^[\w.-]+\/[\w.-]+$/.test(values.repository)) {
    throw new Error(`--repository: got "${values.repository}", want OWNER/NAME`);
  }
  if (values.folder === '')
    throw new Error('--folder: got "", want a folder for the release alone');
  if (values.archives && isWithin(resolve(values.folder), resolve(values.archives))) {
    throw new Error(`--archives: got "${values.archives}", which is in the folder of the release`);
  }
  return {
    folder: values.folder,
    repository: values.repository,
    programs: oneOf('--programs', values.programs, programs),
    archives: values.archives,
    twice: values.twice,
    publish: (values.publish?.split(',') ?? []).map((one) => oneOf('--publish', one, targets)),
  };
}

/** Throws where a workflow runs for a tag, and the packages are of another version than the tag says. */
export function checkTag(version: string, env: Readonly<Record<string, string | undefined>>): void {
  const { GITHUB_REF_TYPE: type, GITHUB_REF_NAME: name } = env;
  if (type !== 'tag' || name === `v${version}`) return;
  throw new Error(
    `the tag is ${name}, and the packages have the version ${version}: ` +
      'npm run version first, then the tag on its commit',
  );
}

function oneOf<T extends string>(flag: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === value);
  if (found !== undefined) return found;
  throw new Error(`${flag}: got "${value}", want ${allowed.join(' or ')}`);
}

/** The first file that a release writes: a folder with it may be deleted, however far that release came. */
const marker = '.made-by-a-release';

/**
 * Throws if `folder` must not be deleted: it holds `root`, or files that no release has made. Both
 * paths are absolute.
 */
export function checkFolder(folder: string, root: string): void {
  if (isWithin(folder, root)) {
    throw new Error(
      `--folder: ${folder} holds the repository, want a folder for the release alone`,
    );
  }
  const names = existsSync(folder) ? readdirSync(folder) : [];
  if (names.length === 0 || names.includes(marker)) return;
  throw new Error(
    `--folder: ${folder} has files that are not of a release, such as ${names[0]}: delete it, or name another`,
  );
}

/** Deletes what a release made there before. Throws as `checkFolder` does. */
export function emptyFolder(folder: string, root: string): void {
  checkFolder(folder, root);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, marker), '');
}

/** True if `inner` is `outer` or within it; both are absolute. */
function isWithin(outer: string, inner: string): boolean {
  const path = relative(outer, inner);
  return path.split(sep)[0] !== '..' && !isAbsolute(path);
}
