// Log lines about node pressure.
import {
  describePressureReason,
  formatThreshold,
  type PressureReason,
  type PressureReport,
} from '@taintmgr/core/pressure';
import type { PressureNotice } from '@taintmgr/k8s-adapter';
import { errorOf, formatWait, type Line, line, podFields } from '../log/line.ts';
import { evictedLine, lineOf } from '../log/notice.ts';

type NoticeOf<Kind extends PressureNotice['kind']> = Extract<PressureNotice, { kind: Kind }>;

/** The line of the log about a notice of the agent. `now` is for times given as a wait. */
export function pressureLine(notice: PressureNotice, now: number): Line {
  switch (notice.kind) {
    case 'pressureReport':
      return reportLine(notice.report, now);
    case 'evictionSent': {
      const { pod, signal, gracePeriodSeconds, because } = notice.command;
      const grace = `${gracePeriodSeconds}s`;
      return line('info', 'evicting', { ...podFields(pod), signal, grace, ...why(because) });
    }
    case 'evictionFinished':
      return evictionLine(notice);
    case 'conditionsWritten':
      return conditionsLine(notice);
    default:
      return lineOf(notice, now);
  }
}

function reportLine(report: PressureReport, now: number): Line {
  switch (report.kind) {
    case 'threshold': {
      const { nodeName: node, threshold, to, because } = report;
      const fields = { node, threshold: formatThreshold(threshold), ...why(because) };
      return line(to === 'clear' ? 'info' : 'warn', phaseTexts[to], fields);
    }
    case 'doubt': {
      const { nodeName: node, because } = report;
      if (because.length === 0) return line('info', 'node stats are reliable again', { node });
      return line('warn', 'node stats are unreliable, no action', { node, ...why(because) });
    }
    case 'withheld': {
      const { nodeName: node, because } = report;
      return line('warn', 'under pressure, but no pod can be evicted', { node, ...why(because) });
    }
    case 'pressureRetry': {
      const { pod, setback, until } = report;
      const fields = { ...podFields(pod), next: formatWait(until - now), error: setback.message };
      return line('warn', 'eviction failed', fields);
    }
  }
}

const phaseTexts = {
  unknown: 'threshold unknown',
  clear: 'threshold no longer met',
  waiting: 'threshold met, grace period running',
  due: 'threshold met, evicting pods',
} as const;

function evictionLine(notice: NoticeOf<'evictionFinished'>): Line {
  const { command, outcome, refusal } = notice;
  const evicted = evictedLine(command.pod, notice);
  if (outcome.kind !== 'done' || refusal === null) return evicted;
  const fields = { ...evicted.fields, error: refusal };
  return line('warn', 'evicted, but its status could not be updated', fields);
}

function conditionsLine({ command, outcome }: NoticeOf<'conditionsWritten'>): Line {
  const states = command.conditions.map(({ type, status }) => `${type}=${status}`).join(',');
  const fields = { node: command.node.name, conditions: states };
  if (outcome.kind === 'done') return line('info', 'set conditions of a node', fields);
  return line('warn', 'could not set conditions of a node', { ...fields, error: errorOf(outcome) });
}

function why(because: readonly PressureReason[]): Line['fields'] {
  return because.length === 0 ? {} : { because: because.map(describePressureReason).join('; ') };
}
