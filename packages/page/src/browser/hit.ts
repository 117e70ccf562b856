// What of a lane lies under a point.
import type { About, Row } from '../model/row.ts';
import { scaleOf } from './layout.ts';
import type { ChartState } from './state.ts';

/** Pixels beside a mark that still mean it. */
const reach = 8;

/** What is said of a point, and the instant that it is about. */
interface Hits {
  readonly abouts: readonly About[];
  readonly at: number;
}

/** What is there: marks near it, of which the nearest is meant first, then bars, then the area. */
export function hitsOf(row: Row, at: number, state: ChartState, width: number): Hits {
  const { clock } = state;
  const x = scaleOf(state, width);
  const place = x(at);
  const marks = row.marks.filter((mark) => Math.abs(x(mark.at) - place) <= reach);
  const away = (mark: Row['marks'][number]): number => Math.abs(mark.at - at);
  const [nearest, ...others] = [...marks].sort((one, two) => away(one) - away(two));
  if (nearest) {
    return { abouts: [nearest, ...others].map(({ about }) => about(clock)), at: nearest.at };
  }
  const bars = row.bars.filter(({ from, until }) => {
    return x(from) - 2 <= place && Math.max(x(until), x(from) + 3) >= place;
  });
  const shortest = [...bars].sort((one, two) => one.until - one.from - (two.until - two.from));
  if (shortest.length > 0) return { abouts: shortest.map(({ about }) => about(clock)), at };
  const { area } = row;
  const index = area ? area.steps.findLastIndex((step) => step.at <= at) : -1;
  const step = area?.steps[index];
  const until = area?.steps[index + 1]?.at ?? state.end.value;
  return { abouts: area && step ? [area.about(step, until, clock)] : [], at };
}
