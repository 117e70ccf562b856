// The changes that a pull request makes to a simulation: each workload and budget before and after,
// and the judgement of the differences.
import type {
  BudgetSummary,
  Differences,
  RunDocument,
  SimulationDocument,
  WorkloadSummary,
} from '@taintmgr/page';
import { amount, duration } from './markdown.ts';

type Judgement = 'worse' | 'better' | 'partly worse' | 'no difference';

/** A workload or budget in the runs, as text; the last run is what the pull request makes of it. */
export interface Row {
  /** `Deployment shop/web` */
  readonly name: string;
  /** The outcome in each run; '-': absent. */
  readonly cells: readonly string[];
  /** The figures of which the last run has more or less than the first. */
  readonly differences: readonly string[];
  readonly judgement: Judgement;
  /** True if anything happened to the workload or budget in any run. */
  readonly isHarmed: boolean;
  /** A budget that allows no eviction though all its pods are well, and allowed one before. */
  readonly isMadeImpossible: boolean;
  /** A workload of which the last run has no pods any more: nothing that was lost is lost there. */
  readonly isGone: boolean;
  /** The reason why its figures may be wrong. */
  readonly unknown: readonly string[];
}

/** The workloads of all runs, worst first. */
export function workloadRows({ runs }: SimulationDocument): readonly Row[] {
  const ids = unique(runs.flatMap(({ summary }) => summary.workloads));
  const rows = ids.map((id) => {
    const found = runs.map(({ summary }) => summary.workloads.find(isSame(id)));
    const last = runs.at(-1)?.differences?.workloads.find(isSame(id));
    const figures = last ? workloadFigures(last, found) : [];
    const worst = Math.max(...found.map((one) => one?.podMinutesLost ?? 0));
    const isGone = found[0] !== undefined && found.at(-1) === undefined;
    return {
      row: {
        name: nameOf(id),
        cells: found.map((one, at) => (one ? workloadText(one, runs[at]) : '-')),
        differences: isGone ? ['no pods any more'] : textsOf(figures, found),
        judgement: isGone ? ('worse' as const) : judged(figures),
        isHarmed: worst > 0,
        isMadeImpossible: false,
        isGone,
        unknown: [...new Set(found.flatMap((one) => one?.unknown ?? []))],
      },
      worst,
    };
  });
  const rank = ({ judgement }: Row): number => judgements.indexOf(judgement);
  return rows
    .sort((one, two) => rank(one.row) - rank(two.row) || two.worst - one.worst)
    .map(({ row }) => row);
}

/** In order of importance for the reader. */
const judgements: readonly Judgement[] = ['worse', 'partly worse', 'better', 'no difference'];

/** The budgets of all runs, those first that no eviction is allowed by any more. */
export function budgetRows({ runs }: SimulationDocument): readonly Row[] {
  const ids = unique(runs.flatMap(({ summary }) => summary.budgets));
  const rows = ids.map((id): Row => {
    const found = runs.map(({ summary }) => summary.budgets.find(isSame(id)));
    const last = runs.at(-1)?.differences?.budgets.find(isSame(id));
    const all = last && found[0] ? budgetFigures(last, found[0]) : [];
    // Of fewer pods a budget asks for less.
    const figures = isResized(runs, id) ? all.map(onlyWorse) : all;
    const closed = runs.map((run) => isClosed(run, { namespace: id.namespace, name: id.name }));
    const isMadeImpossible = closed[0] === false && closed.at(-1) === true;
    return {
      name: `${id.namespace}/${id.name}`,
      cells: found.map((one, at) => (one ? budgetText(one, closed[at] ?? false) : '-')),
      differences: textsOf(figures, found),
      judgement: isMadeImpossible ? 'worse' : judged(figures),
      isHarmed: found.some((one) => one && (one.refusals > 0 || one.belowSeconds > 0)),
      isMadeImpossible,
      isGone: false,
      unknown: [],
    };
  });
  const rank = ({ isMadeImpossible, judgement }: Row): number =>
    isMadeImpossible ? -1 : judgements.indexOf(judgement);
  return rows.sort((one, two) => rank(one) - rank(two));
}

function nameOf({ kind, namespace, name }: Id): string {
  return `${kind} ${namespace}/${name}`;
}

interface Id {
  readonly kind?: string;
  readonly namespace: string;
  readonly name: string;
}

function isSame(one: Id): (other: Id) => boolean {
  return (other) =>
    other.kind === one.kind && other.namespace === one.namespace && other.name === one.name;
}

function unique<Item extends Id>(items: readonly Item[]): readonly Item[] {
  const byKey = new Map(
    items.map((item) => [JSON.stringify([item.kind, item.namespace, item.name]), item]),
  );
  return [...byKey.values()];
}

/** `1 of 4 down (25%), for 6m6s, 6.1 pod-minutes (5.9 to 6.3)` */
function workloadText(workload: WorkloadSummary, run: RunDocument | undefined): string {
  const { downMax, downWorstWanted, downPercentMax, downSeconds, podMinutesLost } = workload;
  const asked = `asks for ${workload.wanted}`;
  if (downMax === 0) return `never down, ${asked}`;
  const band = run?.bands?.workloads.find(isSame(workload))?.podMinutesLost;
  const [least, most] = [amount(band?.least ?? 0), amount(band?.most ?? 0)];
  const range = band && least !== most ? ` (${least} to ${most})` : '';
  return [
    `${downMax} of ${downWorstWanted} down (${percent(downPercentMax)})`,
    `for ${duration(downSeconds)}`,
    `${amount(podMinutesLost)} pod-minutes${range}`,
  ].join(', ');
}

function budgetText(
  { refusals, belowMax, belowSeconds }: BudgetSummary,
  isClosed: boolean,
): string {
  const parts = [
    ...(isClosed ? ['never allows an eviction'] : []),
    ...(refusals > 0 ? [`${refusals} refused`] : []),
    ...(belowSeconds > 0 ? [`below by ${belowMax} for ${duration(belowSeconds)}`] : []),
  ];
  return parts.length === 0 ? 'kept, nothing refused' : parts.join(', ');
}

/** Tells whether the budget asks for as many pods as there are, before anything happens. */
function isClosed({ rollout }: RunDocument, id: Id): boolean {
  return rollout?.closedBudgets.some(isSame(id)) ?? false;
}

/** Tells whether a workload of the budget asks for more or fewer pods in the last run. */
function isResized(runs: readonly RunDocument[], { namespace, name }: Id): boolean {
  const wanted = ({ summary, budgets }: RunDocument): string => {
    const { workloads = [] } = budgets.find(isSame({ namespace, name })) ?? {};
    const meant = summary.workloads.filter((one) => workloads.includes(nameOf(one)));
    return JSON.stringify(meant.map((one) => [nameOf(one), one.wanted]));
  };
  const [before, after] = [runs[0], runs.at(-1)];
  return before !== undefined && after !== undefined && wanted(before) !== wanted(after);
}

/** A difference. */
interface Figure {
  /** More is worse: above 0; 0: it says nothing of better and worse. */
  readonly sign: number;
  readonly text: string;
}

type WorkloadDifference = Differences['workloads'][number];

function workloadFigures(
  differences: WorkloadDifference,
  found: readonly (WorkloadSummary | undefined)[],
): readonly Figure[] {
  const [before, after] = [found[0], found.at(-1)];
  if (!before || !after) return [];
  const wanted = after.wanted - before.wanted;
  const { outageSeconds, downSeconds, podMinutesLost, downPercentMax, evictions } = differences;
  return [
    ...figure(outageSeconds, before.outageSeconds, duration, 'all down'),
    ...figure(downPercentMax, before.downPercentMax, percent, 'down at once'),
    // With more pods some are down for longer, and more is lost, which is no harm.
    ...figure(downSeconds, wanted === 0 ? before.downSeconds : null, duration, 'some down'),
    ...figure(podMinutesLost, wanted === 0 ? before.podMinutesLost : null, amount, 'pod-minutes'),
    ...figure(evictions, null, amount, 'evictions'),
    ...figure(wanted, null, amount, 'pods'),
  ];
}

function budgetFigures(
  { refusals, belowMax, belowSeconds }: Differences['budgets'][number],
  before: BudgetSummary,
): readonly Figure[] {
  return [
    ...figure(refusals, before.refusals, amount, 'refused'),
    ...figure(belowMax, before.belowMax, amount, 'below at once'),
    ...figure(belowSeconds, before.belowSeconds, duration, 'below'),
  ];
}

/** A difference below this share of the value before is shown, and neither better nor worse. */
const judgedShare = 0.1;

/**
 * `+5m4s all down`; none where it would print as nothing. `before`: the previous value; null: an increase
 * does no harm.
 */
function figure(
  value: number,
  before: number | null,
  textOf: (value: number) => string,
  of: string,
): readonly Figure[] {
  const text = textOf(Math.abs(value));
  if (text === textOf(0)) return [];
  const isJudged = before !== null && Math.abs(value) >= judgedShare * before;
  return [{ sign: isJudged ? Math.sign(value) : 0, text: `${value > 0 ? '+' : '-'}${text} ${of}` }];
}

function onlyWorse(figure: Figure): Figure {
  return { ...figure, sign: Math.max(0, figure.sign) };
}

function percent(value: number): string {
  return `${amount(value)}%`;
}

function textsOf(figures: readonly Figure[], found: readonly unknown[]): readonly string[] {
  return found[0] === undefined ? ['new'] : figures.map(({ text }) => text);
}

function judged(figures: readonly Figure[]): Judgement {
  const [isWorse, isBetter] = [1, -1].map((sign) => figures.some((one) => one.sign === sign));
  if (isWorse) return isBetter ? 'partly worse' : 'worse';
  return isBetter ? 'better' : 'no difference';
}
