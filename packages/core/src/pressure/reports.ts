// Kubernetes Events about thresholds that nodes have met.
import type { NodeRef } from '../model/node.ts';
import type { PressureCommand, PressureReport } from './command.ts';
import { gracePeriods, type PressureDecision, thresholdReason } from './decide.ts';
import type { PressureReason } from './reason.ts';
import { thresholdKey } from './settings/thresholds.ts';
import { type Signal, signals } from './signals.ts';
import type { ThresholdPhase, ThresholdState } from './threshold-states.ts';

/** Reports about one node what is not what was reported last. */
export class NodeReports {
  readonly #phases = new Map<string, ThresholdPhase>();
  /** The signal of an attempt is known since the last observation. */
  #isAttemptKnown = false;
  #doubts = '';
  #withheld = '';

  /** The thresholds that came further or fell back. What cannot be seen is reported as a doubt. */
  observed(nodeName: string, states: readonly ThresholdState[]): readonly PressureCommand[] {
    this.#isAttemptKnown = false;
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

  /** That pods may have to go, before what nobody uses is cleared away. */
  attempt(node: NodeRef, signal: Signal): readonly PressureCommand[] {
    if (this.#isAttemptKnown) return [];
    this.#isAttemptKnown = true;
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
