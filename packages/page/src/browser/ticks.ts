// The times that stand on the axis.
import { scaleTime, scaleUtc } from 'd3-scale';
import type { View } from './state.ts';

/**
 * About so many instants as fit, in seconds: whole seconds, minutes or hours after the beginning, or of
 * the calendar where that is known.
 */
export function ticksOf(
  { from, until }: View,
  width: number,
  startsAt: number | null,
): readonly number[] {
  const origin = startsAt ?? 0;
  const ends = [new Date(origin + from * 1000), new Date(origin + until * 1000)];
  const scale = (startsAt === null ? scaleUtc() : scaleTime()).domain(ends);
  const dates = scale.ticks(Math.max(2, Math.floor(width / 130)));
  return dates.map((date) => (date.getTime() - origin) / 1000);
}
