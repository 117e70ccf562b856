// Texts of the engine as a report of a simulation has them.
import { formatDuration, type Instant } from '@taintmgr/core/time';

const instant = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/** Instants of the calendar as times after the beginning, as all others are. */
export function relativeText(text: string, startsAt: Instant): string {
  return text.replace(instant, (found) => formatDuration(Date.parse(found) - startsAt));
}
