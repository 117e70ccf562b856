// The heat map of losses as data: a row for each loss, a column for each workload that is harmed, and how hot each cell is.
import type { EachDocument, Loss, LossWorkload } from '../each.ts';
import { brokenIn, harmText, isOfNodes, lossKey, minutesText, worstFirst } from './losses.ts';
import { shortName, workloadKey } from './workloads.ts';

/** The heat of a cell: pod-minutes that are lost, or the largest share that is down. */
export type Measure = 'lost' | 'share';

/** The selection of losses to show; '' is all. */
export interface HeatLook {
  readonly measure: Measure;
  readonly namespace: string;
  /** A part of the names of losses, nodes or workloads. */
  readonly query: string;
  /** The number of losses that are shown. */
  readonly rowsMax: number;
}

/** From 0, nothing down, to the hottest. */
type Level = 0 | 1 | 2 | 3 | 4 | 5;

interface HeatColumn {
  readonly key: string;
  readonly label: string;
}

export interface HeatCell {
  readonly level: Level;
  readonly text: string;
  /** The cell in words, for readers who do not see its colour. */
  readonly name: string;
  /** True if something that decides about the workload is not simulated. */
  readonly isUnknown: boolean;
  /** Pods that fit on no node at the end. */
  readonly unplaced: number;
}

export interface HeatRow {
  readonly key: string;
  readonly loss: Loss;
  /** A cell for each column; null: not harmed. */
  readonly cells: readonly (HeatCell | null)[];
  /** The sum over the shown workloads. */
  readonly podMinutesLost: number;
  readonly evictions: number;
  /** The shown workloads, the worst first. */
  readonly workloads: readonly LossWorkload[];
  /** The number of budgets that are broken. */
  readonly broken: number;
}

export interface HeatMap {
  readonly columns: readonly HeatColumn[];
  /** The number of further workloads, which share the last column; 0: no such column. */
  readonly others: number;
  /** The worst first, as many as are shown. */
  readonly rows: readonly HeatRow[];
  /** The number of losses that match the selection, shown or not. */
  readonly rowsInAll: number;
  /** Up to these goes each level but the last, in pod-minutes or percent. */
  readonly limits: readonly number[];
  /** The marks that there are. */
  readonly marks: Readonly<Record<'unknown' | 'unplaced' | 'moved', boolean>>;
}

/** The number of workloads with a separate column. */
export const columnsMax = 30;

/** The namespaces in which something is harmed. */
export function namespacesOf({ losses }: EachDocument): readonly string[] {
  const all = losses.flatMap(({ workloads }) => workloads.map(({ namespace }) => namespace));
  return [...new Set(all)].sort();
}

export function heatMapOf(input: EachDocument, look: HeatLook): HeatMap {
  const { isRow, isColumn, isNarrowed } = meantBy(input, look);
  const meant = input.losses.filter(isRow).map((loss) => {
    const workloads = worstFirst(loss.workloads.filter(isColumn));
    const [podMinutesLost, evictions] = isNarrowed
      ? [sumOf(workloads, 'podMinutesLost'), sumOf(workloads, 'evictions')]
      : [loss.podMinutesLost, loss.evictions];
    return { loss, workloads, podMinutesLost, evictions };
  });
  // The document sorts losses by their harm to all workloads.
  if (isNarrowed) meant.sort((one, other) => other.podMinutesLost - one.podMinutesLost);
  const shown = meant.slice(0, look.rowsMax);
  const all = columnsOf(shown.flatMap(({ workloads }) => workloads));
  const columns = all.slice(0, all.length === columnsMax + 1 ? columnsMax + 1 : columnsMax);
  const limits = limitsOf(look.measure, meant);
  const places = new Map(columns.map(({ key }, index) => [key, index]));
  const others = all.length - columns.length;
  const rows = shown.map((row) => {
    return rowOf(row, { places, others, limits, measure: look.measure });
  });
  const cells = rows.flatMap((row) => row.cells.flatMap((cell) => cell ?? []));
  return {
    ...{ columns, others, rows, limits, rowsInAll: meant.length },
    marks: {
      unknown: cells.some(({ isUnknown }) => isUnknown),
      unplaced: cells.some(({ unplaced }) => unplaced > 0),
      moved: cells.some(({ level }) => level === 0),
    },
  };
}

interface Meant {
  readonly isRow: (loss: Loss) => boolean;
  readonly isColumn: (workload: LossWorkload) => boolean;
  /** True if some workloads are left out, so that sums are of the others. */
  readonly isNarrowed: boolean;
}

/** A query names losses, workloads, or both; a query that names neither leaves nothing. */
function meantBy({ losses }: EachDocument, { namespace, query }: HeatLook): Meant {
  const wanted = query.trim().toLowerCase();
  const has = (name: string): boolean => name.toLowerCase().includes(wanted);
  const isNamed = (loss: Loss): boolean => has(lossKey(loss)) || loss.nodes.some(has);
  const isOfPlace = (one: LossWorkload): boolean => namespace === '' || one.namespace === namespace;
  const isCalled = (one: LossWorkload): boolean => isOfPlace(one) && has(shortName(one));
  const ofLosses = losses.some(isNamed);
  const ofWorkloads = losses.some(({ workloads }) => workloads.some(isCalled));
  return {
    isRow: ofLosses || !ofWorkloads ? isNamed : () => true,
    isColumn: ofWorkloads ? isCalled : isOfPlace,
    isNarrowed: namespace !== '' || (wanted !== '' && ofWorkloads),
  };
}

/** The most harmed first; DaemonSets after the others. */
function columnsOf(workloads: readonly LossWorkload[]): readonly HeatColumn[] {
  const harm = new Map<string, { readonly one: LossWorkload; lost: number }>();
  for (const one of workloads) {
    const key = workloadKey(one);
    const sum = harm.get(key) ?? { one, lost: 0 };
    sum.lost += one.podMinutesLost;
    harm.set(key, sum);
  }
  return Array.from(harm, ([key, { one, lost }]) => ({ key, one, lost }))
    .sort((a, b) => isOfNodes(a.one) - isOfNodes(b.one) || b.lost - a.lost)
    .map(({ key, one }) => ({ key, label: shortName(one) }));
}

interface Draw {
  readonly places: ReadonlyMap<string, number>;
  readonly others: number;
  readonly limits: readonly number[];
  readonly measure: Measure;
}

type Shown = Pick<HeatRow, 'loss' | 'workloads' | 'podMinutesLost' | 'evictions'>;

function rowOf(shown: Shown, draw: Draw): HeatRow {
  const { loss, workloads } = shown;
  const width = draw.places.size + (draw.others > 0 ? 1 : 0);
  const cells: (HeatCell | null)[] = Array(width).fill(null);
  const rest: LossWorkload[] = [];
  for (const one of workloads) {
    const place = draw.places.get(workloadKey(one));
    if (place === undefined) rest.push(one);
    else cells[place] = cellOf([one], shortName(one), draw);
  }
  if (rest.length > 0) cells[draw.places.size] = cellOf(rest, `${rest.length} others`, draw);
  return { ...shown, key: lossKey(loss), cells, broken: brokenIn(loss) };
}

function sumOf(
  workloads: readonly LossWorkload[],
  field: 'podMinutesLost' | 'evictions' | 'unplacedAtEnd',
): number {
  return workloads.reduce((sum, one) => sum + one[field], 0);
}

/** A cell of one workload, or of several that have it together. */
function cellOf(workloads: readonly LossWorkload[], label: string, draw: Draw): HeatCell {
  const [first] = workloads;
  const lost = sumOf(workloads, 'podMinutesLost');
  const share = Math.max(...workloads.map(shareOf));
  const isUnknown = workloads.some(({ unknown }) => unknown !== undefined);
  const unplaced = sumOf(workloads, 'unplacedAtEnd');
  const harm = workloads.length === 1 && first ? harmText(first) : `at most ${share} % of one down`;
  const value = draw.measure === 'lost' ? lost : share;
  return {
    level: levelOf(value, draw.limits),
    text: `${draw.measure === 'lost' ? minutesText(lost) : `${share}%`}${isUnknown ? '?' : ''}`,
    name: [
      `${label}: ${harm}`,
      `${minutesText(lost)} pod-minutes`,
      ...(unplaced > 0 ? [`no room for ${unplaced}`] : []),
      ...(isUnknown ? ['figures may be wrong'] : []),
    ].join(', '),
    isUnknown,
    unplaced,
  };
}

/** In percent of the wanted pods at the worst time. */
function shareOf({ downMax, downWorstWanted }: LossWorkload): number {
  return downWorstWanted === 0 ? 0 : Math.round((downMax / downWorstWanted) * 100);
}

/** All is hotter than any share. */
const shareLimits = [25, 50, 75, 99];
/** 0.1, 0.2, 0.5, 1, ... 500000 pod-minutes: each about twice the one before. */
const steps = Array.from({ length: 7 }, (_, power) => [1, 2, 5].map((one) => one * 10 ** power))
  .flat()
  .map((tenths) => tenths / 10);

/** Four limits, of which the hottest cell is over the last one. */
function limitsOf(measure: Measure, rows: readonly Shown[]): readonly number[] {
  if (measure === 'share') return shareLimits;
  let most = 0;
  for (const { workloads } of rows)
    for (const { podMinutesLost } of workloads) most = Math.max(most, podMinutesLost);
  const last = Math.max(4, steps.filter((step) => step < most).length);
  return steps.slice(last - 4, last);
}

const levels = [1, 2, 3, 4, 5] as const;

function levelOf(value: number, limits: readonly number[]): Level {
  if (value === 0) return 0;
  return levels[limits.filter((limit) => value > limit).length] ?? 5;
}
