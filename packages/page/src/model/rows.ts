// All lanes of the chart.
import type { PageInput, RunDocument } from '../simulation.ts';
import {
  type About,
  type Area,
  type AreaStep,
  type Bar,
  bandsOf,
  type Row,
  rowOf,
  shownOf,
  worstRows,
} from './row.ts';
import { countsOf, mostOf } from './steps.ts';
import { type Clock, count, span } from './words.ts';
import { workloadRows } from './workloads.ts';
import { zoneRows } from './zones.ts';

/** The choices that decide about the lanes. */
export interface Choice {
  readonly opened: ReadonlySet<string>;
  /** The text that labels or facts must contain; '': everything. */
  readonly query: string;
  /** Without what nothing happens in. */
  readonly isHarmOnly: boolean;
}

export function rowsOf(input: PageInput, { opened, query, isHarmOnly }: Choice): readonly Row[] {
  const { runs } = input;
  if (runs.length === 0) return [];
  const end = input.untilSeconds;
  const isMany = runs.length > 1;
  // A search includes folded lanes.
  const open = query === '' ? opened : everything;
  const rows = [
    ...workloadRows(input, open),
    ...runs.flatMap((one) =>
      causeRows(one, end, { whose: isMany ? `: ${one.name}` : '', opened: open }),
    ),
    ...zoneRows(
      runs.map((run) => ({ ...run, variant: isMany ? run.name : null })),
      end,
      open,
    ),
  ];
  return matching(rows, { query, isHarmOnly });
}

const everything: ReadonlySet<string> = Object.assign(new Set<string>(), { has: () => true });

/** The lanes that a search and a filter leave. */
export function matching(
  rows: readonly Row[],
  { query, isHarmOnly }: Pick<Choice, 'query' | 'isHarmOnly'>,
): readonly Row[] {
  const wanted = query.toLowerCase();
  const found = rows.filter((row) => {
    const { kind, label, key, isCalm } = row;
    if (isHarmOnly && isCalm) return false;
    const variants = bandsOf(row).map(({ variant }) => variant ?? '');
    const text = [label, ...variants, key].join(' ').toLowerCase();
    return wanted === '' || (kind === 'lane' && text.includes(wanted));
  });
  // A heading under which nothing is left says nothing.
  return found.filter(({ kind }, index) => {
    const next = found[index + 1];
    return kind !== 'heading' || (next !== undefined && next.kind !== 'heading');
  });
}

/**
 * The causes that held pods: a lane for each limit, pause, zone and budget, and one for pods without room.
 * The heading above them names the variant.
 */
function causeRows(
  run: RunDocument,
  end: number,
  { whose, opened }: { readonly whose: string; readonly opened: ReadonlySet<string> },
): readonly Row[] {
  const held = new Map<string, { readonly bars: Bar[]; kept: number }>();
  for (const { kind, name, workload, pods, from, until, text } of run.summary.causes) {
    if (kind === 'room') continue;
    const label = kind === 'failure' ? 'failed requests' : `${kind} ${name}`;
    const about = (clock: Clock): About => ({
      at: from,
      title: `${label}${workload === null ? '' : ` keeps ${count(pods, 'pod')} of ${workload}`}`,
      facts: [
        ['why', text],
        ['from', span(clock, from, until)],
      ],
    });
    const lane = held.get(label) ?? { bars: [], kept: 0 };
    const place = { top: 0.2, bottom: 0.8 };
    lane.bars.push({
      from,
      until: Math.max(until ?? end, from + 1),
      fill: 'held',
      ...place,
      about,
    });
    lane.kept += pods;
    held.set(label, lane);
  }
  const lanes =
    shownOf(held.size, false) === held.size
      ? [...held]
      : [...held].sort(([, one], [, other]) => other.kept - one.kept);
  const rowsOfLane = ([label, { bars }]: (typeof lanes)[number]): readonly Row[] => [
    rowOf({ key: `c ${run.name} ${label}`, label, bars }),
  ];
  const key = `all-causes ${run.name}`;
  const rows = worstRows(lanes, rowsOfLane, { key, label: (others) => `${others} more`, opened });
  const room = roomRow(run, end);
  if (rows.length === 0 && !room) return [];
  const title = `Held back${whose}`;
  const heading = rowOf({ key: `causes ${run.name}`, kind: 'heading', label: title });
  return [heading, ...rows, ...(room ? [room] : [])];
}

function roomRow(run: RunDocument, end: number): Row | null {
  if (run.unplaced.length === 0) return null;
  const spans = run.unplaced.map(({ from, until }) => ({ from, until: until ?? end }));
  const steps = countsOf(spans).map(({ at, value }) => {
    return { at, value, noticed: null, allowed: null };
  });
  const most = mostOf(
    steps.map(({ value }) => value),
    0,
  );
  const messageAt = (at: number): string =>
    run.unplaced.find(({ from, until }) => from <= at && (until ?? end) > at)?.message ?? '';
  const about = ({ at, value }: AreaStep, until: number, clock: Clock): About => ({
    at,
    title: `${count(value, 'pod')} without room on any node`,
    facts: [
      ['why', messageAt(at)],
      ['from', span(clock, at, until)],
    ],
  });
  const area: Area = { steps, most, fill: 'noroom', about };
  const note = `${count(most, 'pod')} at once`;
  return rowOf({ key: `room ${run.name}`, label: 'Pending: no room', note, area });
}
