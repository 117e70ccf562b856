// Files with readings of a cluster: for their owner alone, also where they existed before.
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  openSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';

const { O_CREAT, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants;
/** Of a folder that may not be written, or a file that is mounted. */
const stays: readonly unknown[] = ['EACCES', 'EBUSY', 'EPERM', 'EROFS'];
const mode = 0o600;

/** The descriptors that the process has open: the system's own links lead there. */
const openAlready = /^\/(?:dev\/(?:stdout|stderr|fd\/\d+)|proc\/(?:self|\d+)\/fd\/\d+)$/;

/**
 * Replaces a file and opens it for writing. An existing file, or a link to one, is replaced: its
 * creator could continue to read it, or make us write elsewhere. A device or a pipe stays
 * unchanged, as does a file that the process has open. Throws where the file cannot be made, and
 * for a pipe of another user than `us` and root.
 */
export function openPrivate(path: string, us: number | undefined = process.getuid?.()): number {
  if (openAlready.test(path)) return openSync(path, 'w');
  const there = statSync(path, { throwIfNoEntry: false });
  if (there && !there.isFile()) return openSpecial(path, there, us);
  try {
    rmSync(path, { force: true });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && stays.includes(error.code))) throw error;
    return closedToOthers(openSync(path, O_WRONLY | O_CREAT | O_TRUNC | (O_NOFOLLOW ?? 0), mode));
  }
  return openSync(path, 'wx', mode);
}

function openSpecial(path: string, there: Stats, us: number | undefined): number {
  const check = (found: Stats): void => {
    const isTheirs = us !== undefined && found.uid !== us && found.uid !== 0;
    if (found.isFIFO() && isTheirs) throw new Error(`${path} is a pipe of another user`);
  };
  // To open a pipe waits for its reader.
  check(there);
  const descriptor = openSync(path, 'w');
  check(fstatSync(descriptor));
  return descriptor;
}

/** Takes the rights of others away from a file. Throws where that is not possible, and for a link. */
export function closeToOthers(path: string): void {
  closeSync(closedToOthers(openSync(path, constants.O_RDONLY | (O_NOFOLLOW ?? 0))));
}

function closedToOthers(descriptor: number): number {
  fchmodSync(descriptor, mode);
  return descriptor;
}
