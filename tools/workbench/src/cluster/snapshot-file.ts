// Reads a snapshot of a cluster from a file.
import { createReadStream } from 'node:fs';
import { readGoYaml } from '@taintmgr/k8s-adapter/manifests';
import { Documents, type Parsed, type Splitter } from './documents.ts';
import { JsonSplitter } from './json-splitter.ts';
import { YamlSplitter } from './yaml-splitter.ts';

/** A snapshot that cannot be read: one line that names the file and says why. */
export class SnapshotFileError extends Error {
  override readonly name = 'SnapshotFileError';
}

/**
 * Reads what `kubectl get -o yaml` or `-o json` printed, of any length and in one or several
 * documents. Throws SnapshotFileError for a file that cannot be read or holds nothing.
 */
export async function readSnapshot(file: string): Promise<Parsed> {
  try {
    const parsed = await parseChunks(createReadStream(file, 'utf8'));
    if (parsed.values.length + parsed.faults.length > 0) return parsed;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new SnapshotFileError(`--snapshot ${file}: ${code === 'ENOENT' ? 'no such file' : code}`);
  }
  throw new SnapshotFileError(`--snapshot ${file}: the file is empty`);
}

/** JSON when the first character says so, else YAML. */
async function parseChunks(chunks: AsyncIterable<string>): Promise<Parsed> {
  let documents = new Documents(readGoYaml);
  let splitter: Splitter | null = null;
  let begin = '';
  for await (const chunk of chunks) {
    if (splitter) {
      splitter.push(chunk);
      continue;
    }
    begin = (begin + chunk).replace(/^\uFEFF/, '');
    if (begin.trim() === '') continue;
    const isJson = /^\s*[[{]/.test(begin);
    if (isJson) documents = new Documents(JSON.parse);
    splitter = isJson ? new JsonSplitter(documents) : new YamlSplitter(documents);
    splitter.push(begin);
  }
  splitter?.end();
  return documents;
}
