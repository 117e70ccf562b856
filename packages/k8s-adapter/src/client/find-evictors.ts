// Reads what shows who else evicts here: leases, pods of kube-controller-manager, TaintManagers, the version.
import { setTimeout as wait } from 'node:timers/promises';
import { type Millis, parseTime } from '@taintmgr/core/time';
import {
  type Evictors,
  type Installation,
  installationOf,
  isUncertain,
  type LeaseSight,
} from '../evictors/judge.ts';
import {
  type Asker,
  evictorsIn,
  type InstallationLeases,
  type Look,
  LookMemory,
  type Read,
} from '../evictors/look.ts';
import { readManifest } from '../kinds/manifest.ts';
import { asInteger, asList, asRecord, asText } from '../proto/json.ts';
import type { LeaseName } from '../proto/lease-requests.ts';
import {
  type ApiRequest,
  getRequest,
  listRequest,
  nodesPath,
  taintManagersPath,
} from '../proto/requests.ts';
import { ApiError } from '../transport/errors.ts';
import { monotonic } from '../transport/timers.ts';
import type { ApiClient } from './client.ts';

/** The choices of a search for evictors. */
export interface FindOptions {
  /**
   * The installation that asks, which counts as no other one; left out: the caller is no
   * installation.
   */
  readonly asker?: Asker | null;
  /** The wait for a second look; left out: 3 s, in which a living leader renews. */
  readonly secondLookMs?: Millis;
  /** Aborted: no caller waits for a second look any more. */
  readonly signal?: AbortSignal;
}

type Client = Pick<ApiClient, 'ask'>;

const leasesApi = '/apis/coordination.k8s.io/v1';
const managerLease: LeaseName = { namespace: 'kube-system', name: 'kube-controller-manager' };
const installationLease = 'taintmgr-controller';
/** On a lease of ours: the controllers that its holder runs. */
export const controllersAnnotation = 'taintmgr.dev/controllers';
/** No kubelet may give it to a Node: NodeRestriction. */
const controlPlaneLabel = 'node-role.kubernetes.io/control-plane';
/** Where installations keep it by default, for those who may not list. */
const usualNamespaces = ['kube-system', 'taintmgr-system'];
const managerPods = '/api/v1/namespaces/kube-system/pods';
/** As kubeadm and its like label it, as kops and Talos do, as charts do. */
const managerLabels = ['component', 'k8s-app', 'app.kubernetes.io/name'];
const defaultLeaseSeconds = 15;
const secondLookMsDefault: Millis = 3_000;

/**
 * All who evict here beside the one who asks: kube-controller-manager and other installations of
 * taintmgr-controller. Keeps its sightings of leases, so that the next look judges them by change.
 */
export class EvictorSearch {
  readonly #client: Client;
  readonly #asker: Asker | null;
  readonly #secondLookMs: Millis;
  readonly #signal: AbortSignal | undefined;
  readonly #memory = new LookMemory();

  constructor(
    client: Client,
    { asker = null, secondLookMs = secondLookMsDefault, signal }: FindOptions = {},
  ) {
    this.#client = client;
    this.#asker = asker;
    this.#secondLookMs = secondLookMs;
    this.#signal = signal;
  }

  /**
   * Looks once, and a second time a moment later only where that shows more. An unreadable part is
   * `unknown`; throws ApiError and ConnectionError for anything else. `published`: the statuses
   * that leaders publish, where the caller reads them already.
   */
  async find(published: Promise<Published> = readPublished(this.#client)): Promise<Evictors> {
    const first = await this.#look(published);
    if (!isUncertain(first)) return first;
    await wait(this.#secondLookMs, undefined, this.#signal && { signal: this.#signal });
    return await this.#look(published);
  }

  async #look(reading: Promise<Published>): Promise<Evictors> {
    const client = this.#client;
    const [lease, pods, controlPlane, installations, published] = await Promise.all([
      readLease(client, managerLease),
      readManagerPods(client),
      readControlPlane(client),
      readInstallations(client),
      reading,
    ]);
    const isBare = pods.kind === 'read' && pods.value.length === 0;
    const version = isBare ? await readVersion(client) : null;
    const asker = this.#asker;
    const look = { lease, pods, controlPlane, installations, published, version, asker };
    return evictorsIn(look, this.#memory, monotonic());
  }
}

type Published = Look['published'];

/**
 * The answer for those who ask once; `taintEvictors` of it says who would take the pods of a NoExecute
 * taint, and `upstream`, `taintmgr` have the evidence.
 */
export function findEvictors(client: Client, options: FindOptions = {}): Promise<Evictors> {
  return new EvictorSearch(client, options).find();
}

async function readLease(client: Client, { namespace, name }: LeaseName): Promise<Look['lease']> {
  const path = `${leasesApi}/namespaces/${namespace}/leases/${name}`;
  const read = await readIfAllowed(client, getRequest(path), `get lease ${namespace}/${name}`);
  if (read.kind === 'forbidden') return read;
  return { ...read, value: read.value === null ? null : leaseSight(read.value) };
}

/** The pods by all the labels: one that a kubelet has made with one label hides none with another. */
async function readManagerPods(client: Client): Promise<Look['pods']> {
  const reads = await Promise.all(
    managerLabels.map(async (label) => {
      const request = listRequest(managerPods, { labelSelector: `${label}=${managerLease.name}` });
      return listOf(await readIfAllowed(client, request, 'list pods in kube-system'));
    }),
  );
  const byUid = new Map<string, unknown>();
  let serverTime: number | null = null;
  for (const read of reads) {
    if (read.kind === 'forbidden') return read;
    serverTime = read.serverTime;
    for (const pod of read.value) byUid.set(asText(asRecord(asRecord(pod).metadata).uid), pod);
  }
  return { kind: 'read', value: [...byUid.values()], serverTime };
}

/** The nodes of the control plane, which are few. */
async function readControlPlane(client: Client): Promise<Look['controlPlane']> {
  const request = listRequest(nodesPath, { labelSelector: controlPlaneLabel });
  const read = listOf(await readIfAllowed(client, request, 'list nodes'));
  if (read.kind === 'forbidden') return read;
  return {
    ...read,
    value: read.value.map((node) => asText(asRecord(asRecord(node).metadata).name)),
  };
}

/** Empty where there is no such kind, or no right. */
async function readPublished(client: Client): Promise<Published> {
  const list = listOf(await readIfAllowed(client, listRequest(taintManagersPath), 'list them'));
  if (list.kind === 'forbidden') return { all: [], now: 0 };
  return { all: installationsIn(list.value), now: list.serverTime ?? Date.now() };
}

/** Reads TaintManagers; those without a status say nothing. */
function installationsIn(objects: readonly unknown[]): readonly Installation[] {
  return objects.flatMap((object) => {
    const read = readManifest(object, 0);
    if (read.kind === 'refused' || read.value.kind !== 'TaintManager') return [];
    const { name, status } = read.value.value;
    return status === null ? [] : [installationOf(name, status)];
  });
}

/**
 * The right to list the leases of one name can be given alone. Without it the usual places are looked
 * at: a living holder there is knowledge, nothing there is not.
 */
async function readInstallations(client: Client): Promise<InstallationLeases> {
  const fieldSelector = `metadata.name=${installationLease}`;
  const request = listRequest(`${leasesApi}/leases`, { fieldSelector });
  const right = `list leases named ${installationLease}`;
  const list = listOf(await readIfAllowed(client, request, right));
  if (list.kind === 'read') {
    const { value, serverTime } = list;
    return { leases: value.map(leaseSight), serverTime, missingRight: null };
  }
  const names = usualNamespaces.map((namespace) => ({ namespace, name: installationLease }));
  const reads = await Promise.all(names.map((name) => readLease(client, name)));
  const seen = reads.flatMap((read) => (read.kind === 'read' && read.value ? [read] : []));
  return {
    leases: seen.flatMap(({ value }) => value ?? []),
    serverTime: seen[0]?.serverTime ?? null,
    missingRight: list.right,
  };
}

/** Everybody may read it, by a role that clusters come with; null where that is not so. */
async function readVersion(client: Client): Promise<string | null> {
  const read = await readIfAllowed(client, getRequest('/version'), 'get /version');
  return read.kind === 'read' ? asText(asRecord(read.value).gitVersion) : null;
}

/** The object that the request reads, null where there is nothing; or that we have no right to. */
async function readIfAllowed(
  client: Client,
  request: ApiRequest,
  right: string,
): Promise<Read<unknown>> {
  try {
    return { kind: 'read', ...(await client.ask(request)) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.failure.status === 404) return { kind: 'read', value: null, serverTime: null };
    if (error.failure.status === 403) return { kind: 'forbidden', right };
    throw error;
  }
}

function listOf(read: Read<unknown>): Read<readonly unknown[]> {
  return read.kind === 'read' ? { ...read, value: asList(asRecord(read.value).items) } : read;
}

function leaseSight(value: unknown): LeaseSight {
  const { metadata, spec } = asRecord(value);
  const { namespace, name, uid, resourceVersion, annotations } = asRecord(metadata);
  const controllers = asText(asRecord(annotations)[controllersAnnotation]);
  const { holderIdentity, renewTime, acquireTime, leaseDurationSeconds } = asRecord(spec);
  return {
    namespace: asText(namespace),
    name: asText(name),
    uid: asText(uid),
    resourceVersion: asText(resourceVersion),
    holder: asText(holderIdentity),
    duration: (asInteger(leaseDurationSeconds) ?? defaultLeaseSeconds) * 1000,
    renewedAt: parseTime(asText(renewTime)),
    acquiredAt: parseTime(asText(acquireTime)),
    ...(controllers !== '' && { controllers: controllers.split(',') }),
  };
}
