// The real downtime of a workload's pods: the sums, the longest gap, and the time when it was over.

import { mostOf } from '@taintmgr/k8s-adapter/command-line';
import type { Downtime, Step, WorkloadTrack } from '@taintmgr/page';

type Gap = NonNullable<Downtime['longestGap']>;

interface Down {
  readonly wanted: number;
  readonly down: number;
}

/** The down pods of a workload up to `end`, from instant to instant. */
export function downSteps(track: WorkloadTrack, end: number): readonly Step<Down>[] {
  return lasting(stepsOf(track).filter(({ at }) => at < end));
}

function stepsOf({ states, serving }: WorkloadTrack): readonly Step<Down>[] {
  const instants = [...new Set([...states, ...serving].map(({ at }) => at))].sort((a, b) => a - b);
  let [state, count] = [0, 0];
  return instants.map((at) => {
    while ((states[state + 1]?.at ?? Number.POSITIVE_INFINITY) <= at) state++;
    while ((serving[count + 1]?.at ?? Number.POSITIVE_INFINITY) <= at) count++;
    const wanted = states[state]?.wanted ?? 0;
    return { at, wanted, down: Math.max(0, wanted - (serving[count]?.pods ?? 0)) };
  });
}

/** The downtime of a workload up to `end`, in seconds. */
export function downtimeOf(track: WorkloadTrack, end: number): Downtime {
  const steps = downSteps(track, end);
  const spans = steps.map((step, index) => {
    return { ...step, seconds: (steps[index + 1]?.at ?? end) - step.at };
  });
  const sumOf = (amount: (span: (typeof spans)[number]) => number): number =>
    spans.reduce((sum, span) => sum + amount(span), 0);
  const gaps = gapsOf(steps, end);
  const worst = spans.reduce((one, two) => (two.down > one.down ? two : one), noSpan);
  const downAtEnd = steps.at(-1)?.down ?? 0;
  const last = gaps.at(-1);
  return {
    downMax: worst.down,
    downPercentMax: tenths(mostOf(steps.map(shareOf), 0)),
    downWorstAt: worst.down > 0 ? worst.at : null,
    downWorstWanted: worst.down > 0 ? worst.wanted : 0,
    downSeconds: thousandths(sumOf(({ down, seconds }) => (down > 0 ? seconds : 0))),
    outageSeconds: thousandths(
      sumOf(({ down, wanted, seconds }) => (down > 0 && down >= wanted ? seconds : 0)),
    ),
    podMinutesLost: thousandths(sumOf(({ down, seconds }) => down * seconds) / 60),
    longestGap: gaps.reduce<Gap | null>(
      (one, two) => (one === null || two.seconds > one.seconds ? two : one),
      null,
    ),
    overAt: last && downAtEnd === 0 ? thousandths(last.from + last.seconds) : null,
    downAtEnd,
  };
}

/** Controllers need milliseconds to see that a node is gone; that time is no downtime. */
const shortestSeconds = 0.1;

/** Without those that the next one ends at once. */
function lasting(steps: readonly Step<Down>[]): readonly Step<Down>[] {
  return steps.filter(({ at }, index) => {
    const next = steps[index + 1];
    return next === undefined || next.at - at >= shortestSeconds;
  });
}

const noSpan = { at: 0, wanted: 0, down: 0, seconds: 0 };

function shareOf({ wanted, down }: Down): number {
  return down === 0 ? 0 : (100 * down) / wanted;
}

function gapsOf(steps: readonly Step<Down>[], end: number): readonly Gap[] {
  const gaps: Gap[] = [];
  let from: number | null = null;
  const close = (at: number): void => {
    if (from !== null) gaps.push({ from, seconds: thousandths(at - from) });
    from = null;
  };
  for (const { at, down } of steps) {
    if (down === 0) close(at);
    else from ??= at;
  }
  close(end);
  return gaps;
}

export function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Times are in milliseconds at the finest. */
export function thousandths(value: number): number {
  return Math.round(value * 1000) / 1000;
}
