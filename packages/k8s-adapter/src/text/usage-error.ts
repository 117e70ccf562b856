/** The number of faults that are listed, one line each; the others are counted. */
const faultsMax = 20;

/** Faults of the command line or of its targets: exit code 1. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  /** The lines to print; no line holds another one. */
  readonly lines: readonly string[];

  constructor(faults: string | readonly string[]) {
    const all = typeof faults === 'string' ? [faults] : faults;
    const more = all.length - faultsMax;
    const lines = more > 0 ? [...all.slice(0, faultsMax), `and ${more} more`] : all;
    super(lines.join('\n'));
    this.lines = lines;
  }
}

const whys: Readonly<Record<string, string>> = {
  EISDIR: 'it is a folder, want a file',
  EACCES: 'no permission to read it',
};

/** The reason why a file that a flag names cannot be read, in words; throws other errors. */
export function fileFault(place: string, error: unknown, missing = 'no such file'): UsageError {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  if (code === 'ENOENT') return new UsageError(`${place}: ${missing}`);
  return new UsageError(`${place}: ${whys[code] ?? message}`);
}
