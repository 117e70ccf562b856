// What a NodeDrain has to write on nodes and on its own object, until each of it is done.
import { KeyedWrites } from '../../attempt/keyed-writes.ts';
import type { Outcome } from '../../attempt/outcome.ts';
import type { Instant } from '../../kernel/time.ts';
import type { NodeDrainWrite } from './command.ts';

/** At most so many requests at one time. */
const writesMax = 20;
const retry = { retryWaitMsMin: 200, retryWaitMsMax: 10_000, confirmationWaitMs: 5_000 };

/** A write that a drain wants. */
export type DrainWrite =
  /** Keep the object until it is undone, or let it go. */
  | { readonly kind: 'guard'; readonly isGuarded: boolean }
  | { readonly kind: 'delete' }
  | { readonly kind: 'node'; readonly nodeName: string; readonly write: NodeDrainWrite };

/** A write that is to be sent now. */
export interface StartedWrite {
  readonly id: string;
  readonly wanted: DrainWrite;
}

/** What is wanted last of a node, or of the object, counts, and is written until that succeeds. */
export class DrainWrites {
  readonly #keyed: KeyedWrites;
  readonly #wanted = new Map<string, DrainWrite>();
  /** By the ids of requests under way. */
  readonly #sent = new Map<string, DrainWrite>();

  constructor(prefix: string) {
    this.#keyed = new KeyedWrites({ ...retry, prefix, max: writesMax });
  }

  want(now: Instant, wanted: DrainWrite): void {
    const key = keyOf(wanted);
    const before = this.#wanted.get(key);
    if (before && isSame(before, wanted)) return;
    this.#wanted.set(key, wanted);
    // What is under way is answered first.
    if (this.#keyed.isUnderWay(key)) return;
    this.#keyed.forget(key);
    this.#keyed.notice(now, key);
  }

  /** What is under way on the node is still answered. */
  forget(nodeName: string): void {
    if (this.#keyed.isUnderWay(nodeName)) this.#wanted.delete(nodeName);
    else this.#drop(nodeName);
  }

  /** Whether what the drain has set on a node is to be taken back, and is not yet. */
  isUndoing(nodeName: string): boolean {
    const wanted = this.#wanted.get(nodeName);
    const isUndo = wanted?.kind === 'node' && wanted.write.kind === 'undo';
    return isUndo && this.#keyed.failures(nodeName) !== 0;
  }

  /** Writes that are due; `isNeeded`: whether one that has succeeded, or has not yet, is of use. */
  take(
    now: Instant,
    isNeeded: (wanted: DrainWrite, hasSucceeded: boolean) => boolean,
  ): readonly StartedWrite[] {
    // One after the other: what is begun takes room.
    const begun = Array.from(this.#keyed.takeDue(now), (key) => {
      const wanted = this.#wanted.get(key);
      if (!wanted || !isNeeded(wanted, this.#keyed.failures(key) === 0)) {
        this.#drop(key);
        return [];
      }
      const id = this.#keyed.begin(key);
      this.#sent.set(id, wanted);
      return [{ id, wanted }];
    });
    return begun.flat();
  }

  /** Takes a result: what was written, or was not; null: it is of no write of ours. */
  settle(
    now: Instant,
    id: string,
    outcome: Outcome,
  ): { readonly wrote: DrainWrite; readonly isDone: boolean } | null {
    const wrote = this.#sent.get(id);
    if (!wrote) return null;
    this.#sent.delete(id);
    const ended = this.#keyed.settle(now, id, outcome);
    if (!ended) return null;
    const { key, failures } = ended;
    const isDone = failures === 0;
    const wanted = this.#wanted.get(key);
    // The same may be wanted anew, of another node of the name.
    if (wanted && wanted !== wrote) {
      this.#keyed.forget(key);
      this.#keyed.notice(now, key);
    } else if (outcome.kind === 'changed') {
      // Somebody else has the node by now: there is nothing of ours to write.
      this.#drop(key);
    }
    return { wrote, isDone };
  }

  nextWake(): Instant | null {
    return this.#keyed.nextWake();
  }

  #drop(key: string): void {
    this.#wanted.delete(key);
    this.#keyed.forget(key);
  }
}

/** No node has an empty name. */
function keyOf(wanted: DrainWrite): string {
  return wanted.kind === 'node' ? wanted.nodeName : '';
}

function isSame(one: DrainWrite, other: DrainWrite): boolean {
  if (one.kind === 'node' && other.kind === 'node') return one.write.kind === other.write.kind;
  const isGuard = one.kind === 'guard' && other.kind === 'guard';
  return isGuard ? one.isGuarded === other.isGuarded : one.kind === other.kind;
}
