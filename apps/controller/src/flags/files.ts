import { accessSync, constants, statSync } from 'node:fs';
import { type Kind, list } from './kind.ts';

/** The kind of setting that is the path of a file. The reader of the file judges its content. */
export const inputFile: Kind<string> = {
  placeholder: '<file>',
  want: 'a file that can be read',
  parse: (file) => (file === '' || isReadable(file) ? file : null),
  format: (file) => file,
};

/**
 * A file that is written, whether it is there yet or not; '' for none. A path on a disk that is missing today
 * is no mistake.
 */
export const outputFile: Kind<string> = {
  placeholder: '<file>',
  want: 'a file, not a directory',
  parse: (file) => (isDirectory(file) ? null : file),
  format: (file) => file,
};

/** Paths of files and directories, separated by commas; the flag may be repeated. */
export const inputPaths: Kind<readonly string[]> = {
  ...list,
  placeholder: '<path>',
  want: 'files and directories that can be read, separated by commas',
  parse: (value) => {
    const parts = list.parse(value);
    return parts?.every((part) => isDirectory(part) || isReadable(part)) ? parts : null;
  },
};

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return !statSync(file).isDirectory();
  } catch {
    return false;
  }
}

function isDirectory(path: string): boolean {
  try {
    return path !== '' && statSync(path).isDirectory();
  } catch {
    return false;
  }
}
