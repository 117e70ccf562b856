// Reads the cluster for commands: nodes, pods, leases, Events, and states before.

import type { Budget } from '@taintmgr/core/drain';
import { type Instant, parseTime } from '@taintmgr/core/time';
import type { ApiClient } from '../client/client.ts';
import { EvictorSearch } from '../client/find-evictors.ts';
import { clockReasons } from '../controller/clock/clock-watch.ts';
import type { Evictors } from '../evictors/judge.ts';
import { policyApiVersion, policyKinds } from '../kinds/kinds.ts';
import { budgetFromJson } from '../proto/convert.ts';
import { deviceGroupPath } from '../proto/device-requests.ts';
import { asRecord, asText } from '../proto/json.ts';
import {
  getNodeRequest,
  listRequest,
  nodesPath,
  podsPath,
  type Selectors,
} from '../proto/requests.ts';
import { UsageError } from '../text/usage-error.ts';
import { ApiError } from '../transport/errors.ts';
import { isUnseen, upstreamEvictionReason, withEvents } from './evictors.ts';
import {
  type LeaseObject,
  type NodeFacts,
  nodeFacts,
  type ObjectMeta,
  type PodFacts,
  podFacts,
} from './facts.ts';
import { type LeaseRenewal, leaseRenewal } from './lease-renewal.ts';
import { ifThere, Refusals, selected, unless } from './refusals.ts';
import { type TaintManager, taintManagersIn, taintManagersPath } from './taint-managers.ts';

/** From this many nodes on one read of all pods is cheaper than one for each node. */
const singleNodesMax = 40;
/** The path of all EvictionPauses. */
export const pausesPath: string = `/apis/${policyApiVersion}/${policyKinds.EvictionPause.plural}`;
const nodeLeases = 'kube-node-lease';
const budgetsPath = '/apis/policy/v1/poddisruptionbudgets';

/** Reads what commands need of a cluster. Throws ApiError and ConnectionError. */
export class ClusterReader {
  readonly #client: ApiClient;
  readonly #chunkSize: number | undefined;
  readonly #search: EvictorSearch;
  readonly #refusals = new Refusals();
  #deviceGroup: Promise<unknown> | null = null;
  /** The present time. */
  readonly now: () => Instant;

  /**
   * `chunkSize`: objects in one page of a list, 0: all at once; left out: as the client has it. `search`
   * is for those who read again and again: it knows leases from one reader to the next.
   */
  constructor(
    client: ApiClient,
    chunkSize?: number,
    search: EvictorSearch = new EvictorSearch(client),
    now: () => Instant = Date.now,
  ) {
    this.#client = client;
    this.#chunkSize = chunkSize;
    this.#search = search;
    this.now = now;
  }

  /** The unreadable parts for want of rights, in the API server's words. */
  get refused(): readonly string[] {
    return this.#refusals.messages;
  }

  /** Reads one node. Throws ApiError, `NotFound` for a node that does not exist. */
  async node(name: string): Promise<NodeFacts> {
    return nodeFacts(await this.#client.send(getNodeRequest(name)));
  }

  /** A node; null where there is none of the name any more. */
  async nodeIfThere(name: string): Promise<NodeFacts | null> {
    return await ifThere(() => this.node(name));
  }

  /** The nodes of these names that are there. */
  async nodesNamed(names: readonly string[]): Promise<readonly NodeFacts[]> {
    if (names.length > singleNodesMax) {
      const wanted = new Set(names);
      return (await this.nodes()).filter(({ node }) => wanted.has(node.name));
    }
    const found = await inTurns(names, (name) => this.nodeIfThere(name));
    return found.filter((node) => node !== null);
  }

  /** The nodes that a label selector leaves; all where it is ''. */
  async nodes(labelSelector = ''): Promise<readonly NodeFacts[]> {
    const selectors = labelSelector === '' ? {} : { labelSelector };
    return await this.#list(nodesPath, selectors, nodeFacts);
  }

  /** Reads one pod. Throws ApiError, `NotFound` for a pod that does not exist. */
  async pod(namespace: string, name: string): Promise<PodFacts> {
    return podFacts(await this.#client.get(podPathOf({ namespace, name })));
  }

  /** A pod as the API server has it; null: there is none, or we may not see it. */
  async podObject(namespace: string, name: string): Promise<unknown> {
    const path = podPathOf({ namespace, name });
    return await unless(403, () => ifThere(() => this.#client.get(path)), null);
  }

  /** The state of a node before the one that was read; null: the API server has none any more. */
  async nodeBefore({ node, version }: NodeFacts): Promise<NodeFacts | null> {
    const before = await stateBefore(this.#client, nodesPath, node.name, version);
    return before === null ? null : nodeFacts(before);
  }

  /** The same of a pod. */
  async podBefore({ pod, version }: PodFacts): Promise<PodFacts | null> {
    const path = podsPathOf(pod.namespace);
    const before = await stateBefore(this.#client, path, pod.name, version);
    return before === null ? null : podFacts(before);
  }

  /** The names of the pods of a namespace. */
  async podNames(namespace: string): Promise<readonly string[]> {
    return await this.#list(podsPathOf(namespace), {}, nameOf);
  }

  /** The pods of a namespace, null: of all, that a label selector leaves. */
  async podsOf(namespace: string | null, labelSelector = ''): Promise<readonly PodFacts[]> {
    const path = namespace === null ? podsPath : podsPathOf(namespace);
    return await this.#list(path, labelSelector === '' ? {} : { labelSelector }, podFacts);
  }

  /** The names of all namespaces. */
  async namespaceNames(): Promise<readonly string[]> {
    return await this.#list(namespacesPath, {}, nameOf);
  }

  /** The names of all EvictionPauses. */
  async pauseNames(): Promise<readonly string[]> {
    return await this.#list(pausesPath, {}, nameOf);
  }

  /** All pods. */
  async pods(): Promise<readonly PodFacts[]> {
    return await this.#list(podsPath, {}, podFacts);
  }

  /**
   * The pods of these nodes, of those the ones that a label selector leaves. Without nodes the API
   * server is still asked if it can read the selector. Only pods of `namespace`, where one is given
   * and we may not read others.
   */
  async podsOn(
    nodeNames: readonly string[],
    labelSelector = '',
    namespace?: string,
  ): Promise<readonly PodFacts[]> {
    const read = () => this.#podsOn(nodeNames, labelSelector);
    if (namespace === undefined) return await read();
    const all = await this.ifAllowed(read);
    if (all) return all;
    const wanted = new Set(nodeNames);
    const own = await this.podsOf(namespace, labelSelector);
    return own.filter(({ pod }) => wanted.has(pod.nodeName));
  }

  async #podsOn(nodeNames: readonly string[], labelSelector: string): Promise<readonly PodFacts[]> {
    const labels: Selectors = labelSelector === '' ? {} : { labelSelector };
    if (nodeNames.length === 0 && labelSelector !== '') {
      await this.#client.send(listRequest(podsPath, { labelSelector, limit: 1 }));
    }
    if (nodeNames.length > singleNodesMax) {
      const wanted = new Set(nodeNames);
      const all = await this.#list(podsPath, labels, podFacts);
      return all.filter(({ pod }) => wanted.has(pod.nodeName));
    }
    const lists = await inTurns(nodeNames, (name) => {
      return this.#list(podsPath, { ...labels, fieldSelector: `spec.nodeName=${name}` }, podFacts);
    });
    return lists.flat();
  }

  /** True when a DaemonSet is there; also where we may not see it. */
  async hasDaemonSet(namespace: string, name: string): Promise<boolean> {
    return await this.#has('/apis/apps/v1', 'daemonsets', namespace, name);
  }

  /** True when a Service is there; also where we may not see it. */
  async hasService(namespace: string, name: string): Promise<boolean> {
    return await this.#has('/api/v1', 'services', namespace, name);
  }

  async #has(root: string, plural: string, namespace: string, name: string): Promise<boolean> {
    const [ns, objectName] = [namespace, name].map(encodeURIComponent);
    const path = `${root}/namespaces/${ns}/${plural}/${objectName}`;
    const read = async (): Promise<boolean> =>
      (await ifThere(() => this.#client.get(path))) !== null;
    return (await this.ifAllowed(read)) ?? true;
  }

  /** True when the server has something at a path of its discovery, which everyone may read. */
  async serves(path: string): Promise<boolean> {
    return (await unless(403, () => ifThere(() => this.#client.get(path)), null)) !== null;
  }

  /** The server's discovery of its devices, asked once; null: it has none. Throws ApiError. */
  deviceGroup(): Promise<unknown> {
    this.#deviceGroup ??= this.objectIfThere(deviceGroupPath);
    return this.#deviceGroup;
  }

  /** True when it has devices, as far as that may be seen. */
  async servesDevices(): Promise<boolean> {
    return (await unless(403, () => this.deviceGroup(), null)) !== null;
  }

  /** The minor version of the API server, 36 for 1.36; null: it does not say. */
  async serverMinor(): Promise<number | null> {
    // Everybody may read it, by a role that clusters come with: without, no answer lacks anything.
    const read = unless(403, () => this.objectIfThere('/version'), null);
    const { minor } = asRecord(await read);
    const number = Number.parseInt(asText(minor), 10);
    return Number.isNaN(number) ? null : number;
  }

  /** The object at a path. */
  async object(path: string): Promise<unknown> {
    return await this.#client.get(path);
  }

  /** The object at a path; null where there is none, or we may not see it. */
  async objectIfAllowed(path: string): Promise<unknown> {
    return await this.ifAllowed(() => this.objectIfThere(path));
  }

  /** The object at a path; null where there is none. */
  async objectIfThere(path: string): Promise<unknown> {
    return await ifThere(() => this.#client.get(path));
  }

  /** The objects at a path that a label selector leaves, as the API server has them. */
  async objects(path: string, labelSelector = ''): Promise<readonly unknown[]> {
    return await this.#list(path, labelSelector === '' ? {} : { labelSelector }, asItIs);
  }

  /** The same; null where the cluster has no such kind. */
  async objectsIfServed(path: string): Promise<readonly unknown[] | null> {
    return await ifThere(() => this.objects(path));
  }

  /**
   * All disruption budgets; null without the right to see them. Only budgets of `namespace`, where
   * one is given and we may not see others: they are all that count for its pods.
   */
  async budgets(namespace?: string): Promise<readonly Budget[] | null> {
    const read = (path: string) => this.#list(path, {}, budgetFromJson);
    if (namespace === undefined) return await this.ifAllowed(() => read(budgetsPath));
    const all = await unless(403, () => read(budgetsPath), null);
    const path = `/apis/policy/v1/namespaces/${encodeURIComponent(namespace)}/poddisruptionbudgets`;
    return all ?? (await this.ifAllowed(() => read(path)));
  }

  /** When the kubelets of nodes last renewed their leases, by node. */
  async leasesRenewedAt(nodeNames: readonly string[]): Promise<ReadonlyMap<string, LeaseRenewal>> {
    const objects =
      nodeNames.length > requestsAtOnceMax
        ? await this.ifAllowed(() => this.#list(leasesPath(nodeLeases), {}, asItIs))
        : await this.#nodeLeases(nodeNames);
    if (objects === null) return new Map(nodeNames.map((name) => [name, 'hidden'] as const));
    const renewed = new Map(
      objects.map((object) => {
        const lease = object as LeaseObject;
        return [lease.metadata.name, leaseRenewal(lease, this.now())] as const;
      }),
    );
    return new Map(nodeNames.map((name) => [name, renewed.get(name) ?? null] as const));
  }

  async #nodeLeases(nodeNames: readonly string[]): Promise<readonly unknown[] | null> {
    const read = (name: string): Promise<unknown> =>
      ifThere(() => this.#client.get(`${leasesPath(nodeLeases)}/${encodeURIComponent(name)}`));
    const leases = await this.ifAllowed(() => Promise.all(nodeNames.map(read)));
    return leases?.filter((lease) => lease !== null) ?? null;
  }

  /**
   * Who evicts here; what we may not read is unknown, and needs no warning. `managers` are what
   * leaders publish, where that is being read already.
   */
  async evictors(managers = this.taintManagers()): Promise<Evictors> {
    const published = managers.then((all) => ({ all, now: this.now() }));
    const found = await this.#search.find(published);
    if (!isUnseen(found)) return found;
    return withEvents(found, await this.eventsOf(upstreamEvictionReason), this.now());
  }

  /** The statuses that leaders publish; empty where there is no such kind, or no right. */
  async taintManagers(): Promise<readonly TaintManager[]> {
    const read = (): Promise<readonly unknown[]> =>
      unless(404, () => this.#list(taintManagersPath, {}, asItIs), []);
    return taintManagersIn(await unless(403, read, []));
  }

  /** The reports of controllers about clocks; empty where we may not see them. */
  async clockEvents(): Promise<readonly ClockEvent[]> {
    const selectors = { fieldSelector: 'involvedObject.kind=Lease' };
    const events = await unless(403, () => this.#list('/api/v1/events', selectors, asItIs), []);
    return clockEventsIn(events);
  }

  /** The Events with this reason, of one namespace where that is given; nothing where we may not see them. */
  async eventsOf(reason: string, namespace?: string): Promise<readonly unknown[]> {
    const selectors = { fieldSelector: `reason=${reason}` };
    const path = namespace === undefined ? '/api/v1' : namespacePath(namespace);
    return await unless(403, () => this.#list(`${path}/events`, selectors, asItIs), []);
  }

  /** The Events of a namespace, null: of all, that a field selector leaves. Throws ApiError. */
  async events(namespace: string | null, fieldSelector: string): Promise<readonly unknown[]> {
    const path = namespace === null ? '/api/v1/events' : `${namespacePath(namespace)}/events`;
    return await this.#list(path, { fieldSelector }, asItIs);
  }

  /** A lease; null: there is none. */
  async lease(namespace: string, name: string): Promise<unknown> {
    const path = `${leasesPath(namespace)}/${encodeURIComponent(name)}`;
    return await unless(403, () => ifThere(() => this.#client.get(path)), 'forbidden');
  }

  async #list<T>(
    path: string,
    selectors: Selectors,
    read: (object: unknown) => T,
  ): Promise<readonly T[]> {
    return await this.#client.listAs(read, path, selectors, this.#chunkSize);
  }

  /** Returns the value; null, and noted in `refused`, where rights are missing. */
  ifAllowed<T>(read: () => Promise<T>): Promise<T | null> {
    return this.#refusals.ifAllowed(read);
  }
}

function nameOf(object: unknown): string {
  return (object as { readonly metadata: ObjectMeta }).metadata.name;
}

function asItIs(object: unknown): unknown {
  return object;
}

/** A pod by its names. */
export interface PodName {
  /** The namespace of the pod. */
  readonly namespace: string;
  /** The name of the pod. */
  readonly name: string;
}

/** The path of all namespaces. */
export const namespacesPath = '/api/v1/namespaces';

/** The path of a namespace. */
export function namespacePath(name: string): string {
  return `${namespacesPath}/${encodeURIComponent(name)}`;
}

/** The path of the pods of a namespace. */
export function podsPathOf(namespace: string): string {
  return `${namespacePath(namespace)}/pods`;
}

/** The path of a pod. */
export function podPathOf({ namespace, name }: PodName): string {
  return `${podsPathOf(namespace)}/${encodeURIComponent(name)}`;
}

function leasesPath(namespace: string): string {
  return `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
}

/** The number of requests at one time. */
const requestsAtOnceMax = 8;

/** Runs `work` for each item, a few at a time; returns the results in order. */
export async function inTurns<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  for (let from = 0; from < items.length; from += requestsAtOnceMax) {
    results.push(...(await Promise.all(items.slice(from, from + requestsAtOnceMax).map(work))));
  }
  return results;
}

/** A report of a controller about clocks, from its Events. */
export interface ClockEvent {
  /** Null: the Event does not say when. */
  readonly at: Instant | null;
  /** The text of the Event. */
  readonly message: string;
}

interface EventObject {
  readonly reason?: string;
  readonly message?: string;
  readonly lastTimestamp?: string | null;
}

/** The Events about leases that are about clocks, the latest last. */
function clockEventsIn(events: readonly unknown[]): readonly ClockEvent[] {
  return (events as readonly EventObject[])
    .filter(({ reason = '' }) => clockReasons.includes(reason))
    .map(({ message = '', lastTimestamp }) => ({ at: parseTime(lastTimestamp ?? ''), message }))
    .sort((a, b) => (a.at ?? 0) - (b.at ?? 0));
}

/**
 * The object of the collection at `path` as it was before the resourceVersion `version`; null: that is not
 * known any more. API servers keep the states of some minutes, and number all writes of all objects in one
 * order. Any refusal means that there is nothing to be had.
 */
async function stateBefore(
  client: ApiClient,
  path: string,
  name: string,
  version: string,
): Promise<unknown> {
  if (!/^[1-9]\d*$/.test(version)) return null;
  const at = String(BigInt(version) - 1n);
  const request = listRequest(path, { fieldSelector: `metadata.name=${name}`, at });
  try {
    const { items = [] } = (await client.send(request)) as { items?: readonly unknown[] };
    return items[0] ?? null;
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}

/**
 * The nodes that a command line names or selects. Throws UsageError where it does both, and ApiError for one
 * that is not there.
 */
export async function namedNodes(
  reader: ClusterReader,
  names: readonly string[],
  labelSelector: string | undefined,
): Promise<readonly NodeFacts[]> {
  if (names.length > 0 && labelSelector !== undefined) {
    throw new UsageError('cannot specify both a node name and a --selector option');
  }
  if (names.length === 0) {
    return await selected('--selector', labelSelector ?? '', () => reader.nodes(labelSelector));
  }
  const nodes: NodeFacts[] = [];
  for (const name of new Set(names)) {
    nodes.push(await reader.node(name));
  }
  return nodes;
}
