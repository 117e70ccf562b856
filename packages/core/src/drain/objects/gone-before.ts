// Counts the pods of a NodeDrain that left before its run began, also while nobody led.
import type { NodeDrain } from '../../policy/node-drain.ts';
import type { StoreView } from '../../store.ts';
import type { DrainMachine } from '../machine.ts';
import { type DrainPod, isStaying } from '../state.ts';

/** The pods that are there. */
interface GoneSite {
  readonly store: Pick<StoreView, 'pod' | 'podView'>;
  readonly machine: Pick<DrainMachine, 'pods'>;
}

/**
 * A status names the pods that have still to leave, as many as it has room for, by their uids: those that are there
 * no more left while nobody watched, whoever came to their node meanwhile. Of the others it has the number, as
 * statuses of earlier versions have of all: they left where fewer pods are there, those that came since included. So
 * a count may stay below what has happened, and never exceeds it.
 */
export class GoneBefore {
  readonly #site: GoneSite;
  readonly #drain: NodeDrain;
  readonly #gone: Map<string, number>;
  #forgotten: number;
  /** Nodes whose pods are still to be compared with the status, and how many of these it has as left. */
  readonly #open: Map<string, number>;

  constructor(drain: NodeDrain, site: GoneSite) {
    this.#drain = drain;
    this.#site = site;
    this.#forgotten = drain.podsGoneBefore;
    this.#gone = new Map(drain.known.map(({ name, podsGone }) => [name, podsGone]));
    const listed = drain.known.filter(({ podsLeft }) => podsLeft > 0);
    this.#open = new Map(listed.map(({ name, podsLeft }) => [name, podsLeft]));
  }

  /** Pods that had left nodes which were forgotten. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /** Pods that had left the node. */
  on(nodeName: string): number {
    return this.#gone.get(nodeName) ?? 0;
  }

  /** True where pods had left the node, as far as that is known before pods are compared. */
  isSome(nodeName: string): boolean {
    const { store } = this.#site;
    if (this.on(nodeName) > 0) return true;
    if (store.podView(nodeName) !== 'watched') return false;
    return this.#drain.podsLeft.some(({ node, uid }) => node === nodeName && !store.pod(uid));
  }

  /** Pods that had still to leave the node, as long as nobody knows whether they did. */
  leftOn(nodeName: string): number {
    return this.#open.get(nodeName) ?? 0;
  }

  /** Compares the status with what is there, on nodes whose pods are read. */
  look(): void {
    const { store, machine } = this.#site;
    const read = [...this.#open].filter(([name]) => store.podView(name) === 'watched');
    if (read.length === 0) return;
    const here = grouped(machine.pods(), ({ pod }) => pod.nodeName);
    const named = grouped(this.#drain.podsLeft, ({ node }) => node);
    for (const [name, podsLeft] of read) {
      this.#open.delete(name);
      const unseen = this.#unseen(podsLeft, named.get(name) ?? [], here.get(name) ?? []);
      this.#gone.set(name, this.on(name) + unseen);
    }
  }

  /** The node is none of its nodes any more, and had lost so many pods. */
  forget(nodeName: string, podsGone: number): void {
    this.#forgotten += podsGone;
    this.#gone.delete(nodeName);
    this.#open.delete(nodeName);
  }

  #unseen(podsLeft: number, named: NodeDrain['podsLeft'], here: readonly DrainPod[]): number {
    const { store } = this.#site;
    const known = new Set(here.map(({ pod }) => pod.uid));
    const gone = named.filter(({ uid }) => !known.has(uid) && !store.pod(uid));
    // With other settings other pods have to leave.
    if (this.#drain.observedGeneration !== this.#drain.generation) return gone.length;
    const uids = new Set(named.map(({ uid }) => uid));
    const others = here.filter((one) => {
      const { owner, mirror } = store.pod(one.pod.uid) ?? {};
      // A pod that is kept by now may have had to leave then, unless nobody evicts such pods.
      const isOfNode = owner?.kind === 'DaemonSet' || mirror === true;
      return !uids.has(one.pod.uid) && !(isStaying(one) && isOfNode);
    });
    return gone.length + Math.max(0, podsLeft - named.length - others.length);
  }
}

function grouped<T>(all: readonly T[], keyOf: (one: T) => string): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const group = groups.get(keyOf(one));
    if (group) group.push(one);
    else groups.set(keyOf(one), [one]);
  }
  return groups;
}
