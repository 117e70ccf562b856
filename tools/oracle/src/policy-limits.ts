// The checker of the limits of policies, which come and go while the client runs.
import type { KubeObject } from '@taintmgr/sim-cluster';
import { Checker } from './checker.ts';
import type { Evidence } from './evidence.ts';
import { mayBeLate } from './lateness.ts';
import type { ObservedChange } from './object-history.ts';
import { matches, millisOf, type StoredLimit, type StoredPolicy } from './policy-rule.ts';
import { scopeOf } from './scope.ts';
import { clockTime, isRemoval } from './terms.ts';

/** A pod that was made to leave. */
interface Removed {
  readonly at: number;
  readonly decidedAt: number;
  readonly run: number;
  readonly pod: KubeObject;
  readonly node: KubeObject | null;
}

const resumeAnnotation = 'taintmgr.dev/resume-limits';
const scopes = { Total: 'total', Namespace: 'namespace', Node: 'node' } as const;

/**
 * Within any window no more pods of a scope are made to leave than a policy allows that has been there
 * unchanged, and was known. Counted in the client's favour: as in the checker of windows, and the pods
 * that left before it surely knew the policy do not count.
 */
export class PolicyLimitChecker extends Checker<Evidence> {
  #removed: Removed[] = [];

  observe(change: ObservedChange): void {
    if (!this.evidence.terms.clusterPolicies) return;
    if (change.change.resource === 'leases') this.#observeLease(change);
    if (change.change.resource === 'pods') this.#observePod(change);
  }

  /** Everything begins anew once a request to resume is answered. */
  #observeLease({ change: { object, previous } }: ObservedChange): void {
    const asked = previous?.metadata.annotations?.[resumeAnnotation] !== undefined;
    if (asked && object.metadata.annotations?.[resumeAnnotation] === undefined) this.#removed = [];
  }

  #observePod({ at, change: { type, object, previous }, by }: ObservedChange): void {
    const { apiHistory, history, policies } = this.evidence;
    if (by === null || !isRemoval(by) || !previous?.spec.nodeName) return;
    const isLeaving = type === 'DELETED' || object.metadata.deletionTimestamp !== undefined;
    if (!isLeaving || previous.metadata.deletionTimestamp !== undefined) return;
    if (mayBeLate(this.evidence, previous, at)) return;
    const decidedAt = apiHistory.calls.chainOf(by)[0]?.sentAt ?? by.sentAt;
    const node = history.during(history.node(previous.spec.nodeName), at, at).at(-1);
    const removed = { at, decidedAt, run: by.run, pod: previous, node: node?.object ?? null };
    this.#removed.push(removed);
    for (const { name } of policies.at(decidedAt)) this.#judge(name, removed);
  }

  #judge(name: string, last: Removed): void {
    const found = this.evidence.policies.since(name, last.decidedAt);
    if (!found?.policy.isReadable) return;
    for (const limit of found.policy.spec.limits ?? []) {
      this.#judgeLimit(found.policy, found.since, limit, last);
    }
  }

  #judgeLimit(policy: StoredPolicy, since: number, limit: StoredLimit, last: Removed): void {
    const { history, report } = this.evidence;
    const { pods, window = '10m', per } = limit;
    const by = scopes[per as keyof typeof scopes];
    if (pods === undefined || by === undefined) return;
    const scope = scopeOf(history, by, last.pod, last.at);
    const counted = this.#removed.filter(
      (one) =>
        one.at > last.at - millisOf(window) &&
        this.#isCounted(policy, since, one) &&
        scopeOf(history, by, one.pod, one.at) === scope,
    );
    if (!counted.includes(last) || counted.length <= pods) return;
    const { namespace, name } = last.pod.metadata;
    const evidence = `pod ${namespace}/${name} leaves at ${clockTime(last.at)} as number ${counted.length} of ${scope || 'all'}: policy ${policy.name}, as it is since ${clockTime(since)}, allows ${JSON.stringify(limit)}; decided at ${counted.map(({ decidedAt }) => clockTime(decidedAt)).join(', ')}`;
    report({ invariant: 'limit of a policy', at: last.at, evidence });
  }

  /** Whether whoever decided it surely knew the policy, which is for every taint of the node. */
  #isCounted(
    { spec }: StoredPolicy,
    since: number,
    { run, decidedAt, pod, node }: Removed,
  ): boolean {
    const known = this.evidence.apiHistory.known.inTurnUpTo(run, 'policies', decidedAt);
    // What was decided in the very instant in which it came may have been decided before.
    return (
      known > since && spec.match?.taints === undefined && matches(spec.match, pod, node, null)
    );
  }
}
