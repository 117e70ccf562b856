import { formatDuration, type Instant, type PodRef } from '@taintmgr/core';
import { type LiveBlock, type Output, warn } from '../../output.ts';
import { printable } from '../../render/printable.ts';
import type { GonePod, LeavingPod } from './leaving.ts';

const periodMs = 30_000;

/**
 * Tells how a drain goes on: a line for each pod that went, a warning for each that is newly held
 * and when the API server is lost, and where things stand: one line rewritten in place for a
 * person, one every 30 s for a log.
 */
export class Progress {
  readonly #output: Output;
  readonly #live: LiveBlock | null;
  /** What was last said about a pod that is held: the same is not said twice. */
  readonly #said = new Map<string, string>();
  /** What was last said about the lost API server; null while it is there. */
  #lost: string | null = null;
  #toldAt: Instant;

  constructor(output: Output, live: LiveBlock | null, now: Instant) {
    this.#output = output;
    this.#live = live;
    this.#toldAt = now;
  }

  gone({ pod, took }: GonePod): void {
    this.close();
    const where = `${pod.namespace}, ${pod.nodeName}, ${(took / 1000).toFixed(1)}s`;
    this.#output.out(`pod/${pod.name} evicted (${where})`);
  }

  held({ pod, state }: LeavingPod): void {
    if (state.kind !== 'held' || this.#said.get(pod.uid) === state.blocker.message) return;
    const { code, message } = state.blocker;
    this.#said.set(pod.uid, message);
    if (code === 'Unreachable') {
      this.lost(message);
    } else {
      const how = code === 'Budget' ? 'is held back' : 'could not be evicted';
      this.#warn(`${nameOf(pod)} on ${pod.nodeName} ${how}: ${printable(message)}`);
    }
  }

  /** Something the API server did not answer, or refused to tell. */
  lost(message: string): void {
    if (this.#lost === message) return;
    this.#lost = message;
    this.#warn(`lost contact with the API server, trying again: ${printable(message)}`);
  }

  found(): void {
    if (this.#lost === null) return;
    this.#lost = null;
    this.close();
    this.#output.err('in contact with the API server again');
  }

  /** Says where things stand; call it whenever something may have changed. */
  standing(now: Instant, leaving: readonly LeavingPod[], gone: number): void {
    if (this.#live) this.#live.show(standingLine(now, leaving, gone));
    else if (now - this.#toldAt >= periodMs) {
      this.#toldAt = now;
      this.#output.err(standingLine(now, leaving, gone));
    }
  }

  /** Takes the line that is rewritten away. */
  close(): void {
    this.#live?.clear();
  }

  #warn(text: string): void {
    this.close();
    warn(this.#output, text);
  }
}

/** `shop/web-0`. */
export function nameOf({ namespace, name }: PodRef): string {
  return `${namespace}/${name}`;
}

function standingLine(now: Instant, leaving: readonly LeavingPod[], gone: number): string {
  const count = (kind: LeavingPod['state']['kind']): number =>
    leaving.filter(({ state }) => state.kind === kind).length;
  const deadlines = leaving.flatMap(({ state }) => (state.kind === 'waiting' ? state.until : []));
  const wait = Math.max(0, Math.min(...deadlines) - now);
  const next = deadlines.length === 0 ? '' : ` (next in ${formatDuration(wait)})`;
  const parts = [
    [count('waiting'), `tolerate a while longer${next}`],
    [count('evicting'), 'being evicted'],
    [count('terminating'), 'terminating'],
    [count('held'), 'held back'],
  ] as const;
  const named = parts.filter(([number]) => number > 0).map(([number, what]) => `${number} ${what}`);
  const of = `${gone} of ${gone + leaving.length} gone`;
  return named.length === 0 ? of : `${of}; ${named.join(', ')}`;
}
