import { formatDuration, type Instant, type PodRef } from '@taintmgr/core';
import { createLogUpdate } from 'log-update';
import type { Output } from '../../output.ts';
import { printable } from '../../render/table.ts';
import type { GonePod, LeavingPod } from './leaving.ts';

const periodMs = 30_000;

/**
 * Tells how a drain goes on: a line for each pod that went, a warning for each that is newly held,
 * and where things stand: one line rewritten in place for a person, one every 30 s for a log.
 */
export class Progress {
  readonly #output: Output;
  readonly #live = createLogUpdate(process.stderr);
  /** What was last said about a pod that is held: the same is not said twice. */
  readonly #said = new Map<string, string>();
  #toldAt: Instant;

  constructor(output: Output, now: Instant) {
    this.#output = output;
    this.#toldAt = now;
  }

  gone({ pod, took }: GonePod): void {
    this.#clear();
    const where = `${pod.namespace}, ${pod.nodeName}, ${(took / 1000).toFixed(1)}s`;
    this.#output.out(`pod/${pod.name} evicted (${where})`);
  }

  held({ pod, state }: LeavingPod): void {
    if (state.kind !== 'held' || this.#said.get(pod.uid) === state.setback.message) return;
    this.#said.set(pod.uid, state.setback.message);
    this.#clear();
    const how = state.setback.kind === 'blocked' ? 'is held back' : 'could not be evicted';
    const message = printable(state.setback.message);
    this.#output.err(`Warning: ${nameOf(pod)} on ${pod.nodeName} ${how}: ${message}`);
  }

  /** Says where things stand; call it whenever something may have changed. */
  standing(now: Instant, leaving: readonly LeavingPod[], gone: number): void {
    if (this.#output.isLive) this.#live(standingLine(now, leaving, gone));
    else if (now - this.#toldAt >= periodMs) {
      this.#toldAt = now;
      this.#output.err(standingLine(now, leaving, gone));
    }
  }

  close(): void {
    this.#clear();
    if (this.#output.isLive) this.#live.done();
  }

  #clear(): void {
    if (this.#output.isLive) this.#live.clear();
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
  const next =
    deadlines.length === 0 ? '' : ` (next in ${formatDuration(Math.min(...deadlines) - now)})`;
  const parts = [
    [count('waiting'), `tolerate a while longer${next}`],
    [count('evicting'), 'being evicted'],
    [count('terminating'), 'terminating'],
    [count('held'), 'held back'],
  ] as const;
  const named = parts.filter(([number]) => number > 0).map(([number, what]) => `${number} ${what}`);
  return `${gone} of ${gone + leaving.length} gone; ${named.join(', ')}`;
}
