// The writes that put the drain's taint on nodes, one at a time for each.
import { type Blocker, blockerOf } from '../attempt/blocker.ts';
import type { Outcome } from '../attempt/outcome.ts';
import { nextAttempt } from '../attempt/retry.ts';
import { InFlight } from '../kernel/inflight.ts';
import type { Instant } from '../kernel/time.ts';
import type { DrainConfig } from './config.ts';
import type { TaintNode } from './state.ts';

/** How far the write is that puts the taint on one node. */
type TaintWrite =
  | { readonly kind: 'due'; readonly at: Instant; readonly attempts: number }
  /** A request is out and not yet answered. */
  | { readonly kind: 'sent'; readonly attempts: number }
  /** It was accepted; the watch has to show the taint by then. */
  | { readonly kind: 'accepted'; readonly until: Instant };

/** What came of a write: it is tried again, or it is final. */
export interface TaintRefusal {
  readonly nodeName: string;
  readonly blocker: Blocker;
  readonly isFinal: boolean;
}

/** Puts the taint on the nodes whose turn has come, and tries again where that fails. */
export class TaintWrites {
  readonly #config: DrainConfig;
  readonly #inFlight: InFlight;
  readonly #writes = new Map<string, TaintWrite>();

  constructor(config: DrainConfig) {
    this.#config = config;
    this.#inFlight = new InFlight('taint', config.requestsInFlightMax);
  }

  want(now: Instant, nodeName: string): void {
    this.#writes.set(nodeName, { kind: 'due', at: now, attempts: 0 });
  }

  /** The node has its taint, or needs it no more. */
  forget(nodeName: string): void {
    this.#writes.delete(nodeName);
  }

  /** The requests that are due, as far as there is room. */
  send(now: Instant): readonly TaintNode[] {
    const commands: TaintNode[] = [];
    for (const [nodeName, write] of this.#writes) {
      if (write.kind !== 'due' || write.at > now || !this.#inFlight.hasRoom) continue;
      this.#writes.set(nodeName, { kind: 'sent', attempts: write.attempts + 1 });
      commands.push({ kind: 'taintNode', id: this.#inFlight.start(nodeName), nodeName });
    }
    return commands;
  }

  /** Takes the outcome of a request; null: it was accepted, or it is not one of these. */
  answered(now: Instant, id: string, outcome: Outcome): TaintRefusal | null {
    const nodeName = this.#inFlight.finish(id);
    const write = nodeName === null ? undefined : this.#writes.get(nodeName);
    if (nodeName === null || write?.kind !== 'sent') return null;
    if (outcome.kind === 'done' || outcome.kind === 'gone') {
      // The watch shows a node that is gone.
      this.#writes.set(nodeName, {
        kind: 'accepted',
        until: now + this.#config.confirmationWaitMs,
      });
      return null;
    }
    const blocker = blockerOf(outcome);
    const { attempts } = write;
    const at = nextAttempt(now, nodeName, attempts, this.#config, outcome);
    this.#writes.set(nodeName, { kind: 'due', at, attempts });
    return { nodeName, blocker, isFinal: blocker.verdict === 'never' };
  }

  /** The nodes whose taint was accepted and did not come, or went at once. */
  unconfirmed(now: Instant): readonly string[] {
    return [...this.#writes].flatMap(([nodeName, write]) =>
      write.kind === 'accepted' && write.until <= now ? [nodeName] : [],
    );
  }

  /** When there is something to do next; null: only an event can change anything. */
  nextWake(): Instant | null {
    const times = [...this.#writes.values()].flatMap((write) => {
      if (write.kind === 'sent') return [];
      return write.kind === 'due' ? write.at : write.until;
    });
    return times.length === 0 ? null : Math.min(...times);
  }
}
