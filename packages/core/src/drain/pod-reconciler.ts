// Moves each pod of a drain to where it belongs as things are, and gives up on pods that come back.
import { isDue, isTried } from '../attempt/attempt.ts';
import type { Blocker } from '../attempt/blocker.ts';
import { describeReason, type Reason } from '../eviction/reason.ts';
import { earliest, type Instant, type Millis } from '../kernel/time.ts';
import type { Pod } from '../model/pod.ts';
import { decidingToleration } from '../model/toleration.ts';
import type { DrainConfig } from './config.ts';
import type { DrainNodes } from './node-turns.ts';
import { type DrainDecider, fateOf, skipAt } from './pod-filters.ts';
import { type DrainRequests, heldUpAt, type PodTurns } from './pod-turns.ts';
import {
  type DrainNote,
  type DrainPod,
  type DrainPods,
  heldUpMs,
  isStaying,
  outOfTurn,
  type PodGate,
} from './state.ts';

/** The surroundings of the reconciler. */
interface ReconcilerSite {
  readonly decider: DrainDecider;
  readonly nodes: DrainNodes;
  readonly pods: DrainPods;
  readonly requests: DrainRequests;
  readonly turns: PodTurns;
  readonly gate: PodGate;
  readonly note: (note: DrainNote) => void;
}

/** Makes of pods what decisions and the state of their nodes want; what is under way is left alone. */
export class PodReconciler {
  readonly #config: DrainConfig;
  readonly #site: ReconcilerSite;
  readonly #returns: Returns;

  constructor(config: DrainConfig, site: ReconcilerSite) {
    this.#config = config;
    this.#returns = new Returns(config);
    this.#site = site;
  }

  reconcileAll(now: Instant): void {
    for (const { name } of this.#site.nodes.phases.list()) this.reconcileOn(now, name);
  }

  reconcileOn(now: Instant, nodeName: string): void {
    for (const pod of this.#site.decider.store.podsOn(nodeName)) this.reconcile(now, pod);
  }

  reconcile(now: Instant, pod: Pod): void {
    const { nodes, pods } = this.#site;
    const known = pods.get(pod.uid);
    if (!nodes.phases.has(pod.nodeName)) return;
    if (!known && nodes.phases.isEnded(pod.nodeName) && !this.#wasThere(pod)) return;
    if (!known) this.#returns.seen(now, pod);
    const kind = known?.state.kind ?? 'kept';
    // What must not go may be something else by the turn of its node, or somebody else has deleted it.
    const isLeftYet = kind === 'left' && nodes.phases.isPending(pod.nodeName);
    if (pod.deletionTimestamp === null) {
      const isOpen = kind === 'kept' || kind === 'waiting' || isDue({ kind });
      if (isOpen || isLeftYet) this.#decide(now, pod, isTried({ kind }));
    } else if (isLeftYet || !['terminating', 'skipped', 'left'].includes(kind)) {
      if (known) this.#leaves(known);
      const state = { kind: 'terminating', since: now } as const;
      this.#skipIfLong(now, pod, pods.put(pod, state));
    } else if (known) {
      this.#skipIfLong(now, pod, known);
    }
  }

  /**
   * True if an earlier run had the pod to do with: it was there when its node ended, or before the node
   * that came under the name of one that was deleted.
   */
  #wasThere({ nodeName, boundAt }: Pod): boolean {
    const { nodes, decider } = this.#site;
    const { store } = decider;
    const phase = nodes.phases.of(nodeName);
    if (boundAt === null) return false;
    if (phase.kind === 'failed' || phase.kind === 'drained')
      return boundAt < store.clock.wall(phase.at);
    const createdAt = store.node(nodeName)?.createdAt ?? null;
    return phase.kind === 'vanished' && createdAt !== null && boundAt < createdAt;
  }

  /** Does what was scheduled for now. */
  wake(now: Instant, uid: string): void {
    const { decider, pods } = this.#site;
    const pod = decider.store.pod(uid);
    const known = pods.get(uid);
    if (!pod || !known) return;
    const { kind } = known.state;
    if (kind === 'terminating') this.#skipIfLong(now, pod, known);
    else if (kind === 'queued') pods.put(pod, outOfTurn);
    else if (isTried({ kind }) || kind === 'accepted') this.#decide(now, pod, false);
    else this.reconcile(now, pod);
  }

  /** Forgets the node: the drain has taken back all that was set there. */
  rolledBack(nodeName: string): void {
    this.#returns.forget(nodeName);
  }

  /** It is gone. The answer to a request that is out may say who deleted it. */
  gone(now: Instant, uid: string): void {
    const { pods, requests } = this.#site;
    const known = pods.get(uid);
    pods.schedule.cancel(uid);
    if (known) this.#leaves(known);
    this.#returns.gone(uid);
    if (!known || known.state.kind === 'gone') return;
    if (known.awaitsAnswer) pods.put(known.pod, known.state, { vanishedAt: now });
    else if (isStaying(known)) pods.delete(uid);
    else requests.gone(now, known);
  }

  /** Where the pod goes because the drain has asked for it, the next one of its owner has come back. */
  #leaves({ pod: { uid }, tries }: DrainPod): void {
    if (tries > 0 || this.#site.gate.isRequested?.(uid)) this.#returns.leaves(uid);
  }

  /** `tried`: its next try comes in time, if it is still due. */
  #decide(now: Instant, pod: Pod, tried: boolean): void {
    const { decider, nodes, pods, turns, note } = this.#site;
    const { fate, because } = fateOf(now, pod, decider, this.#config);
    if ('faults' in fate) {
      const { faults } = fate;
      const isNew = pods.get(pod.uid)?.state.kind !== 'left';
      const left = pods.put(pod, { kind: 'left', faults }, { because, due: null });
      if (fate.kind === 'refuse' && isNew) note({ kind: 'podLeft', pod: left, faults });
    } else if (fate.kind === 'hold') {
      // What has refused it before is not what holds it now.
      const held = { due: null, blocker: null, hold: this.#pauseOn(now, pod, because) };
      pods.put(pod, outOfTurn, { because, ...held });
    } else if (fate.kind !== 'evict') {
      pods.put(pod, { kind: 'kept' }, { because, due: null });
    } else if (this.#holdReturn(now, pod, because)) {
      // Its owner has made it anew: its eviction waits, or does not come.
    } else if (nodes.isTainted(pod.nodeName) && fate.at > now) {
      const state = { kind: 'waiting', since: now, until: fate.at } as const;
      pods.put(pod, state, { because, due: fate.at, hold: null });
    } else if (!tried) {
      // When its time is over shows when the taint is there.
      const due = nodes.isTainted(pod.nodeName) ? fate.at : null;
      pods.put(pod, outOfTurn, { because, due, hold: turns.stillOn(now, pod) });
    }
  }

  /** Holds a pod that came back after an eviction; false: it goes at once. */
  #holdReturn(now: Instant, pod: Pod, because: readonly Reason[]): boolean {
    const { pods, note } = this.#site;
    const back = this.#returns.of(pod);
    if (!back) return false;
    const { message, waits } = back;
    if (!waits) {
      const blocker = returnBlocker(back);
      const left = pods.put(pod, { kind: 'givenUp' }, { because, blocker, hold: null });
      note({ kind: 'podGivenUp', pod: left, blocker });
    } else if (now < waits.until) {
      const hold = { message, since: waits.since };
      pods.put(pod, { kind: 'waiting', ...waits }, { because, due: waits.until, hold });
    }
    return !waits || now < waits.until;
  }

  /** The pause that holds a pod where the turn of its node has come; after a while that leaves its place to others. */
  #pauseOn(now: Instant, pod: Pod, [paused]: readonly Reason[]): DrainPod['hold'] {
    const { nodes, pods } = this.#site;
    if (!paused || !nodes.phases.isDraining(pod.nodeName)) return null;
    const since = pods.get(pod.uid)?.hold?.since ?? now;
    if (since + heldUpMs > now) pods.schedule.set(pod.uid, since + heldUpMs);
    return { message: describeReason(paused), since };
  }

  #skipIfLong(now: Instant, pod: Pod, known: DrainPod): void {
    const { decider, pods, note } = this.#site;
    const at = skipAt(pod, this.#config, decider.store.clock);
    const { podsAtOnceMax, heldUpNodesMax } = this.#config;
    const takesPlace = podsAtOnceMax > 0 || heldUpNodesMax > 0;
    const heldUp = takesPlace ? heldUpAt(pod, decider.store) : null;
    const later = [heldUp, at].filter((one) => one !== null && one > now);
    const next = earliest(later);
    if (next !== null) pods.schedule.set(pod.uid, next);
    if (at !== null && at <= now && known.state.kind === 'terminating') {
      note({ kind: 'podSkipped', pod: pods.put(pod, { kind: 'skipped' }) });
    }
  }
}

/** A pod that came back, and for how long its eviction waits; `waits: null`: the pod stays. */
interface Return {
  readonly message: string;
  readonly waits: { readonly since: Instant; readonly until: Instant } | null;
}

/** The rounds in which a pod came: of those of its own owner, and of those that nobody had seen before. */
interface Came {
  readonly key: string;
  readonly round: number;
  readonly nodeName: string;
  /** Null: its owner is known from an earlier round. */
  readonly newcomers: number | null;
  readonly at: Instant;
}

/**
 * Counts the rounds of evictions that the pods of each owner have had on each node. Whoever gives each pod, or each of
 * its owners, a name of its own cannot be told apart from somebody new. So newcomers are counted too, all those of
 * a node together: a node that is drained takes no new pods but of those who pass the scheduler by, or tolerate its taint.
 */
class Returns {
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
    const { returnsMax, returnWaitMsMin, taint } = this.#config;
    const { newcomers, at } = came;
    // The first rounds of newcomers may be of anybody.
    const round = newcomers === null ? came.round : newcomers - returnsMax;
    if (round <= 0) return null;
    const why = decidingToleration(pod.tolerations, taint, this.#config)
      ? 'it tolerates the taint'
      : 'it names the node, or the node takes new pods';
    const who = pod.owner ? `${pod.owner.kind} ${pod.owner.name}` : 'somebody';
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
function returnBlocker({ message }: Return): Blocker {
  return { code: 'Returned', verdict: 'never', message };
}

/** The end of a generated name: a number, or five characters and more without vowels. */
const generated = /-(?:\d+|[bcdfghjklmnpqrstvwxz2456789]{5,10})$/;

/** An owner may be made anew with its pod, and so may a pod that has none: then their names differ at the end. */
function keyOf({ nodeName, namespace, name: podName, owner }: Pod): string {
  const { apiVersion = '', kind = '', name = podName } = owner ?? {};
  return [nodeName, namespace, apiVersion, kind, name.replace(generated, '')].join('\n');
}
