// What pods ask for that the scheduler knows nothing of, for whoever shows what it has come to.
import type { KubeObject } from '../objects/kube-object.ts';

/** The scheduler whose rules are played. */
export const ownSchedulerName = 'default-scheduler';

/**
 * Of a pod: `schedulerName`, another scheduler is to place it, and it stays pending; `resourceClaims`, devices
 * of dynamic resource allocation, which are left out of account.
 */
export type UnknownRule = 'schedulerName' | 'resourceClaims';

/** The rules by which a pod, or those of a template, would be placed and that are not played. */
export function unknownRulesOf(spec: KubeObject['spec']): readonly UnknownRule[] {
  const { schedulerName = ownSchedulerName, resourceClaims = [] } = spec ?? {};
  return [
    ...(schedulerName === ownSchedulerName ? [] : (['schedulerName'] as const)),
    ...(resourceClaims.length === 0 ? [] : (['resourceClaims'] as const)),
  ];
}
