// The checker of grace periods.

import type { KubeObject } from '@taintmgr/sim-cluster';
import type { Call } from './call.ts';
import { Checker } from './checker.ts';
import type { Evidence } from './evidence.ts';
import type { ObservedChange } from './object-history.ts';
import { noExecuteTaints } from './taint-rule.ts';
import { clockTime, isRemoval } from './terms.ts';

/** On a node: when it will be gone. Pods get no more time than is left. */
const deadlineAnnotation = 'taintmgr.dev/deadline';
const defaultSeconds = 30;

/**
 * A pod is given the grace period of the policy for the taint that makes it leave, else its own;
 * less, though never nothing, only where its node has a deadline.
 */
export class GraceChecker extends Checker<Evidence> {
  observe({ at, change: { resource, type, object, previous }, by }: ObservedChange): void {
    if (resource !== 'pods' || !by || !isRemoval(by) || !previous) return;
    if (previous.metadata.deletionTimestamp !== undefined) return;
    if (type !== 'DELETED' && object.metadata.deletionTimestamp === undefined) return;
    // Nobody waits for containers that have ended.
    if (['Succeeded', 'Failed'].includes(previous.status?.phase)) return;
    const given = type === 'DELETED' ? 0 : (object.metadata.deletionGracePeriodSeconds ?? 0);
    const own: number = previous.spec.terminationGracePeriodSeconds ?? defaultSeconds;
    const nodes = this.#nodesKnown(previous, by, at);
    const { gracePeriodSeconds } = this.evidence.terms;
    const allowed = [own, gracePeriodSeconds ?? own, ...this.#policySeconds(previous, by, nodes)];
    const hasDeadline = nodes.some((node) => node.metadata.annotations?.[deadlineAnnotation]);
    const isAllowed =
      allowed.includes(given) || (hasDeadline && given >= 1 && given <= Math.max(...allowed));
    if (isAllowed) return;
    const { namespace, name } = previous.metadata;
    const evidence = `pod ${namespace}/${name} was given ${given} s at ${clockTime(at)}, where ${allowed.join(' or ')} s are promised; run ${by.run}`;
    this.evidence.report({ invariant: 'grace period', at, evidence });
  }

  /** The pod's node in all the states that the client may have gone by. */
  #nodesKnown(pod: KubeObject, by: Call, at: number): readonly KubeObject[] {
    const { history, apiHistory, terms } = this.evidence;
    const decidedAt = apiHistory.calls.chainOf(by)[0]?.sentAt ?? by.sentAt;
    const known = apiHistory.known.inTurnUpTo(by.run, 'nodes', decidedAt);
    const from = Math.min(known, decidedAt - terms.cacheAgeMsMax);
    const states = history.during(history.node(pod.spec.nodeName ?? ''), from, at);
    return states.flatMap(({ object }) => object ?? []);
  }

  #policySeconds(pod: KubeObject, by: Call, nodes: readonly KubeObject[]): readonly number[] {
    const { policies, apiHistory } = this.evidence;
    const decidedAt = apiHistory.calls.chainOf(by)[0]?.sentAt ?? by.sentAt;
    return nodes.flatMap((node) =>
      noExecuteTaints(node)
        .flatMap((taint) => policies.inForce(by.run, decidedAt, { pod, node, taint }))
        .flatMap(({ gracePeriodSeconds }) => gracePeriodSeconds ?? []),
    );
  }
}
