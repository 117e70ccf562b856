// Pods that their owners make anew on a node from which the drain evicts them.
import type { Blocker } from '../attempt/blocker.ts';
import type { Instant, Millis } from '../kernel/time.ts';
import type { Pod } from '../model/pod.ts';
import { decidingToleration } from '../model/toleration.ts';
import type { DrainConfig } from './config.ts';

/** A pod that came back, and for how long its eviction waits; `waits: null`: the pod stays. */
export interface Return {
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
 * How many rounds of evictions the pods of each owner have had on each node. Whoever gives each pod, or each of
 * its owners, a name of its own cannot be told apart from somebody new. So newcomers are counted too, all those of
 * a node together: a node that is drained takes no new pods but of those who pass the scheduler by, or tolerate its taint.
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

/** What holds a pod that is not evicted again. */
export function returnBlocker({ message }: Return): Blocker {
  return { code: 'Returned', verdict: 'never', message };
}

/** What generators of names put at their end: a number, or five characters and more without vowels. */
const generated = /-(?:\d+|[bcdfghjklmnpqrstvwxz2456789]{5,10})$/;

/** An owner may be made anew with its pod, and so may a pod that has none: then their names differ at the end. */
function keyOf({ nodeName, namespace, name: podName, owner }: Pod): string {
  const { apiVersion = '', kind = '', name = podName } = owner ?? {};
  return [nodeName, namespace, apiVersion, kind, name.replace(generated, '')].join('\n');
}
