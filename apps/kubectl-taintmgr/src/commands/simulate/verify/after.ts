// Reads the facts about the time after a snapshot: another snapshot, Events, or a recording.
import { readFile, stat } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { fileFault, UsageError } from '@taintmgr/k8s-adapter/command-line';
import { FaultyFile } from '@taintmgr/k8s-adapter/manifests';
import { type KubeObject, loadRefusal } from '@taintmgr/sim-cluster';
import {
  isObject,
  linesFrom,
  type RecordingLine,
  recordingLine,
} from '../../../cluster/recording.ts';
import { filesAt, readFileInto } from '../source/input/files.ts';
import { resources } from './observed.ts';

/** The content of the path given to `--verify`: objects or a recording. */
export type After =
  | { readonly kind: 'objects'; readonly objects: readonly KubeObject[] }
  | {
      readonly kind: 'recording';
      /** The snapshot that it begins with; null: it has none. */
      readonly before: unknown;
      readonly lines: readonly RecordingLine[];
      /** Lines that are none. */
      readonly unread: readonly number[];
    };

const want =
  'a second snapshot, Events as kubectl get events -A -o json prints them, or what snapshot --watch has written';

/** Reads it. Throws UsageError and FaultyFile. */
export async function readAfter(path: string): Promise<After> {
  if (await isOneFile(path)) {
    const text = await readPacked(path);
    const begin = linesFrom(text);
    if (begin >= 0) return recordingIn(path, text, begin);
  }
  const objects: KubeObject[] = [];
  const faults: string[] = [];
  for (const file of await filesAt(path)) {
    await readFileInto(file, {
      object: ({ value }) => {
        if (isObject(value) && isSound(value)) objects.push(value);
      },
      fault: (text) => faults.push(text),
    });
  }
  if (faults.length > 0) throw new FaultyFile(faults);
  if (objects.length === 0) throw new FaultyFile([`${path}:1:1: want ${want}`]);
  return { kind: 'objects', objects };
}

/** Recordings are one file each; standard input cannot be read twice. */
async function isOneFile(path: string): Promise<boolean> {
  if (path === '-') return false;
  try {
    const found = await stat(path);
    return found.isFile() && found.size <= textBytesMax;
  } catch (error) {
    throw fileFault(`--verify ${path}`, error);
  }
}

/** A text can be no longer; recordings end before. */
const textBytesMax = 2 ** 29 - 24;

async function readPacked(file: string): Promise<string> {
  try {
    const bytes = await readFile(file);
    const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
    return (isPacked ? gunzipSync(bytes, { maxOutputLength: textBytesMax }) : bytes)
      .toString('utf8')
      .replace(/^\uFEFF/, '');
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')) {
      throw new UsageError(`--verify ${file}: it is not whole: ${error.message}`);
    }
    if (error instanceof RangeError) {
      throw new UsageError(
        `--verify ${file}: it unpacks to more than 512 MiB, and recordings end at 256`,
      );
    }
    throw fileFault(`--verify ${file}`, error);
  }
}

function recordingIn(file: string, text: string, begin: number): After {
  const head = text.slice(0, begin).trim();
  const texts = text.slice(begin).split('\n');
  const before = head === '' ? null : snapshotIn(file, head);
  const number = text.slice(0, begin).split('\n').length;
  const lines: RecordingLine[] = [];
  const unread: number[] = [];
  for (const [index, line] of texts.entries()) {
    if (line.trim() === '') continue;
    const read = recordingLine(line);
    if (read && isOfSound(read)) lines.push(read);
    else unread.push(number + index);
  }
  return { kind: 'recording', before, lines, unread };
}

function isOfSound(line: RecordingLine): boolean {
  return line.type === 'DELETED' || !('object' in line) || isSound(line.object);
}

/** Tells whether an API server could return the object; true for kinds not in `resources`. */
function isSound(object: KubeObject): boolean {
  return !resources[object.kind ?? ''] || loadRefusal(object) === null;
}

/** The snapshot that a recording begins with. Throws FaultyFile. */
function snapshotIn(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new FaultyFile([`${file}: its snapshot: ${error.message}`]);
  }
}
