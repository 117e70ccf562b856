// Reports and Events about a node under pressure, each only when it is news.
import type { NodeRef } from '../model/node.ts';
import type { PressureCommand, PressureReport } from './command.ts';
import { gracePeriods, type PressureDecision, thresholdReason } from './decide.ts';
import type { PressureReason } from './reason.ts';
import { thresholdKey } from './settings/thresholds.ts';
import { type Signal, signals } from './signals.ts';
import type { ThresholdPhase, ThresholdState } from './threshold-states.ts';

/** Reports what changed on one node since the last report. */
export class NodeReports {
  readonly #phases = new Map<string, ThresholdPhase>();
  /** An attempt was reported since the last observation. */
  #isAttemptReported = false;
  #doubts = '';
  #withheld = '';

  /** The thresholds that came further or fell back. What cannot be seen is reported as a doubt. */
  observed(nodeName: string, states: readonly ThresholdState[]): readonly PressureCommand[] {
    this.#isAttemptReported = false;
    return states.flatMap((state): readonly PressureCommand[] => {
      const { threshold, phase: to } = state;
      const key = thresholdKey(threshold);
      const from = this.#phases.get(key) ?? 'clear';
      if (to === 'unknown' || to === from) return [];
      this.#phases.set(key, to);
      const because = to === 'clear' ? [] : [...thresholdReason(state), ...gracePeriods([state])];
      return [report({ kind: 'threshold', nodeName, threshold, from, to, because })];
    });
  }

  /** What is wrong with what is known of the node. */
  doubts(nodeName: string, because: readonly PressureReason[]): readonly PressureCommand[] {
    const reported = codes(because);
    if (reported === this.#doubts) return [];
    this.#doubts = reported;
    return [report({ kind: 'doubt', nodeName, because })];
  }

  /** Pods may have to go: reported once for an observation, before reclaiming. */
  attempt(node: NodeRef, signal: Signal): readonly PressureCommand[] {
    if (this.#isAttemptReported) return [];
    this.#isAttemptReported = true;
    const message = `Attempting to reclaim ${signals[signal].resource}`;
    const reason = 'EvictionThresholdMet';
    return [{ kind: 'recordNodeEvent', node, type: 'Warning', reason, message }];
  }

  /** Why nothing is done although something should be. */
  decided(nodeName: string, decision: PressureDecision): readonly PressureCommand[] {
    const because = decision.kind === 'withhold' ? decision.because : [];
    const reported = codes(because);
    if (reported === this.#withheld) return [];
    this.#withheld = reported;
    return reported === '' ? [] : [report({ kind: 'withheld', nodeName, because })];
  }
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
