// A lane of the chart as data: the marks in it, and the facts about each.
import type { Clock } from './words.ts';

export type Fill =
  | 'down'
  | 'unknown'
  | 'gone'
  | 'tainted'
  | 'pending'
  | 'leaving'
  | 'held'
  | 'noroom'
  | 'untold';
export type Shape = 'event' | 'evicted' | 'refused';

/** The facts about an object that the user selects: a title, then terms and texts. */
export interface About {
  readonly at: number;
  readonly title: string;
  readonly facts: readonly (readonly [string, string])[];
  /** The story that another source tells of it, line by line. */
  readonly lines?: readonly string[];
}

export interface Bar {
  readonly from: number;
  readonly until: number;
  readonly fill: Fill;
  /** Where in the lane it lies, as shares of its height. */
  readonly top: number;
  readonly bottom: number;
  readonly about: (clock: Clock) => About;
}

export interface Mark {
  readonly at: number;
  readonly shape: Shape;
  readonly about: (clock: Clock) => About;
}

export interface AreaStep {
  readonly at: number;
  readonly value: number;
  /** The part that Kubernetes had noticed; null: it is the same. */
  readonly noticed: number | null;
  /** The bound of a budget; null: there is none. */
  readonly allowed: number | null;
}

/** A number over time. */
export interface Area {
  readonly steps: readonly AreaStep[];
  readonly most: number;
  readonly fill: Fill;
  readonly about: (step: AreaStep, until: number, clock: Clock) => About;
}

type RowKind = 'heading' | 'lane' | 'fold';

/** The part of a lane that one variant draws. */
export interface Band {
  /** Null: the lane is of one variant. */
  readonly variant: string | null;
  /** Beside the label: the summary. */
  readonly note: string;
  readonly area: Area | null;
  readonly bars: readonly Bar[];
  readonly marks: readonly Mark[];
}

/** A lane; its own band is that of the first variant. */
export interface Row extends Band {
  readonly key: string;
  readonly kind: RowKind;
  readonly depth: number;
  readonly label: string;
  /** A description, where there is room; ''. */
  readonly aside: string;
  /** The bands of further variants, drawn below the first one. */
  readonly others: readonly Band[];
  /** True where nothing happens in it. */
  readonly isCalm: boolean;
  /** Null: there is nothing in it to open. */
  readonly isOpen: boolean | null;
  readonly height: number;
}

/** The heights of a row: of its label, where that stands above it, and of the drawing. */
export interface RowHeights {
  readonly label: number;
  readonly drawn: number;
}

/** `isStacked`: labels stand above lanes, as there is no room beside them. */
export function heightsOf(row: Row, isStacked: boolean): RowHeights {
  if (!isStacked || row.kind !== 'lane') return { label: 0, drawn: row.height };
  const bands = bandsOf(row);
  const notes = bands.filter(({ note }) => note !== '').length;
  const label = 4 + line * (1 + (row.others.length > 0 ? bands.length : notes));
  const alone = row.area ? heights.area : heights.lane;
  return { label, drawn: row.others.length > 0 ? heights.lane * bands.length : alone };
}

/** All bands of a lane, from above to below. */
export function bandsOf(row: Row): readonly Band[] {
  return [row, ...row.others];
}

const heights = { heading: 30, lane: 24, fold: 26, area: 40 } as const;
/** Of a lane with several bands: a line for its name, and one for each band. */
const line = 18;

/** A row with only the given members. */
export function rowOf(given: Pick<Row, 'key' | 'label'> & Partial<Row>): Row {
  const { kind = 'lane', area = null, others = [] } = given;
  const alone = area ? heights.area : heights[kind];
  return {
    kind,
    depth: 0,
    aside: '',
    note: '',
    variant: null,
    isCalm: false,
    isOpen: null,
    height: others.length === 0 ? alone : line * (others.length + 2) + 4,
    others,
    area,
    bars: [],
    marks: [],
    ...given,
  };
}

/** The number of lanes that are shown until the user asks for all. */
const worstShown = 10;
const fewMax = 12;

/** The number of items that are shown, of `length`: all, or the worst of them. */
export function shownOf(length: number, isAll: boolean): number {
  return isAll || length <= fewMax ? length : worstShown;
}

interface Fold {
  readonly key: string;
  /** The label of the fold over that number of others. */
  readonly label: (others: number) => string;
  readonly opened: ReadonlySet<string>;
}

/** The rows of the worst of them, which come first; those of the others under a fold, where there are many. */
export function worstRows<Item>(
  items: readonly Item[],
  rowsOf: (item: Item) => readonly Row[],
  { key, label, opened }: Fold,
): readonly Row[] {
  const most = shownOf(items.length, false);
  const worst = items.slice(0, most).flatMap(rowsOf);
  if (items.length === most) return worst;
  const isOpen = opened.has(key);
  const fold = rowOf({ key, kind: 'fold', label: label(items.length - most), isOpen });
  return [...worst, fold, ...(isOpen ? items.slice(most).flatMap(rowsOf) : [])];
}

/** All that is said of a row, in the order of time; of several bands each says whose it is. */
export function aboutsOf(row: Row, end: number, clock: Clock): readonly About[] {
  const bands = bandsOf(row);
  const all = bands.flatMap((band) => {
    const own = aboutsOfBand(band, end, clock);
    return bands.length === 1 ? own : own.map((about) => ofVariant(about, band));
  });
  return all.sort((one, other) => one.at - other.at);
}

/** The same, told of one variant. */
export function ofVariant(about: About, { variant }: Pick<Band, 'variant'>): About {
  return variant === null ? about : { ...about, title: `${variant}: ${about.title}` };
}

function aboutsOfBand({ area, bars, marks }: Band, end: number, clock: Clock): readonly About[] {
  const steps = area
    ? area.steps.flatMap((step, index) => {
        const isWorth = step.value > 0 || (area.steps[index - 1]?.value ?? 0) > 0;
        return isWorth ? [area.about(step, area.steps[index + 1]?.at ?? end, clock)] : [];
      })
    : [];
  return [...steps, ...[...bars, ...marks].map(({ about }) => about(clock))];
}
