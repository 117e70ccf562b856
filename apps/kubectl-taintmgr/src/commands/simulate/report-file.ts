// The file of --report: checked before anything is played, written at the end.
import { closeSync, writeFileSync } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { openPrivate } from '@taintmgr/k8s-adapter/client';
import { UsageError } from '@taintmgr/k8s-adapter/command-line';

/**
 * Says before anything is played that the file cannot be written, as far as that shows; nothing is
 * written yet, so that an existing report stands where the run fails. Throws UsageError.
 */
export async function checkReportFile(file: string): Promise<void> {
  try {
    if (await isFolder(file)) throw new Error('it is a folder, want a file');
    await access(file, constants.W_OK);
  } catch (error) {
    const isNamed = !/(^|\/)$/.test(file);
    const fault = isNamed && isMissing(error) ? await folderFault(dirname(file)) : error;
    if (fault) throw reportFault(file, fault);
  }
}

/** Writes it; null, or why that failed. A report holds data of a cluster: only its owner may read it. */
export function writeReportFile(file: string, text: string): UsageError | null {
  try {
    const descriptor = openPrivate(file);
    try {
      writeFileSync(descriptor, text);
    } finally {
      closeSync(descriptor);
    }
    return null;
  } catch (error) {
    return reportFault(file, error);
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path)).isDirectory();
}

/** The reason why no file can be made in it; null: one can. */
async function folderFault(folder: string): Promise<unknown> {
  try {
    await access(folder, constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    if (!isMissing(error)) return error;
    return new Error(`there is no folder ${folder}; want a file in a folder that is there`);
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

function reportFault(file: string, error: unknown): UsageError {
  return new UsageError(`--report ${file}: ${error instanceof Error ? error.message : error}`);
}
