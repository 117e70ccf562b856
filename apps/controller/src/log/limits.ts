import type { LimitReport, PodReport } from '@taintmgr/core';
import { describeCount, limitId, resumeCommand } from '@taintmgr/core/policy';
import { formatTime } from '@taintmgr/core/time';
import type { LimitRecordNotice } from '@taintmgr/k8s-adapter';
import { errorOf, formatWait, type Line, line, podFields } from './line.ts';

/** Log lines about limits and the pods that they hold back. */
export function heldLine(
  { pod, hit, until }: Extract<PodReport, { kind: 'queued' }>,
  now: number,
): Line {
  const { limit, count } = hit;
  const counted = count ? { counted: describeCount(count) } : {};
  const fields = { ...podFields(pod), limit: limitId(hit), by: limit, ...counted };
  if (hit.tripped) return line('warn', 'held by a limit that has tripped', fields);
  // One line says that the record fails; there may be thousands of pods that wait for it.
  if (limit === 'record') return line('debug', 'held until limit counts are stored', fields);
  const wait = until === null ? {} : { next: formatWait(until - now) };
  return line('info', 'held by a limit', { ...fields, ...wait });
}

/** A limit that has tripped. */
export function limitTrippedLine({ limit }: Extract<LimitReport, { kind: 'limitTripped' }>): Line {
  const { id, since, count } = limit;
  const counted = count ? { counted: describeCount(count) } : {};
  const at = since === null ? {} : { since: formatTime(since) };
  return line('warn', 'limit has tripped: pods under it are not evicted until it is resumed', {
    limit: id,
    ...at,
    ...counted,
    next: resumeCommand(id),
  });
}

/** What became of the record of limits. */
export function limitRecordLine(notice: LimitRecordNotice): Line {
  switch (notice.kind) {
    case 'limitRecord':
      return line('debug', 'read limit counts', {
        limits: Object.keys(notice.record ?? {}).length,
      });
    case 'limitRecordWritten':
      return line('debug', 'stored limit counts', {});
    case 'limitRecordFailed': {
      const { command, lease, outcome } = notice;
      const what = command.kind === 'readLimits' ? 'read' : 'store';
      const fields = { lease, error: errorOf(outcome) };
      if (command.tidies) return line('debug', `could not ${what} what limits have left`, fields);
      const isConflict = outcome.kind === 'changed';
      return line(
        isConflict ? 'debug' : 'warn',
        `could not ${what} limit counts: pods under limits are not evicted until then`,
        fields,
      );
    }
  }
}
