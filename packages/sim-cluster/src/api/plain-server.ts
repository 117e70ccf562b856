import { type Front, noFront, type OpenFront } from '../handlers/front.ts';
import type { DialNode } from '../handlers/node-proxy.ts';
import { Watchers } from '../handlers/watchers.ts';
import type { ReportBug } from '../kernel/bug.ts';
import type { Clock } from '../kernel/clock.ts';
import { PodDice } from '../kernel/pod-dice.ts';
import type { Random } from '../kernel/prng.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { type ClientObject, wireForm } from '../objects/wire-form.ts';
import { ServedResources } from '../resources/served.ts';
import type { Change, ClusterApi, DeleteOptions, StoredKind } from '../store/cluster-api.ts';
import { expireEvents } from '../store/event-expiry.ts';
import { Store } from '../store/store.ts';
import type { Exchange } from '../wire/exchange.ts';
import { type Applied, applyObject } from '../write/apply.ts';
import { type Backend, unknownManager } from '../write/backend.ts';
import { BriefWrites, freezesBriefly } from '../write/brief.ts';
import { type LoadReport, loadObjects } from '../write/load.ts';
import { directApi } from './direct-api.ts';
import { Faults } from './faults.ts';
import { presetNamespaces } from './preset-namespaces.ts';
import { type ServiceTime, serve } from './serve.ts';

/** The options of `PlainServer`. */
export interface PlainServerOptions {
  /** The clock on which the server waits, and by which it stamps objects. */
  readonly clock: Clock;
  /** Decides UIDs, generated names and faults. */
  readonly random: Random;
  /** The names and uids of pods come from it; left out: from one with the seed 0. */
  readonly podDice?: PodDice;
  /** The milliseconds that the server works on a request before it does anything; left out: none. */
  readonly serviceMs?: ServiceTime;
  /** The objects at the start; left out: the namespaces of every cluster. */
  readonly from?: Store;
  /** The resourceVersion of the empty store; default 1000. */
  readonly startRv?: number;
  /**
   * The number of past changes of each resource kept for watches and paging; default 16384, with
   * `brief` 4096.
   */
  readonly historyLength?: number;
  /** The milliseconds that an Event is kept after its last write; default an hour. */
  readonly eventTtlMs?: number;
  /**
   * Makes the cluster's own parts write the short way: for a simulation that reads neither the form
   * of objects nor the owners of their fields. See BriefWrites.
   */
  readonly brief?: boolean;
  /**
   * Receives the mistakes of this package while it serves a request, which is then answered with
   * 500, or publishes a change; left out: they are thrown.
   */
  readonly reportBug?: ReportBug;
  /**
   * The parts that real clients need; left out: every client is an admin, and every answer is JSON.
   */
  readonly front?: Front;
}

const startRv = 1000;
const historyLength = 16_384;
/** In a simulation watches are in the same process, and never far behind. */
const briefHistoryLength = 4_096;
const eventTtlMs = 3_600_000;

/**
 * The API server of a simulated cluster, over values: its objects, its rules and its plain verbs,
 * without a socket. Its front adds the parts that real clients need.
 */
export class PlainServer implements ClusterApi {
  /** The clock of the cluster. */
  readonly clock: Clock;
  /** Answers HTTP requests given as values. */
  readonly exchange: Exchange;
  /** The faults of requests; none unless a rule is set. */
  readonly faults: Faults;
  /** The programs that follow collections over the wire. */
  readonly watchers: Watchers = new Watchers();
  readonly #backend: Backend;
  readonly #front: OpenFront;
  readonly #brief: BriefWrites | null;
  readonly #direct: ClusterApi;
  #dialNode: DialNode = () => 'refused';

  constructor(options: PlainServerOptions) {
    this.clock = options.clock;
    const store = new Store({
      startRv: options.startRv ?? startRv,
      historyLength: options.historyLength ?? (options.brief ? briefHistoryLength : historyLength),
      ...(options.brief ? { freezes: freezesBriefly } : {}),
      ...(options.from ? { from: options.from } : {}),
      ...(options.reportBug ? { reportBug: options.reportBug } : {}),
    });
    const { clock, random, brief: isBrief = false, front = noFront } = options;
    const { podDice = new PodDice(0) } = options;
    const served = new ServedResources(front.kinds, front.serves);
    const server = { store, served, clock, random, podDice, isBrief };
    this.#front = front.open(server);
    this.#backend = { ...server, admission: this.#front.admission };
    this.#brief = isBrief ? new BriefWrites(this.#backend) : null;
    this.#direct = directApi(this.#backend, unknownManager);
    expireEvents(store, options.clock, options.eventTtlMs ?? eventTtlMs);
    this.faults = new Faults(options.random);
    this.exchange = serve({
      backend: this.#backend,
      front: this.#front,
      serviceMs: options.serviceMs ?? null,
      reportBug: options.reportBug ?? null,
      faults: this.faults,
      dialNode: (nodeName) => this.#dialNode(nodeName),
      watchers: this.watchers,
    });
    if (options.from) return;
    for (const name of presetNamespaces) this.create('namespaces', { metadata: { name } });
  }

  /** The same API for a writer of this name: the manager of the fields that it writes. */
  as(manager: string): ClusterApi {
    return directApi(this.#backend, manager, this.#brief);
  }

  /** Everything that is stored, custom resources too. */
  stored(): readonly StoredKind[] {
    return this.#direct.stored();
  }

  /** The store of a kind's objects; null: the kind is not served now. */
  findKind(apiVersion: string, kind: string): StoredKind | null {
    return this.#direct.findKind(apiVersion, kind);
  }

  /** The object of this name; null: there is none. See ClusterApi for `resource`. */
  get(resource: string, namespace: string, name: string): KubeObject | null {
    return this.#direct.get(resource, namespace, name);
  }

  /** The object of this key: `namespace/name`, or the bare name of a cluster-scoped one. */
  find(resource: string, key: string): KubeObject | null {
    return this.#direct.find(resource, key);
  }

  /** All objects in key order, or those of one namespace. */
  list(resource: string, namespace?: string): readonly KubeObject[] {
    return this.#direct.list(resource, namespace);
  }

  /** POST; returns the stored object. Throws ApiError. */
  /** As ClusterApi has it; objects of @kubernetes/client-node are taken too, here and below. */
  create(resource: string, object: KubeObject | ClientObject): KubeObject {
    return this.#direct.create(resource, wireForm(object));
  }

  /** PUT; returns the stored object. Throws ApiError, 409 for a stale resourceVersion. */
  update(
    resource: string,
    object: KubeObject | ClientObject,
    subresource?: 'status' | 'finalize',
  ): KubeObject {
    return this.#direct.update(resource, wireForm(object), subresource);
  }

  /** DELETE. Throws ApiError, 404 without such an object. */
  delete(resource: string, namespace: string, name: string, options?: DeleteOptions): void {
    this.#direct.delete(resource, namespace, name, options);
  }

  /** Skips a resourceVersion. */
  skipVersion(): void {
    this.#direct.skipVersion();
  }

  /** POST pods/NAME/binding. Throws ApiError. */
  bind(namespace: string, name: string, nodeName: string): void {
    this.#direct.bind(namespace, name, nodeName);
  }

  /** Takes over objects of a real cluster unchanged; see LoadReport for those it could not take. */
  load(values: readonly unknown[]): LoadReport {
    const report = loadObjects(this.#backend, values);
    this.#front.loaded();
    return report;
  }

  /**
   * Applies the manifest of a kind that is served, as kubectl does without the wire. Throws ApiError,
   * and Error for another kind.
   */
  apply(manifest: KubeObject | ClientObject): Applied {
    const { apiVersion = '', kind = '' } = manifest;
    const resource = this.#backend.served.findKind(apiVersion, kind);
    if (!resource) throw new Error(`${apiVersion} ${kind} is not served`);
    return applyObject(this.#backend, resource, wireForm(manifest));
  }

  /** Sets the dialer of connections to the nodes; at first no node can be reached. */
  connectNodes(dialNode: DialNode): void {
    this.#dialNode = dialNode;
  }

  /** Forgets past states and events: watches and pages from before are expired. */
  compact(): void {
    this.#backend.store.compact();
  }

  /** Sets how many past changes of each resource are kept. */
  setHistoryLength(length: number): void {
    this.#backend.store.setHistoryLength(length);
  }

  /** Calls `listener` after each write; returns the way to stop it. */
  subscribe(
    listener: (change: Change) => void,
    resources?: ReadonlySet<string> | null,
  ): () => void {
    return this.#direct.subscribe(listener, resources);
  }
}
