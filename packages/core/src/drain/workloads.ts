// Counts what drains do to the pods of a workload: how many are unavailable, and which came back.
import { type Blocker, isUncertain } from '../attempt/blocker.ts';
import { isSetback, type Outcome } from '../attempt/outcome.ts';
import { earliest, type Instant, type Millis } from '../kernel/time.ts';
import type { Pod } from '../model/pod.ts';
import { decidingToleration } from '../model/toleration.ts';
import { poolLimit } from '../policy/condition-rule.ts';
import {
  type DrainConfig,
  drainTaint,
  type NodeDrain,
  type TakenPod,
} from '../policy/node-drain.ts';
import type { Change, StoreView } from '../store.ts';
import type { PodGate } from './state.ts';

/** The largest number of pods of a workload, or the largest part of them. */
type MaxUnavailable = number | `${number}%`;

/** A pod that drains took, until another has come in its place. */
interface Debt {
  readonly workload: string;
  /** The uid of the drain. */
  readonly by: string;
  readonly until: Instant;
  /** The uids of pods that came when it was taken, and stand for others. */
  readonly others: readonly string[];
  /** The number of pods that its workload had got by then: later ones stand for others as well. */
  readonly came: number;
}

/** The pods that drains took of a workload. */
interface Owed {
  /** Its pods, the oldest first. */
  readonly uids: Set<string>;
  /** The uids of those that came in the place of others while some were owed. */
  readonly came: string[];
}

/** As long as this another is waited for: its workload may have been made smaller. */
const debtMs: Millis = 600_000;
/** The largest number of pods that are recorded as standing for others. */
const othersMax = 100;

/**
 * Counts pods by the controller that owns them, wherever they run. Unavailable are pods that are
 * not ready, and pods that drains took while no other pod has come in their place: a StatefulSet
 * recreates its pod only when the old one is gone. The status of a drain says what it took: the
 * next leader counts the same. Pods without an owner, and those of DaemonSets and Jobs, do not
 * count.
 */
export class Workloads {
  readonly #store: StoreView;
  /** The uids of pods by workload; null: not read yet. */
  #pods: Map<string, Set<string>> | null = null;
  /** The oldest first. */
  readonly #debts = new Map<string, Debt>();
  /** The same by workload. */
  readonly #owed = new Map<string, Owed>();
  /** The uids of their pods by that of the drain. */
  readonly #taken = new Map<string, Set<string>>();
  /** Pods that stand for those taken before we led, by their uids. */
  readonly #recalled = new Map<string, string>();
  /** Workloads that were full when they were last asked about. */
  readonly #full = new Set<string>();

  constructor(store: StoreView) {
    this.#store = store;
  }

  /** Asks about each pod of a drain; null: the drain has no such limit. */
  gate(limit: MaxUnavailable | null, drainUid: string): PodGate {
    return {
      holdOf: (now, pod) => (limit === null ? null : this.#holdOf(now, pod, limit)),
      sent: (now, pod) => {
        const workload = workloadOf(pod);
        if (workload === null) return;
        // No index of a million pods is made for drains without such a limit.
        const peers = limit === null && this.#pods === null ? [] : this.#podsOf(workload);
        const others = [...peers].filter((uid) => this.#comesSince(now, uid));
        this.#owe(pod.uid, { workload, by: drainUid, until: now + debtMs, others });
      },
      answered: (uid, outcome) => {
        if (isRefused(outcome)) this.#settle(uid);
      },
    };
  }

  /** The pods that a drain took, as long as another is waited for. */
  takenBy(now: Instant, drainUid: string): readonly TakenPod[] {
    return [...(this.#taken.get(drainUid) ?? [])].flatMap((uid) => {
      const debt = this.#debts.get(uid);
      if (!debt || debt.until <= now) return [];
      const { workload, until, came } = debt;
      const since = this.#owed.get(workload)?.came ?? [];
      const others = [...debt.others, ...since.slice(Math.max(came, since.length - othersMax))];
      return [{ workload, uid, since: this.#store.clock.wall(until - debtMs), others }];
    });
  }

  /** Takes from its status what a drain took before we led, unless another pod has come since. */
  recall(now: Instant, { uid: by, notReplaced }: NodeDrain): void {
    if (notReplaced.length === 0) return;
    for (const taken of notReplaced.toSorted((a, b) => a.since - b.since)) {
      const { workload, uid, since, others } = taken;
      const until = this.#store.clock.when(since) + debtMs;
      if (this.#debts.has(uid) || until <= now) continue;
      const successor = this.#cameAfter(taken);
      if (successor === null) this.#owe(uid, { workload, by, until, others });
      else this.#recalled.set(successor, uid);
    }
    // Pods that another drain took may be older.
    const debts = [...this.#debts].sort(([, a], [, b]) => a.until - b.until);
    this.#debts.clear();
    for (const { uids } of this.#owed.values()) uids.clear();
    for (const [uid, debt] of debts) {
      this.#debts.set(uid, debt);
      this.#owed.get(debt.workload)?.uids.add(uid);
    }
  }

  /** The number of pods of a pod's workload, those on their way included. */
  sizeOf(now: Instant, pod: Pod): number {
    const workload = workloadOf(pod);
    return workload === null ? 1 : this.#count(now, workload, pod.uid).size;
  }

  /** Takes in what has changed; whether a workload that was full may have room now. */
  follow(now: Instant, changes: readonly Change[]): boolean {
    // Pods change all the time, and most of the time no drain has ever asked about them.
    if (!this.#pods && this.#debts.size === 0) return false;
    let mayHaveRoom = false;
    for (const change of changes) {
      if (change.kind !== 'pod' && change.kind !== 'podGone') continue;
      const pod = change.kind === 'pod' ? change.pod : change.previous;
      const workload = workloadOf(pod);
      if (workload === null) continue;
      this.#index(workload, pod.uid, change.kind === 'pod');
      if (change.kind === 'pod' && !change.previous) this.#replace(workload, pod.uid);
      if (this.#full.delete(workload)) mayHaveRoom = true;
    }
    for (const [uid, { workload, until }] of this.#debts) {
      if (until > now) break;
      this.#settle(uid);
      if (this.#full.delete(workload)) mayHaveRoom = true;
    }
    return mayHaveRoom;
  }

  /**
   * The time at which the first pod is no longer waited for, where a limit waits; null: none does.
   */
  nextWake(): Instant | null {
    if (this.#full.size === 0) return null;
    return earliest(Array.from(this.#debts.values(), ({ until }) => until));
  }

  #holdOf(now: Instant, pod: Pod, limit: MaxUnavailable): string | null {
    const workload = workloadOf(pod);
    if (workload === null) return null;
    const { size, unavailable } = this.#count(now, workload, pod.uid);
    const most = Math.max(1, poolLimit(limit, size) ?? 1);
    if (unavailable < most) return null;
    this.#full.add(workload);
    const of = `at most ${most} of ${size}`;
    return `${workload} has ${unavailable} unavailable, and may have ${of} (limits.maxUnavailable)`;
  }

  #owe(uid: string, debt: Omit<Debt, 'came'>): void {
    this.#settle(uid);
    const owed = this.#owed.get(debt.workload) ?? { uids: new Set(), came: [] };
    this.#owed.set(debt.workload, owed);
    owed.uids.add(uid);
    this.#debts.set(uid, { ...debt, came: owed.came.length });
    const uids = this.#taken.get(debt.by) ?? new Set();
    this.#taken.set(debt.by, uids.add(uid));
  }

  #settle(uid: string): void {
    const { by = '', workload = '' } = this.#debts.get(uid) ?? {};
    this.#debts.delete(uid);
    const owed = this.#owed.get(workload);
    owed?.uids.delete(uid);
    if (owed?.uids.size === 0) this.#owed.delete(workload);
    const uids = this.#taken.get(by);
    uids?.delete(uid);
    if (uids?.size === 0) this.#taken.delete(by);
  }

  /** The size of a workload, and the number of its pods other than `uid` that are not there or not ready. */
  #count(
    now: Instant,
    workload: string,
    uid: string,
  ): { readonly size: number; readonly unavailable: number } {
    const [size, unavailable] = [new Set<string>(), new Set<string>()];
    for (const each of this.#podsOf(workload)) {
      const pod = this.#store.pod(each);
      if (!pod || isFinished(pod) || isReplaced(pod)) continue;
      size.add(each);
      if (pod.deletionTimestamp !== null || !isAvailable(pod)) unavailable.add(each);
    }
    for (const [each, debt] of this.#debts) {
      if (debt.workload !== workload || debt.until <= now) continue;
      size.add(each);
      unavailable.add(each);
    }
    unavailable.delete(uid);
    return { size: size.size, unavailable: unavailable.size };
  }

  /** A pod that came since it was taken and stands for no other; null: there is none. */
  #cameAfter({ workload, uid: taken, since, others }: TakenPod): string | null {
    for (const uid of this.#podsOf(workload)) {
      if (others.includes(uid) || (this.#recalled.get(uid) ?? taken) !== taken) continue;
      if (this.#comesSince(this.#store.clock.when(since), uid)) return uid;
    }
    return null;
  }

  /** True if a pod is on no node yet, or came to it since `at`. Times of the API are whole seconds. */
  #comesSince(at: Instant, uid: string): boolean {
    const { nodeName, boundAt } = this.#store.pod(uid) ?? {};
    const second = Math.floor(this.#store.clock.wall(at) / 1000) * 1000;
    return nodeName === '' || (boundAt != null && boundAt >= second);
  }

  #podsOf(workload: string): Iterable<string> {
    if (!this.#pods) {
      this.#pods = new Map();
      for (const pod of this.#store.pods()) {
        const name = workloadOf(pod);
        if (name !== null) this.#index(name, pod.uid, true);
      }
    }
    return this.#pods.get(workload) ?? [];
  }

  #index(workload: string, uid: string, isThere: boolean): void {
    if (!this.#pods) return;
    const uids = this.#pods.get(workload) ?? new Set();
    if (isThere) uids.add(uid);
    else uids.delete(uid);
    if (uids.size > 0) this.#pods.set(workload, uids);
    else this.#pods.delete(workload);
  }

  /** A pod that is new stands for the one that was taken first. */
  #replace(workload: string, uid: string): void {
    const owed = this.#owed.get(workload);
    for (const taken of owed?.uids ?? []) {
      if (taken === uid) continue;
      this.#settle(taken);
      owed?.came.push(uid);
      return;
    }
  }
}

/** `namespace/kind/name` of the controller, as limits have it; null: it is not counted. */
function workloadOf({ namespace, owner }: Pod): string | null {
  if (!owner || owner.kind === 'DaemonSet' || owner.kind === 'Job') return null;
  return `${namespace}/${owner.kind}/${owner.name}`;
}

function isFinished({ phase }: Pod): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

/** True if another pod is started as soon as it terminates: all controllers do, but StatefulSets. */
function isReplaced({ deletionTimestamp, owner }: Pod): boolean {
  return deletionTimestamp !== null && owner?.kind !== 'StatefulSet';
}

/** A pod that runs without reported readiness counts as available. */
function isAvailable({ ready, nodeName, phase }: Pod): boolean {
  if (nodeName === '') return false;
  return ready === 'True' || (ready == null && phase === 'Running');
}

/** True if the pod surely stays for now. */
function isRefused(outcome: Outcome): boolean {
  return isSetback(outcome) && !isUncertain(outcome);
}

/** A pod that its owner recreates on the node is evicted again this many times; then it stays. */
const returnsMax = 3;
/** Wait before a pod that came back is evicted again; it doubles with each further return. */
const returnWaitMsMin: Millis = 5000;

/** A pod that came back, and for how long its eviction waits; `waits: null`: the pod stays. */
interface Return {
  readonly message: string;
  readonly waits: { readonly since: Instant; readonly until: Instant } | null;
}

/**
 * The rounds in which a pod came: of those of its own owner, and of newcomers never seen before.
 */
interface Came {
  readonly key: string;
  readonly round: number;
  readonly nodeName: string;
  /** Null: its owner is known from an earlier round. */
  readonly newcomers: number | null;
  readonly at: Instant;
}

/**
 * Counts the rounds of evictions that the pods of each owner have had on each node. An attacker who
 * gives each pod, or each of its owners, a separate name cannot be told from a newcomer. So
 * newcomers are counted too, all those of a node together: a node that is drained takes no new pods
 * but of those who pass the scheduler by, or tolerate its taint.
 */
export class Returns {
  readonly #config: DrainConfig;
  /** By node and owner. */
  readonly #rounds = new Map<string, number>();
  /** By node, the rounds of those whose owner had no round there yet. */
  readonly #newcomers = new Map<string, number>();
  /** By uid. */
  readonly #came = new Map<string, Came>();

  constructor(config: DrainConfig) {
    this.#config = config;
  }

  /** The pod is on its node. */
  seen(now: Instant, pod: Pod): void {
    if (this.#came.has(pod.uid)) return;
    const { uid, nodeName } = pod;
    const key = keyOf(pod);
    const round = this.#rounds.get(key) ?? 0;
    const newcomers = round > 0 ? null : (this.#newcomers.get(nodeName) ?? 0);
    this.#came.set(uid, { key, round, nodeName, newcomers, at: now });
  }

  /** The drain has asked the pod to leave, and it does: what its owner makes there next has come back. */
  leaves(uid: string): void {
    const came = this.#came.get(uid);
    if (!came) return;
    const { key, round, nodeName, newcomers } = came;
    this.#rounds.set(key, Math.max(round + 1, this.#rounds.get(key) ?? 0));
    if (newcomers === null) return;
    this.#newcomers.set(nodeName, Math.max(newcomers + 1, this.#newcomers.get(nodeName) ?? 0));
  }

  gone(uid: string): void {
    this.#came.delete(uid);
  }

  /** The node takes pods again: those that are there, and those to come, are as new. */
  forget(nodeName: string): void {
    const isThere = (key: string): boolean => key.startsWith(`${nodeName}\n`);
    for (const key of this.#rounds.keys()) if (isThere(key)) this.#rounds.delete(key);
    this.#newcomers.delete(nodeName);
    for (const [uid, came] of this.#came) {
      if (came.nodeName === nodeName) this.#came.set(uid, { ...came, round: 0, newcomers: 0 });
    }
  }

  /** Null: the pod is not one that came back. */
  of(pod: Pod): Return | null {
    const came = this.#came.get(pod.uid);
    if (!came) return null;
    const { newcomers, at } = came;
    // The first rounds of newcomers may be of anybody.
    const round = newcomers === null ? came.round : newcomers - returnsMax;
    if (round <= 0) return null;
    const why = decidingToleration(pod.tolerations, drainTaint(this.#config.spec), this.#config)
      ? 'it tolerates the taint'
      : 'it names the node, or the node takes new pods';
    const who = pod.owner ? `${pod.owner.kind} ${pod.owner.name}` : 'an unknown program';
    const times = round === 1 ? 'came back' : `came back ${round} times`;
    const message =
      newcomers === null
        ? `${times}: ${who} starts it again on the node (${why})`
        : `new pods came to the node ${newcomers} times during its drain: ${who} starts this one (${why})`;
    if (round > returnsMax) return { message: `${message}, and it stays`, waits: null };
    const wait: Millis = returnWaitMsMin * 2 ** (round - 1);
    return { message, waits: { since: at, until: at + wait } };
  }
}

/** The blocker of a pod that is not evicted again. */
export function returnBlocker({ message }: Return): Blocker {
  return { code: 'Returned', verdict: 'never', message };
}

/** The end of a generated name: a number, or five characters and more without vowels. */
const generated = /-(?:\d+|[bcdfghjklmnpqrstvwxz2456789]{5,10})$/;

/**
 * An owner may be recreated with its pod, and so may a pod without an owner: then their names
 * differ at the end.
 */
function keyOf({ nodeName, namespace, name: podName, owner }: Pod): string {
  const { apiVersion = '', kind = '', name = podName } = owner ?? {};
  return [nodeName, namespace, apiVersion, kind, name.replace(generated, '')].join('\n');
}
