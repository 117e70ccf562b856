// The times that stand on the axis.
import { scaleUtc } from 'd3-scale';
import type { View } from './state.ts';

/** About so many instants as fit, in seconds: whole seconds, minutes or hours after the beginning. */
export function ticksOf({ from, until }: View, width: number): readonly number[] {
  const scale = scaleUtc().domain([new Date(from * 1000), new Date(until * 1000)]);
  return scale.ticks(Math.max(2, Math.floor(width / 130))).map((date) => date.getTime() / 1000);
}
