import { UsageError } from '../usage-error.ts';

/** Why a file that a flag names cannot be read, in words; throws what is no fault of the file. */
export function fileFault(place: string, error: unknown, missing = 'no such file'): UsageError {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  if (code === 'ENOENT') return new UsageError(`${place}: ${missing}`);
  const why = code === 'EISDIR' ? 'it is a folder, want a file' : message;
  return new UsageError(`${place}: ${why}`);
}
