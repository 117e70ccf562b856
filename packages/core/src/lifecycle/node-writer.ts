// The writes to nodes, one at a time for each.
import { KeyedWrites } from '../attempt/keyed-writes.ts';
import type { Outcome } from '../attempt/outcome.ts';
import type { Instant } from '../kernel/time.ts';
import type { LifecycleCommand } from './command.ts';
import type { LifecycleConfig } from './config.ts';
import type { Need } from './needs.ts';
import type { NodeWrite } from './reason.ts';

/** A write that has ended. */
interface EndedNodeWrite {
  readonly name: string;
  readonly write: NodeWrite;
  /** When the next attempt may begin; null: it succeeded. */
  readonly retryAt: Instant | null;
}

const waits = { confirmationWaitMs: 10_000, retryWaitMsMin: 100, retryWaitMsMax: 30_000 };
const conflict = 409;

/**
 * The writes to nodes, one at a time for each, since every one would make the next one conflict.
 * A node waits only with what failed or has just succeeded there; something else is written at once.
 */
export class NodeWriter {
  readonly #writes: KeyedWrites;
  /** What was last begun on each node. */
  readonly #last = new Map<string, NodeWrite>();

  constructor({ writesInFlightMax: max }: LifecycleConfig) {
    this.#writes = new KeyedWrites({ ...waits, prefix: 'node', max, isStale: isConflict });
  }

  /** How many more may be under way. */
  get room(): number {
    return this.#writes.room;
  }

  /** Whether something was begun on the node, and nobody has looked since whether that is all. */
  hasBegun(name: string): boolean {
    return this.#last.has(name);
  }

  /** When a node may be written to for this purpose; null: something is under way there. */
  readyAt(now: Instant, name: string, write: NodeWrite): Instant | null {
    if (this.#writes.isUnderWay(name)) return null;
    return this.#last.get(name) === write ? this.#writes.dueAt(name) : now;
  }

  begin(name: string, { write, command }: Need): LifecycleCommand {
    if (this.#last.get(name) !== write) this.forget(name);
    this.#last.set(name, write);
    const hasFailed = (this.#writes.failures(name) ?? 0) > 0;
    return command(this.#writes.begin(name), hasFailed);
  }

  /** Takes a result; null when it is not one of ours, or the node is another by now. */
  settle(now: Instant, id: string, outcome: Outcome): EndedNodeWrite | null {
    const ended = this.#writes.settle(now, id, outcome);
    const write = ended && this.#last.get(ended.key);
    if (!ended || !write) return null;
    return { name: ended.key, write, retryAt: ended.failures === 0 ? null : ended.at };
  }

  /** Takes in what the node needs now: what it does not need any more has been shown. */
  confirm(name: string, needed: readonly NodeWrite[]): void {
    const last = this.#last.get(name);
    if (last && !this.#writes.isUnderWay(name) && !needed.includes(last)) this.forget(name);
  }

  forget(name: string): void {
    this.#writes.forget(name);
    this.#last.delete(name);
  }
}

/** A first one only means that the node has to be read again. */
function isConflict(outcome: Outcome): boolean {
  return outcome.kind === 'failed' && outcome.status === conflict;
}
