// The folder that a release is made in. What was there is deleted, so it has to be what a release made.
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, relative, sep } from 'node:path';

/** The first file that a release writes: a folder with it may be deleted, however far that release came. */
const marker = '.made-by-a-release';

/** Throws where `folder` may not be deleted: it holds `root`, or what no release has made. Both are absolute. */
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

/** Whether `inner` is `outer` or somewhere in it; both are absolute. */
export function isWithin(outer: string, inner: string): boolean {
  const path = relative(outer, inner);
  return path.split(sep)[0] !== '..' && !isAbsolute(path);
}
