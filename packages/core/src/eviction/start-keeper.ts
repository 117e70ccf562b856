import type { Command } from '../command.ts';
import type { Config } from '../config.ts';
import type { Outcome } from '../event.ts';
import { InFlight, nextAttempt } from '../inflight.ts';
import type { Node } from '../model.ts';
import { Schedule } from '../schedule.ts';
import { formatTaint } from '../taint-spec.ts';
import type { Instant } from '../time.ts';
import type { ObservedTaint } from './taint-ledger.ts';

/** What a node's annotation should say; null: nothing. */
export type TaintStarts = Readonly<Record<string, Instant>> | null;

/**
 * Keeps, on the nodes that need it, since when their taints count, so that a restarted or another
 * replica finds the same deadlines. A taint that names its own time needs nothing; one that does not
 * is written down once, when some pod's deadline depends on it, and goes when the taint goes.
 */
export class StartKeeper {
  readonly #config: Config;
  readonly #schedule = new Schedule();
  readonly #attempts = new Map<string, number>();
  readonly #writing = new Set<string>();
  readonly #inFlight: InFlight;

  constructor(config: Config) {
    this.#config = config;
    this.#inFlight = new InFlight('taint-starts', config.evictionsInFlightMax);
  }

  /** Something about the node may have changed: look at it with the next `due`. */
  notice(now: Instant, nodeName: string): void {
    if (!this.#attempts.has(nodeName)) this.#schedule.set(nodeName, now);
  }

  forget(nodeName: string): void {
    this.#schedule.cancel(nodeName);
    this.#attempts.delete(nodeName);
  }

  nextWake(): Instant | null {
    return this.#inFlight.hasRoom ? this.#schedule.next() : null;
  }

  /** The next node to look at, or null. */
  takeDue(now: Instant): string | null {
    return this.#inFlight.hasRoom ? this.#schedule.takeDue(now) : null;
  }

  /** The command that makes the node say `wanted`; null when it does, or is being told to. */
  write(node: Node, wanted: TaintStarts): Command | null {
    if (this.#writing.has(node.name) || isWritten(node, wanted)) return null;
    this.#writing.add(node.name);
    const id = this.#inFlight.start(node.name);
    const { name: nodeName, uid: nodeUid } = node;
    return { kind: 'keepTaintStarts', id, nodeName, nodeUid, starts: wanted };
  }

  /** Takes a result; false when it is not one of ours. */
  settle(now: Instant, id: string, outcome: Outcome): boolean {
    const nodeName = this.#inFlight.finish(id);
    if (nodeName === null) return false;
    this.#writing.delete(nodeName);
    const { retryWaitMsMin: min, retryWaitMsMax: max, confirmationWaitMs } = this.#config;
    if (outcome.kind === 'done' || outcome.kind === 'gone') {
      this.#attempts.delete(nodeName);
      this.#schedule.set(nodeName, now + confirmationWaitMs);
      return true;
    }
    const attempt = (this.#attempts.get(nodeName) ?? 0) + 1;
    this.#attempts.set(nodeName, attempt);
    const retryAfter = outcome.kind === 'failed' ? outcome.retryAfter : null;
    this.#schedule.set(nodeName, nextAttempt(now, nodeName, attempt, { min, max }, retryAfter));
    return true;
  }
}

/**
 * What the annotation should say: of each taint what is written there already, and the start of
 * those that `needed` names and whose time is not their own.
 */
export function wantedStarts(
  node: Node,
  observed: readonly ObservedTaint[],
  needed: ReadonlySet<string>,
): TaintStarts {
  const wanted: Record<string, Instant> = {};
  for (const { taint, start, startSource } of observed) {
    const name = formatTaint(taint);
    const isWrittenDown = node.taintStarts !== undefined && Object.hasOwn(node.taintStarts, name);
    if (startSource !== 'timeAdded' && (isWrittenDown || needed.has(name))) wanted[name] = start;
  }
  return Object.keys(wanted).length === 0 ? null : wanted;
}

function isWritten({ taintStarts = {} }: Node, wanted: TaintStarts): boolean {
  const [there, names] = [Object.keys(taintStarts), Object.keys(wanted ?? {})];
  return (
    there.length === names.length && names.every((name) => taintStarts[name] === wanted?.[name])
  );
}
