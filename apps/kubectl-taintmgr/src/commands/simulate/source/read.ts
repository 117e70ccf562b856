// Reads the cluster that is simulated: of a file, or live.
import { readFile } from 'node:fs/promises';
import { type ApiClient, ApiError } from '@taintmgr/k8s-adapter';
import { fileFault } from '@taintmgr/k8s-adapter/command-line';
import { apiVersion } from '@taintmgr/k8s-adapter/explain';
import { FaultyFile, type Field } from '@taintmgr/k8s-adapter/manifests';
import {
  ClusterReader,
  type Evictor,
  type OwnSettings,
  policiesInForce,
  readEvictor,
} from '@taintmgr/k8s-adapter/survey';
import { claimsDevices, collections, listCollection } from '../../../cluster/collections.ts';
import { recordingLineIn } from '../../../cluster/recording.ts';
import { filesAt, type InputFile, readFileInto } from './input/files.ts';
import type { ObjectSink } from './input/found.ts';
import { Gathering, gather } from './input/gathering.ts';
import { mistakeOf } from './input/strangers.ts';
import { missingOwners } from './owners.ts';
import { snapshotSource } from './snapshot.ts';
import type { Actor, ClusterSource } from './source.ts';
import { topologySource } from './topology.ts';

/** Reads a topology, or a cluster from files, folders and standard input. Throws UsageError and FaultyFile. */
export async function readSource(paths: readonly string[]): Promise<ClusterSource> {
  const gathering = new Gathering();
  const topologies: Field[] = [];
  const different = [...new Set(paths)];
  const name = different.join(', ');
  let files = 0;
  let lines = 0;
  for (const path of different) {
    gathering.begin(path);
    for (const file of await filesAt(path)) {
      const sink = sinkFor(file, gathering.sink(file.path), { topologies, gathering });
      const { isEmpty, strangeLines } = await readFileInto(file, sink);
      if (isEmpty && !file.isInFolder) {
        throw new FaultyFile([`${file.path}:1:1: the file is empty, want ${wanted}`]);
      }
      files++;
      lines += strangeLines;
    }
  }
  gathering.strange('lines between the objects that are none', lines);
  const [topology, another] = topologies;
  if (topology) {
    const isAlone = !another && gathering.isEmpty && files === 1;
    if (!isAlone) {
      const why = 'this is a Topology, which is a whole cluster: give it alone';
      throw new FaultyFile([topology.fault(why).message]);
    }
    return topologySource(name, [topology]);
  }
  const gathered = gathering.gathered();
  const source = snapshotSource(name, gathered);
  const lacking = missingOwners(source.parts.kind === 'snapshot' ? source.parts.snapshot : []);
  if (lacking === null) return source;
  return { ...source, missing: [...source.missing, `${name}: ${lacking}`] };
}

const wanted = 'what kubectl get -o json prints, or a Topology';

interface Others {
  readonly topologies: Field[];
  readonly gathering: Gathering;
}

/** Takes objects of a cluster, and recognizes other files that users give by mistake. */
function sinkFor(
  file: InputFile,
  cluster: ObjectSink,
  { topologies, gathering }: Others,
): ObjectSink {
  return {
    fault: cluster.fault,
    object: (found) => {
      const { value } = found;
      const { apiVersion: version, kind } = (value ?? {}) as Record<string, unknown>;
      if (kind === 'Topology' && version === apiVersion) {
        const field = found.field();
        if (field) topologies.push(field);
        return;
      }
      if (recordingLineIn({ ...(value as object | null) }) !== null) {
        gathering.strange('lines of what happened later, which --verify plays', 1);
        return;
      }
      const mistake = mistakeOf(value);
      if (mistake === null) cluster.object(found);
      else if (file.isInFolder) gathering.strange('documents that are no objects of Kubernetes', 1);
      else {
        const { line, column } = found.place;
        cluster.fault(`${file.path}:${line}:${column}: ${mistake}; want ${wanted}`);
      }
    },
  };
}

/** The text of a file that a flag names. Throws UsageError. */
export async function readText(flag: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw fileFault(`${flag} ${file}`, error);
  }
}

/**
 * Reads a live cluster. Objects that the user may not read are missing. Throws ApiError and ConnectionError.
 */
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
      if (kind === 'Node' && items.length === 0) throw new FaultyFile([noNodes(context)]);
      values.push(...items.map((item) => ({ apiVersion, kind, ...item })));
      isClaiming ||= items.some(claimsDevices);
    } catch (error) {
      // Without nodes there is nothing to simulate.
      const mayGoOn = error instanceof ApiError && error.failure.status === 403 && kind !== 'Node';
      if (!mayGoOn) throw error;
      // Namespaces are made for their objects, and missing only where a policy asks for their labels.
      if (isOfPlacement) unseen.push(kind);
      else if (kind !== 'Namespace') refused.push(`${kind}: ${error.failure.message}`);
    }
  }
  const source = snapshotSource(context, gather(context, values));
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

function noNodes(context: string): string {
  return `${context} has no nodes: there is nothing to simulate; --context names another cluster, -f a file`;
}

/** Kinds by which pods are placed, and which may not be read. */
function unseenNote(kinds: readonly string[]): readonly string[] {
  if (kinds.length === 0) return [];
  const who = `no permission to list ${kinds.join(', ')}`;
  return [`${who}: pods are placed as if there were none`];
}

/**
 * Returns the actor with the rules in force; where both act, kube-controller-manager deletes before taintmgr
 * evicts. Where that is not sure, policies in the cluster are there to be followed.
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
