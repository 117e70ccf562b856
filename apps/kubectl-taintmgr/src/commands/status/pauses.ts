// The pauses that hold evictions, in lines and as documents.
import type { EvictionPause } from '@taintmgr/core/policy';
import { formatTime, type Instant } from '@taintmgr/core/time';
import { printable } from '../../render/printable.ts';
import { renderTable } from '../../render/table.ts';
import { pausedText } from '../../report/pauses.ts';
import { ago } from '../../report/words.ts';

/** What somebody can do about them stands below. */
export function renderPauses(at: Instant, pauses: readonly EvictionPause[]): string {
  const rows = pauses.map((pause) => {
    const { name, until, reason } = pause;
    const since = sinceOf(pause);
    const held = [
      since === null ? '-' : ago(at, since),
      until === null ? '-' : formatTime(until),
      pausedText(pause),
    ];
    return [name, ...held, reason || '-'].map(printable);
  });
  const table = renderTable(['PAUSE', 'SINCE', 'UNTIL', 'HOLDS', 'REASON'], rows);
  return `${table}\nA pause is ended by: kubectl taintmgr resume pause/NAME`;
}

export function pauseDocument(pause: EvictionPause): object {
  const { name, until, reason, readiness, deadlines } = pause;
  const since = sinceOf(pause);
  return {
    name,
    holds: pausedText(pause),
    ...(since !== null && { since: formatTime(since) }),
    ...(until !== null && { until: formatTime(until) }),
    ...(reason !== '' && { reason }),
    deadlines,
    readiness,
  };
}

/** What holds because an object cannot be read has no beginning of its own. */
function sinceOf({ uid, since }: EvictionPause): Instant | null {
  return uid === '' ? null : since;
}
