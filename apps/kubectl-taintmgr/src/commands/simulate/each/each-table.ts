// The losses of `simulate --each` as a table, the worst first.
import { formatDuration } from '@taintmgr/core/time';
import { count, printable } from '@taintmgr/k8s-adapter/command-line';
import { none } from '@taintmgr/k8s-adapter/explain';
import type {
  EachDocument,
  JobSummary,
  Loss,
  LossBudget,
  LossWorkload,
  LostBy,
} from '@taintmgr/page';
import { type Column, renderColumns, type TableOptions, wrapped } from '../../../render/table.ts';
import type { Top } from '../flags.ts';
import { seconds } from '../result/documents.ts';
import { lossText, nameOf } from './each-document.ts';
import { lossAtMs, lossesText } from './plan.ts';

/**
 * The losses that hurt most, a line for each, and one line for all that do not hurt. Without `top` as many as
 * make a hundred lines, of -o wide all.
 */
export function eachTable(document: EachDocument, options: TableOptions, top?: Top): string {
  const { losses, unplayed } = document;
  const { wide } = options;
  const hurting = wide ? losses : losses.filter((loss) => !isCalm(loss));
  const rowsMax = top ?? (wide ? 'all' : rowsUsual);
  const rows = rowsMax === 'all' ? hurting : hurting.slice(0, rowsMax);
  const calm = wide ? [] : losses.filter(isCalm);
  const more = hurting.length - rows.length;
  const parts = [
    lines([worstText(document)], options),
    rows.length === 0 ? '' : renderColumns(columnsOf(document, wide), rows, options),
    lines(
      [
        ...(more > 0 ? [moreText(more)] : []),
        ...(calm.length === 0 ? [] : [calmText(document, calm)]),
        ...(unplayed.length === 0 ? [] : [`not played: ${named(unplayed)}`]),
      ],
      options,
    ),
    lines([headline(document), ...unknownLines(losses), ...managerLines(document)], options),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function moreText(more: number): string {
  return `and ${more} more, which ${more === 1 ? 'harms' : 'harm'} less; --top all shows all`;
}

/** With the lines around them the table has a hundred lines at most. */
const rowsUsual = 80;
/** The number of names that are listed of losses without other facts, and of unknowns. */
const namesMax = 12;

/** The taints by which parts are lost. */
function taintsIn(losses: readonly Loss[]): readonly string[] {
  return [...new Set(losses.flatMap(({ taint }) => taint ?? []))];
}

function lines(texts: readonly string[], { wide, width }: TableOptions): string {
  return texts
    .map((text) => (wide ? printable(text) : wrapped(text, '    ', width ?? undefined)))
    .join('\n');
}

/** Pods without room alone are no harm: they have none without the loss either. */
function isCalm({ failed, workloads, budgets, jobs = [], blocked }: Loss): boolean {
  return failed === null && workloads.length + budgets.length + jobs.length + blocked === 0;
}

function named(names: readonly string[]): string {
  const more = names.length - namesMax;
  return `${names.slice(0, namesMax).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** `worst: zone eu/eu-a: 62 pod-minutes, PDB shop/web below by 7, no room for 3 pods` */
function worstText({ each, losses }: EachDocument): string {
  const [worst] = losses;
  if (!worst) return 'no loss was played';
  if (worst.failed !== null) return 'no loss could be played';
  if (isCalm(worst)) return 'no loss affects anything';
  const { podMinutesLost, workloads, budgets, jobs = [], unplaced, blocked } = worst;
  const [budget] = budgets.filter(({ belowMax }) => belowMax > 0);
  const texts = [
    ...(workloads.length > 0 || jobs.length === 0 ? [`${tenths(podMinutesLost)} pod-minutes`] : []),
    ...(workloads.length > 0 ? [] : jobs.slice(0, 1).map(jobText)),
    ...(budget ? [`PDB ${budget.namespace}/${budget.name} below by ${budget.belowMax}`] : []),
    ...(unplaced.atEnd > 0 ? [`no room for ${count(unplaced.atEnd, 'pod')}`] : []),
    ...(blocked > 0 ? [`budgets keep ${count(blocked, 'pod')}`] : []),
  ];
  return `worst: ${lossText(each, worst)}: ${texts.join(', ')}`;
}

/** Outcomes come before counts. With -o wide cells name all objects, else the worst. */
function columnsOf({ losses, by }: EachDocument, wide: boolean): readonly Column<Loss>[] {
  const some = (texts: readonly string[]): string => {
    return wide && texts.length > 0 ? texts.join(', ') : someOf(texts);
  };
  const hasBlocked = by === 'drain' || losses.some(({ blocked }) => blocked > 0);
  const stay: Column<Loss> = ['STAY', stayText];
  const tainted: Column<Loss> = ['TAINT', ({ taint = none }) => taint];
  return [
    ['LOSS', ({ name }) => name],
    ...(taintsIn(losses).length > 1 ? [tainted] : []),
    ['POD-MINUTES', figure(({ podMinutesLost }) => tenths(podMinutesLost))],
    ['NO ROOM', figure(roomText), { tone: ({ unplaced }) => (unplaced.atEnd > 0 ? 'soon' : null) }],
    [
      'BUDGETS BROKEN',
      figure(({ budgets }) => some(budgets.filter(isBroken).map(budgetText))),
      { tone: ({ budgets }) => (budgets.some(isBroken) ? 'urgent' : null) },
    ],
    ...(hasBlocked ? [stay] : []),
    [
      'WORST',
      ({ failed, workloads, jobs = [] }) =>
        failed === null
          ? some([...workloads.map(workloadText), ...jobs.map(jobText)])
          : `failed: ${failed}`,
      { below: 'worst' },
    ],
    ['EVICTIONS', figure(({ evictions }) => String(evictions))],
    ['PODS', ({ pods }) => String(pods)],
    ['NODES', ({ nodes }) => String(nodes.length)],
  ];
}

/** Of a loss that failed there are none. */
function figure(text: (loss: Loss) => string): (loss: Loss) => string {
  return (loss) => (loss.failed === null ? text(loss) : none);
}

/** The first, and how many more there are. */
function someOf([first, ...others]: readonly string[]): string {
  return `${first ?? none}${others.length > 0 ? ` +${others.length}` : ''}`;
}

/** `shop/web 10 of 30 for 6m36s` */
function workloadText({ namespace, name, unknown, ...of }: LossWorkload): string {
  const { downMax, downWorstWanted, downSeconds } = of;
  const who = `${namespace}/${name}${unknown ? ' ?' : ''}`;
  if (downMax === 0) return who;
  return `${who} ${downMax} of ${downWorstWanted} for ${lasting(downSeconds)}`;
}

/** `Job shop/batch 2 new pods`, or how it failed. */
function jobText({ namespace, name, newPods, failures, end }: JobSummary): string {
  const pods = failures > 0 ? count(failures, 'failed pod') : count(newPods, 'new pod');
  return `Job ${namespace}/${name} ${end?.startsWith('Failed') ? end : pods}`;
}

/** However short, it was there. */
function lasting(time: number): string {
  return time < 1 ? '<1s' : seconds(time);
}

function isBroken({ belowMax }: LossBudget): boolean {
  return belowMax > 0;
}

/** `shop/web by 2 for 1m` */
function budgetText({ namespace, name, belowMax, belowSeconds }: LossBudget): string {
  return `${namespace}/${name} by ${belowMax} for ${lasting(belowSeconds)}`;
}

/** `3 of shop/db` */
function roomText({ unplaced, workloads }: Loss): string {
  if (unplaced.atEnd === 0) return none;
  const [most] = workloads.toSorted((one, other) => other.unplacedAtEnd - one.unplacedAtEnd);
  if (!most || most.unplacedAtEnd === 0) return String(unplaced.atEnd);
  const others = unplaced.atEnd - most.unplacedAtEnd;
  const more = others > 0 ? ` +${others}` : '';
  return `${most.unplacedAtEnd} of ${most.namespace}/${most.name}${more}`;
}

/** `2 by shop/db` */
function stayText({ blocked, budgets }: Loss): string {
  if (blocked === 0) return none;
  const keeping = budgets.filter(({ blocked: kept = 0 }) => kept > 0);
  return someOf(
    keeping.map(({ namespace, name, blocked: kept }) => `${kept} by ${namespace}/${name}`),
  );
}

function calmText({ each }: EachDocument, calm: readonly Loss[]): string {
  return `nothing is affected by the loss of: ${each} ${named(calm.map(nameOf))}`;
}

const howTexts: Readonly<Record<LostBy, string>> = {
  down: 'its machines die',
  'cut-off': 'the control plane cannot reach it',
  drain: 'it is drained',
  taint: 'it is tainted',
};

/** `30m of cluster.json, in which each of 3 zones is lost at 1m: its machines die; seed 1` */
function headline(document: EachDocument): string {
  const { source, each, by, untilSeconds, seed, seeds = 1, complete, losses, unplayed } = document;
  const parts = new Set([...losses.map(({ name }) => name), ...unplayed]).size;
  const partial = complete ? '' : 'PARTIAL: ';
  const chance = seeds === 1 ? `seed ${seed}` : `medians of ${seeds} seeds from ${seed}`;
  const [only, another] = taintsIn(losses);
  const taint = only === undefined || another !== undefined ? '' : ` ${only}`;
  const when = `is lost at ${formatDuration(lossAtMs)}`;
  return `${partial}${seconds(untilSeconds)} of ${source}, in which each of ${lossesText(each, parts)} ${when}: ${howTexts[by]}${taint}; ${chance}`;
}

/** `?` behind a name: what decides about it and is not simulated. */
function unknownLines(losses: readonly Loss[]): readonly string[] {
  const texts = losses.flatMap(({ workloads }) =>
    workloads.flatMap(({ namespace, name, unknown = [] }) =>
      unknown.map((what) => `? ${namespace}/${name}: ${what}, which is not simulated`),
    ),
  );
  const [...all] = new Set(texts);
  const more = all.length - namesMax;
  return more > 0 ? [...all.slice(0, namesMax), `? and ${more} more`] : all;
}

/** The assumed flags of kube-controller-manager; empty if its rules are not played. */
function managerLines({ managerFlags }: EachDocument): readonly string[] {
  return managerFlags === undefined ? [] : [`assumed of kube-controller-manager: ${managerFlags}`];
}

function tenths(value: number): string {
  return String(Math.round(value * 10) / 10);
}
