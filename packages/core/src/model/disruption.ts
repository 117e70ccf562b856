// Who marks pods for deletion by a taint manager.
import type { Disruption } from './pod.ts';

/** The programs that are ours, as the API server names them after their User-Agent. */
const ownManagers: readonly string[] = ['taintmgr-controller', 'kubectl-taintmgr'];

/**
 * The program that removes a pod for a taint, where it is none of ours, e.g.
 * `kube-controller-manager`; null: nobody does, or nobody can tell who.
 */
export function foreignTaintManager(disruption: Disruption | undefined): string | null {
  const { reason, manager = null } = disruption ?? {};
  if (reason !== 'DeletionByTaintManager' || manager === null) return null;
  return ownManagers.includes(manager) ? null : manager;
}

/** Why pods are removed by other rooms of kube-controller-manager and by others than it. */
const otherReasons: readonly string[] = [
  'DeletionByDeviceTaintManager',
  'DeletionByPodGC',
  'EvictionByEvictionAPI',
  'PreemptionByScheduler',
  'TerminationByKubelet',
];

/**
 * The reason of a mark by kube-controller-manager that nobody knows, as a later version of it may set
 * one when it evicts for a taint; null: it is none such.
 */
export function unknownUpstreamMark(disruption: Disruption | undefined): string | null {
  const { reason = '', manager } = disruption ?? {};
  if (manager !== 'kube-controller-manager' || reason === 'DeletionByTaintManager') return null;
  return reason === '' || otherReasons.includes(reason) ? null : reason;
}
