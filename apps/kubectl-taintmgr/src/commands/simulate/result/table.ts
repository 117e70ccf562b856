// The result of simulations as a table.
import { formatDuration } from '@taintmgr/core/time';
import { count, printable } from '@taintmgr/k8s-adapter/command-line';
import { none } from '@taintmgr/k8s-adapter/explain';
import type {
  AssumedTime,
  Assumption,
  BudgetSummary,
  Cause,
  JobSummary,
  Named,
  WorkloadSummary,
} from '@taintmgr/page';
import { type Column, renderColumns, type TableOptions, wrapped } from '../../../render/table.ts';
import { appliedText } from '../apply/applied-text.ts';
import { managerFlagsText } from '../stage/manager-flags.ts';
import { rangeText } from '../times/pod-times.ts';
import { type Result, type RunResult, seconds, shownName } from './documents.ts';
import { beyondChance, paired, sameAs } from './draws.ts';

/** What happened, for a person: a few tables and a sentence on each. */
export function simulationTable(result: Result, options: TableOptions): string {
  const runs = result.runs.map((run) => ({ ...run, name: shownName(run) }));
  const [first] = runs;
  if (!first) return '';
  const tables = [
    rowTable(workloadTable, runs, ({ workloads }) => workloads, options),
    rowTable(budgetTable, runs, ({ budgets }) => budgets, options),
    rowTable(jobTable, runs, ({ jobs }) => jobs, options),
  ];
  const hasChance = tables.some((table) => table.includes(` ${byChance}`));
  const parts = [
    fitting([headline(result, first), ...appliedLines(result)], options),
    ...tables,
    runs.length > 1 ? fitting(chanceLines(result, hasChance), options) : '',
    fitting(unknownLines(runs), options),
    causeTable(runs, options),
    ...runs.map((run) => fitting(unplacedLines(run, runs.length > 1), options)),
    ...(options.wide ? [timeline(first, options)] : []),
    fitting(
      runs.flatMap((run) => [totals(run), ...loopLines(run)]),
      options,
    ),
    fitting(
      [...assumedLines(first.assumptions), ...requestLines(runs), ...managerLines(result)],
      options,
    ),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

/** Lines as long as they are with -o wide, else as long as a terminal has room for. */
function fitting(lines: readonly string[], { wide }: TableOptions): string {
  return lines.map((line) => (wide ? printable(line) : wrapped(line, '    '))).join('\n');
}

function headline(
  { source, script, until, seed, seeds }: Result,
  { recording }: RunResult,
): string {
  const { nodes, workloads, jobs } = recording;
  const what = `${source.name} (${count(nodes.length, 'node')}, ${count(workloads.length, 'workload')}${
    jobs.length > 0 ? `, ${count(jobs.length, 'Job')}` : ''
  })`;
  const partial = source.missing.length > 0 ? 'PARTIAL: ' : '';
  const played = script === null ? 'without events' : `with ${script}`;
  return `${partial}${formatDuration(until)} of ${what} ${played}, ${seedText(seed, seeds)}`;
}

/** What manifests make of the cluster before anything happens in it. */
function appliedLines({ applied, runs }: Result): readonly string[] {
  if (!applied) return [];
  const [before, after] = runs.map(({ rollout }) => rollout);
  const { seconds: lasted = 0, unfinished = [], closedBudgets = [] } = after ?? {};
  const open = ({ namespace, name }: Named): boolean =>
    !before?.closedBudgets.some((one) => one.namespace === namespace && one.name === name);
  const closed = closedBudgets.filter(open).map(({ namespace, name, pods }) => {
    return `PDB ${namespace}/${name} allows no eviction after: 0 of ${pods} may be down`;
  });
  return [
    `after: ${appliedText(applied)}`,
    ...(lasted === 0 ? [] : [`events begin ${seconds(lasted)} after that, before as well`]),
    ...unfinished.map(({ workload, text }) => `${workload} does not come to rest after: ${text}`),
    ...closed,
  ];
}

/** `?` behind a name: what decides about it and is not simulated. */
function unknownLines(runs: readonly RunResult[]): readonly string[] {
  const lines = runs.flatMap(({ summary }) =>
    summary.workloads.flatMap(({ namespace, name, unknown = [] }) =>
      unknown.map((what) => `? ${namespace}/${name}: ${what}, which is not simulated`),
    ),
  );
  return [...new Set(lines)];
}

/** Of several runs, how far their differences can be trusted. */
function chanceLines({ seeds }: Result, hasChance: boolean): readonly string[] {
  if (seeds === 1) return ['One seed: differences may be chance; --seeds 20 tells which are.'];
  return hasChance ? [`${byChance} no difference: with ${seeds} seeds chance makes as much`] : [];
}

/** `seed 1`, or `medians of 20 seeds from 1` */
function seedText(seed: number, seeds: number): string {
  return seeds === 1 ? `seed ${seed}` : `medians of ${seeds} seeds from ${seed}`;
}

interface Counted {
  readonly kind?: string;
  readonly namespace: string;
  readonly name: string;
  readonly unknown?: readonly string[];
}

/** A line of a table: something in a run, and the same in the first one; or the head of such lines. */
interface Line<Item> {
  readonly name: string;
  readonly variant: string;
  readonly item: Item | null;
  /** The same in the first run and in this one, for each seed; null: it is the first run. */
  readonly pairs: readonly (readonly [first: Item, item: Item])[] | null;
}

/** So many things to which nothing happened are named. */
const calmMax = 12;

/** '' where there is nothing to count. */
function rowTable<Item extends Counted>(
  table: RowTable<Item>,
  runs: readonly RunResult[],
  itemsOf: (summary: RunResult['summary']) => readonly Item[],
  options: TableOptions,
): string {
  const [first] = runs;
  const items = allOf(runs.map(({ summary }) => itemsOf(summary)));
  if (items.length === 0) return '';
  const pairs = runs.map(({ name, summary }) => {
    return { variant: name, byFirst: new Map(paired(items, itemsOf(summary))) };
  });
  const drawsOf = (item: Item, run: RunResult | undefined): readonly (readonly [Item, Item])[] =>
    (run?.draws ?? []).flatMap((draw, at) => {
      const [one] = paired([item], first?.draws[at] ? itemsOf(first.draws[at]) : []);
      const [two] = paired([item], itemsOf(draw));
      return one && two ? [[one[1], two[1]] as const] : [];
    });
  const linesOf = (item: Item): readonly Line<Item>[] =>
    pairs.flatMap(({ variant, byFirst }, index): readonly Line<Item>[] => {
      const same = byFirst.get(item);
      const name = nameOf(table, item, items, options);
      if (!same) return [];
      const draws = index === 0 ? null : drawsOf(item, runs[index]);
      return [{ name, variant, item: same, pairs: draws }];
    });
  if (options.wide) return flat(table, items.flatMap(linesOf), runs.length > 1, options);
  const isCalm = (item: Item): boolean =>
    linesOf(item).every((line) => line.item !== null && table.isCalm(line.item));
  const counted = items.filter((item) => !isCalm(item)).map(linesOf);
  const calm = items.filter(isCalm).map((item) => nameOf(table, item, items, options));
  const parts = [
    ...(counted.length === 0 ? [] : [folded(table, counted, runs.length > 1, options)]),
    ...(calm.length === 0 ? [] : [calmLine(table.calmText, calm)]),
  ];
  return parts.join('\n');
}

/** Those of the first run, and what only others have. */
function allOf<Item extends Counted>([first = [], ...others]: readonly (readonly Item[])[]) {
  const more = others.flat().filter((item) => !sameAs(item, first));
  return [...first, ...more.filter((item, at) => sameAs(item, more) === more[at])];
}

/** Kinds are said where names are not enough. */
function nameOf<Item extends Counted>(
  { kindOf }: RowTable<Item>,
  item: Item,
  items: readonly Item[],
  { wide }: TableOptions,
): string {
  const name = `${item.namespace}/${item.name}${item.unknown ? ' ?' : ''}`;
  const kind = kindOf(item);
  if (kind === null) return name;
  if (wide) return `${kind} ${name}`;
  const others = items.filter((one) => one.name === item.name && one.namespace === item.namespace);
  return others.length > 1 ? `${name} (${kind})` : name;
}

/** Each line says all: what it is about, and the variant. */
function flat<Item>(
  { head, columns }: RowTable<Item>,
  lines: readonly Line<Item>[],
  isMany: boolean,
  options: TableOptions,
): string {
  const shown = columns.filter(({ when }) => when !== 'not wide' && (!isMany || when !== 'single'));
  const variant: Column<Line<Item>> = ['VARIANT', (line) => line.variant];
  const names: readonly Column<Line<Item>>[] = [
    [head, ({ name }) => name],
    ...(isMany ? [variant] : []),
  ];
  return renderColumns([...names, ...shown.map(columnOf)], lines, options);
}

/** Of several runs the variants stand below what they are about. */
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
  ];
}

function calmLine(text: string, names: readonly string[]): string {
  const more = names.length - calmMax;
  const shown = names.slice(0, calmMax).join(', ');
  return wrapped(`${text}: ${shown}${more > 0 ? ` and ${more} more` : ''}`, '  ');
}

/** A smaller difference is not shown. */
const leastShown = 0.05;

/** Stands behind what differs by chance alone. */
const byChance = '~';

interface RowColumn<Item> {
  readonly head: string;
  readonly text: (item: Item) => string;
  /** What is compared with the first run; left out: nothing. */
  readonly amount?: (item: Item) => number;
  readonly unit?: 'seconds';
  /** Whether it is shown of several runs too, and only with -o wide. Left out: always. */
  readonly when?: 'single' | 'wide' | 'single or wide' | 'not wide';
}

/** A table of what was counted of each workload, or of each budget. */
interface RowTable<Item> {
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

const jobTable: RowTable<JobSummary> = {
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

/**
 * What an item has, and behind it what that is more or less than the first run has of it; of several seeds,
 * whether that is more than chance makes.
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

function overText({ overAt, downAtEnd }: WorkloadSummary): string {
  return downAtEnd > 0 ? `${downAtEnd} down` : secondsOrNone(overAt);
}

function secondsOrNone(value: number | null): string {
  return value === null ? none : seconds(value);
}

function tenths(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** Events, zones and nodes as they went, one line each. */
function timeline({ playedEvents, recording }: RunResult, options: TableOptions): string {
  const rows = [
    ...playedEvents.map(({ at, text }) => ({ at, what: 'script', text })),
    ...recording.zones.flatMap(({ name, states }) =>
      states.map(({ at, state, ready, notReady, held }) => {
        const why = held === null ? '' : `, ${held}`;
        return {
          at,
          what: `zone ${name || none}`,
          text: `${state}, ${ready} ready, ${notReady} not${why}`,
        };
      }),
    ),
    ...recording.nodes.flatMap(({ name, states }) =>
      states.slice(1).map(({ at, ready, cordoned, taints }) => {
        const shown = [`Ready=${ready}`, ...(cordoned ? ['cordoned'] : []), ...taints];
        return { at, what: `node ${name}`, text: shown.join(', ') };
      }),
    ),
    ...recording.evictions.map(({ at, namespace, pod, node, how, because }) => {
      return {
        at,
        what: `pod ${namespace}/${pod}`,
        text: `${how} from ${node}: ${because[0] ?? ''}`,
      };
    }),
  ];
  // Of one instant: what was done first, then what came of it.
  rows.sort((one, other) => one.at - other.at);
  const columns: readonly Column<(typeof rows)[number]>[] = [
    ['AT', ({ at }) => seconds(at)],
    ['WHAT', ({ what }) => what],
    ['HAPPENED', ({ text }) => text],
  ];
  return renderColumns(columns, rows, options);
}

/** More workloads than these are counted. */
const namedMax = 3;

const fromTexts: Readonly<Record<AssumedTime['from'], string>> = {
  script: 'by the script',
  annotation: 'as they say',
  observed: 'as seen in the cluster',
  probes: 'by their probes',
  grace: 'by hooks and grace periods',
  usual: 'with images at hand',
};

/** `assumed of Deployment shop/web: starts in 1m to 1m30s (by the script), stops in ...` */
function assumedLines(assumptions: readonly Assumption[]): readonly string[] {
  const groups = new Map<string, string[]>();
  for (const { workload, start, stop } of assumptions) {
    const text = `start ${timeText(start)}, stop ${timeText(stop)}`;
    const group = groups.get(text) ?? [];
    group.push(workload);
    groups.set(text, group);
  }
  return Array.from(groups, ([text, workloads]) => {
    const isFew = workloads.length <= namedMax;
    const whose = isFew ? workloads.join(', ') : count(workloads.length, 'workload');
    return `assumed of pods of ${whose}: ${text}`;
  });
}

/** Where a policy asks whoever answers for pods first: nobody does here. */
function requestLines(runs: readonly RunResult[]): readonly string[] {
  const asks = runs.some(({ recording }) =>
    recording.evictions.some(({ because: [first = ''] }) => first.includes('(EvictionRequest)')),
  );
  return asks
    ? ['assumed of EvictionRequests: nobody answers, and pods are evicted by pods/eviction']
    : [];
}

/** How kube-controller-manager is set up, where it is played. */
function managerLines({ manager }: Result): readonly string[] {
  return manager ? [`assumed of kube-controller-manager: ${managerFlagsText(manager)}`] : [];
}

/** `in 1m to 1m30s (by their probes)` */
function timeText({ leastSeconds, mostSeconds, from }: AssumedTime): string {
  return `in ${rangeText([leastSeconds * 1000, mostSeconds * 1000])} (${fromTexts[from]})`;
}

const kindTexts: Readonly<Record<Cause['kind'], string>> = {
  limit: 'limit',
  pause: 'pause',
  zone: 'zone',
  budget: 'PDB',
  room: 'no room',
  failure: 'failed requests',
};

/** A cause, or the name of the run that those below it are of. */
type Row = Cause | string;

/** One row for each cause and workload, and below them each reason once; '' where nothing kept any pod. */
function causeTable(runs: readonly RunResult[], options: TableOptions): string {
  const causes = runs.flatMap(({ summary }) => summary.causes);
  if (causes.length === 0) return '';
  const isNamed = runs.length > 1;
  const rows = runs.flatMap(({ name, summary }): readonly Row[] => {
    return isNamed && summary.causes.length > 0 ? [name, ...summary.causes] : summary.causes;
  });
  const columns: readonly Column<Row>[] = [
    ['KEPT BY', (row) => nameText(row, isNamed)],
    ['WORKLOAD', ofCause(({ workload }) => workloadText(workload, options))],
    ['PODS', ofCause(({ pods }) => (pods === 0 ? none : String(pods)))],
    ['FROM', ofCause(({ from }) => seconds(from))],
    ['UNTIL', ofCause(({ until }) => (until === null ? none : seconds(until)))],
  ];
  const reasons = new Set(causes.map((cause) => `  ${causeText(cause)}: ${cause.text}`));
  const lines = [...reasons].map((line) => {
    return options.wide ? printable(line) : wrapped(line, '    ');
  });
  return [renderColumns(columns, rows, options), ...lines].join('\n');
}

function nameText(row: Row, isNamed: boolean): string {
  if (typeof row === 'string') return row;
  return `${isNamed ? '  ' : ''}${causeText(row)}`;
}

function ofCause(text: (cause: Cause) => string): (row: Row) => string {
  return (row) => (typeof row === 'string' ? '' : text(row));
}

function causeText({ kind, name }: Cause): string {
  return `${kindTexts[kind]} ${name}`.trim();
}

/** `Deployment shop/web`, or without its kind where there is less room. */
function workloadText(workload: string | null, { wide }: TableOptions): string {
  if (workload === null) return none;
  return wide ? workload : workload.slice(workload.indexOf(' ') + 1);
}

/** Of pods that fit nowhere, and of loops, so many are named. */
const linesMax = 10;

/** Which pods fitted on no node; none where all did. */
function unplacedLines(
  { name, summary, recording }: RunResult,
  isNamed: boolean,
): readonly string[] {
  const { pods, atOnceMax, atEnd } = summary.unplaced;
  if (pods === 0) return [];
  const where = isNamed ? `${name}: ` : '';
  const first = `${where}${count(pods, 'pod')} fitted on no node: ${atOnceMax} at once, ${atEnd} at the end`;
  const left = recording.unplaced.filter(({ until }) => until === null);
  const lines = left.slice(0, linesMax).map(({ namespace, pod, from, message }) => {
    return `  ${namespace}/${pod} since ${seconds(from)}: ${message}`;
  });
  const more = left.length - lines.length;
  return [first, ...lines, ...(more > 0 ? [`  and ${more} more`] : [])];
}

/** `taintmgr: 15 evictions, 0 refused by PDBs, 6 nodes tainted` */
function totals({ name, summary }: RunResult): string {
  const { evictions, refusals, failures, nodesTainted } = summary;
  const failed = failures > 0 ? `, ${failures} failed` : '';
  return `${name}: ${count(evictions, 'eviction')}, ${refusals} refused by PDBs${failed}, ${count(nodesTainted, 'node')} tainted`;
}

/** `  loop: shop/db-0 evicted 83 times from zone-a-1, 1m to 14m50s: tolerates bad:NoExecute for 10s` */
function loopLines({ summary: { loops } }: RunResult): readonly string[] {
  const lines = loops.slice(0, linesMax).map((loop) => {
    const { namespace, name, node, evictions, firstAt, lastAt, because } = loop;
    const who = name.includes('/') ? name : `${namespace}/${name}`;
    const when = `${seconds(firstAt)} to ${seconds(lastAt)}`;
    return `  loop: ${who} evicted ${evictions} times from ${node}, ${when}: ${because[0] ?? ''}`;
  });
  const more = loops.length - lines.length;
  return more > 0 ? [...lines, `  and ${count(more, 'more loop')}`] : lines;
}
