// A lane of the chart as data: what is drawn in it, and what is said of each thing.
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

/** What is said of a thing where somebody asks why: a title, then terms and texts. */
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
  /** What Kubernetes had noticed of it; null: it is the same. */
  readonly noticed: number | null;
  /** What a budget allows; null: there is none. */
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

export interface Row {
  readonly key: string;
  readonly kind: RowKind;
  readonly depth: number;
  readonly label: string;
  /** What it is, where there is room; ''. */
  readonly aside: string;
  /** Beside the label: what it comes down to. */
  readonly note: string;
  /** A variant, where it is one of several lanes of the same thing. */
  readonly variant: string | null;
  /** Whether the lane above has the same name, of another variant. */
  readonly isAgain: boolean;
  /** Whether nothing happens in it. */
  readonly isCalm: boolean;
  /** Null: there is nothing in it to open. */
  readonly isOpen: boolean | null;
  readonly height: number;
  readonly area: Area | null;
  readonly bars: readonly Bar[];
  readonly marks: readonly Mark[];
}

const heights = { heading: 30, lane: 24, fold: 26, area: 40 } as const;

/** A row with nothing in it but what is given. */
export function rowOf(given: Pick<Row, 'key' | 'label'> & Partial<Row>): Row {
  const { kind = 'lane', area = null } = given;
  return {
    kind,
    depth: 0,
    aside: '',
    note: '',
    variant: null,
    isAgain: false,
    isCalm: false,
    isOpen: null,
    height: area ? heights.area : heights[kind],
    area,
    bars: [],
    marks: [],
    ...given,
  };
}

/** Of more than a few so many are shown, until somebody asks for all. */
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

/** All that is said of a row, in the order of time. */
export function aboutsOf({ area, bars, marks }: Row, end: number, clock: Clock): readonly About[] {
  const steps = area
    ? area.steps.flatMap((step, index) => {
        const isWorth = step.value > 0 || (area.steps[index - 1]?.value ?? 0) > 0;
        return isWorth ? [area.about(step, area.steps[index + 1]?.at ?? end, clock)] : [];
      })
    : [];
  const all = [...steps, ...[...bars, ...marks].map(({ about }) => about(clock))];
  return all.sort((one, other) => one.at - other.at);
}
