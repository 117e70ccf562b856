// The result of simulations as a table.
import { formatDuration } from '@taintmgr/core/time';
import { count, groupBy, printable } from '@taintmgr/k8s-adapter/command-line';
import { none } from '@taintmgr/k8s-adapter/explain';
import type { AssumedTime, Assumption, Cause, Named, PlaceTotals, Summary } from '@taintmgr/page';
import { type Column, renderColumns, type TableOptions, wrapped } from '../../../render/table.ts';
import { appliedText } from '../apply/applied-text.ts';
import type { Top } from '../flags.ts';
import { managerFlagsText } from '../stage/manager-flags.ts';
import { rangeText } from '../times/pod-times.ts';
import { type Result, type RunResult, seconds } from './documents.ts';
import {
  budgetTable,
  byChance,
  jobTable,
  type Listing,
  listing,
  moreLines,
  sumTable,
  workloadTable,
  worst,
} from './rows.ts';

/** The shown size of an answer: the worst rows of each table, and the lines and names below the tables. */
interface Room {
  readonly workloads: number;
  /** Namespaces, zones, budgets, Jobs and causes. */
  readonly others: number;
  /** Pods that fitted nowhere, and loops. */
  readonly lines: number;
  /** Remarks about unknowns, and about assumptions. */
  readonly remarks: number;
  /** Things to which nothing happened. */
  readonly names: number;
}

const usual: Room = {
  ...{ workloads: Number.POSITIVE_INFINITY, others: Number.POSITIVE_INFINITY },
  ...{ lines: 10, remarks: Number.POSITIVE_INFINITY, names: 12 },
};
const everything: Room = { ...usual, lines: Number.POSITIVE_INFINITY };

/** A longer answer shows only the worst, unless the user asks for more. */
const linesMax = 100;
/** The numbers of workloads that are tried, until the answer is short enough. */
const steps = [30, 20, 15, 10, 7, 5, 4, 3, 2, 1];
/** The number of zones for which there is always room. */
const zonesMin = 3;
/** More workloads that are harmed are summed up too. */
const unsummedMax = 12;

function roomFor(workloads: number, others: number): Room {
  const lines = Math.min(usual.lines, others);
  return { workloads, others, lines, remarks: others, names: 3 };
}

/**
 * The results of a simulation, for a person: a few tables and a sentence on each. Without `top` as
 * many rows as make a hundred lines, or all with -o wide.
 */
export function simulationTable(result: Result, options: TableOptions, top?: Top): string {
  const render = answer(result, options);
  if (top === 'all' || (top === undefined && options.wide)) return render(everything);
  const isMany = result.runs.length > 1;
  if (top !== undefined) return withHint(render(roomFor(top, top)), render(usual), isMany);
  const whole = render(usual);
  // Notes stand below it, one line each.
  const most = linesMax - result.source.notes.length;
  if (linesIn(whole) <= most) return whole;
  let text = whole;
  for (const workloads of steps) {
    text = withHint(render(roomFor(workloads, Math.ceil(workloads / 3))), whole, isMany);
    if (linesIn(text) <= most) break;
  }
  return text;
}

/** Says how to see the rest, where something is left out. */
function withHint(text: string, whole: string, isMany: boolean): string {
  if (text === whole) return text;
  const what = isMany ? 'What differs and the worst' : 'The worst';
  return `${text}\n\n${what} are shown; --top 50 shows 50 of each table, --top all everything.`;
}

function linesIn(text: string): number {
  return text.split('\n').length;
}

/** The answer, as far as there is room for it. */
function answer(result: Result, options: TableOptions): (room: Room) => string {
  const { runs } = result;
  const [first] = runs;
  if (!first) return () => '';
  const workloads = listing(workloadTable, runs, ({ workloads: all }) => all, options);
  const budgets = listing(budgetTable, runs, ({ budgets: all }) => all, options);
  const jobs = listing(jobTable, runs, ({ jobs: all }) => all, options);
  const sums = workloads.harmed > unsummedMax ? sumListings(runs, options) : null;
  return (room) => {
    const { names } = room;
    const others = { rows: room.others, names };
    const tables = [
      sums?.total?.text(others) ?? '',
      workloads.text({ rows: room.workloads, names }),
      sums?.namespaces?.text(others) ?? '',
      sums?.zones?.text({ ...others, rows: Math.max(room.others, zonesMin) }) ?? '',
      budgets.text(others),
      jobs.text(others),
    ];
    const hasChance = tables.some((table) => table.includes(` ${byChance}`));
    const parts = [
      fitting([headline(result, first), ...appliedLines(result, room)], options),
      ...tables,
      runs.length > 1 ? fitting(chanceLines(result, hasChance), options) : '',
      fitting(unknownLines(runs, room), options),
      causeTable(runs, room, options),
      ...runs.map((run) => fitting(unplacedLines(run, runs.length > 1, room), options)),
      ...(options.wide ? [timeline(first, options)] : []),
      fitting(
        runs.flatMap((run) => [totals(run), ...loopLines(run, room)]),
        options,
      ),
      fitting(
        [...assumedLines(first.assumptions, room), ...requestLines(runs), ...managerLines(result)],
        options,
      ),
    ];
    return parts.filter((part) => part !== '').join('\n\n');
  };
}

/** Sums over all workloads, and of those in each namespace and zone where there are several. */
function sumListings(
  runs: readonly RunResult[],
  options: TableOptions,
): Readonly<Record<'total' | 'namespaces' | 'zones', Listing | null>> {
  const sums = (head: string, sumsOf: (summary: Summary) => readonly PlaceTotals[]): Listing =>
    listing(sumTable(head), runs, sumsOf, options);
  const places = (head: string, field: 'namespaces' | 'zones'): Listing | null => {
    const isOne = runs.every(({ summary }) => summary[field].length <= 1);
    return isOne ? null : sums(head, (summary) => summary[field]);
  };
  const name = count(runs[0]?.summary.workloads.length ?? 0, 'workload');
  return {
    total: sums('TOTAL', (summary) => [{ name, ...summary.totals }]),
    namespaces: places('NAMESPACE', 'namespaces'),
    zones: places('ZONE', 'zones'),
  };
}

/** Lines as long as they are with -o wide, else as long as a terminal has room for. */
function fitting(lines: readonly string[], { wide, width }: TableOptions): string {
  return lines
    .map((line) => (wide ? printable(line) : wrapped(line, '    ', width ?? undefined)))
    .join('\n');
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

/** The effect of manifests on the cluster before any event happens. */
function appliedLines({ applied, runs }: Result, { remarks }: Room): readonly string[] {
  if (!applied) return [];
  const [before, after] = runs.map(({ rollout }) => rollout);
  const { seconds: lasted = 0, unfinished = [], closedBudgets = [] } = after ?? {};
  const open = ({ namespace, name }: Named): boolean =>
    !before?.closedBudgets.some((one) => one.namespace === namespace && one.name === name);
  const closed = closedBudgets.filter(open).map(({ namespace, name, pods }) => {
    return `PDB ${namespace}/${name} allows no eviction after: 0 of ${pods} may be down`;
  });
  const faults = [
    ...unfinished.map(({ workload, text }) => `${workload} does not come to rest after: ${text}`),
    ...closed,
  ];
  return [
    `after: ${appliedText(applied)}`,
    ...(lasted === 0 ? [] : [`events begin ${seconds(lasted)} after that, before as well`]),
    ...faults.slice(0, remarks),
    ...moreLines(faults.length - remarks),
  ];
}

/** `?` behind a name: what decides about it and is not simulated. */
function unknownLines(runs: readonly RunResult[], { remarks }: Room): readonly string[] {
  const lines = runs.flatMap(({ summary }) =>
    summary.workloads.flatMap(({ namespace, name, unknown = [] }) =>
      unknown.map((what) => `? ${namespace}/${name}: ${what}, which is not simulated`),
    ),
  );
  const unknown = [...new Set(lines)];
  return [...unknown.slice(0, remarks), ...moreLines(unknown.length - remarks, '? ')];
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
  // Of one instant: the acts first, then their effects.
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
function assumedLines(assumptions: readonly Assumption[], { remarks }: Room): readonly string[] {
  const groups = groupBy(assumptions, ({ start, stop }) => {
    return `start ${timeText(start)}, stop ${timeText(stop)}`;
  });
  const shown = worst([...groups], remarks, ([, { length }]) => length);
  const lines = shown.map(([text, group]) => {
    const workloads = group.map(({ workload }) => workload);
    const isFew = workloads.length <= namedMax;
    const whose = isFew ? workloads.join(', ') : count(workloads.length, 'workload');
    return `assumed of pods of ${whose}: ${text}`;
  });
  const left = shown.reduce((rest, [, { length }]) => rest - length, assumptions.length);
  return left > 0 ? [...lines, `assumed of pods of ${left} more: other times`] : lines;
}

/** Where a policy asks a pod's interceptors first: the simulation has none. */
function requestLines(runs: readonly RunResult[]): readonly string[] {
  const asks = runs.some(({ recording }) =>
    recording.evictions.some(({ because: [first = ''] }) =>
      first.includes('after an EvictionRequest'),
    ),
  );
  return asks
    ? ['assumed of EvictionRequests: no controller answers, and pods are evicted by pods/eviction']
    : [];
}

/** The settings of kube-controller-manager, where it is played. */
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

/** A cause, or the name of the run that those below it are of, or how many more there are. */
type Row = Cause | string;

/** One row for each cause and workload, and below them each reason once; '' where nothing kept any pod. */
function causeTable(runs: readonly RunResult[], { others }: Room, options: TableOptions): string {
  const kept = runs.flatMap(({ name, summary: { causes } }) => {
    return causes.length === 0
      ? []
      : [{ name, causes, shown: worst(causes, others, ({ pods }) => pods) }];
  });
  if (kept.length === 0) return '';
  const isNamed = runs.length > 1;
  const rows = kept.flatMap(({ name, causes, shown }): readonly Row[] => [
    ...(isNamed ? [name] : []),
    ...shown,
    ...moreLines(causes.length - shown.length, isNamed ? '  ' : ''),
  ]);
  const columns: readonly Column<Row>[] = [
    ['HELD BY', (row) => nameText(row, isNamed)],
    ['WORKLOAD', ofCause(({ workload }) => workloadText(workload, options))],
    ['PODS', ofCause(({ pods }) => (pods === 0 ? none : String(pods)))],
    ['FROM', ofCause(({ from }) => seconds(from))],
    ['UNTIL', ofCause(({ until }) => (until === null ? none : seconds(until)))],
  ];
  const shown = kept.flatMap((one) => one.shown);
  const reasons = [...new Set(shown.map((cause) => `  ${causeText(cause)}: ${cause.text}`))];
  const lines = [...reasons.slice(0, others), ...moreLines(reasons.length - others, '  ')];
  return [renderColumns(columns, rows, options), fitting(lines, options)].join('\n');
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

/** The pods that fitted on no node; no lines where all fitted. */
function unplacedLines(
  { name, summary, recording }: RunResult,
  isNamed: boolean,
  room: Room,
): readonly string[] {
  const { pods, atOnceMax, atEnd } = summary.unplaced;
  if (pods === 0) return [];
  const where = isNamed ? `${name}: ` : '';
  const first = `${where}${count(pods, 'pod')} fitted on no node: ${atOnceMax} at once, ${atEnd} at the end`;
  const left = recording.unplaced.filter(({ until }) => until === null);
  const lines = left.slice(0, room.lines).map(({ namespace, pod, from, message }) => {
    return `  ${namespace}/${pod} since ${seconds(from)}: ${message}`;
  });
  return [first, ...lines, ...moreLines(left.length - lines.length, '  ')];
}

/** `taintmgr: 15 evictions, 0 refused by PDBs, 6 nodes tainted` */
function totals({ name, summary }: RunResult): string {
  const { evictions, refusals, failures, nodesTainted } = summary;
  const failed = failures > 0 ? `, ${failures} failed` : '';
  return `${name}: ${count(evictions, 'eviction')}, ${refusals} refused by PDBs${failed}, ${count(nodesTainted, 'node')} tainted`;
}

/** `  loop: shop/db-0 evicted 83 times from zone-a-1, 1m to 14m50s: tolerates bad:NoExecute for 10s` */
function loopLines({ summary: { loops } }: RunResult, room: Room): readonly string[] {
  const lines = loops.slice(0, room.lines).map((loop) => {
    const { namespace, name, node, evictions, firstAt, lastAt, because } = loop;
    const who = name.includes('/') ? name : `${namespace}/${name}`;
    const when = `${seconds(firstAt)} to ${seconds(lastAt)}`;
    return `  loop: ${who} evicted ${evictions} times from ${node}, ${when}: ${because[0] ?? ''}`;
  });
  const more = loops.length - lines.length;
  return more > 0 ? [...lines, `  and ${count(more, 'more loop')}`] : lines;
}
