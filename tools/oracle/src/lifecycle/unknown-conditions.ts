// The checker of Unknown conditions: their reasons, messages and times.

import type { KubeObject } from '@taintmgr/sim-cluster';
import { Checker } from '../checker.ts';
import type { ObservedChange } from '../object-history.ts';
import type { Condition } from '../objects.ts';
import type { LifecycleEvidence } from './evidence.ts';
import { kubeletConditions, kubeletConditionTypes, readinessOf } from './node-rule.ts';

/** Reason and message of a condition that was there, and of one that never was. */
const stopped = ['NodeStatusUnknown', 'Kubelet stopped posting node status.'] as const;
const never = ['NodeStatusNeverUpdated', 'Kubelet never posted node status.'] as const;

/**
 * What the client writes into the four conditions of a kubelet is Unknown and nothing else, for all
 * four at once, with the reasons that people search for, and with the last heartbeat left in place.
 */
export class UnknownConditionChecker extends Checker<LifecycleEvidence> {
  observe({ at, change: { type, resource, object, previous }, by }: ObservedChange): void {
    if (!by || !previous || resource !== 'nodes' || type === 'DELETED') return;
    const wentUnknown = readinessOf(previous) !== 'Unknown' && readinessOf(object) === 'Unknown';
    const before = kubeletConditions(previous);
    const after = kubeletConditions(object);
    for (const [index, name] of kubeletConditionTypes.entries()) {
      const [was, is] = [before[index] ?? null, after[index] ?? null];
      const isSame = JSON.stringify(was) === JSON.stringify(is);
      if (isSame && !(wentUnknown && is?.status !== 'Unknown')) continue;
      if (isSame || !is || !isExpected(was, is, object)) {
        const evidence = `${name} of node ${object.metadata.name}: ${JSON.stringify(was)} became ${JSON.stringify(is)}; run ${by.run}`;
        this.evidence.report({ invariant: 'Unknown conditions', at, evidence });
      }
    }
  }
}

function isExpected(was: Condition | null, is: Condition, node: KubeObject): boolean {
  const [reason, message] = was ? stopped : never;
  const heartbeat = was ? was.lastHeartbeatTime : node.metadata.creationTimestamp;
  return (
    was?.status !== 'Unknown' &&
    is.status === 'Unknown' &&
    is.reason === reason &&
    is.message === message &&
    is.lastHeartbeatTime === heartbeat
  );
}
