import type { OtherEvictors } from '@taintmgr/core/drain';
import type { Millis } from '@taintmgr/core/time';
import {
  ApiClient,
  type Asker,
  type ClusterConfig,
  declaringFlag,
  type EventSubject,
  EvictorSearch,
  type Evictors,
  evictedByOther,
  HttpTransport,
  type Machine,
  newEventRequest,
  otherEvictors,
  type StatedCondition,
} from '@taintmgr/k8s-adapter';
import type { ControllerName } from '../flags/controllers.ts';
import type { Leadership } from '../leadership/leadership.ts';
import { subjectFields } from '../log/line.ts';
import type { Logger } from '../log/logger.ts';
import type { TakeoverScore } from '../stats/process-stats.ts';
import { version } from '../version.ts';
import { type ForeignEviction, ForeignEvictions } from './foreign-evictions.ts';
import {
  claimText,
  type OtherEvictor,
  type Overlap,
  OverlapError,
  othersOf,
  overlapOf,
} from './overlap.ts';

export interface OverlapWatchOptions {
  readonly cluster: ClusterConfig;
  readonly controllers: readonly ControllerName[];
  /** This installation, and the declarations of its administrator. */
  readonly asker: Asker;
  /** Act in spite of the overlap, and report it. */
  readonly allow: boolean;
  /**
   * With takeover: the division of work is agreed, and pods that are let through are counted here; null:
   * without.
   */
  readonly takeover: TakeoverScore | null;
  readonly leadership: Leadership;
  readonly log: Logger;
  /** Aborted: who starts gives up. */
  readonly signal: AbortSignal;
  /** Our monotonic clock; left out: that of the process. */
  readonly now?: () => Millis;
  /** Told at each look who else evicts for NoExecute taints. */
  readonly onOthers: () => void;
  /** Counts a pod that another program has evicted for a taint. */
  readonly onForeign: (eviction: ForeignEviction) => void;
}

/** A program that starts later is noticed within this time. */
const lookEveryMs: Millis = 30_000;
/** The time after its last marks in which a program that cannot be seen counts as running. */
const foreignMsMax: Millis = 300_000;
/** The least time between two lines about evictions by other programs. */
const logEveryMs: Millis = 60_000;

/**
 * Looks for other programs that do the same work: kube-controller-manager, another installation. Start throws
 * OverlapError when there is one, or when that cannot be found out. When one is found later, by its lease,
 * its pods or its evictions, this replica stands by until it is gone; with --allow-overlap it only logs that.
 * Both findings are recorded as Events. Marks of evictions on the pods of one node are logged, recorded and
 * published, and no more: the kubelet of that node can write them in any name. On pods of several nodes they
 * count.
 *
 * With takeover kube-controller-manager is meant to evict, in namespaces that were not handed over. Where it
 * evicts in a namespace that was handed over, that is logged, recorded and counted, and this replica
 * continues. Otherwise no program would evict the pods that kube-controller-manager was refused. While this
 * replica stands by for another one, its heartbeat says so, and kube-controller-manager is refused nothing.
 */
export class OverlapWatch {
  readonly #options: OverlapWatchOptions;
  readonly #transport: HttpTransport;
  readonly #client: ApiClient;
  readonly #search: EvictorSearch;
  readonly #now: () => Millis;
  readonly #whenClosed = new AbortController();
  #timer: NodeJS.Timeout | null = null;
  /** The others who evict, by its leases and pods. */
  #others: readonly OtherEvictor[] = [];
  /** The same about NoExecute taints, for the engine. */
  #forTaints: OtherEvictors | null = null;
  /** The program that is running, by its leases and pods; null: nothing. */
  #seen: Overlap | null = null;
  /** The program that evicts without being seen, and when last, on our monotonic clock; null: nothing. */
  #foreign: Foreign | null = null;
  /** The same where all pods that it has marked are of one node. */
  #suspected: Foreign | null = null;
  /** When a program last marked a pod of a node, by program and node. */
  readonly #marks = new Map<string, Map<string, Millis>>();
  #claim: string | null = null;
  #loggedAt: Millis = Number.NEGATIVE_INFINITY;
  #unlogged = 0;
  #isDoubtLogged = false;
  /** True if the last report was of a program that was seen, and not only possible. */
  #isSeenReported = false;

  private constructor(options: OverlapWatchOptions) {
    const { access, requestTimeout } = options.cluster;
    this.#options = options;
    this.#transport = new HttpTransport(access, `taintmgr-controller/${version}`);
    const { server } = access;
    const { signal } = this.#whenClosed;
    this.#client = new ApiClient({ transport: this.#transport, server, requestTimeout, signal });
    this.#search = new EvictorSearch(this.#client, { asker: options.asker, signal });
    this.#now = options.now ?? (() => performance.now());
  }

  static async start(options: OverlapWatchOptions): Promise<OverlapWatch> {
    const { signal } = options;
    signal.throwIfAborted();
    const watch = new OverlapWatch(options);
    const close = (): void => watch.close();
    // From here on, work under way ends and is recorded before the watch is closed.
    signal.addEventListener('abort', close);
    try {
      await watch.#begin();
    } catch (error) {
      watch.close();
      throw error;
    } finally {
      signal.removeEventListener('abort', close);
    }
    watch.#timer = setInterval(() => void watch.look(), lookEveryMs).unref();
    return watch;
  }

  /** The machine, with foreign evictions noticed in passing. */
  around(machine: Machine): Machine {
    const { controllers } = this.#options;
    if (!controllers.includes(shared)) return machine;
    return new ForeignEvictions((eviction) => this.#onForeign(eviction)).around(machine);
  }

  /** The others who evict here, as far as was seen. */
  get others(): readonly OtherEvictor[] {
    const { manager, message } = this.#foreign ?? {};
    if (manager === undefined || message === undefined) return this.#others;
    if (this.#others.some(({ name }) => name === manager)) return this.#others;
    return [...this.#others, { name: manager, work: shared, evidence: message }];
  }

  /** The others who evict for NoExecute taints; null: no look has shown that yet. */
  get forTaints(): OtherEvictors | null {
    const { manager, message = '' } = this.#foreign ?? {};
    if (manager === undefined || this.#forTaints?.kind === 'acts') return this.#forTaints;
    return { kind: 'acts', text: message, advice: '' };
  }

  /** The conditions that marks of evictions show, for the status that is published. */
  get conditions(): readonly StatedCondition[] {
    const seen = this.#foreign ?? this.#suspected;
    if (seen === null) return [];
    const reason = seen === this.#foreign ? evictedByOther.reason : 'OneNode';
    return [{ type: evictedByOther.type, status: 'True', reason, message: seen.message }];
  }

  /** Gives up a look that is under way, too. */
  close(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#whenClosed.abort();
    this.#transport.close();
  }

  async #begin(): Promise<void> {
    const { allow } = this.#options;
    const overlap = overlapOf(await this.#find(), this.#exclusive);
    if (overlap === null) return;
    if (!allow) {
      await this.#record(overlap.subject, overlap.message);
      throw new OverlapError(overlap.message);
    }
    this.#saw(overlap);
    await this.#publish(overlap.subject);
  }

  /** The controllers that no other program may run. */
  get #exclusive(): readonly ControllerName[] {
    const { controllers, takeover } = this.#options;
    if (!takeover) return controllers;
    return controllers.filter((one) => one !== shared && one !== sharedForDevices);
  }

  async #find(): Promise<Evictors> {
    const evictors = await this.#search.find();
    this.#others = othersOf(evictors, this.#options.controllers);
    this.#forTaints = otherEvictors(evictors);
    const claim = claimText(evictors);
    if (claim !== null && claim !== this.#claim) this.#options.log.warn(claim);
    this.#claim = claim;
    return evictors;
  }

  /** Looks once more; a timer does that, too. */
  async look(): Promise<void> {
    try {
      const overlap = overlapOf(await this.#find(), this.#exclusive);
      // A program that we are no longer allowed to see may still be running.
      if (overlap === null || overlap.isSeen) this.#saw(overlap);
      else this.#logDoubt(overlap);
    } catch (error) {
      const { log } = this.#options;
      log.debug(
        { error: messageOf(error) },
        'could not look for other programs that do the same work',
      );
    }
    this.#forgetForeign();
    this.#options.onOthers();
    await this.#publish(this.#seen?.subject ?? null);
  }

  #logDoubt({ message }: Overlap): void {
    if (!this.#isDoubtLogged) this.#options.log.warn(message);
    this.#isDoubtLogged = true;
  }

  #saw(overlap: Overlap | null): void {
    this.#seen = overlap;
    this.#isDoubtLogged = false;
  }

  /** Whatever a look has shown: what evicted was never seen otherwise. */
  #forgetForeign(): void {
    const now = this.#now();
    const isOld = (one: Foreign | null): boolean => one !== null && now - one.at > foreignMsMax;
    if (isOld(this.#foreign)) this.#foreign = null;
    if (isOld(this.#suspected)) this.#suspected = null;
  }

  /** Logs and records a change of whether there is an overlap. */
  async #publish(subject: EventSubject | null): Promise<void> {
    const { leadership, log, allow, takeover } = this.#options;
    const before = leadership.overlap;
    const seen = this.#seen?.isSeen ? this.#seen : this.#foreign;
    const message = (seen ?? this.#seen)?.message ?? null;
    const isSeen = seen !== null;
    const isNews = before === null || (isSeen && !this.#isSeenReported);
    this.#isSeenReported = isSeen;
    leadership.collide(message);
    if (message === null && before !== null) log.info('the overlap has ended');
    if (message === null || !isNews) return;
    log.warn(`${allow ? 'acting anyway' : 'standing by'}: ${message}`);
    if (takeover && !allow) log.warn(handedBack);
    await this.#record(subject, message);
  }

  /** Called while the machine handles an event: what follows from it waits until that is done. */
  #onForeign(eviction: ForeignEviction): void {
    const { takeover, leadership } = this.#options;
    // While we stand by, kube-controller-manager is meant to evict everywhere. Without takeover, this replica
    // never starts beside a program that may evict for devices.
    if (eviction.isForDevice && !takeover) return;
    if (takeover && (!eviction.isTakenOver || leadership.standsBackFor !== null)) return;
    this.#options.onForeign(eviction);
    if (takeover) {
      takeover.letThrough(eviction.pod.namespace, letThroughText(eviction));
      setImmediate(() => void this.#noteLetThrough(eviction));
    } else setImmediate(() => void this.#report(eviction));
  }

  async #noteLetThrough(eviction: ForeignEviction): Promise<void> {
    const { pod, manager } = eviction;
    const now = this.#now();
    this.#unlogged += 1;
    if (now - this.#loggedAt < logEveryMs) return;
    const fields = { pod: `${pod.namespace}/${pod.name}`, manager, evictions: this.#unlogged };
    const message = letThroughText(eviction);
    this.#options.log.warn(fields, message);
    this.#loggedAt = now;
    this.#unlogged = 0;
    await this.#recordEvicted({ apiVersion: 'v1', kind: 'Pod', ...pod }, message);
  }

  async #report({ pod, manager, heldBack }: ForeignEviction): Promise<void> {
    const { log } = this.#options;
    const now = this.#now();
    const name = `${pod.namespace}/${pod.name}`;
    const nodes = this.#markedNodes(manager, pod.nodeName, now);
    const message = this.#foreignText(manager, name, nodes);
    if (nodes > 1) this.#foreign = { manager, message: `${message}; ${cure}`, at: now };
    else this.#suspected = { manager, message, at: now };
    this.#options.onOthers();
    this.#unlogged += 1;
    const subject = { apiVersion: 'v1', kind: 'Pod', ...pod };
    const isNews = nodes > 1 && this.#options.leadership.overlap === null;
    if (isNews || now - this.#loggedAt >= logEveryMs) {
      const held = heldBack === null ? {} : { heldBack };
      log.warn({ pod: name, manager, evictions: this.#unlogged, ...held }, message);
      this.#loggedAt = now;
      this.#unlogged = 0;
      const why = heldBack === null ? message : `${message}, which was held back: ${heldBack}`;
      await this.#recordEvicted(subject, why);
    }
    await this.#publish(subject);
  }

  /** The number of nodes with pods that the program has marked recently. */
  #markedNodes(manager: string, nodeName: string, now: Millis): number {
    const nodes = this.#marks.get(manager) ?? new Map<string, Millis>();
    this.#marks.set(manager, nodes.set(nodeName, now));
    for (const [name, at] of nodes) if (now - at > foreignMsMax) nodes.delete(name);
    return nodes.size;
  }

  #foreignText(manager: string, pod: string, nodes: number): string {
    const { declared } = this.#options.asker;
    const isDenied = manager === upstream && declared !== null && !declared.includes(shared);
    const though = isDenied ? `, though --${declaringFlag} says that it does not` : '';
    return nodes > 1
      ? `${manager} evicts for NoExecute taints too${though}: it has marked pod ${pod} for deletion, and pods of ${nodes} nodes within 5m`
      : `${manager} seems to evict for NoExecute taints too${though}: pod ${pod} is marked for deletion in its name; the kubelet of its node can write that as well, so it counts once pods of another node are marked`;
  }

  /** All replicas see the eviction: one of them says so. */
  async #recordEvicted(subject: EventSubject, message: string): Promise<void> {
    if (this.#options.leadership.elected) await this.#record(subject, message, 'EvictedByOther');
  }

  /** People look at Events before they look at logs. A failure changes nothing else. */
  async #record(
    subject: EventSubject | null,
    message: string,
    reason = 'ControllersOverlap',
  ): Promise<void> {
    if (subject === null) return;
    const { log } = this.#options;
    const { apiVersion, kind, namespace, name, uid } = subject;
    const event = {
      subject: { apiVersion, kind, namespace, name, uid },
      type: 'Warning',
      reason,
      message,
    } as const;
    try {
      await this.#client.send(newEventRequest(event, 'taintmgr', Date.now()));
      log.debug({ ...subjectFields(subject), reason }, 'recorded event');
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'could not record an Event about the overlap');
    }
  }
}

const handedBack =
  'takeover pauses: kube-controller-manager evicts what comes due from now on; pods that it was refused before ' +
  'stay until the other one evicts them or this one acts again: kubectl taintmgr pending names them';

/** A program that evicts without being seen, and when its last mark came, on our monotonic clock. */
interface Foreign {
  readonly manager: string;
  readonly message: string;
  readonly at: Millis;
}

const upstream = 'kube-controller-manager';
/** The controller that kube-controller-manager may go on running beside us with takeover. */
const shared = 'taint-eviction-controller';
const sharedForDevices = 'device-taint-eviction-controller';

function letThroughText({ pod, manager, unknownReason }: ForeignEviction): string {
  const name = `${pod.namespace}/${pod.name}`;
  const why =
    unknownReason === null
      ? 'the heartbeat was late, the policies were not in force, or its clock is off by more than 1m'
      : `it gives the reason ${unknownReason}, which the policies do not know`;
  return `${manager} was let through with pod ${name}, whose namespace is taken over: ${why}`;
}

const cure =
  'start it with --controllers=*,-taint-eviction-controller, or accept it with --allow-overlap';

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
