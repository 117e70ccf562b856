// Namespaces that have been handed over to us in a cluster where kube-controller-manager evicts too.
import type { Labels } from '../model/selector.ts';

/** Whoever sets this label on a namespace lets us decide about the evictions of its pods. */
export const takeoverLabel = { key: 'taintmgr.dev/takeover', value: 'enabled' } as const;

/** The program that acts there, as the API server names it in managed fields. */
export const takeoverProgram = 'taintmgr-controller';

/** True when a namespace with these labels was handed over; one that is not known (null) was not. */
export function isTakenOver(labels: Labels | null): boolean {
  return labels?.[takeoverLabel.key] === takeoverLabel.value;
}
