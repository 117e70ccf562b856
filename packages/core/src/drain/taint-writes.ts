// The writes that put the drain's taint on nodes, one at a time for each.
import { type Blocker, blockerOf } from '../attempt/blocker.ts';
import { isSetback, type Outcome } from '../attempt/outcome.ts';
import { type Attempt, accepted, isPending, setBack, untried } from '../attempt/state.ts';
import { InFlight } from '../kernel/inflight.ts';
import type { Instant } from '../kernel/time.ts';
import type { DrainConfig } from './config.ts';
import type { TaintNode } from './state.ts';

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
  readonly #writes = new Map<string, Attempt>();

  constructor(config: DrainConfig) {
    this.#config = config;
    this.#inFlight = new InFlight('taint', config.requestsInFlightMax);
  }

  want(now: Instant, nodeName: string): void {
    const due = { kind: 'waiting', since: now, until: now } as const;
    this.#writes.set(nodeName, { ...untried, state: due });
  }

  /** The node has its taint, or needs it no more. */
  forget(nodeName: string): void {
    this.#writes.delete(nodeName);
  }

  /** The requests that are due, as far as there is room. */
  send(now: Instant): readonly TaintNode[] {
    const commands: TaintNode[] = [];
    for (const [nodeName, { state, ...attempt }] of this.#writes) {
      const isReady = isPending(state) && 'until' in state && state.until <= now;
      if (!isReady || !this.#inFlight.hasRoom) continue;
      const id = this.#inFlight.start(nodeName);
      const requested = { kind: 'requested', id } as const;
      this.#writes.set(nodeName, { ...attempt, tries: attempt.tries + 1, state: requested });
      commands.push({ kind: 'taintNode', id, nodeName });
    }
    return commands;
  }

  /** Takes the outcome of a request; null: it was accepted, or it is not one of these. */
  answered(now: Instant, id: string, outcome: Outcome): TaintRefusal | null {
    const nodeName = this.#inFlight.finish(id);
    const attempt = nodeName === null ? undefined : this.#writes.get(nodeName);
    if (nodeName === null || attempt?.state.kind !== 'requested') return null;
    if (!isSetback(outcome)) {
      // The watch shows a node that is gone.
      this.#writes.set(nodeName, { ...attempt, state: accepted(now, this.#config) });
      return null;
    }
    const failed = setBack(now, nodeName, attempt, outcome, null, this.#config);
    this.#writes.set(nodeName, { ...attempt, ...failed });
    const blocker = blockerOf(outcome);
    return { nodeName, blocker, isFinal: blocker.verdict === 'never' };
  }

  /** The nodes whose taint was accepted and did not come, or went at once. */
  unconfirmed(now: Instant): readonly string[] {
    return [...this.#writes].flatMap(([nodeName, { state }]) =>
      state.kind === 'accepted' && state.until <= now ? [nodeName] : [],
    );
  }

  /** When there is something to do next; null: only an event can change anything. */
  nextWake(): Instant | null {
    const times = [...this.#writes.values()].flatMap(({ state }) =>
      'until' in state ? state.until : [],
    );
    return times.length === 0 ? null : Math.min(...times);
  }
}
