import {
  describeReason,
  formatDuration,
  formatTime,
  type PodRef,
  type Reason,
  type Report,
} from '@taintmgr/core';
import type { Notice } from '@taintmgr/k8s-adapter';

/** A log line before it is written. */
export interface Line {
  readonly level: 'debug' | 'info' | 'warn';
  readonly message: string;
  readonly fields: Readonly<Record<string, string | number>>;
}

/** What the log says about a notice of the loop. `now` is for times given as a wait. */
export function lineOf(notice: Notice, now: number): Line {
  switch (notice.kind) {
    case 'listed': {
      const { resource, objects, upserts, deletes } = notice;
      return line('info', `listed ${resource}`, { objects, upserts, deletes });
    }
    case 'watching':
      return line('debug', `watching ${notice.resource}`, { from: notice.resourceVersion });
    case 'reconnecting': {
      const { resource, failure, wait, next } = notice;
      const fields = { error: failure.message, wait: formatWait(wait), next };
      return line('warn', `lost contact while reading ${resource}`, fields);
    }
    case 'synced':
      return line('info', 'synced: nodes and pods are known, evictions begin', {});
    case 'report':
      return reportLine(notice.report, now);
    case 'commandSent': {
      const { pod, because } = notice.command;
      return line('info', 'evicting', { ...podFields(pod), uid: pod.uid, ...why(because) });
    }
    case 'commandFinished': {
      const { command, outcome, took } = notice;
      const fields = { ...podFields(command.pod), took: `${Math.round(took)}ms` };
      if (outcome.kind === 'done') return line('info', 'evicted', fields);
      if (outcome.kind === 'gone') return line('info', 'already gone', fields);
      return line('debug', `eviction ${outcome.kind}`, { ...fields, error: outcome.message });
    }
    case 'taintStartsKept': {
      const { command, outcome } = notice;
      const fields = { node: command.nodeName };
      if (outcome.kind === 'done') return line('debug', 'wrote down when taints began', fields);
      const error = 'message' in outcome ? outcome.message : outcome.kind;
      return line('warn', 'could not write down when taints began', { ...fields, error });
    }
    case 'markRefused': {
      const fields = { ...podFields(notice.command.pod), error: notice.message };
      return line('warn', 'evicting without the condition DisruptionTarget', fields);
    }
    case 'eventRecorded':
      return line('debug', 'recorded event', eventFields(notice.command));
    case 'eventLost': {
      const error = notice.failure?.message ?? 'too many events are waiting';
      return line('warn', 'lost event', { ...eventFields(notice.command), error });
    }
  }
}

function reportLine(report: Report, now: number): Line {
  if (report.kind === 'retry') {
    const { attempt, at, setback, blocker } = report;
    const what = setback.kind === 'blocked' ? 'held by a disruption budget' : 'eviction failed';
    const stuck = blocker.verdict === 'never' ? { stuck: blocker.code } : {};
    const next = formatWait(at - now);
    const fields = { ...podFields(report.pod), attempt, next, ...stuck, error: setback.message };
    return line('warn', `${what}, will try again`, fields);
  }
  if (report.kind === 'held') {
    const { per, name, limit, tripped } = report.hit;
    const fields = { ...podFields(report.pod), limit, per, ...(name && { of: name }) };
    if (tripped)
      return line('warn', 'limit tripped: evictions stop until resumed (SIGUSR2)', fields);
    const wait = report.until === null ? {} : { next: formatWait(report.until - now) };
    return line('info', 'held by a limit', { ...fields, ...wait });
  }
  const { from, to, cause } = report;
  const fields = { ...podFields(report.pod), cause, ...why(report.because) };
  if (to === null) return line('info', 'eviction called off', fields);
  const times = { at: formatTime(to), in: formatDuration(to - now) };
  const what = from === null ? 'eviction scheduled' : 'eviction moved';
  return line('info', what, { ...times, ...fields });
}

function line(level: Line['level'], message: string, fields: Line['fields']): Line {
  return { level, message, fields };
}

function podFields(pod: PodRef): Line['fields'] {
  return { pod: `${pod.namespace}/${pod.name}`, node: pod.nodeName };
}

function why(because: readonly Reason[]): Line['fields'] {
  return because.length === 0 ? {} : { because: because.map(describeReason).join('; ') };
}

function eventFields({ pod, reason }: { pod: PodRef; reason: string }): Line['fields'] {
  return { pod: `${pod.namespace}/${pod.name}`, reason };
}

/** A short wait, exact to the tenth of a second. */
function formatWait(millis: number): string {
  return millis < 10_000 ? `${(Math.max(0, millis) / 1000).toFixed(1)}s` : formatDuration(millis);
}
