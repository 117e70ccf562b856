// Times that differ from pod to pod, as people write them: `60s` or `60s-90s`.
import { formatDuration, type Millis, parseDuration } from '@taintmgr/core/time';
import type { Field } from '@taintmgr/k8s-adapter/manifests';
import type { RangeMs } from '@taintmgr/sim-cluster';

/** What can be written, in words. */
const wanted = 'a time such as 60s, or a least and a most such as 60s-90s';

/** Reads a range; null for anything else. */
export function parseRange(text: string): RangeMs | null {
  const [first = '', last = first, ...more] = text.split('-');
  const [least, most] = [parseDuration(first.trim()), parseDuration(last.trim())];
  if (least === null || most === null || more.length > 0 || least > most) return null;
  return [least, most];
}

/** The range of a member. Throws FileFault. */
export function rangeOf(field: Field): RangeMs {
  const { value } = field;
  const range = typeof value === 'string' ? parseRange(value) : null;
  if (range) return range;
  throw field.fault(`want ${wanted}, got ${JSON.stringify(value)}`);
}

/** `1m`, `1m to 1m30s` */
export function rangeText([least, most]: RangeMs): string {
  const [from, to] = [timeText(least), timeText(most)];
  return from === to ? from : `${from} to ${to}`;
}

/** `1m30s`, and `0.5s` where seconds are too coarse. */
function timeText(millis: Millis): string {
  return millis % 1000 === 0 ? formatDuration(millis) : `${millis / 1000}s`;
}

/** A range as it is read. */
export function rangeNotation([least, most]: RangeMs): string {
  return `${least}ms-${most}ms`;
}
