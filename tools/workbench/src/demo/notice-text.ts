import { describeReason, type PodRef, type PodReport } from '@taintmgr/core';
import { formatDuration } from '@taintmgr/core/time';
import type { Notice } from '@taintmgr/k8s-adapter';

/** What the demo shows of a notice of the controller; null for what would only distract. */
export function noticeText(notice: Notice, now: number): string | null {
  switch (notice.kind) {
    case 'synced':
      return 'controller: caches synced, evictions start';
    case 'reconnecting':
      return `controller: reading ${notice.resource} failed, reconnecting: ${notice.failure.message}`;
    case 'commandSent': {
      const [because] = notice.command.because;
      return `${nameOf(notice.command.pod)} is evicted: ${because ? describeReason(because) : ''}`;
    }
    case 'report':
      return 'pod' in notice.report ? reportText(notice.report, now) : null;
    default:
      return null;
  }
}

function reportText(report: PodReport, now: number): string {
  const name = nameOf(report.pod);
  if (report.kind === 'retry') {
    const next = formatDuration(Math.ceil((report.at - now) / 1000) * 1000);
    return `${name} is blocked: ${report.setback.message}; next try in ${next}`;
  }
  if (report.kind === 'queued') return `${name} is held by the limit per ${report.hit.per}`;
  const because = report.because.map(describeReason).join('; ');
  if (report.to === null) return `${name} may stay after all: ${because || 'it is gone'}`;
  const wait = formatDuration(Math.ceil((report.to - now) / 1000) * 1000);
  return `${name} has ${wait} left: ${because}`;
}

function nameOf({ namespace, name, nodeName }: PodRef): string {
  return `${namespace}/${name} on ${nodeName}`;
}
