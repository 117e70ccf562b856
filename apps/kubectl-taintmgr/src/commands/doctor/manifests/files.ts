// Reads Kubernetes manifests from files and folders, so that every object knows its place.
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileFault } from '@taintmgr/k8s-adapter/command-line';
import { policyApiVersion, policyKinds } from '@taintmgr/k8s-adapter/kinds';
import { FaultyFile, type Field, readAllPositioned } from '@taintmgr/k8s-adapter/manifests';
import type { Finding, Level } from '../finding.ts';

/** One object of a file. */
export interface Manifest {
  readonly file: string;
  readonly field: Field;
  readonly apiVersion: string;
  readonly kind: string;
  /** That of the command line where the object names none. */
  readonly namespace: string;
  readonly name: string;
}

/** A document that cannot be used, and why. */
interface ManifestFault {
  readonly file: string;
  readonly line: number;
  readonly text: string;
  /** It stands in a folder, where other things may be as well, and is no object of Kubernetes. */
  readonly isForeign: boolean;
}

/** What was found in all files. */
export interface Manifests {
  readonly files: readonly string[];
  readonly manifests: readonly Manifest[];
  readonly faults: readonly ManifestFault[];
}

/** Where manifests are looked for. */
export interface ManifestSource {
  /** Files, folders, and `-` for standard input. */
  readonly paths: readonly string[];
  /** Folders in folders too. */
  readonly recursive: boolean;
  /** Of objects that name none. */
  readonly namespace: string;
}

/** A file to read. */
interface Source {
  readonly file: string;
  readonly inFolder: boolean;
}

/** What kustomize wants in a folder makes no objects itself. */
const kustomization = /^kustomization\.ya?ml$/;
const endings = /\.(?:ya?ml|json)$/;

/** Reads them all, in the order of their names. Throws UsageError for a path that cannot be read. */
export async function readManifests(from: ManifestSource): Promise<Manifests> {
  const sources: Source[] = [];
  for (const path of from.paths) sources.push(...(await sourcesAt(path, from.recursive)));
  const all = await Promise.all(sources.map((source) => readSource(source, from.namespace)));
  return {
    files: sources.map(({ file }) => file),
    manifests: all.flatMap(({ manifests }) => manifests),
    faults: all.flatMap(({ faults }) => faults),
  };
}

async function sourcesAt(path: string, recursive: boolean): Promise<readonly Source[]> {
  if (path === '-') return [{ file: path, inFolder: false }];
  const found = await readable(path, () => stat(path));
  return found.isDirectory() ? await filesIn(path, recursive) : [{ file: path, inFolder: false }];
}

async function filesIn(folder: string, recursive: boolean): Promise<readonly Source[]> {
  const entries = await readable(folder, () => readdir(folder, { withFileTypes: true }));
  const files: Source[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.name.startsWith('.')) continue;
    const file = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (recursive) files.push(...(await filesIn(file, recursive)));
    } else if (endings.test(entry.name) && !kustomization.test(entry.name)) {
      files.push({ file, inFolder: true });
    }
  }
  return files;
}

async function readSource(
  { file, inFolder }: Source,
  namespace: string,
): Promise<Pick<Manifests, 'manifests' | 'faults'>> {
  const content = await readable(file, () =>
    file === '-' ? text(process.stdin) : readFile(file, 'utf8'),
  );
  const manifests: Manifest[] = [];
  const faults: ManifestFault[] = [];
  try {
    for (const document of readAllPositioned(file, content.replace(/^\uFEFF/, ''))) {
      for (const field of objectsIn(document)) {
        const read = manifestOf(file, field, namespace);
        if (typeof read !== 'string') manifests.push(read);
        else
          faults.push({
            file,
            line: field.line,
            text: read,
            isForeign: inFolder && !isOurs(field),
          });
      }
    }
  } catch (error) {
    if (!(error instanceof FaultyFile)) throw error;
    faults.push(...error.faults.map((fault) => syntaxFault(file, fault)));
  }
  return { manifests, faults };
}

/** The items of a list, or the object itself. */
function objectsIn(document: Field): readonly Field[] {
  const kind = document.find(['kind'])?.value;
  const items = document.find(['items']);
  const isList = typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items?.value);
  return isList && items ? items.items().flatMap(objectsIn) : [document];
}

/** Whether it means to be of one of the kinds of taintmgr.dev, whose other files may stand there too. */
function isOurs(field: Field): boolean {
  const [group] = String(field.find(['apiVersion'])?.value).split('/');
  const isKind = Object.hasOwn(policyKinds, String(field.find(['kind'])?.value));
  return isKind && group === policyApiVersion.split('/')[0];
}

/** What an object says of itself, or why it is none. */
function manifestOf(file: string, field: Field, namespace: string): Manifest | string {
  const textAt = (...path: readonly string[]): string => {
    const value = field.find(path)?.value;
    return typeof value === 'string' ? value : '';
  };
  const [apiVersion, kind] = [textAt('apiVersion'), textAt('kind')];
  const name = textAt('metadata', 'name') || textAt('metadata', 'generateName');
  // Of an object of ours the check of its schema says so, in the API server's words.
  const wanted = isOurs(field) ? { apiVersion, kind } : { apiVersion, kind, 'metadata.name': name };
  const missing = Object.entries(wanted)
    .filter(([, value]) => value === '')
    .map(([path]) => path);
  if (missing.length > 0) {
    const text = `is not an object of Kubernetes: ${missing.join(', ')} missing`;
    const hint = field.find((missing[0] ?? '').split('.'))?.hint('want a text') ?? '';
    return hint === '' ? text : `${text} (${hint})`;
  }
  return {
    file,
    field,
    apiVersion,
    kind,
    name,
    namespace: textAt('metadata', 'namespace') || namespace,
  };
}

/** `FILE:LINE:COLUMN: text`, where the name of the file may have colons too. */
function syntaxFault(file: string, fault: string): ManifestFault {
  const [, line = '1', text = fault] =
    /^(\d+):\d+: (.*)$/s.exec(fault.slice(file.length + 1)) ?? [];
  return { file, line: Number(line), text, isForeign: false };
}

async function readable<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw fileFault(`-f ${path}`, error, 'no such file or folder');
  }
}

/** What a check of manifests finds, and where. */
export interface PlacedFinding extends Finding {
  readonly file: string;
  readonly line: number;
}

/** A finding about an object; `at`: the value that is wrong, where there is one. */
export function findingAt(
  check: string,
  level: Level,
  { manifest, at }: { readonly manifest: Manifest; readonly at?: Field | null },
  message: string,
  fix: string = '',
): PlacedFinding {
  const { file, field } = manifest;
  const line = lineOf(at ?? field.find(['metadata', 'name']) ?? field);
  return { check, level, file, line, about: aboutOf(manifest), message, fix };
}

/** Kinds of Kubernetes that findings are about and that are in no namespace. */
const clusterKinds = ['DeviceTaintRule', 'DeviceClass', 'ResourceSlice'];

/** `pdb/web -n shop`, as kubectl takes it. Our kinds are in no namespace. */
export function aboutOf({ apiVersion, kind, name, namespace }: Manifest): string {
  const short = kind === 'PodDisruptionBudget' ? 'pdb' : kind.toLowerCase();
  if (apiVersion === policyApiVersion || clusterKinds.includes(kind)) return `${short}/${name}`;
  return `${short}/${name} -n ${namespace}`;
}

/** `FILE:LINE`, as editors and CI logs take it. */
export function placeOf({ file, line }: Pick<PlacedFinding, 'file' | 'line'>): string {
  return `${file}:${line}`;
}

/** The line of a value, or of its name where it goes on below. */
function lineOf({ place }: Field): number {
  return Number(/:(\d+):\d+$/.exec(place)?.[1] ?? 1);
}
