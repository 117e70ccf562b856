// Reads what shows who else evicts here: leases, pods of kube-controller-manager, the version.
import { setTimeout as wait } from 'node:timers/promises';
import { type Millis, parseTime } from '@taintmgr/core/time';
import {
  type Installations,
  isUncertain,
  judgeEvictors,
  type Look,
  type Read,
} from '../evictors/judge.ts';
import { LeaseLives } from '../evictors/lease-lives.ts';
import type { Evictors, LeaseSight } from '../evictors/verdict.ts';
import { type ApiRequest, getRequest } from '../proto/api-request.ts';
import { asInteger, asList, asRecord, asText } from '../proto/json.ts';
import type { LeaseName } from '../proto/lease-requests.ts';
import { listRequest } from '../proto/list-requests.ts';
import { monotonic } from '../transport/monotonic.ts';
import type { ApiClient } from './client.ts';
import { ApiError } from './errors.ts';

export interface FindOptions {
  /** The lease of the installation that asks, which is not another one; left out: there is none. */
  readonly own?: LeaseName | null;
  /** How long to wait for a second look; left out: 3 s, in which a living leader renews. */
  readonly secondLookMs?: Millis;
  /** Aborted: nobody waits for a second look any more. */
  readonly signal?: AbortSignal;
}

type Client = Pick<ApiClient, 'ask'>;

const leasesApi = '/apis/coordination.k8s.io/v1';
const managerLease: LeaseName = { namespace: 'kube-system', name: 'kube-controller-manager' };
const installationLease = 'taintmgr-controller';
/** Where installations keep it by default, for those who may not list. */
const usualNamespaces = ['kube-system', 'taintmgr-system'];
const managerPods = '/api/v1/namespaces/kube-system/pods';
/** As kubeadm and its like label it, as kops and Talos do, as charts do. */
const managerLabels = ['component', 'k8s-app', 'app.kubernetes.io/name'];
const defaultLeaseSeconds = 15;
const secondLookMsDefault: Millis = 3_000;

/**
 * Who evicts here beside the one who asks: kube-controller-manager and other installations of
 * taintmgr-controller. Keeps what it has seen of leases, so that the next look judges them by change.
 */
export class EvictorSearch {
  readonly #client: Client;
  readonly #own: LeaseName | null;
  readonly #secondLookMs: Millis;
  readonly #signal: AbortSignal | undefined;
  readonly #lives = new LeaseLives();

  constructor(
    client: Client,
    { own = null, secondLookMs = secondLookMsDefault, signal }: FindOptions = {},
  ) {
    this.#client = client;
    this.#own = own;
    this.#secondLookMs = secondLookMs;
    this.#signal = signal;
  }

  /**
   * Looks once, and a second time a moment later only where that shows more. What may not be read is
   * `unknown`; throws ApiError and ConnectionError for anything else.
   */
  async find(): Promise<Evictors> {
    const first = await this.#look();
    if (!isUncertain(first)) return first;
    await wait(this.#secondLookMs, undefined, this.#signal && { signal: this.#signal });
    return await this.#look();
  }

  async #look(): Promise<Evictors> {
    const client = this.#client;
    const [lease, pods, installations] = await Promise.all([
      readLease(client, managerLease),
      readManagerPods(client),
      readInstallations(client, this.#own),
    ]);
    const isBare = pods.kind === 'read' && pods.value.length === 0;
    const version = isBare ? await readVersion(client) : null;
    const look = { lease, pods, installations, version };
    return judgeEvictors(look, this.#lives, monotonic());
  }
}

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

/** The pods by the first label that any has; asked for all at once, as most clusters show none. */
async function readManagerPods(client: Client): Promise<Look['pods']> {
  const none: Look['pods'] = { kind: 'read', value: [], serverTime: null };
  const reads = await Promise.all(
    managerLabels.map(async (label) => {
      const request = listRequest(managerPods, { labelSelector: `${label}=${managerLease.name}` });
      return listOf(await readIfAllowed(client, request, 'list pods in kube-system'));
    }),
  );
  const found = reads.find((read) => read.kind === 'forbidden' || read.value.length > 0);
  return found ?? reads.at(-1) ?? none;
}

/**
 * The right to list the leases of one name can be given alone. Without it the usual places are looked
 * at: a living holder there is knowledge, nothing there is not.
 */
async function readInstallations(client: Client, own: LeaseName | null): Promise<Installations> {
  const fieldSelector = `metadata.name=${installationLease}`;
  const request = listRequest(`${leasesApi}/leases`, { fieldSelector });
  const right = `list leases named ${installationLease}`;
  const list = listOf(await readIfAllowed(client, request, right));
  const isOther = ({ namespace, name }: LeaseSight): boolean =>
    namespace !== own?.namespace || name !== own.name;
  if (list.kind === 'read') {
    const leases = list.value.map(leaseSight).filter(isOther);
    return { leases, serverTime: list.serverTime, missingRight: null };
  }
  const names = usualNamespaces.map((namespace) => ({ namespace, name: installationLease }));
  const reads = await Promise.all(names.map((name) => readLease(client, name)));
  const seen = reads.flatMap((read) => (read.kind === 'read' && read.value ? [read] : []));
  return {
    leases: seen.flatMap(({ value }) => value ?? []).filter(isOther),
    serverTime: seen[0]?.serverTime ?? null,
    missingRight: list.right,
  };
}

/** Everybody may read it, by a role that clusters come with; null where that is not so. */
async function readVersion(client: Client): Promise<string | null> {
  const read = await readIfAllowed(client, getRequest('/version'), 'get /version');
  return read.kind === 'read' ? asText(asRecord(read.value).gitVersion) : null;
}

/** What the request reads, null where there is nothing; or that we have no right to. */
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
  const { namespace, name, uid, resourceVersion } = asRecord(metadata);
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
  };
}
