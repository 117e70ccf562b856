import { Escalation } from '../admission/escalation.ts';
import { PolicyAdmission } from '../admission/policy-admission.ts';
import type { Admission } from '../admission/request.ts';
import { type CallWebhook, unreachable } from '../admission/webhooks/call.ts';
import { WebhookAdmission } from '../admission/webhooks/webhook-admission.ts';
import { Access } from '../auth/access.ts';
import { Authenticator, type Tokens } from '../auth/authenticator.ts';
import { Definitions } from '../crd/life-cycle.ts';
import type { DialNode } from '../handlers/node-proxy.ts';
import { Watchers } from '../handlers/watchers.ts';
import type { ReportBug } from '../kernel/bug.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Random } from '../kernel/prng.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { ServedResources } from '../resources/served.ts';
import type { Change, ClusterApi, DeleteOptions, StoredKind } from '../store/cluster-api.ts';
import { expireEvents } from '../store/event-expiry.ts';
import { Store } from '../store/store.ts';
import type { Exchange } from '../wire/exchange.ts';
import { type Backend, unknownManager } from '../write/backend.ts';
import { BriefWrites, freezesBriefly } from '../write/brief.ts';
import { type LoadReport, loadObjects } from '../write/load.ts';
import { directApi } from './direct-api.ts';
import { Faults } from './faults.ts';
import { type Endpoint, publishOwnObjects } from './own-service.ts';
import { presetNamespaces } from './preset-namespaces.ts';
import { type ParseYaml, type ServiceTime, serve } from './serve.ts';

export interface ApiServerOptions {
  readonly clock: Clock;
  readonly random: Random;
  /**
   * Bearer tokens and their users; without them nobody is asked and everybody is an admin. What a
   * user may do is said by RBAC objects in the cluster, and by the rules given here.
   */
  readonly tokens?: Tokens;
  /** How long the server works on a request before it does anything; left out: no time. */
  readonly serviceMs?: ServiceTime;
  /** What there is from the start; left out: the namespaces of every cluster. */
  readonly from?: Store;
  /** The resourceVersion of the empty store; default 1000. */
  readonly startRv?: number;
  /** How many past changes of each resource are kept for watches and paging; default 16384, with `brief` 4096. */
  readonly historyLength?: number;
  /** How long an Event is kept that nobody writes any more; default an hour. */
  readonly eventTtlMs?: number;
  /** Reads YAML, for request bodies of that type; left out: only YAML that is JSON is understood. */
  readonly parseYaml?: ParseYaml;
  /**
   * Whether pods, nodes, leases and DaemonSets are answered in protobuf where that is asked for.
   * Rare fields of theirs are missing there, so it is for clients that look at what controllers look
   * at, and off by default.
   */
  readonly protobuf?: boolean;
  /**
   * Whether the cluster's own parts write the short way: for a simulation, in which nobody looks at
   * the form of objects or at who owns their fields. See BriefWrites.
   */
  readonly brief?: boolean;
  /**
   * For so long after a load the parameters of admission policies are not known, as after the start of a
   * server that finds them stored; default 0.
   */
  readonly paramsSyncMs?: number;
  /** Reaches admission webhooks; left out: none can be reached. */
  readonly callWebhook?: CallWebhook;
  /**
   * Is told of mistakes of this package while it serves a request, which is answered with 500 then, or
   * publishes a change; left out: they are thrown.
   */
  readonly reportBug?: ReportBug;
}

const startRv = 1000;
const historyLength = 16_384;
/** In a simulation watches are in the same process, and never far behind. */
const briefHistoryLength = 4_096;
const eventTtlMs = 3_600_000;

/** A Kubernetes API server over values: its objects, its rules and its wire, without a socket. */
export class ApiServer implements ClusterApi {
  readonly clock: Clock;
  /** Answers HTTP requests given as values. */
  readonly exchange: Exchange;
  /** What goes wrong with requests; nothing unless it is set. */
  readonly faults: Faults;
  /** Who may do what, what was refused, and which rights nobody used. */
  readonly access: Access;
  /** What judges changes before they are stored: the admission policies in the store. */
  readonly policies: PolicyAdmission;
  /** Who follows which collections over the wire. */
  readonly watchers: Watchers = new Watchers();
  readonly #backend: Backend;
  readonly #brief: BriefWrites | null;
  readonly #direct: ClusterApi;
  readonly #paramsSyncMs: number;
  #dialNode: DialNode = () => 'refused';

  constructor(options: ApiServerOptions) {
    this.clock = options.clock;
    this.#paramsSyncMs = options.paramsSyncMs ?? 0;
    const store = new Store({
      startRv: options.startRv ?? startRv,
      historyLength: options.historyLength ?? (options.brief ? briefHistoryLength : historyLength),
      ...(options.brief ? { freezes: freezesBriefly } : {}),
      ...(options.from ? { from: options.from } : {}),
      ...(options.reportBug ? { reportBug: options.reportBug } : {}),
    });
    const served = new ServedResources();
    const tokens = options.tokens ? new Map(options.tokens) : null;
    this.access = new Access(store, tokens);
    const { clock, random } = options;
    const { access } = this;
    this.policies = new PolicyAdmission({ store, clock, access, served });
    const { brief: isBrief = false, callWebhook: call = unreachable } = options;
    const { policies } = this;
    const webhooks = new WebhookAdmission({ store, clock, random, policies, call });
    const escalation = new Escalation(store, access);
    const admission: Admission = {
      judge: (request, writer) => {
        escalation.judge(request, writer);
        policies.judge(request, writer);
        webhooks.judge(request, writer);
      },
    };
    this.#backend = { store, served, clock, random, admission, isBrief };
    this.#brief = isBrief ? new BriefWrites(this.#backend) : null;
    this.#direct = directApi(this.#backend, unknownManager);
    new Definitions(this.#backend);
    expireEvents(store, options.clock, options.eventTtlMs ?? eventTtlMs);
    this.faults = new Faults(options.random);
    this.exchange = serve({
      backend: this.#backend,
      authenticator: new Authenticator(store, tokens),
      access: this.access,
      serviceMs: options.serviceMs ?? null,
      parseYaml: options.parseYaml ?? null,
      reportBug: options.reportBug ?? null,
      protobuf: options.protobuf ?? false,
      faults: this.faults,
      dialNode: (nodeName) => this.#dialNode(nodeName),
      watchers: this.watchers,
      hasWebhooks: () => !webhooks.isEmpty,
    });
    if (options.from) return;
    for (const name of presetNamespaces) this.create('namespaces', { metadata: { name } });
  }

  as(manager: string): ClusterApi {
    return directApi(this.#backend, manager, this.#brief);
  }

  stored(): readonly StoredKind[] {
    return this.#direct.stored();
  }

  findKind(apiVersion: string, kind: string): StoredKind | null {
    return this.#direct.findKind(apiVersion, kind);
  }

  get(resource: string, namespace: string, name: string): KubeObject | null {
    return this.#direct.get(resource, namespace, name);
  }

  find(resource: string, key: string): KubeObject | null {
    return this.#direct.find(resource, key);
  }

  list(resource: string, namespace?: string): readonly KubeObject[] {
    return this.#direct.list(resource, namespace);
  }

  create(resource: string, object: KubeObject): KubeObject {
    return this.#direct.create(resource, object);
  }

  update(resource: string, object: KubeObject, subresource?: 'status' | 'finalize'): KubeObject {
    return this.#direct.update(resource, object, subresource);
  }

  delete(resource: string, namespace: string, name: string, options?: DeleteOptions): void {
    this.#direct.delete(resource, namespace, name, options);
  }

  skipVersion(): void {
    this.#direct.skipVersion();
  }

  bind(namespace: string, name: string, nodeName: string): void {
    this.#direct.bind(namespace, name, nodeName);
  }

  /** Takes over objects of a real cluster as they are; see LoadReport for what was not taken. */
  load(values: readonly unknown[]): LoadReport {
    const report = loadObjects(this.#backend, values);
    this.policies.begin(this.#paramsSyncMs);
    return report;
  }

  /** Tells the cluster where and how this server can be reached: the Service default/kubernetes. */
  publish(endpoint: Endpoint): void {
    publishOwnObjects(this.as('kube-apiserver'), endpoint);
  }

  /** Says what is at the other end of the lines to the nodes; at first nobody is. */
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

  subscribe(
    listener: (change: Change) => void,
    resources?: ReadonlySet<string> | null,
  ): () => void {
    return this.#direct.subscribe(listener, resources);
  }
}
