// Reads what is known of the time after a snapshot: another snapshot, Events, or a recording.
import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { fileFault, UsageError } from '@taintmgr/k8s-adapter/command-line';
import { FaultyFile, readAllPositioned } from '@taintmgr/k8s-adapter/manifests';
import type { KubeObject } from '@taintmgr/sim-cluster';
import {
  isObject,
  linesFrom,
  type RecordingLine,
  recordingLine,
} from '../../../cluster/recording.ts';

/** What the file has. */
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
export async function readAfter(file: string): Promise<After> {
  const text = await readPacked(file);
  const begin = linesFrom(text);
  if (begin >= 0) return recordingIn(file, text, begin);
  const objects = valuesIn(file, text).flatMap(objectsIn);
  if (objects.length === 0) throw new FaultyFile([`${file}:1:1: want ${want}`]);
  return { kind: 'objects', objects };
}

async function readPacked(file: string): Promise<string> {
  try {
    const bytes = await readFile(file);
    const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
    return (isPacked ? gunzipSync(bytes) : bytes).toString('utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')) {
      throw new UsageError(`--verify ${file}: it is not whole: ${error.message}`);
    }
    throw fileFault(`--verify ${file}`, error);
  }
}

function recordingIn(file: string, text: string, begin: number): After {
  const head = text.slice(0, begin).trim();
  const texts = text.slice(begin).split('\n');
  const before = head === '' ? null : valuesIn(file, head)[0];
  const number = text.slice(0, begin).split('\n').length;
  const lines: RecordingLine[] = [];
  const unread: number[] = [];
  for (const [index, line] of texts.entries()) {
    if (line.trim() === '') continue;
    const read = recordingLine(line);
    if (read) lines.push(read);
    else unread.push(number + index);
  }
  return { kind: 'recording', before, lines, unread };
}

function valuesIn(file: string, text: string): readonly unknown[] {
  if (/^\s*[[{]/.test(text)) {
    try {
      return [JSON.parse(text)];
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return readAllPositioned(file, text).map(({ value }) => value);
}

/** Single objects, those of lists too. Lists of one kind say of what kind their items are. */
function objectsIn(value: unknown): readonly KubeObject[] {
  if (typeof value !== 'object' || value === null) return [];
  if (!('items' in value) || !Array.isArray(value.items)) return isObject(value) ? [value] : [];
  const kind = 'kind' in value ? String(value.kind).replace(/List$/, '') : '';
  return value.items.flatMap((item: unknown) => {
    const isBare = typeof item === 'object' && item !== null && !('kind' in item);
    return objectsIn(isBare && kind !== '' ? { kind, ...item } : item);
  });
}
