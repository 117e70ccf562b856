// Kubernetes Events about thresholds that nodes have met.
import type { Instant } from '../kernel/time.ts';
import type { PressureCommand, PressureReport } from './command.ts';
import { type PressureDecision, thresholdReason } from './decide.ts';
import type { NodeRecord } from './node-record.ts';
import type { PressureReason } from './reason.ts';
import { thresholdKey } from './settings/thresholds.ts';

/** The thresholds that came further or fell back. What cannot be seen is reported as a doubt. */
export function reportPhases(record: NodeRecord): readonly PressureCommand[] {
  const nodeName = record.node.name;
  return record.thresholdStates.states.flatMap((state): readonly PressureCommand[] => {
    const { threshold, phase: to, dueAt } = state;
    const key = thresholdKey(threshold);
    const from = record.reportedPhases.get(key) ?? 'clear';
    if (to === 'unknown' || to === from) return [];
    record.reportedPhases.set(key, to);
    const waits: readonly PressureReason[] =
      to === 'waiting' && dueAt !== null ? [{ code: 'GracePeriod', threshold, dueAt }] : [];
    const because = to === 'clear' ? [] : [...thresholdReason(state), ...waits];
    return [report({ kind: 'threshold', nodeName, threshold, from, to, because })];
  });
}

/** What is wrong with what is known of the node, if that is something else than before. */
export function reportDoubts(now: Instant, record: NodeRecord): readonly PressureCommand[] {
  const because = record.doubts(now);
  const reported = codes(because);
  if (reported === record.reportedDoubts) return [];
  record.reportedDoubts = reported;
  return [report({ kind: 'doubt', nodeName: record.node.name, because })];
}

/** Why nothing is done although something should be, if that is not what was reported last. */
export function reportWithheld(
  record: NodeRecord,
  { because }: Extract<PressureDecision, { kind: 'withhold' }>,
): readonly PressureCommand[] {
  const reported = codes(because);
  if (reported === record.reportedWithheld) return [];
  record.reportedWithheld = reported;
  return [report({ kind: 'withheld', nodeName: record.node.name, because })];
}

function report(reported: PressureReport): PressureCommand {
  return { kind: 'pressureReport', report: reported };
}

/** Numbers change all the time; what they mean does not. */
function codes(because: readonly PressureReason[]): string {
  return because.map((reason) => `${reason.code}/${signalOf(reason)}`).join();
}

function signalOf(reason: PressureReason): string {
  if ('signal' in reason) return reason.signal;
  return 'threshold' in reason ? reason.threshold.signal : '';
}
