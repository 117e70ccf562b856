// What the tables of `simulate` say of a workload and of a budget.
import { none } from '../../../report/words.ts';
import { seconds } from './lines.ts';
import type { BudgetSummary, JobSummary, WorkloadSummary } from './summary.ts';

export interface RowColumn<Item> {
  readonly head: string;
  readonly text: (item: Item) => string;
  /** What is compared with the first run; left out: nothing. */
  readonly amount?: (item: Item) => number;
  readonly unit?: 'seconds';
  /** Whether it is shown of several runs too, and only with -o wide. Left out: always. */
  readonly when?: 'single' | 'wide' | 'single or wide' | 'not wide';
}

/** A table of what was counted of each workload, or of each budget. */
export interface RowTable<Item> {
  readonly head: string;
  readonly kindOf: (item: Item) => string | null;
  readonly columns: readonly RowColumn<Item>[];
  /** Whether there is nothing to tell of it, and what is said of all such ones. */
  readonly isCalm: (item: Item) => boolean;
  readonly calmText: string;
}

export const workloadTable: RowTable<WorkloadSummary> = {
  head: 'WORKLOAD',
  kindOf: ({ kind }) => kind,
  isCalm: ({ downMax, unavailableMax, evictions }) => downMax + unavailableMax + evictions === 0,
  calmText: 'never down, and nobody evicted',
  columns: [
    { head: 'WANTED', text: ({ wanted }) => String(wanted), when: 'wide' },
    {
      head: 'MOST DOWN',
      text: ({ downMax, downWorstWanted }) =>
        downMax === 0 ? '0' : `${downMax} of ${downWorstWanted}`,
      amount: ({ downMax }) => downMax,
      when: 'not wide',
    },
    {
      head: 'MOST DOWN',
      text: ({ downMax, downPercentMax }) =>
        downMax === 0 ? '0' : `${downMax} (${downPercentMax}%)`,
      amount: ({ downMax }) => downMax,
      when: 'wide',
    },
    { head: 'AT', text: ({ downWorstAt }) => secondsOrNone(downWorstAt), when: 'wide' },
    {
      head: 'DOWN FOR',
      text: ({ downSeconds }) => secondsOrNone(downSeconds || null),
      amount: ({ downSeconds }) => downSeconds,
      unit: 'seconds',
    },
    {
      head: 'LONGEST',
      text: ({ longestGap }) => secondsOrNone(longestGap?.seconds ?? null),
      amount: ({ longestGap }) => longestGap?.seconds ?? 0,
      unit: 'seconds',
    },
    {
      head: 'NOTICED',
      text: ({ unavailableSeconds }) => secondsOrNone(unavailableSeconds || null),
      amount: ({ unavailableSeconds }) => unavailableSeconds,
      unit: 'seconds',
      when: 'single or wide',
    },
    {
      head: 'POD-MINUTES',
      text: ({ podMinutesLost }) => tenths(podMinutesLost),
      amount: ({ podMinutesLost }) => podMinutesLost,
    },
    { head: 'OVER AT', text: overText, when: 'single or wide' },
    {
      head: 'EVICTIONS',
      text: ({ evictions }) => String(evictions),
      amount: ({ evictions }) => evictions,
    },
  ],
};

export const budgetTable: RowTable<BudgetSummary> = {
  head: 'PDB',
  kindOf: () => null,
  isCalm: ({ refusals, belowMax }) => refusals + belowMax === 0,
  calmText: 'PDBs kept, nothing refused',
  columns: [
    {
      head: 'REFUSED',
      text: ({ refusals }) => String(refusals),
      amount: ({ refusals }) => refusals,
    },
    {
      head: 'BELOW BY',
      text: ({ belowMax }) => (belowMax === 0 ? none : String(belowMax)),
      amount: ({ belowMax }) => belowMax,
    },
    {
      head: 'BELOW FOR',
      text: ({ belowSeconds }) => secondsOrNone(belowSeconds || null),
      amount: ({ belowSeconds }) => belowSeconds,
      unit: 'seconds',
    },
  ],
};

export const jobTable: RowTable<JobSummary> = {
  head: 'JOB',
  kindOf: () => null,
  isCalm: ({ evictions, failures }) => evictions + failures === 0,
  calmText: 'Jobs undisturbed',
  columns: [
    {
      head: 'EVICTIONS',
      text: ({ evictions }) => String(evictions),
      amount: ({ evictions }) => evictions,
    },
    {
      head: 'FAILED PODS',
      text: ({ failures }) => String(failures),
      amount: ({ failures }) => failures,
    },
    { head: 'NEW PODS', text: ({ newPods }) => String(newPods), amount: ({ newPods }) => newPods },
    { head: 'END', text: ({ end }) => end ?? none },
    { head: 'AT', text: ({ endedAt }) => secondsOrNone(endedAt) },
  ],
};

/** What an item has, and behind it what that is more or less than the first run has of it. */
export function comparedText<Item>(
  { text, amount, unit }: RowColumn<Item>,
  item: Item,
  first: Item | null,
): string {
  // As far as times are shown.
  const whole = (one: Item): number => {
    const value = amount?.(one) ?? 0;
    return unit === 'seconds' ? Math.floor(value) : value;
  };
  const more = first === null ? 0 : whole(item) - whole(first);
  const size = unit === 'seconds' ? seconds(Math.abs(more)) : tenths(Math.abs(more));
  const isSame = size === '0' || size === '0s';
  return isSame ? text(item) : `${text(item)} ${more > 0 ? '+' : '-'}${size}`;
}

function overText({ overAt, downAtEnd }: WorkloadSummary): string {
  return downAtEnd > 0 ? `${downAtEnd} down` : secondsOrNone(overAt);
}

function secondsOrNone(value: number | null): string {
  return value === null ? none : seconds(value);
}

function tenths(value: number): string {
  return String(Math.round(value * 10) / 10);
}
