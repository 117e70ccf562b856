import { readFile } from 'node:fs/promises';
import { FaultyFile, type Field, readAllPositioned } from '@taintmgr/k8s-adapter/manifests';
import { apiVersion } from '../../../report/documents.ts';
import { fileFault } from '../../../usage-error.ts';
import { snapshotSource } from './snapshot.ts';
import type { ClusterSource } from './source.ts';
import { topologySource } from './topology.ts';

/** Reads a topology or a snapshot. Throws UsageError and FaultyFile. */
export async function readSource(file: string): Promise<ClusterSource> {
  const text = (await readText('-f', file)).replace(/^\uFEFF/, '');
  const isJson = /^\s*[[{]/.test(text);
  const documents = isJson ? [parseJson(file, text)] : readAllPositioned(file, text);
  const values = documents.map((document) => (isJson ? document : (document as Field).value));
  if (values.length === 0) {
    const want = 'what kubectl get -o json prints, or a Topology';
    throw new FaultyFile([`${file}:1:1: the file is empty, want ${want}`]);
  }
  const places = (): readonly Field[] =>
    isJson ? readAllPositioned(file, text) : (documents as readonly Field[]);
  if (values.length === 1 && isTopology(values[0])) return topologySource(file, places());
  return snapshotSource({ name: file, values, places });
}

/** The text of a file that a flag names. Throws UsageError. */
export async function readText(flag: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw fileFault(`${flag} ${file}`, error);
  }
}

function isTopology(value: unknown): boolean {
  const { kind, apiVersion: version } = (value ?? {}) as Record<string, unknown>;
  return kind === 'Topology' && version === apiVersion;
}

/** JSON is read the fast way; only where something is wrong are places looked for. */
function parseJson(file: string, text: string): unknown {
  const fault = jsonFault(text);
  if (typeof fault !== 'string') return fault.value;
  // The first text that is no beginning of anything ends with what is wrong.
  let [sound, wrong] = [0, text.length];
  while (wrong - sound > 1) {
    const middle = (sound + wrong) >>> 1;
    if (isBeginning(text.slice(0, middle))) sound = middle;
    else wrong = middle;
  }
  const before = text.slice(0, sound).split('\n');
  const place = `${before.length}:${(before.at(-1) ?? '').length + 1}`;
  const message = fault.replace(/(, \.{3}.* is not valid JSON| in JSON at position.*)$/s, '');
  throw new FaultyFile([`${file}:${place}: ${message}`]);
}

/** What is wrong with a text, in the parser's words; or its value. */
function jsonFault(text: string): string | { readonly value: unknown } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    if (error instanceof SyntaxError) return error.message;
    throw error;
  }
}

/** Whether a text is wrong in nothing but that it ends too early. */
function isBeginning(text: string): boolean {
  const fault = jsonFault(text);
  if (typeof fault !== 'string' || /^(Unexpected end|Unterminated string)/.test(fault)) return true;
  return Number(/at position (\d+)/.exec(fault)?.[1] ?? -1) >= text.length;
}
