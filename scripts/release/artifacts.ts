// The files of a release, with their sizes and checksums.
import { createHash } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { create, type WriteEntry } from 'tar';

export interface Artifact {
  /** Its file, below the folder of the release. */
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
}

const listFile = 'SHA256SUMS';

export function artifactOf(path: string): Artifact {
  const sha256 = createHash('sha256').update(readFileSync(path)).digest('hex');
  return { file: basename(path), bytes: statSync(path).size, sha256 };
}

/** Writes the list that `sha256sum --check` reads; gives its path. */
export function writeChecksums(folder: string, artifacts: readonly Artifact[]): string {
  const lines = artifacts.map(({ file, sha256 }) => `${sha256}  ${file}\n`);
  const path = join(folder, listFile);
  writeFileSync(path, lines.join(''));
  return path;
}

/** The artifacts that a folder has, as its list says; throws where a file is not as it says. */
export function readChecksums(folder: string): readonly Artifact[] {
  const lines = readFileSync(join(folder, listFile), 'utf8').trim().split('\n');
  return lines.map((line) => {
    const [sha256, file = ''] = line.split('  ');
    const artifact = artifactOf(join(folder, file));
    if (artifact.sha256 === sha256) return artifact;
    throw new Error(`${join(folder, file)}: sha256 is ${artifact.sha256}, want ${sha256}`);
  });
}

/** One line per artifact: size, checksum, file. */
export function artifactTable(artifacts: readonly Artifact[]): string {
  const rows = artifacts.map(({ file, bytes, sha256 }) => [sizeText(bytes), sha256, file]);
  const width = Math.max(...rows.map(([size = '']) => size.length), 'SIZE'.length);
  const lines = [['SIZE', 'SHA256'.padEnd(64), 'FILE'], ...rows].map(
    ([size = '', ...rest]) => `${size.padStart(width)}  ${rest.join('  ')}`,
  );
  return `${lines.join('\n')}\n`;
}

/** `45.6 MB`, `99.8 kB`: thousands, as registries count. */
export function sizeText(bytes: number): string {
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** The time that npm gives the files of its packages. */
const mtime = new Date('1985-10-26T08:15:00.000Z');

/** Writes the contents of `folder`, by name, into a .tar.gz or .tgz. */
export async function writeTarball(
  file: string,
  folder: string,
  names: readonly string[],
): Promise<void> {
  const options = { file, cwd: folder, gzip: true, portable: true, mtime };
  const onWriteEntry = (entry: WriteEntry) => {
    if (entry.stat) entry.stat.mode = modeOf(entry.stat.mode);
  };
  await create({ ...options, onWriteEntry }, [...names].sort());
}

/** The permissions of a released file or folder, under any umask of the clone: 755 or 644. */
export function modeOf(mode: number): number {
  return (mode & ~0o777) | (mode & 0o100 ? 0o755 : 0o644);
}
