import type { DrainFailure, DrainMachine, DrainNode } from '@taintmgr/core/drain';
import { type ExitCode, exitCode } from '../../cli/exit.ts';

/** The end of a drain; `.status.result` of its document. */
export type DrainResult =
  | 'Drained'
  | 'Planned'
  | 'Refused'
  | 'Failed'
  /** Somebody else evicts for the taint. */
  | 'Stopped'
  | 'Blocked'
  | 'TimedOut'
  | 'Interrupted';

/** The exit code of each ending. */
export const exitCodes: Readonly<Record<DrainResult, ExitCode>> = {
  Drained: exitCode.done,
  Planned: exitCode.done,
  Refused: exitCode.error,
  Failed: exitCode.error,
  Stopped: exitCode.error,
  Blocked: exitCode.blocked,
  TimedOut: exitCode.timeout,
  Interrupted: exitCode.interrupted,
};

/** The result of the drain by the failures of its nodes: the first of these that occurs counts. */
const failures: readonly (readonly [why: DrainFailure, result: DrainResult])[] = [
  ['ForeignEviction', 'Stopped'],
  ['Denied', 'Failed'],
  ['TaintRemoved', 'Failed'],
  ['AnotherDrain', 'Failed'],
  ['Blocked', 'Blocked'],
  ['PodsRefused', 'Blocked'],
  ['TimedOut', 'TimedOut'],
  ['StepTimedOut', 'TimedOut'],
  ['NotBegun', 'Blocked'],
];

/** The result of a drain that came to its end. */
export function resultOf(machine: Pick<DrainMachine, 'nodes'>): DrainResult {
  const whys = machine.nodes().flatMap(({ phase }) => (phase.kind === 'failed' ? [phase.why] : []));
  const found = failures.find(([why]) => whys.includes(why));
  return found ? found[1] : 'Drained';
}

/** True for a node whose turn has come and that is not done with. */
export function isBegun({ kind }: DrainNode['phase']): boolean {
  return kind === 'tainting' || kind === 'draining';
}

/** True for a node that still has pods that were to go. */
export function isNotDrained({ phase }: DrainNode): boolean {
  return phase.kind !== 'drained' && phase.kind !== 'vanished';
}
