import type { ControllerContext } from '../controllers/controller.ts';
import { keyOf } from '../controllers/pods.ts';
import { attachedTo, claimsOf, volumeOnNode, volumesOf } from '../controllers/volumes.ts';
import { WorkQueue } from '../controllers/work-queue.ts';
import type { DialedRequest, DialNode } from '../handlers/node-proxy.ts';
import type { Timer } from '../kernel/clock.ts';
import { type Random, seededRandom } from '../kernel/prng.ts';
import type { Json, KubeObject } from '../objects/kube-object.ts';
import { formatMicroTime, formatTime } from '../objects/time.ts';
import { type Answer, textReply } from '../wire/answer.ts';
import { flag } from '../wire/list-options.ts';
import type { Heartbeats } from './heartbeat-timer.ts';
import { leaseNamespace, leaseOf } from './lease.ts';
import { NodeStats } from './node-stats.ts';
import {
  defaultMachine,
  hostIpOf,
  isReported,
  type NodeConditionType,
  type NodeDescription,
  type NodeReport,
  nodeConditionTypes,
  nodeObject,
  podIpOf,
  reportedConditions,
} from './node-status.ts';
import { PodWorkers } from './pod-workers.ts';
import { type StatsFault, statsBody } from './stats-faults.ts';
import { summaryOf } from './summary.ts';
import { drawMs, firstBeatMs, type KubeletTiming, kubeletSeed } from './timing.ts';

const jsonHeaders = { 'content-type': 'application/json' };

/** The default eviction settings of a kubelet. */
const defaultKubeletConfig: { readonly [field: string]: Json } = {
  evictionHard: {
    'imagefs.available': '15%',
    'imagefs.inodesFree': '5%',
    'memory.available': '100Mi',
    'nodefs.available': '10%',
    'nodefs.inodesFree': '5%',
  },
  evictionPressureTransitionPeriod: '5m0s',
  enforceNodeAllocatable: ['pods'],
  localStorageCapacityIsolation: true,
};

/** The kubelet's server, for clients that ask it directly or through the API server. */
class KubeletServer {
  readonly #stats: NodeStats;
  readonly #config: { readonly [field: string]: Json };
  readonly #clock: () => number;
  #fault: StatsFault | null = null;

  constructor(stats: NodeStats, config: { readonly [field: string]: Json }, clock: () => number) {
    this.#stats = stats;
    this.#config = config;
    this.#clock = clock;
  }

  /** True if clients can connect to it. */
  get isReachable(): boolean {
    return this.#fault !== 'unreachable';
  }

  /** Lets the stats be wrong in that way, or right again. */
  setStatsFault(fault: StatsFault | null): void {
    this.#fault = fault;
    this.#stats.setFrozen(fault === 'stale');
  }

  answer({ method, path, query }: DialedRequest): Answer {
    switch (path) {
      case '/healthz':
        return textReply(200, 'ok');
      case '/configz':
        return json(`${JSON.stringify({ kubeletconfig: this.#config })}`);
      case '/stats/summary':
        if (method !== 'GET') return textReply(405, 'Method Not Allowed');
        return this.#summary(flag(query.get('only_cpu_and_memory')) ?? false);
      default:
        return textReply(404, '404 page not found\n');
    }
  }

  #summary(isShort: boolean): Answer {
    if (this.#fault === 'error') {
      return textReply(500, 'Internal Error: failed to list pod stats: rpc error: injected fault');
    }
    const summary = summaryOf(this.#stats.measures(this.#clock()), isShort);
    return json(statsBody(summary, this.#fault));
  }
}

function json(body: string): Answer {
  return { kind: 'reply', status: 200, headers: jsonHeaders, body };
}

/** A status that has not changed is posted again after this long. */
export const statusReportMs = 300_000;

/** The state of a kubelet that has been at work for a while. */
export interface KubeletProgress {
  /** The number of pods it has started. */
  readonly pods: number;
  /** When it last posted its status, in milliseconds since the Unix epoch. */
  readonly reportedAt: number;
  /** When it renews its lease next, in milliseconds since the Unix epoch. */
  readonly nextBeatAt: number;
}

/** The options in which one kubelet differs from the next. */
export interface KubeletOptions {
  readonly node: NodeDescription;
  /** The seed of the cluster. */
  readonly seed: number;
  /** Null: it has not begun. */
  readonly progress: KubeletProgress | null;
  /** Counts from 1; decides the addresses of the node and its pods. */
  readonly index: number;
  readonly timing: KubeletTiming;
  /** When it is to renew its lease and look at its node's status. */
  readonly heartbeats: Heartbeats;
  /** Writes no more than a simulation reads: see BriefWrites. */
  readonly isBrief: boolean;
  /** Reports renewals that need not be written; true if the report was accepted. */
  readonly reportRenewal: ReportRenewal;
}

/** A node's lease was renewed at that time, by the kubelet's clock; whether that is taken as heard. */
export type ReportRenewal = (nodeName: string, renewedAt: number) => boolean;

/** The duties of a kubelet: all its work, nothing but renewing its lease, or nothing. */
type KubeletState = 'working' | 'leaseOnly' | 'stopped';

/**
 * One node's kubelet: its heartbeats and its pods. It registers the node, becomes Ready after a
 * moment, from then on renews its lease at every heartbeat and posts its conditions when they
 * differ from the stored ones or are five minutes old, and runs the pods that are bound to the
 * node. The kubelet corrects what others write into its status or that of its pods: its pods' at
 * once, its own at the next heartbeat.
 */
export class Kubelet {
  /** The name of the Node. */
  readonly nodeName: string;
  /** The resource usage of the node. */
  readonly stats: NodeStats;
  readonly #server: KubeletServer;
  readonly #context: ControllerContext;
  readonly #options: KubeletOptions;
  readonly #random: Random;
  readonly #hostIp: string;
  /** The conditions that are its own. */
  readonly #reported: readonly NodeConditionType[];
  readonly #pods: PodWorkers;
  readonly #queue: WorkQueue;
  #report: NodeReport = {
    MemoryPressure: false,
    DiskPressure: false,
    PIDPressure: false,
    Ready: false,
  };
  #reportedMs = Number.NEGATIVE_INFINITY;
  /** The state of the node that last said what the report says; most heartbeats find the same. */
  #agreed: { readonly node: KubeObject; readonly report: NodeReport } | null = null;
  #podCount: number;
  #progress: KubeletProgress | null;
  /** The lease as the kubelet has written it; most renewals change only its time. */
  #lease: KubeObject | null = null;
  /** The last renewal, where it was reported in place of being written. */
  #unwrittenAt: number | null = null;
  /** True if the lease or the node may have changed since the last heartbeat. */
  #isNews = true;
  #timer: Timer | null = null;
  #state: KubeletState = 'stopped';
  #clockSkewMs = 0;

  constructor(context: ControllerContext, options: KubeletOptions) {
    const { index, node, progress, seed, timing } = options;
    this.nodeName = node.name;
    this.#context = context;
    const machine = { ...defaultMachine, ...node.machine };
    const config = { ...defaultKubeletConfig, ...node.kubeletConfig };
    this.stats = new NodeStats(context, node.name, machine, (pod) => this.#pods.isStopping(pod));
    this.#server = new KubeletServer(this.stats, config, () => this.#now());
    this.#options = options;
    this.#random = seededRandom(kubeletSeed(seed, node.name));
    this.#podCount = progress?.pods ?? 0;
    this.#progress = progress;
    this.#reported = node.pressureByOthers ? ['Ready'] : nodeConditionTypes;
    this.#hostIp = node.internalIp ?? hostIpOf(index);
    this.#queue = new WorkQueue(context.api.clock, (task) => this.#perform(task));
    this.#pods = new PodWorkers(context, {
      nodeName: node.name,
      hostIp: this.#hostIp,
      timing,
      seed,
      isBrief: options.isBrief,
      now: () => this.#now(),
      nextPodIp: () => podIpOf(index, this.#podCount++),
    });
  }

  /** True if it does all its work. */
  get isRunning(): boolean {
    return this.#state === 'working';
  }

  /** The failure domain of its machine, '' for none. */
  get zone(): string {
    return this.#options.node.zone ?? '';
  }

  /**
   * Registers the node and makes it Ready after the start-up time, or continues from its progress.
   */
  start(): void {
    if (this.#state !== 'stopped') return;
    this.#state = 'working';
    if (this.#progress) {
      this.#goOn(this.#progress);
      this.#progress = null;
      return;
    }
    this.#queue.add('register');
    const startupMs = drawMs(this.#random, this.#options.timing.startupMs);
    this.#timer = this.#context.api.clock.after(startupMs, () =>
      this.#beginWork(this.#firstBeatMs()),
    );
  }

  #goOn({ reportedAt, nextBeatAt }: KubeletProgress): void {
    const { api } = this.#context;
    this.#report = { ...this.#report, Ready: true };
    this.#reportedMs = reportedAt;
    this.#lease = api.get('leases', leaseNamespace, this.nodeName);
    this.#isNews = false;
    const { heartbeats } = this.#options;
    this.#timer = heartbeats.begin(() => this.#beat(), nextBeatAt - api.clock.now());
    this.#pods.goOn();
  }

  /** Stops everything: no heartbeats, no pod starts, no pod ends, until `resume`. */
  stop(): void {
    this.writeRenewal();
    this.#state = 'stopped';
    this.#timer?.cancel();
    this.#timer = null;
    this.#queue.clear();
    this.#pods.stop();
  }

  /** Stops everything but the renewal of the lease, until `resume`. */
  renewLeaseOnly(): void {
    this.stop();
    this.#state = 'leaseOnly';
    this.#beginBeating();
  }

  /** Works again: lease, status and pods are seen to at once, as after a restart. */
  resume(): void {
    if (this.#state === 'working') return;
    this.stop();
    this.#state = 'working';
    this.#queue.add('register');
    this.#beginWork();
  }

  /** Changes what the kubelet believes about its node and posts it. */
  setCondition(type: NodeConditionType, value: boolean): void {
    this.#report = { ...this.#report, [type]: value };
    if (this.isRunning) this.#queue.add('status');
  }

  /** Lets the containers of a pod that runs on the node be ready or not from now on. */
  setPodReady(pod: KubeObject, ready: boolean): void {
    this.#pods.setReady(keyOf(pod), ready);
  }

  /** Sets the machine's clock: every time it writes from now on is ahead by `skewMs`. */
  setClockSkew(skewMs: number): void {
    this.#clockSkewMs = skewMs;
  }

  /** Lets the stats that it answers be wrong, or right again. */
  setStatsFault(fault: StatsFault | null): void {
    this.#server.setStatsFault(fault);
  }

  /** Returns the server end of a connection to the node. */
  dial(): ReturnType<DialNode> {
    if (!this.#server.isReachable) return 'timeout';
    return this.#state === 'stopped' ? 'refused' : (request) => this.#server.answer(request);
  }

  /** A pod of its node has changed. */
  noticePod(key: string, pod: KubeObject): void {
    if (!this.isRunning) return;
    this.#pods.notice(key);
    if (claimsOf(pod).length > 0) this.#queue.add('status');
  }

  /** Its lease or its node has changed, be it by itself. */
  noticeOwn(): void {
    this.#isNews = true;
  }

  #beginWork(firstBeatMs?: number): void {
    this.#report = { ...this.#report, Ready: true };
    this.#beginBeating(firstBeatMs);
    this.#pods.start();
  }

  /** When it renews after its first heartbeat; drawn apart from all that its seed draws otherwise. */
  #firstBeatMs(): number | undefined {
    return (
      firstBeatMs(kubeletSeed(this.#options.seed, this.nodeName), this.#options.timing) ?? undefined
    );
  }

  #beginBeating(firstBeatMs?: number): void {
    this.#isNews = true;
    this.#beat();
    this.#timer?.cancel();
    this.#timer = this.#options.heartbeats.begin(() => this.#beat(), firstBeatMs);
  }

  #beat(): void {
    if (this.#isNews || !this.#reportRenewal()) this.#queue.add('lease');
    if (this.isRunning && (this.#isNews || this.#isStatusDue)) this.#queue.add('status');
    this.#isNews = false;
  }

  #perform(task: string): void {
    if (task === 'register') this.#register();
    else if (task === 'lease') this.#renewLease();
    else this.#postStatus();
  }

  #register(): void {
    const { api } = this.#context;
    if (api.get('nodes', '', this.nodeName)) return;
    const node = nodeObject(this.#options.node, this.#hostIp, this.#random);
    const conditions = reportedConditions([], this.#report, formatTime(this.#now()));
    api.create('nodes', { ...node, status: { ...node.status, conditions } });
  }

  #renewLease(): void {
    const { api } = this.#context;
    const lease = api.get('leases', leaseNamespace, this.nodeName);
    if (lease && lease === this.#lease && this.#reportRenewal()) return;
    this.#unwrittenAt = null;
    const renewTime = formatMicroTime(this.#now());
    if (lease) {
      this.#lease = api.update('leases', { ...lease, spec: { ...lease.spec, renewTime } });
      return;
    }
    const node = api.get('nodes', '', this.nodeName);
    if (node) this.#lease = api.create('leases', leaseOf(node, renewTime));
  }

  /** Reports that the lease, which is as it was written, would be renewed; whether that will do. */
  #reportRenewal(): boolean {
    const now = this.#now();
    if (!this.#lease || !this.#options.reportRenewal(this.nodeName, now)) return false;
    this.#unwrittenAt = now;
    this.#context.api.skipVersion();
    return true;
  }

  /** Writes the last renewal, since renewals are no longer reported. */
  writeRenewal(): void {
    if (this.#unwrittenAt === null) return;
    const { api } = this.#context;
    const lease = api.get('leases', leaseNamespace, this.nodeName);
    const renewTime = formatMicroTime(this.#unwrittenAt);
    this.#unwrittenAt = null;
    if (!lease || lease !== this.#lease) return;
    this.#lease = api.update('leases', { ...lease, spec: { ...lease.spec, renewTime } });
  }

  #postStatus(): void {
    const { api } = this.#context;
    const node = api.get('nodes', '', this.nodeName);
    if (!node) return;
    const volumesInUse = this.#volumesInUse(node);
    if (!this.#isStatusDue && !volumesInUse && this.#isReported(node)) return;
    const stored = node.status?.conditions ?? [];
    const now = formatTime(this.#now());
    const conditions = reportedConditions(stored, this.#report, now, this.#reported);
    const status = { ...node.status, conditions, ...(volumesInUse && { volumesInUse }) };
    api.update('nodes', { ...node, status }, 'status');
    this.#reportedMs = api.clock.now();
  }

  /** True if an unchanged status is due to be posted again. */
  get #isStatusDue(): boolean {
    return this.#context.api.clock.now() - this.#reportedMs >= statusReportMs;
  }

  /** The volumes that pods of the node use; null: as stored. */
  #volumesInUse(node: KubeObject): readonly string[] | null {
    const attached = attachedTo(node);
    const stored: readonly string[] = node.status?.volumesInUse ?? [];
    if (attached.length === 0 && stored.length === 0) return null;
    const { api, lookup } = this.#context;
    const pods = lookup.podsOnNode(this.nodeName);
    const theirs = pods.flatMap((pod) => volumesOf(api, pod).map(volumeOnNode));
    const inUse = [...new Set(theirs)].filter((volume) => attached.includes(volume)).sort();
    return inUse.join() === stored.join() ? null : inUse;
  }

  #isReported(node: KubeObject): boolean {
    const report = this.#report;
    if (this.#agreed?.node === node && this.#agreed.report === report) return true;
    if (!isReported(node, report, this.#reported)) return false;
    this.#agreed = { node, report };
    return true;
  }

  /** By the machine's own clock. */
  #now(): number {
    return this.#context.api.clock.now() + this.#clockSkewMs;
  }
}
