import { checkPressureSequence } from './kubelet-pressure-sequences.ts';
import { checkQos } from './kubelet-qos.ts';
import { checkRanking } from './kubelet-ranking.ts';
import { checkThresholdParse } from './kubelet-threshold-parse.ts';
import {
  checkConditionTaints,
  checkLabels,
  checkQueue,
  checkZoneState,
} from './lifecycle-pieces.ts';
import { checkNodeHealth } from './node-health.ts';
import { checkScenario } from './taint-eviction-scenarios.ts';
import { checkTaintParse } from './taint-parse.ts';
import { checkMatching } from './toleration-matching.ts';

/** The vector files that can be read, by name without `.jsonl`: what differs in a line, or null. */
export const checks: Readonly<Record<string, (line: string) => string | null>> = {
  'condition-taints': (line) => checkConditionTaints(JSON.parse(line)),
  'kubelet-pressure-sequences': (line) => checkPressureSequence(JSON.parse(line)),
  'kubelet-qos': (line) => checkQos(JSON.parse(line)),
  'kubelet-ranking': (line) => checkRanking(JSON.parse(line)),
  'kubelet-threshold-parse': (line) => checkThresholdParse(JSON.parse(line)),
  'label-reconcile': (line) => checkLabels(JSON.parse(line)),
  'node-health': (line) => checkNodeHealth(JSON.parse(line)),
  'rate-limited-queue': (line) => checkQueue(JSON.parse(line)),
  'zone-state': (line) => checkZoneState(JSON.parse(line)),
  'taint-eviction-scenarios': (line) => checkScenario(JSON.parse(line)),
  'taint-parse': (line) => checkTaintParse(JSON.parse(line)),
  'toleration-matching': (line) => checkMatching(JSON.parse(line)),
};

export interface Result {
  readonly passed: number;
  /** One line for each failed case. */
  readonly failures: readonly string[];
}

/** Runs every case of a vector file: one JSON object a line. `check`: that of the file, else its own. */
export function runVectors(name: string, text: string, check = checks[name]): Result {
  if (!check) throw new RangeError(`no check for vectors "${name}"`);
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const failures = lines.flatMap((line, index) => {
    const difference = check(line);
    return difference === null ? [] : [`${name}, line ${index + 1}: ${difference}`];
  });
  return { passed: lines.length - failures.length, failures };
}
