import { type LimitHit, type LimitStatus, limitId, resumeCommand } from '../../policy/limit.ts';
import type { MachineCommand } from '../command.ts';
import { describeCount } from './text.ts';

/** The report and the Event of a limit that has stopped evictions. */
export function trippedEvents(status: LimitStatus): readonly MachineCommand[] {
  const count = status.count ? `: ${describeCount(status.count)}` : '';
  const message = `Limit ${status.id} has tripped${count}. Pods under it are not evicted until somebody runs: ${resumeCommand(status.id)}`;
  return [
    { kind: 'report', report: { kind: 'limitTripped', limit: status } },
    { kind: 'recordLimitEvent', type: 'Warning', reason: 'LimitTripped', message },
  ];
}

/** The report and the Event of a limit that somebody has opened. */
export function resumedEvents(hit: LimitHit, by: string): readonly MachineCommand[] {
  const message = `Limit ${limitId(hit)} is open again: resumed by ${by}`;
  return [
    { kind: 'report', report: { kind: 'limitResumed', limit: hit, by } },
    { kind: 'recordLimitEvent', type: 'Normal', reason: 'LimitResumed', message },
  ];
}
