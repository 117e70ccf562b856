// Archives that are the same, byte for byte, when their files are: no owner, and one time for all.
import { create } from 'tar';

/** The time that npm gives the files of its packages. */
const mtime = new Date('1985-10-26T08:15:00.000Z');

/** Writes what is in `folder`, by name, into a .tar.gz or .tgz. */
export async function writeTarball(
  file: string,
  folder: string,
  names: readonly string[],
): Promise<void> {
  await create({ file, cwd: folder, gzip: { level: 9 }, portable: true, mtime }, [...names].sort());
}
