import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Kind } from './kind.ts';

/** A file that is read; '' for none. What is in it is judged by whoever reads it. */
export const inputFile: Kind<string> = {
  placeholder: '<file>',
  want: 'a file that can be read',
  parse: (file) => (file === '' || isReadable(file) ? file : null),
  format: (file) => file,
};

/** A file that is written, whether it is there yet or not; '' for none. */
export const outputFile: Kind<string> = {
  placeholder: '<file>',
  want: 'a file in a directory that can be written',
  parse: (file) => (file === '' || isWritable(dirname(file)) ? file : null),
  format: (file) => file,
};

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return !statSync(file).isDirectory();
  } catch {
    return false;
  }
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    return statSync(directory).isDirectory();
  } catch {
    return false;
  }
}
