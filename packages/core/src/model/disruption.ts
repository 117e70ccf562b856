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
