// The demo in words: what both clusters are like now.
import type { DemoSide, DemoState } from '../demo.ts';
import { count, duration } from './words.ts';

/** The first sentence of the page. */
export function demoSentence({ sides, pressed }: DemoState): string {
  if (pressed.length === 0) return 'Two simulated clusters, the same accident, two sets of rules.';
  const isCalm = sides.every(({ down }) => down === 0);
  const of = (text: (side: DemoSide) => string): string =>
    sides.map((side) => `${text(side)} with ${side.rules}`).join(', ');
  if (!isCalm) return `Pods down now: ${of(({ down }) => String(down))}.`;
  const isHarmless = sides.every(({ downMax }) => downMax === 0);
  if (isHarmless) return 'All pods serve on both sides.';
  return `All pods serve again. Most pods down at once: ${of(({ downMax }) => String(downMax))}.`;
}

/** `none`, `15 pods, the first in 4m35s` */
export function nextText({ next }: DemoSide, now: number): string {
  if (next === null) return 'none';
  const left = Math.max(0, Math.ceil(next.dueAt - now));
  return `${count(next.pods, 'pod')}, the first ${left === 0 ? 'now' : `in ${duration(left)}`}`;
}

/** `35 held by the limit, 28 evictions refused by budgets`; '': nothing holds any. */
export function heldText({ held, refused }: DemoSide): string {
  return [
    ...(held > 0 ? [`${count(held, 'pod')} held by the limit`] : []),
    ...(refused > 0 ? [`${count(refused, 'eviction')} refused by budgets`] : []),
  ].join(', ');
}
