// Reads Kubernetes manifests from files and folders, so that every object knows its place.
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileFault } from '@taintmgr/k8s-adapter/command-line';
import { policyApiVersion, policyKinds } from '@taintmgr/k8s-adapter/kinds';
import { FaultyFile, type Field, readAllPositioned } from '@taintmgr/k8s-adapter/manifests';

/** One object of a file. */
export interface Manifest {
  readonly file: string;
  readonly field: Field;
  readonly apiVersion: string;
  readonly kind: string;
  /** The namespace of the command line where the object names none. */
  readonly namespace: string;
  readonly name: string;
}

/** A document that cannot be used, and why. */
interface ManifestFault {
  readonly file: string;
  readonly line: number;
  readonly text: string;
  /** True for a file of a folder, where other files may be as well, that is no object of Kubernetes. */
  readonly isForeign: boolean;
  /** True for a file that is no YAML because Helm makes the object from it. */
  readonly isTemplate: boolean;
}

/** The objects of all files. */
export interface Manifests {
  readonly files: readonly string[];
  /** The files that kustomize wants in a folder; they make no objects themselves. */
  readonly kustomizations: readonly string[];
  readonly manifests: readonly Manifest[];
  readonly faults: readonly ManifestFault[];
}

/** Where manifests are looked for. */
export interface ManifestSource {
  /** The flag that names them, `-f`. */
  readonly flag: string;
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

const kustomization = /^kustomization\.ya?ml$/;
const endings = /\.(?:ya?ml|json)$/;

/** Reads them all, in the order of their names. Throws UsageError for a path that cannot be read. */
export async function readManifests(from: ManifestSource): Promise<Manifests> {
  const found: Source[] = [];
  for (const path of from.paths) found.push(...(await sourcesAt(path, from)));
  const isForKustomize = ({ file, inFolder }: Source): boolean =>
    inFolder && kustomization.test(basename(file));
  const sources = found.filter((source) => !isForKustomize(source));
  const all = await Promise.all(sources.map((source) => readSource(source, from)));
  return {
    files: sources.map(({ file }) => file),
    kustomizations: found.filter(isForKustomize).map(({ file }) => file),
    manifests: all.flatMap(({ manifests }) => manifests),
    faults: all.flatMap(({ faults }) => faults),
  };
}

async function sourcesAt(path: string, from: ManifestSource): Promise<readonly Source[]> {
  if (path === '-') return [{ file: path, inFolder: false }];
  const found = await readable(from, path, () => stat(path));
  return found.isDirectory() ? await filesIn(path, from) : [{ file: path, inFolder: false }];
}

async function filesIn(folder: string, from: ManifestSource): Promise<readonly Source[]> {
  const entries = await readable(from, folder, () => readdir(folder, { withFileTypes: true }));
  const files: Source[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.name.startsWith('.')) continue;
    const file = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (from.recursive) files.push(...(await filesIn(file, from)));
    } else if (endings.test(entry.name) && (await isRegular(file, from))) {
      files.push({ file, inFolder: true });
    }
  }
  return files;
}

/** Pipes and devices may never end. */
async function isRegular(file: string, from: ManifestSource): Promise<boolean> {
  return (await readable(from, file, () => stat(file))).isFile();
}

async function readSource(
  { file, inFolder }: Source,
  from: ManifestSource,
): Promise<Pick<Manifests, 'manifests' | 'faults'>> {
  const content = await readable(from, file, () =>
    file === '-' ? text(process.stdin) : readFile(file, 'utf8'),
  );
  const manifests: Manifest[] = [];
  const faults: ManifestFault[] = [];
  if (inFolder && /\.json$/.test(file) && isOfCluster(jsonOf(content))) {
    return { manifests, faults: [ofClusterFault(file, 1)] };
  }
  try {
    for (const document of readAllPositioned(file, content.replace(/^\uFEFF/, ''))) {
      if (inFolder && isOfCluster(document.value)) {
        faults.push(ofClusterFault(file, document.line));
        continue;
      }
      for (const field of objectsIn(document)) {
        const read = manifestOf(file, field, from.namespace);
        if (typeof read !== 'string') manifests.push(read);
        else
          faults.push({
            file,
            line: field.line,
            text: read,
            isForeign: inFolder && !isOurs(field),
            isTemplate: false,
          });
      }
    }
  } catch (error) {
    if (!(error instanceof FaultyFile)) throw error;
    faults.push(...error.faults.map((fault) => syntaxFault(file, fault, content)));
  }
  return { manifests, faults };
}

/**
 * Undefined: it is none. This reads many megabytes at once; with the places of all fields they could not be
 * read.
 */
function jsonOf(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}

/**
 * Tells whether a cluster has printed a value, as for simulate -f: a list with nodes or pods that
 * have been in a cluster.
 */
function isOfCluster(value: unknown): boolean {
  const { items }: { readonly items?: unknown } = Object(value);
  if (!Array.isArray(items)) return false;
  return items.some((item) => {
    const { kind, metadata } = Object(item);
    return (kind === 'Node' || kind === 'Pod') && Object(metadata).uid !== undefined;
  });
}

function ofClusterFault(file: string, line: number): ManifestFault {
  const text = 'is what a cluster has printed, and no manifest: left out';
  return { file, line, text, isForeign: true, isTemplate: false };
}

/** The items of a list, or the object itself. */
function objectsIn(document: Field): readonly Field[] {
  const kind = document.find(['kind'])?.value;
  const items = document.find(['items']);
  const isList = typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items?.value);
  return isList && items ? items.items().flatMap(objectsIn) : [document];
}

/** True for an object that claims a kind of taintmgr.dev, among which other files may stand. */
function isOurs(field: Field): boolean {
  const [group] = String(field.find(['apiVersion'])?.value).split('/');
  const isKind = Object.hasOwn(policyKinds, String(field.find(['kind'])?.value));
  return isKind && group === policyApiVersion.split('/')[0];
}

/** The object as a manifest, or the reason why it is none. */
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
function syntaxFault(file: string, fault: string, content: string): ManifestFault {
  const [, line = '1', text = fault] =
    /^(\d+):\d+: (.*)$/s.exec(fault.slice(file.length + 1)) ?? [];
  const isTemplate = /\{\{[-\s]*[\w.$]/.test(content);
  return { file, line: Number(line), text, isForeign: false, isTemplate };
}

async function readable<T>(
  { flag }: ManifestSource,
  path: string,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw fileFault(`${flag} ${path}`, error, 'no such file or folder');
  }
}
