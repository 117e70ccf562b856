// kubeconfig files, read and merged.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { asList, asRecord, isRecord, type JsonRecord } from '../proto/json.ts';
import { KubeconfigError } from './error.ts';
import { readPlainYaml } from './plain-yaml.ts';

/** One cluster, user or context as a file has it. */
export interface Entry {
  /** Where it stands, for messages: `/home/me/.kube/config: cluster "prod"`. */
  readonly place: string;
  /** Relative paths in it are relative to this directory. */
  readonly directory: string;
  readonly fields: JsonRecord;
}

/** What all files together say: of each name, and of current-context, the first counts. */
export interface Kubeconfig {
  readonly files: readonly string[];
  readonly currentContext: string;
  readonly clusters: ReadonlyMap<string, Entry>;
  readonly users: ReadonlyMap<string, Entry>;
  readonly contexts: ReadonlyMap<string, Entry>;
}

const sections = [
  ['clusters', 'cluster'],
  ['users', 'user'],
  ['contexts', 'context'],
] as const;

/**
 * Reads and merges kubeconfig files. Files that do not exist are left out, unless `mustExist`.
 * Throws KubeconfigError naming the file and what is wrong with it.
 */
export async function readKubeconfig(
  files: readonly string[],
  mustExist: boolean,
): Promise<Kubeconfig> {
  const merged = {
    clusters: new Map<string, Entry>(),
    users: new Map<string, Entry>(),
    contexts: new Map<string, Entry>(),
  };
  let currentContext = '';
  for (const file of files) {
    const document = await readDocument(file, mustExist);
    if (!document) continue;
    for (const [section, member] of sections) addEntries(merged[section], file, document, member);
    currentContext ||= textOf(document, 'current-context', file);
  }
  return { files, currentContext, ...merged };
}

/** A member that must be a string where it is present; '' where it is not. */
export function textOf(fields: JsonRecord, name: string, place: string): string {
  const value = fields[name] ?? '';
  if (typeof value === 'string') return value;
  throw new KubeconfigError(`${place}: ${name}: got ${typeOf(value)}, want a string`);
}

/** What kind of value it is; the value itself may be a secret. */
function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'a map' : `a ${typeof value}`;
}

async function readDocument(file: string, mustExist: boolean): Promise<JsonRecord | null> {
  const text = readText(file, mustExist);
  if (text === null || text.trim() === '') return null;
  const document = readPlainYaml(text) ?? (await readYaml(file, text));
  if (document === null) return null;
  if (!isRecord(document)) throw new KubeconfigError(`${file}: want a kubeconfig, got plain text`);
  const kind = document.kind ?? 'Config';
  if (kind !== 'Config') {
    const got = typeof kind === 'string' ? JSON.stringify(kind) : typeOf(kind);
    throw new KubeconfigError(`${file}: kind: got ${got}, want "Config"`);
  }
  return document;
}

function readText(file: string, mustExist: boolean): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = asRecord(error);
    if (code === 'ENOENT' && !mustExist) return null;
    const why = code === 'ENOENT' ? 'no such file' : `cannot be read (${String(code)})`;
    // Only a file that a flag names has to exist.
    throw new KubeconfigError(`${mustExist ? '--kubeconfig: ' : ''}${file}: ${why}`);
  }
}

async function readYaml(file: string, text: string): Promise<unknown> {
  const { firstPlace, readGoYaml, YamlError } = await import('../manifests/go-yaml.ts');
  try {
    return readGoYaml(text);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    const at = firstPlace(text, error);
    // What stands in quotes or brackets there is of the file: a token as often as not.
    const [why = ''] = error.message.split(/["'<`(:\\]/);
    throw new KubeconfigError(
      `${file}: not valid YAML at ${at}: ${why.trim() || 'cannot be read'}`,
    );
  }
}

function addEntries(
  entries: Map<string, Entry>,
  file: string,
  document: JsonRecord,
  member: (typeof sections)[number][1],
): void {
  const section = `${member}s`;
  for (const [index, value] of asList(document[section]).entries()) {
    const record = asRecord(value);
    const name = textOf(record, 'name', `${file}: ${section}[${index}]`);
    if (name === '') throw new KubeconfigError(`${file}: ${section}[${index}]: name is missing`);
    if (entries.has(name)) continue;
    const place = `${file}: ${member} "${name}"`;
    entries.set(name, { place, directory: path.dirname(file), fields: asRecord(record[member]) });
  }
}
