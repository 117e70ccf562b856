// The writes to nodes, one at a time for each.
import { KeyedWrites } from '../attempt/keyed-writes.ts';
import type { Outcome } from '../attempt/outcome.ts';
import { assert } from '../kernel/assert.ts';
import { earliest, type Instant } from '../kernel/time.ts';
import type { LifecycleCommand } from './command.ts';
import type { LifecycleConfig } from './config.ts';
import type { Need } from './needs.ts';
import type { NodeWrite } from './reason.ts';

/** A write that has ended. */
export interface EndedNodeWrite {
  readonly name: string;
  readonly write: NodeWrite;
  /** When the next attempt may begin; null: it succeeded. */
  readonly retryAt: Instant | null;
}

/** A write that a node needs; `taints`: null where they are decided in its turn. */
export type Needed = Pick<Need, 'write' | 'taints'>;

interface NextWrite {
  /** Null: none. */
  readonly write: NodeWrite | null;
  /** Null: nothing else waits, or what is under way has to end first. */
  readonly laterAt: Instant | null;
}

const waits = { confirmationWaitMs: 10_000, retryWaitMsMin: 100, retryWaitMsMax: 30_000 };
const conflict = 409;

/**
 * The writes to nodes, one at a time for each, since every one would make the next one conflict.
 * What failed or has just succeeded on a node waits, and nothing else there does: a label that is refused
 * again and again is no reason not to taint.
 */
export class NodeWriter {
  /** By node and purpose. */
  readonly #writes: KeyedWrites;
  /** What was begun on each node, until it is seen there. */
  readonly #begun = new Map<string, Map<NodeWrite, Needed>>();

  constructor({ writesInFlightMax: max }: LifecycleConfig) {
    this.#writes = new KeyedWrites({ ...waits, prefix: 'node', max, isStale: isConflict });
  }

  /** How many more may be under way. */
  get room(): number {
    return this.#writes.room;
  }

  /** Whether something was begun on the node that has not failed: what comes next may need it. */
  hasBegun(name: string): boolean {
    return this.#begunOn(name).some((write) => !this.#writes.failures(keyOf(name, write)));
  }

  /** Takes in what the node needs now, and says which of it may be written, and when more of it may be. */
  next(now: Instant, name: string, needed: readonly Needed[]): NextWrite {
    this.#confirm(name, needed);
    if (this.#isUnderWay(name)) return { write: null, laterAt: null };
    const times = needed.map(({ write }) => this.#writes.dueAt(keyOf(name, write)) ?? now);
    const next = needed.find((_, index) => (times[index] ?? now) <= now);
    return { write: next?.write ?? null, laterAt: earliest(times.filter((at) => at > now)) };
  }

  begin(name: string, { write, taints, command }: Need): LifecycleCommand {
    const key = keyOf(name, write);
    this.#begun.set(name, (this.#begun.get(name) ?? new Map()).set(write, { write, taints }));
    const hasFailed = (this.#writes.failures(key) ?? 0) > 0;
    return command(this.#writes.begin(key), hasFailed);
  }

  /** Takes a result; null when it is not one of ours, or the node is another by now. */
  settle(now: Instant, id: string, outcome: Outcome): EndedNodeWrite | null {
    const ended = this.#writes.settle(now, id, outcome);
    if (!ended) return null;
    const name = nodeOf(ended.key);
    const write = this.#begunOn(name).find((one) => keyOf(name, one) === ended.key);
    assert(write !== undefined, `a write to ${name} that has ended was begun`);
    return { name, write, retryAt: ended.failures === 0 ? null : ended.at };
  }

  /** Forgets each write whose effect has been shown, or whose contrary the node needs by now. */
  #confirm(name: string, needed: readonly Needed[]): void {
    const begun = this.#begun.get(name);
    if (!begun) return;
    for (const one of begun.values()) {
      const { write } = one;
      const key = keyOf(name, write);
      if (needed.some((other) => isSame(one, other)) || this.#writes.isUnderWay(key)) continue;
      this.#writes.forget(key);
      begun.delete(write);
    }
    if (begun.size === 0) this.#begun.delete(name);
  }

  #isUnderWay(name: string): boolean {
    return this.#begunOn(name).some((write) => this.#writes.isUnderWay(keyOf(name, write)));
  }

  #begunOn(name: string): readonly NodeWrite[] {
    return [...(this.#begun.get(name)?.keys() ?? [])];
  }

  forget(name: string): void {
    for (const write of this.#begunOn(name)) this.#writes.forget(keyOf(name, write));
    this.#begun.delete(name);
  }
}

function isSame(one: Needed, other: Needed): boolean {
  if (one.write !== other.write) return false;
  return one.taints === null || other.taints === null || one.taints === other.taints;
}

function keyOf(name: string, write: NodeWrite): string {
  return `${write}/${name}`;
}

function nodeOf(key: string): string {
  return key.slice(key.indexOf('/') + 1);
}

/** A first one only means that the node has to be read again. */
function isConflict(outcome: Outcome): boolean {
  return outcome.kind === 'failed' && outcome.status === conflict;
}
