// Reads what a cluster still has about pods that left: Pods, Events, Nodes, EvictionRequests, and records of leaders.
import type { Instant } from '@taintmgr/core/time';
import type { LeaseName } from '../proto/lease-requests.ts';
import { type ClusterReader, inTurns, podPathOf, podsPathOf } from '../survey/reader.ts';
import { unless } from '../survey/refusals.ts';
import { readEvictionRequests } from '../survey/survey.ts';
import type { TaintManager } from '../survey/taint-managers.ts';
import type { HistorySources } from './history-model.ts';
import { type Records, readRecords } from './history-records.ts';
import { mergeStories } from './history-story.ts';
import { eventTrace, nodeTrace, type PodTrace, podTrace } from './history-traces.ts';

/** The part of a cluster that is read. */
export interface HistoryScope {
  /** Null: all; where those may not be read, those of `fallback`. */
  readonly namespace: string | null;
  readonly fallback?: string;
  /** Left out: all. */
  readonly pod?: string;
  readonly node?: string;
  /** Left out: all that is known. */
  readonly since?: Instant;
}

/** The sources that were read, and the places that were searched. */
export interface HistoryRead {
  readonly sources: HistorySources;
  readonly records: Records;
  /** The namespace whose Pods and Events were read; null: all. */
  readonly namespace: string | null;
}

/** These Events tell nothing about pods that left. The API server leaves them out. */
const noise = ['Pulled', 'Pulling', 'Created', 'Started', 'BackOff', 'Unhealthy', 'FailedMount'];
const telling = noise.map((reason) => `reason!=${reason}`).join(',');

/** The number of nodes that are asked for one by one. */
const singleNodesMax = 16;

export async function readHistory(
  reader: ClusterReader,
  scope: HistoryScope,
): Promise<HistoryRead> {
  const managers = reader.taintManagers();
  const recording = managers.then((all) => recordsOf(reader, all, scope));
  // Failures are reported in the order of the code: one here is thrown where the promise is
  // awaited.
  recording.catch(() => undefined);
  const namespace = await readableNamespace(reader, scope);
  // Pods come last: who is not among them and has Events, is gone.
  const [events, ofNodes] = await Promise.all([
    reader.ifAllowed(() => reader.events(namespace, telling)),
    namespace === null ? [] : nodeEvents(reader),
  ]);
  const [pods, requests, records] = await Promise.all([
    readPods(reader, namespace, scope.pod),
    readEvictionRequests(reader),
    recording,
  ]);
  const traced = [...(events ?? []), ...ofNodes].flatMap((event) => eventTrace(event) ?? []);
  const sources: HistorySources = {
    ...{ at: reader.now(), departures: records.departures, gaps: records.gaps, pods },
    recordsUntil: records.leftOut > 0 ? null : records.savedAt,
    ...{ events: events === null ? null : traced, requests: requests ?? [], nodes: new Map() },
  };
  const nodes = await readNodes(reader, sources, scope);
  return { sources: { ...sources, nodes }, records, namespace };
}

/** The namespace of the fallback, where there is one and not all Events may be read. */
async function readableNamespace(
  reader: ClusterReader,
  { namespace, fallback }: HistoryScope,
): Promise<string | null> {
  if (namespace !== null || fallback === undefined) return namespace;
  const one = 'metadata.name=none';
  return await unless(
    403,
    async () => {
      await reader.events(null, one);
      return null;
    },
    fallback,
  );
}

/** The Events are in the namespace default, which a reader of another namespace may not read. */
async function nodeEvents(reader: ClusterReader): Promise<readonly unknown[]> {
  const ofNodes = `involvedObject.kind=Node,${telling}`;
  return await unless(403, () => reader.events('default', ofNodes), []);
}

async function readPods(
  reader: ClusterReader,
  namespace: string | null,
  pod: string | undefined,
): Promise<readonly PodTrace[] | null> {
  const path = namespace === null ? '/api/v1/pods' : podsPathOf(namespace);
  const list = (): Promise<readonly unknown[]> => reader.objects(path);
  const all = await reader.ifAllowed(list);
  if (all !== null || namespace === null || pod === undefined) return all?.map(podTrace) ?? null;
  // Who may not list pods may be allowed to get one.
  const read = () => reader.objectIfThere(podPathOf({ namespace, name: pod }));
  const one = await unless(403, read, undefined);
  if (one === undefined) return null;
  return one === null ? [] : [podTrace(one)];
}

/** The nodes of the pods that left, where they say something about it. */
async function readNodes(
  reader: ClusterReader,
  sources: HistorySources,
  { pod, node, since = Number.NEGATIVE_INFINITY }: HistoryScope,
): Promise<HistorySources['nodes']> {
  const told = mergeStories(sources).filter((story) => {
    const isRecent = story.askedAt === null || story.askedAt.at >= since;
    const isRecorded = story.by?.sources.some(({ kind }) => kind === 'record') ?? false;
    return isRecent && !isRecorded && (pod === undefined || story.pod === pod);
  });
  const names = new Set(told.map((story) => story.node).filter((name) => name !== ''));
  const wanted = [...names].filter((name) => node === undefined || name === node);
  const read = async () =>
    wanted.length > singleNodesMax
      ? await allNodes(reader, wanted)
      : await inTurns(wanted, async (name) => [name, await nodeObject(reader, name)] as const);
  const found = wanted.length === 0 ? [] : ((await reader.ifAllowed(read)) ?? []);
  return new Map(found.map(([name, object]) => [name, object === null ? null : nodeTrace(object)]));
}

async function nodeObject(reader: ClusterReader, name: string): Promise<unknown> {
  return await reader.objectIfThere(nodePath(name));
}

/** Where the API server has it. */
export function nodePath(name: string): string {
  return `/api/v1/nodes/${encodeURIComponent(name)}`;
}

async function allNodes(
  reader: ClusterReader,
  wanted: readonly string[],
): Promise<readonly (readonly [string, unknown])[]> {
  const objects = await reader.objects('/api/v1/nodes');
  const byName = new Map(objects.map((object) => [nodeTrace(object).name, object]));
  return wanted.map((name) => [name, byName.get(name) ?? null] as const);
}

/** Where deploy/ keeps the lease of the election. */
const usualLease: LeaseName = { namespace: 'taintmgr-system', name: 'taintmgr-controller' };
/** Where a controller that runs outside of the cluster keeps it by default. */
const outsideLease: LeaseName = { namespace: 'kube-system', name: 'taintmgr-controller' };

/** Records of the leases that leaders publish, or else of the usual ones. */
async function recordsOf(
  reader: ClusterReader,
  managers: readonly TaintManager[],
  scope: HistoryScope,
): Promise<Records> {
  const published = managers.flatMap(({ settings }) => {
    const namespace = settings['leader-elect-resource-namespace'];
    const name = settings['leader-elect-resource-name'];
    return namespace && name ? [{ namespace, name }] : [];
  });
  if (published.length > 0) return await readRecords(reader, published, scope);
  const usual = await readRecords(reader, [usualLease], scope);
  if (usual.found !== 'none') return usual;
  const outside = await readRecords(reader, [outsideLease], scope);
  return outside.found === 'read' ? outside : usual;
}
