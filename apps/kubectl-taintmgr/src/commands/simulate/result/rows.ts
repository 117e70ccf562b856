// Tables with a line for each thing that was counted, or of several runs for each of them: workloads, budgets, Jobs, and sums.
import { countBy, mostOf } from '@taintmgr/k8s-adapter/command-line';
import { none } from '@taintmgr/k8s-adapter/explain';
import type {
  BudgetSummary,
  JobSummary,
  PlaceTotals,
  Summary,
  WorkloadSummary,
} from '@taintmgr/page';
import type { Tone } from '../../../render/style.ts';
import { type Column, renderColumns, type TableOptions, wrapped } from '../../../render/table.ts';
import { type RunResult, seconds } from './documents.ts';
import { beyondChance, keyOf, type OfKind, paired } from './draws.ts';

/** A table that is shown as far as there is room. */
export interface Listing {
  /** The number of items to which something happened. */
  readonly harmed: number;
  /**
   * The objects that differ most between runs and the worst of them, in the order of their names where these
   * are all; '': none.
   */
  readonly text: (room: ListingRoom) => string;
}

interface ListingRoom {
  /** The number of rows. */
  readonly rows: number;
  /** The number of unchanged objects that are named. */
  readonly names: number;
}

type Counted = OfKind & { readonly unknown?: readonly string[] };

/** A line of a table: something in a run, and the same in the first one; or the head of such lines. */
interface Line<Item> {
  readonly name: string;
  readonly variant: string;
  readonly item: Item | null;
  /** The same in the first run and in this one, for each seed; null: it is the first run. */
  readonly pairs: readonly (readonly [first: Item, item: Item])[] | null;
}

/** The lines of one thing. */
interface Group<Item> {
  readonly lines: readonly Line<Item>[];
  readonly isCalm: boolean;
  /** In the run in which it is worst. */
  readonly harm: number;
  /** By how much it differs between runs, beyond chance. */
  readonly difference: number;
}

export function listing<Item extends Counted>(
  table: RowTable<Item>,
  runs: readonly RunResult[],
  itemsOf: (summary: Summary) => readonly Item[],
  options: TableOptions,
): Listing {
  const groups = groupsOf(table, runs, itemsOf, options);
  const isMany = runs.length > 1;
  const harmed = groups.filter(({ isCalm }) => !isCalm);
  const calm = groups.filter(({ isCalm }) => isCalm).map(({ lines: [line] }) => line?.name ?? '');
  return {
    harmed: harmed.length,
    text: ({ rows, names }) => {
      if (groups.length === 0) return '';
      const all = options.wide ? groups : harmed;
      const shown = foremost(all, rows);
      const lines = shown.map((group) => group.lines);
      const render = options.wide ? flat : folded;
      const parts = [
        ...(lines.length === 0 ? [] : [render(table, lines, isMany, options)]),
        ...moreLines(all.length - shown.length),
        ...(calm.length === 0 || options.wide
          ? []
          : [calmLine(table.calmText, calm, names, options.width)]),
      ];
      return parts.join('\n');
    },
  };
}

/** As they are where there is room for all; else those that differ between runs, and the worst of the others. */
function foremost<Item>(groups: readonly Group<Item>[], most: number): readonly Group<Item>[] {
  if (groups.length <= most) return groups;
  const differing = groups.filter(({ difference }) => difference >= leastShown);
  const first = worst(differing, most, ({ difference }) => difference);
  const others = groups.filter((group) => !first.includes(group));
  return [...first, ...worst(others, most - first.length, ({ harm }) => harm)];
}

/** As they are where there is room for all, else the worst, the worst first. */
export function worst<Item>(
  items: readonly Item[],
  most: number,
  harmOf: (item: Item) => number,
): readonly Item[] {
  if (items.length <= most) return items;
  return items.toSorted((one, other) => harmOf(other) - harmOf(one)).slice(0, most);
}

/** `and 12 more`, where there are. */
export function moreLines(more: number, indent = ''): readonly string[] {
  return more > 0 ? [`${indent}and ${more} more`] : [];
}

function groupsOf<Item extends Counted>(
  table: RowTable<Item>,
  runs: readonly RunResult[],
  itemsOf: (summary: Summary) => readonly Item[],
  options: TableOptions,
): readonly Group<Item>[] {
  const [first] = runs;
  const items = allOf(runs.map(({ summary }) => itemsOf(summary)));
  const firstDraws = (first?.draws ?? []).map((draw) => new Map(paired(items, itemsOf(draw))));
  const columns = runs.map((run, index) => ({
    variant: run.name,
    same: new Map(paired(items, itemsOf(run.summary))),
    draws: index === 0 ? null : run.draws.map((draw) => new Map(paired(items, itemsOf(draw)))),
  }));
  const nameOf = namesOf(table, items, options);
  return items.map((item) => {
    const lines = columns.flatMap(({ variant, same, draws }): readonly Line<Item>[] => {
      const own = same.get(item);
      if (!own) return [];
      const pairs = draws?.flatMap((draw, at) => {
        const [one, two] = [firstDraws[at]?.get(item), draw.get(item)];
        return one && two ? [[one, two] as const] : [];
      });
      return [{ name: nameOf(item), variant, item: own, pairs: pairs ?? null }];
    });
    const owns = lines.flatMap((line) => line.item ?? []);
    const differences = lines.flatMap(({ pairs: each }) => {
      const more = each?.map(([one, two]) => table.harmOf(two) - table.harmOf(one));
      return more ? [Math.abs(beyondChance(more))] : [];
    });
    return {
      lines,
      isCalm: owns.every(table.isCalm),
      harm: mostOf(owns.map(table.harmOf), 0),
      difference: mostOf(differences, 0),
    };
  });
}

/** The objects of the first run, and those that only others have. */
function allOf<Item extends Counted>(lists: readonly (readonly Item[])[]): readonly Item[] {
  const byKey = new Map<string, Item>();
  for (const item of lists.flat()) {
    const key = keyOf(item);
    if (!byKey.has(key)) byKey.set(key, item);
  }
  return [...byKey.values()];
}

/** Kinds are said where names are not enough. */
function namesOf<Item extends Counted>(
  { kindOf }: RowTable<Item>,
  items: readonly Item[],
  { wide }: TableOptions,
): (item: Item) => string {
  const fullName = ({ namespace, name }: Item): string =>
    namespace === undefined ? name || none : `${namespace}/${name}`;
  const times = countBy(items.map(fullName));
  return (item) => {
    const full = fullName(item);
    const name = `${full}${item.unknown ? ' ?' : ''}`;
    const kind = kindOf(item);
    if (kind === null) return name;
    if (wide) return `${kind} ${name}`;
    return (times.get(full) ?? 0) > 1 ? `${name} (${kind})` : name;
  };
}

/** Each line has all facts: the subject and the variant. */
function flat<Item>(
  { head, columns }: RowTable<Item>,
  groups: readonly (readonly Line<Item>[])[],
  isMany: boolean,
  options: TableOptions,
): string {
  const shown = columns.filter(({ when }) => when !== 'not wide' && (!isMany || when !== 'single'));
  const variant: Column<Line<Item>> = ['VARIANT', (line) => line.variant];
  const names: readonly Column<Line<Item>>[] = [
    [head, ({ name }) => name],
    ...(isMany ? [variant] : []),
  ];
  return renderColumns([...names, ...shown.map(columnOf)], groups.flat(), options);
}

/** Of several runs the variants stand below their subject. */
function folded<Item>(
  { head, columns }: RowTable<Item>,
  groups: readonly (readonly Line<Item>[])[],
  isMany: boolean,
  options: TableOptions,
): string {
  const shown = columns.filter(({ when = '' }) => {
    return when !== 'wide' && (!isMany || !when.startsWith('single'));
  });
  const lines = groups.flatMap((group): readonly Line<Item>[] => {
    const [{ name = '' } = {}] = group;
    if (!isMany) return group;
    const below = group.map((line) => ({ ...line, name: `  ${line.variant}` }));
    return [{ name, variant: '', item: null, pairs: null }, ...below];
  });
  return renderColumns([[head, ({ name }) => name], ...shown.map(columnOf)], lines, options);
}

function columnOf<Item>(column: RowColumn<Item>): Column<Line<Item>> {
  return [
    column.head,
    ({ item, pairs }) => (item === null ? '' : comparedText(column, item, pairs)),
    { tone: ({ item }) => (item === null ? null : (column.tone?.(item) ?? null)) },
  ];
}

function calmLine(
  text: string,
  names: readonly string[],
  most: number,
  width: number | null,
): string {
  const more = names.length - most;
  const shown = names.slice(0, most).join(', ');
  return wrapped(
    `${text}: ${shown}${more > 0 ? ` and ${more} more` : ''}`,
    '  ',
    width ?? undefined,
  );
}

/** A smaller difference is not shown. */
const leastShown = 0.05;

/** Stands behind what differs by chance alone. */
export const byChance = '~';

interface RowColumn<Item> {
  readonly head: string;
  readonly text: (item: Item) => string;
  /** The value that is compared with the first run; left out: no comparison. */
  readonly amount?: (item: Item) => number;
  readonly unit?: 'seconds';
  /** Left out, or null: no colour. */
  readonly tone?: (item: Item) => Tone | null;
  /** The answers that show the column, by the number of runs and -o wide. Left out: all. */
  readonly when?: 'single' | 'wide' | 'single or wide' | 'not wide';
}

/** A table of the figures of each workload, or of each budget. */
interface RowTable<Item> {
  readonly head: string;
  readonly kindOf: (item: Item) => string | null;
  readonly columns: readonly RowColumn<Item>[];
  /** True if there is nothing to tell of an item; `calmText` stands for all such items. */
  readonly isCalm: (item: Item) => boolean;
  readonly calmText: string;
  /** The more, the worse: those are shown first where not all are. */
  readonly harmOf: (item: Item) => number;
}

export const workloadTable: RowTable<WorkloadSummary> = {
  head: 'WORKLOAD',
  kindOf: ({ kind }) => kind,
  isCalm: ({ downMax, unavailableMax, evictions }) => downMax + unavailableMax + evictions === 0,
  calmText: 'never down, and no pod evicted',
  harmOf: harmOfWorkload,
  columns: [
    { head: 'WANTED', text: ({ wanted }) => String(wanted), when: 'wide' },
    {
      head: 'MOST DOWN',
      text: ({ downMax, downWorstWanted }) =>
        downMax === 0 ? '0' : `${downMax} of ${downWorstWanted}`,
      amount: ({ downMax }) => downMax,
      // No pod was left.
      tone: ({ downMax, downWorstWanted }) =>
        downMax > 0 && downMax >= downWorstWanted ? 'urgent' : null,
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
  harmOf: ({ refusals, belowMax, belowSeconds }) => belowMax * belowSeconds + refusals / 1000,
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
      tone: ({ belowMax }) => (belowMax > 0 ? 'urgent' : null),
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
  harmOf: ({ evictions, failures }) => failures + evictions / 1000,
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

/** Sums over workloads: of all of them, or of those in each namespace or zone. */
export function sumTable(head: string): RowTable<PlaceTotals> {
  return {
    head,
    kindOf: () => null,
    isCalm: ({ workloads, evictions, unplaced }) => workloads + evictions + unplaced === 0,
    calmText: 'nothing lost in',
    harmOf: ({ podMinutesLost, evictions }) => podMinutesLost + evictions / 1000,
    columns: [
      {
        head: 'HARMED',
        text: ({ workloads }) => String(workloads),
        amount: ({ workloads }) => workloads,
      },
      {
        head: 'MOST DOWN',
        text: ({ downMax }) => String(downMax),
        amount: ({ downMax }) => downMax,
      },
      {
        head: 'POD-MINUTES',
        text: ({ podMinutesLost }) => tenths(podMinutesLost),
        amount: ({ podMinutesLost }) => podMinutesLost,
      },
      {
        head: 'EVICTIONS',
        text: ({ evictions }) => String(evictions),
        amount: ({ evictions }) => evictions,
      },
      {
        head: 'NO ROOM',
        text: ({ unplaced }) => String(unplaced),
        amount: ({ unplaced }) => unplaced,
      },
    ],
  };
}

/**
 * The value of an item, followed by its difference from the first run; with several seeds, a mark
 * in place of a difference that is no more than chance makes.
 */
export function comparedText<Item>(
  { text, amount, unit }: RowColumn<Item>,
  item: Item,
  pairs: readonly (readonly [first: Item, item: Item])[] | null,
): string {
  // As far as times are shown.
  const whole = (one: Item): number => {
    const value = amount?.(one) ?? 0;
    return unit === 'seconds' ? Math.floor(value) : value;
  };
  const differences = (pairs ?? []).map(([first, other]) => whole(other) - whole(first));
  const more = pairs === null ? 0 : beyondChance(differences);
  const size = unit === 'seconds' ? seconds(Math.abs(more)) : tenths(Math.abs(more));
  const isSame = size === '0' || size === '0s';
  if (!isSame) return `${text(item)} ${more > 0 ? '+' : '-'}${size}`;
  const isByChance =
    differences.length > 1 && differences.some((one) => Math.abs(one) >= leastShown);
  return isByChance ? `${text(item)} ${byChance}` : text(item);
}

/** Pods of DaemonSets cannot go elsewhere, and are as many as machines: these come after all others. */
function harmOfWorkload({ kind, podMinutesLost, evictions }: WorkloadSummary): number {
  const harm = podMinutesLost + evictions / 1000;
  return kind === 'DaemonSet' ? harm / 1e9 : harm;
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
