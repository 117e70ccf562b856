// Reads the cluster that is simulated: of a file, or live.
import { readFile } from 'node:fs/promises';
import { type ApiClient, ApiError } from '@taintmgr/k8s-adapter';
import { fileFault } from '@taintmgr/k8s-adapter/command-line';
import { apiVersion } from '@taintmgr/k8s-adapter/explain';
import { FaultyFile, type Field, readAllPositioned } from '@taintmgr/k8s-adapter/manifests';
import {
  ClusterReader,
  type Evictor,
  type OwnSettings,
  policiesInForce,
  readEvictor,
} from '@taintmgr/k8s-adapter/survey';
import { claimsDevices, collections, listCollection } from '../../../cluster/collections.ts';
import { snapshotSource } from './snapshot.ts';
import type { Actor, ClusterSource } from './source.ts';
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

/** Reads a live cluster. What we may not see is missing. Throws ApiError and ConnectionError. */
export async function liveSource(client: ApiClient, context: string): Promise<ClusterSource> {
  const reader = new ClusterReader(client);
  const values: object[] = [];
  const refused: string[] = [];
  const unseen: string[] = [];
  let isClaiming = false;
  for (const collection of collections) {
    const { apiVersion, kind, isOfPlacement, isOfDevices } = collection;
    if (isOfDevices && !isClaiming) continue;
    try {
      const items = await listCollection(client, collection, reader);
      values.push({ apiVersion, kind: `${kind}List`, items });
      isClaiming ||= items.some(claimsDevices);
    } catch (error) {
      // Without nodes there is nothing to simulate.
      const mayGoOn = error instanceof ApiError && error.failure.status === 403 && kind !== 'Node';
      if (!mayGoOn) throw error;
      // Namespaces are made for what is in them, and missing only where a policy asks for their labels.
      if (isOfPlacement) unseen.push(kind);
      else if (kind !== 'Namespace') refused.push(`${kind}: ${error.failure.message}`);
    }
  }
  const source = snapshotSource({ name: context, values, places: null });
  const evictor = await readEvictor(await reader.evictors(), reader);
  const { settings, ownPod } = evictor;
  const missing = [...refused, ...source.missing];
  const upstreamSince = evictor.upstreamSince ?? source.upstreamSince;
  const notes = [...source.notes, ...unseenNote(unseen)];
  const found = { ...source, upstreamSince, missing, notes, actor: actorOf(evictor, source) };
  if (!settings) return found;
  const run = asRun(found, settings);
  return ownPod ? { ...run, engine: { ...run.engine, ownPod } } : run;
}

/** Kinds by which pods are placed, and which may not be read. */
function unseenNote(kinds: readonly string[]): readonly string[] {
  if (kinds.length === 0) return [];
  const who = `no permission to list ${kinds.join(', ')}`;
  return [`${who}: pods are placed as if there were none`];
}

/**
 * Whose rules count there; where both act kube-controller-manager deletes before ours evicts. Where that is not
 * sure, policies in the cluster are there to be followed.
 */
function actorOf({ name, rules, source, sure }: Evictor, { policies }: ClusterSource): Actor {
  const isOurs = rules === 'taintmgr-controller' || (!sure && policies.length > 0);
  const shown = name === 'unknown' || source === '' ? null : source;
  return { name: isOurs ? 'taintmgr' : 'kube-controller-manager', source: shown };
}

/** As the controller runs that acts there, as far as that is known. */
function asRun(source: ClusterSource, settings: OwnSettings): ClusterSource {
  const { engine, mode, lifecycle, watchesNodes, unusable } = settings;
  const { takeover: _, ...others } = engine;
  const { objects, ofController, unknown } = policiesInForce(source.policies, settings);
  const left = [...unusable, ...unknown.map((name) => `the policy ${name} of a file`)];
  return {
    ...source,
    policies: objects,
    engine: { ...others, ...(mode && { mode }), ...(watchesNodes && { lifecycle }) },
    notes: [
      ...(ofController.length === 0
        ? source.notes
        : [
            ...source.notes,
            `in force by files of taintmgr-controller: ${ofController.join(', ')}`,
          ]),
      ...left.map((what) => `taintmgr-controller runs with ${what}, which is not known here`),
    ],
  };
}
