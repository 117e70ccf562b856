// The counts of a drain in one line.

import type { PodRef } from '@taintmgr/core';
import type { DrainMachine, DrainPod, DrainPodState } from '@taintmgr/core/drain';
import { formatDuration, type Instant } from '@taintmgr/core/time';
import { printable } from '../../render/printable.ts';

const bracketsMax = 4;
const namesMax = 3;

/** The numbers of pods of a drain. */
export interface DrainTally {
  /** Pods that are to go or have gone. */
  readonly total: number;
  readonly gone: number;
  /** Of those that have gone. */
  readonly deletedByOthers: number;
}

/** `shop/web-0`. */
export function nameOf({ namespace, name }: Pick<PodRef, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}

/** Counts the pods that are to go; those that stay do not count. */
export function tallyOf(pods: readonly DrainPod[]): DrainTally {
  const leaving = pods.filter(isToGo);
  const departures = leaving.flatMap(({ state }) => (state.kind === 'gone' ? state.departure : []));
  return {
    total: leaving.length,
    gone: departures.length,
    deletedByOthers: departures.filter(({ kind }) => kind === 'foreign').length,
  };
}

/** True for a pod that is to go, or has gone. */
export function isToGo({ state }: DrainPod): boolean {
  return !['kept', 'left', 'skipped'].includes(state.kind);
}

/** `[n1 1/2] [n2 0/3] 1 of 5 gone; 1 waiting for tolerations to expire (next in 22s), 1 blocked by PDB web (for 42s)` */
export function progressLine(now: Instant, machine: Pick<DrainMachine, 'nodes' | 'pods'>): string {
  const pods = machine.pods();
  const nodes = machine.nodes();
  const { total, gone } = tallyOf(pods);
  const draining = nodes.filter(({ phase }) => phase.kind === 'draining');
  const brackets =
    nodes.length === 1
      ? []
      : draining.slice(0, bracketsMax).map(({ name }) => {
          const here = tallyOf(pods.filter(({ pod }) => pod.nodeName === name));
          return `[${name} ${here.gone}/${here.total}]`;
        });
  const more = draining.length > bracketsMax ? [`[+${draining.length - bracketsMax}]`] : [];
  const named = partsOf(now, pods);
  const counts = `${gone} of ${total} gone${named.length === 0 ? '' : `; ${named.join(', ')}`}`;
  return [...brackets, ...more, counts].join(' ');
}

function partsOf(now: Instant, pods: readonly DrainPod[]): readonly string[] {
  const inState = (...kinds: readonly DrainPodState['kind'][]): readonly DrainPod[] =>
    pods.filter(({ state }) => kinds.includes(state.kind));
  const isPaused = (pod: DrainPod): boolean => pauseOf(pod) !== null;
  const heldBack = inState('queued', 'waiting').filter(
    (pod) => pod.hold !== null && !isPaused(pod),
  );
  const waiting = inState('waiting').filter(({ hold }) => hold === null);
  const held = inState('blocked', 'failed');
  const paused = inState('queued').filter(isPaused);
  const names = [...new Set(paused.map(pauseOf))].join(', ');
  const parts = [
    [waiting, `waiting for tolerations to expire${nextText(now, waiting)}`],
    [paused, `held by ${names}`],
    [heldBack, 'held back'],
    [inState('queued').filter(isInTurn), 'waiting for their turn'],
    [inState('requested', 'accepted'), 'being evicted'],
    [inState('terminating'), 'terminating'],
    [held, `blocked${budgetsText(held)}${longestText(now, held)}`],
    [inState('givenUp'), 'given up'],
  ] as const;
  return parts.filter(([some]) => some.length > 0).map(([some, what]) => `${some.length} ${what}`);
}

/** True for a pod that waits for nothing but its turn. */
function isInTurn(pod: DrainPod): boolean {
  return pauseOf(pod) === null && pod.hold === null;
}

/** The pause that holds a pod, as `pause network-work`; null: none does. */
export function pauseOf({ because: [decisive] }: DrainPod): string | null {
  return decisive?.code === 'Paused' ? `pause ${decisive.pause}` : null;
}

function nextText(now: Instant, waiting: readonly DrainPod[]): string {
  const times = waiting.flatMap(({ due }) => due ?? []);
  if (times.length === 0) return '';
  return ` (next in ${formatDuration(Math.max(0, Math.min(...times) - now))})`;
}

/** The names of budgets, as far as the API server's refusals name them. */
function budgetsText(held: readonly DrainPod[]): string {
  const named = held.flatMap(({ blocker }) => {
    return /^The disruption budget (\S+) /.exec(blocker?.message ?? '')?.[1] ?? [];
  });
  const names = [...new Set(named)].sort().map(printable);
  if (names.length === 0) return '';
  const more = names.length > namesMax ? ` and ${names.length - namesMax} more` : '';
  const shown = names.slice(0, namesMax).join(', ');
  return ` by ${names.length === 1 ? 'PDB' : 'PDBs'} ${shown}${more}`;
}

function longestText(now: Instant, held: readonly DrainPod[]): string {
  const times = held.flatMap(({ begunAt }) => begunAt ?? []);
  if (times.length === 0) return '';
  return ` (for ${formatDuration(Math.max(0, now - Math.min(...times)))})`;
}
