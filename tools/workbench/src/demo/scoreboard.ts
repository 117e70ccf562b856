// The figures of each side, chapter by chapter, and whether they are as expected.

import { formatDuration } from '@taintmgr/core/time';
import type { DeadlineTrack, Summary } from '@taintmgr/page';
import { podMinutesLost } from './narrator.ts';
import { chapters } from './story.ts';

/** A side at the end. */
export interface Played {
  /** Before the first chapter, and at the end of each. */
  readonly summaries: readonly Summary[];
  readonly deadlines: readonly DeadlineTrack[];
}

export interface Score {
  readonly what: string;
  readonly left: string;
  readonly right: string;
  /** True if taintmgr, on the right, is as good as expected, and the left is worse. */
  readonly isKept: boolean;
}

type Amounts = readonly [left: number, right: number];

/** A line for each promise. Both sides have played all chapters. */
export function scoresOf(left: Played, right: Played): readonly Score[] {
  const grown = (chapter: number, amountOf: (summary: Summary) => number): Amounts => [
    growth(left, chapter, amountOf),
    growth(right, chapter, amountOf),
  ];
  const lost = chapters.map(({ title }, index) =>
    score(
      `${title}: pod-minutes lost`,
      grown(index, podMinutesLost),
      (one) => one.toFixed(0),
      isLess,
    ),
  );
  const restart = score(
    'Restart: deadlines move',
    [latestMove(left.deadlines), latestMove(right.deadlines)],
    (one) => (one > 0 ? `up to ${duration(one)} later` : 'not at all'),
    isNone,
  );
  const wrongly = score(
    'Wrong taint: pods evicted',
    grown(1, ({ evictions }) => evictions),
    String,
    isLess,
  );
  const below = score('Kernel upgrade: web below its budget', grown(2, webBelow), duration, isNone);
  const [outage, taint, kernel] = lost;
  return [restart, outage, wrongly, taint, below, kernel].filter((one) => one !== undefined);
}

const isLess = ([left, right]: Amounts): boolean => right < left;
const isNone = ([left, right]: Amounts): boolean => right === 0 && left > 0;

function score(
  what: string,
  amounts: Amounts,
  text: (amount: number) => string,
  isKept: (amounts: Amounts) => boolean,
): Score {
  const [left, right] = amounts;
  return { what, left: text(left), right: text(right), isKept: isKept(amounts) };
}

/** By how much a chapter has added to an amount. */
function growth(
  { summaries }: Played,
  chapter: number,
  amountOf: (summary: Summary) => number,
): number {
  const [before, after] = [summaries[chapter], summaries[chapter + 1]];
  if (!before || !after) throw new Error(`chapter ${chapter + 1} was not played`);
  return amountOf(after) - amountOf(before);
}

/** The seconds by which the deadline of any pod moved at most while it ran. */
function latestMove(deadlines: readonly DeadlineTrack[]): number {
  const dueAt = new Map<string, number>();
  let latest = 0;
  for (const one of deadlines) {
    const pod = `${one.namespace}/${one.pod}`;
    latest = Math.max(latest, one.dueAt - (dueAt.get(pod) ?? one.dueAt));
    dueAt.set(pod, one.dueAt);
  }
  return latest;
}

function webBelow({ budgets }: Summary): number {
  return budgets.find(({ name }) => name === 'web')?.belowSeconds ?? 0;
}

function duration(seconds: number): string {
  return formatDuration(Math.round(seconds) * 1000);
}
