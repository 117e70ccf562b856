// Cordons the nodes of a NodeDrain at its start, all of them before the first pod goes.
import { blockerOf } from '../../attempt/blocker.ts';
import { isSetback, type Outcome } from '../../attempt/outcome.ts';
import type { Instant } from '../../kernel/time.ts';
import type { Node } from '../../model/node.ts';
import type { DrainMachine } from '../machine.ts';
import { heldUpMs } from '../queue.ts';
import type { DrainHold } from './state.ts';

/** What it goes by, and how a cordon is asked for. */
export interface CordonSite {
  readonly machine: Pick<DrainMachine, 'nodes'>;
  readonly node: (name: string) => Node | null;
  /** Whether the node shows something of the drain. */
  readonly isMarked: (name: string) => boolean;
  /** Whether the drain has one node only: it is cordoned with its taint. */
  readonly isAlone: () => boolean;
  readonly want: (now: Instant, name: string) => void;
}

/**
 * Pods that leave the first node must not come to rest on one that is drained next: they would be
 * evicted twice. So no node begins before the others are cordoned; a cordon that nobody can set, or
 * not for a minute, is not waited for.
 */
export class StartCordons {
  readonly #site: CordonSite;
  /** Nodes that were cordoned here: nobody who uncordons one is fought. */
  readonly #nodes = new Set<string>();
  /** Those whose cordon is not on yet, and since when it is to be. */
  readonly #open = new Map<string, Instant>();
  /** Why the last try failed. */
  readonly #failed = new Map<string, string>();

  constructor(site: CordonSite) {
    this.#site = site;
  }

  /** Cordons what waits for its turn, once; whether there was anything. `holds`: what keeps nodes from it. */
  begin(now: Instant, holds: ReadonlyMap<string, DrainHold>): boolean {
    let hasBegun = false;
    for (const { name, phase } of this.#site.machine.nodes()) {
      const node = phase.kind === 'pending' ? this.#site.node(name) : null;
      if (!node || node.unschedulable === true) continue;
      if (this.#nodes.has(name) || this.#site.isMarked(name)) continue;
      // What is set before another drain is done is written down as that one's; for others we do not begin at all.
      const reason = holds.get(name)?.reason ?? '';
      if (['AnotherDrain', 'OtherEvictors'].includes(reason)) continue;
      this.#nodes.add(name);
      this.#open.set(name, now);
      this.#site.want(now, name);
      hasBegun = true;
    }
    return hasBegun;
  }

  /** What came of a try to cordon the node. It is tried again; whether that is waited for is said here. */
  settle(now: Instant, name: string, outcome: Outcome): void {
    const since = this.#open.get(name);
    if (since === undefined) return;
    const isWaitedFor = isSetback(outcome) && blockerOf(outcome).verdict !== 'never';
    if (isWaitedFor && now - since < heldUpMs) this.#failed.set(name, outcome.message);
    else this.#over(name);
  }

  /** The node may be cordoned anew. */
  forget(name: string): void {
    this.#nodes.delete(name);
    this.#over(name);
  }

  /** Why the turn of no node comes yet; not worth telling while nothing has failed. */
  get hold(): DrainHold | null {
    if (this.#open.size === 0 || this.#site.isAlone()) return null;
    const [failed] = this.#failed;
    const message = failed ? `node ${failed[0]} is to be cordoned first: ${failed[1]}` : '';
    return { reason: 'NotCordoned', message };
  }

  #over(name: string): void {
    this.#open.delete(name);
    this.#failed.delete(name);
  }
}
