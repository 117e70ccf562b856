// Kubernetes Events about thresholds that nodes have met.
import type { Instant } from '../kernel/time.ts';
import type { PressureCommand, PressureReport } from './command.ts';
import { type PressureDecision, thresholdReason } from './decide.ts';
import type { NodeRecord } from './node-record.ts';
import type { PressureReason } from './reason.ts';
import { thresholdKey } from './settings/thresholds.ts';

/** The thresholds that came further or fell back. What cannot be seen is told as a doubt. */
export function reportPhases(record: NodeRecord): readonly PressureCommand[] {
  const nodeName = record.node.name;
  return record.ledger.states.flatMap((state): readonly PressureCommand[] => {
    const { threshold, phase: to, dueAt } = state;
    const key = thresholdKey(threshold);
    const from = record.toldPhases.get(key) ?? 'clear';
    if (to === 'unknown' || to === from) return [];
    record.toldPhases.set(key, to);
    const waits: readonly PressureReason[] =
      to === 'waiting' && dueAt !== null ? [{ code: 'GracePeriod', threshold, dueAt }] : [];
    const because = to === 'clear' ? [] : [...thresholdReason(state), ...waits];
    return [report({ kind: 'threshold', nodeName, threshold, from, to, because })];
  });
}

/** What is wrong with what is known of the node, if that is something else than before. */
export function reportDoubts(now: Instant, record: NodeRecord): readonly PressureCommand[] {
  const because = record.doubts(now);
  const told = codes(because);
  if (told === record.toldDoubts) return [];
  record.toldDoubts = told;
  return [report({ kind: 'doubt', nodeName: record.node.name, because })];
}

/** Why nothing is done although something should be, if that is not what was told last. */
export function reportWithheld(
  record: NodeRecord,
  { because }: Extract<PressureDecision, { kind: 'withhold' }>,
): readonly PressureCommand[] {
  const told = codes(because);
  if (told === record.toldWithheld) return [];
  record.toldWithheld = told;
  return [report({ kind: 'withheld', nodeName: record.node.name, because })];
}

function report(told: PressureReport): PressureCommand {
  return { kind: 'pressureReport', report: told };
}

/** Numbers change all the time; what they mean does not. */
function codes(because: readonly PressureReason[]): string {
  return because.map((reason) => `${reason.code}/${signalOf(reason)}`).join();
}

function signalOf(reason: PressureReason): string {
  if ('signal' in reason) return reason.signal;
  return 'threshold' in reason ? reason.threshold.signal : '';
}
