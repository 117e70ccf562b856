// How much of the time a live chart is about, and what of it is shown first.
import type { LiveInput } from '../../live.ts';
import { countsOf, mostOf } from '../steps.ts';
import { untilNow } from './rows.ts';

/** The end moves in steps: what is looked at would slide otherwise. */
const endStepSeconds = 300;
const aheadMin = 300;
/** Deadlines beyond are seen by those who ask for all. */
const aheadMax = 3600;
const allMax = 8 * 86_400;

/** Where the time of the chart ends. */
export function liveEnd(input: LiveInput, now: number): number {
  const last = Math.min(now + allMax, lastOf(input, allMax, now));
  return Math.ceil((Math.max(last, now + aheadMin) * 1.02) / endStepSeconds) * endStepSeconds;
}

/** The present, a little of the past, and the deadlines of the next hour. */
export function liveHome(
  input: LiveInput,
  now: number,
  end: number,
): { readonly from: number; readonly until: number } {
  const ahead = Math.max(aheadMin, (lastOf(input, aheadMax, now) - now) * 1.1);
  const behind = Math.min(now, Math.max(60, ahead / 3));
  return { from: now - behind, until: Math.min(end, now + ahead) };
}

function lastOf({ pods }: LiveInput, ahead: number, now: number): number {
  const times = pods.flatMap(({ dueAt }) => (dueAt === null || dueAt > now + ahead ? [] : dueAt));
  return mostOf(times, now);
}

/** How many pods are to leave, over time. */
export function toLeave(
  { record }: LiveInput,
  now: number,
): readonly { readonly at: number; readonly value: number }[] {
  const spans = record.deadlines.map((one) => {
    const from = Math.max(0, one.setAt);
    return { from, until: Math.max(from, untilNow(one, now).endedAt ?? now) };
  });
  return countsOf(spans);
}
