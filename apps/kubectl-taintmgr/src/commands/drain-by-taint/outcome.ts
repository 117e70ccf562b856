// The end of a drain: its result and exit code, and the words for a drain that another user stops.
import { formatTaint, type Taint } from '@taintmgr/core';
import type {
  DrainFailure,
  DrainMachine,
  DrainNode,
  DrainStop,
  ForeignDeletion,
} from '@taintmgr/core/drain';
import type { NodeChanges } from '@taintmgr/k8s-adapter/drain';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import { nameOf } from './drain.ts';

/** The end of a drain; `.status.result` of its document. */
export type DrainResult =
  | 'Drained'
  | 'Planned'
  | 'Refused'
  | 'Failed'
  /** Another controller evicts for the taint. */
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

/** The state of a drain, for reports. */
export type DrainSight = Pick<
  DrainMachine,
  'synced' | 'stop' | 'isTakenOver' | 'nodes' | 'pods' | 'staying'
>;

/** The end of a drain, and the state that it came to. */
export interface DrainEnd {
  readonly result: DrainResult;
  /** The refusal of the API server that ended the drain; null: none did. */
  readonly refusal: string | null;
  readonly machine: DrainSight;
  /** The changes to nodes by name. */
  readonly changes: ReadonlyMap<string, NodeChanges>;
}

/** The controller that marks pods so, where managedFields do not say who did. */
const byReason: ReadonlyMap<string, string> = new Map([
  ['DeletionByTaintManager', 'kube-controller-manager'],
  ['DeletionByPodGC', 'kube-controller-manager'],
  ['PreemptionByScheduler', 'kube-scheduler'],
]);

/** The program that deleted a pod, as far as its mark says: `kube-controller-manager`, `somebody else`. */
export function deleterText({ manager, reason }: ForeignDeletion): string {
  return manager ?? byReason.get(reason ?? '') ?? 'another program';
}

/** The reason why the drain has stopped. */
export function stopText({ pod, by }: DrainStop): string {
  return (
    `${deleterText(by)} deletes ${nameOf(pod)} on ${pod.nodeName} for a NoExecute taint ` +
    `(${by.reason}), without asking PDBs; the drain stops and removes its taint`
  );
}

/** Advice on what to do instead. */
export function stopHint({ by }: DrainStop, taint: Taint): string {
  const other = formatTaint({ ...taint, effect: 'NoSchedule' });
  const name = deleterText(by);
  const off =
    name === 'kube-controller-manager'
      ? `start ${name} with --controllers=*,-taint-eviction-controller`
      : `stop ${name}`;
  return `hint: drain with ${other}, for which no other controller evicts, or ${off}`;
}

/** The warning about a taint that could not be taken back, with the command that does it by hand. */
export function keptText(nodeName: string, taint: Taint, why: string): string {
  const command = `kubectl taint nodes ${nodeName} ${taint.key}:${taint.effect}-`;
  return `node ${nodeName} keeps ${formatTaint(taint)}: ${why}; run: ${command}`;
}
