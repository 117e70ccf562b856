// The checkers of limits of evictions: within a window, by a rate, and those of policies, which come and go.
import type { KubeObject } from '@taintmgr/sim-cluster';
import type { Call, CallKind } from './call.ts';
import { Checker, type Evidence } from './evidence.ts';
import { zoneOf } from './lifecycle/zones.ts';
import type { ObjectHistory, ObservedChange } from './object-history.ts';
import { matches, millisOf, type StoredLimit, type StoredPolicy } from './policies.ts';
import { mayBeLate } from './taint-starts.ts';
import { clockTime, isRemoval, type RateTerm, type Violation, type WindowTerm } from './terms.ts';

/** A pod that was made to leave. */
interface Removed {
  readonly at: number;
  /** When the first request for it was sent. */
  readonly decidedAt: number;
  readonly run: number;
  readonly pod: KubeObject;
}

interface RemovedInScopes extends Removed {
  /** By the scope of each term; null: it is in none. */
  readonly scopes: readonly (string | null)[];
}

const resumeAnnotation = 'taintmgr.dev/resume-limits';

/**
 * Within any window no more pods of a scope are made to leave than was promised, by all replicas
 * together and however often they restart; one pod always may leave. Counted in the client's
 * favour: pods that came after a taint of their node do not count, pods that it cannot have known
 * in time count as there, and after a request to resume was answered the windows start over.
 */
export class EvictionWindowChecker extends Checker<Evidence> {
  #removed: RemovedInScopes[] = [];
  #resumedAt = Number.NEGATIVE_INFINITY;

  observe(change: ObservedChange): void {
    const { windows } = this.evidence.terms;
    if (windows.length === 0) return;
    if (change.change.resource === 'leases') this.#observeLease(change);
    if (change.change.resource === 'pods') this.#observePod(change);
  }

  /** The leader takes a request to resume away once it has opened what tripped. */
  #observeLease({ at, change: { object, previous } }: ObservedChange): void {
    const asked = previous?.metadata.annotations?.[resumeAnnotation] !== undefined;
    const answered = object.metadata.annotations?.[resumeAnnotation] === undefined;
    if (!asked || !answered) return;
    this.#resumedAt = at;
    this.#removed = [];
  }

  #observePod({ at, change: { type, object, previous }, by }: ObservedChange): void {
    const { terms, apiHistory } = this.evidence;
    if (by === null || !isRemoval(by) || !previous?.spec.nodeName) return;
    const isLeaving = type === 'DELETED' || object.metadata.deletionTimestamp !== undefined;
    if (!isLeaving || previous.metadata.deletionTimestamp !== undefined) return;
    const decidedAt = apiHistory.calls.chainOf(by)[0]?.sentAt ?? by.sentAt;
    // Decisions from before the reset had passed the old windows.
    if (decidedAt <= this.#resumedAt || mayBeLate(this.evidence, previous, at)) return;
    const scopes = terms.windows.map((term) =>
      scopeOf(this.evidence.history, term.per, previous, at),
    );
    const removed: RemovedInScopes = { at, decidedAt, run: by.run, pod: previous, scopes };
    this.#removed.push(removed);
    for (const [index, term] of terms.windows.entries()) this.#judge(index, term, removed);
  }

  #judge(index: number, term: WindowTerm, { at, pod, scopes }: RemovedInScopes): void {
    const scope = scopes[index];
    if (scope === null || scope === undefined) return;
    const inWindow = this.#removed.filter(
      (one) => one.scopes[index] === scope && one.at > at - term.windowMs,
    );
    const [first] = inWindow;
    if (!first) return;
    const there = term.percent === undefined ? 0 : this.#countThere(term, scope, first);
    const share = Math.max(1, Math.floor((there * (term.percent ?? 0)) / 100 + 1e-9));
    const most = Math.min(
      term.percent === undefined ? Number.POSITIVE_INFINITY : share,
      term.pods ?? Number.POSITIVE_INFINITY,
    );
    if (inWindow.length <= most) return;
    const evidence = `pod ${pod.metadata.namespace}/${pod.metadata.name} leaves at ${clockTime(at)} as number ${inWindow.length} of ${scope || 'all'} since ${clockTime(first.at)}: ${most} are promised by ${JSON.stringify(term)} of ${there} pods then`;
    this.evidence.report({ invariant: 'window', at, evidence });
  }

  /** The pods there were when the first of a window went, or of which the run knew them to be. */
  #countThere(term: WindowTerm, scope: string, { at, decidedAt, run }: RemovedInScopes): number {
    const { history, apiHistory } = this.evidence;
    const known = apiHistory.known.inTurnUpTo(run, 'pods', decidedAt);
    return history.pods.filter((states) =>
      history
        .during(states, known, at)
        .some(
          ({ object }) => object?.spec.nodeName && scopeOf(history, term.per, object, at) === scope,
        ),
    ).length;
  }
}

// The checker of eviction rates.
const removing: readonly CallKind[] = ['markPod', 'deletePod', 'evictPod'];

/** The start of an eviction: the first time a run sent a request for this pod. */
interface Beginning {
  readonly run: number;
  readonly at: number;
  readonly uid: string;
}

/**
 * In any span of time no more pods begin to be evicted than the burst and the rate allow: what a
 * full bucket and its inflow would have let through. A restarted client begins with a full one.
 */
export class EvictionRateChecker extends Checker<Evidence> {
  /** Called once, when everything is over. */
  atEnd(): void {
    const { rates } = this.evidence.terms;
    if (rates.length === 0) return;
    // A look names no uid: right after a gap it may have been meant for an earlier pod of the name.
    const { apiHistory } = this.evidence;
    const readings = [
      this.#beginnings((run, at) => apiHistory.known.upTo(run, 'pods', at)),
      this.#beginnings((run, at) => apiHistory.known.inTurnUpTo(run, 'pods', at)),
    ];
    for (const rate of rates) {
      const findings = readings.map((beginnings) => this.#excess(rate, beginnings));
      const [finding] = findings;
      if (finding && findings.every((one) => one !== null)) this.evidence.report(finding);
    }
  }

  /** The first requests, reads of a pod that was known among them. */
  #beginnings(known: (run: number, at: number) => number): readonly Beginning[] {
    const first = new Map<string, Beginning>();
    for (const call of this.evidence.apiHistory.calls.all) {
      const { kind, run, uid } = call;
      if (!removing.includes(kind) || uid === null || first.has(`${run}/${uid}`)) continue;
      first.set(`${run}/${uid}`, { run, at: this.#begunAt(call, uid, known), uid });
    }
    return [...first.values()].sort((a, b) => a.run - b.run || a.at - b.at);
  }

  /** When the first look was sent that this removal rests on, or the removal itself. */
  #begunAt(removal: Call, uid: string, known: (run: number, at: number) => number): number {
    const calls = this.evidence.apiHistory.calls.all;
    const createdAt = this.evidence.history.pod(uid)[0]?.at ?? Number.POSITIVE_INFINITY;
    const before = calls
      .slice(0, calls.indexOf(removal))
      .filter(({ run, target }) => run === removal.run && target === removal.target);
    // Looks before it were at an earlier pod of this name, or to mark the pod as not ready.
    const removedOther = before.findLastIndex(
      (call) => call.kind === 'changePodStatus' || (call.uid !== null && call.uid !== uid),
    );
    const looks = before.slice(removedOther + 1);
    const look = looks.find(
      ({ kind, run, sentAt }) => kind === 'readPod' && known(run, sentAt) >= createdAt,
    );
    return (look ?? removal).sentAt;
  }

  /** The first eviction too many; null: none. */
  #excess(rate: RateTerm, beginnings: readonly Beginning[]): Violation | null {
    const buckets = new Map<string, { tokens: number; at: number }>();
    for (const { run, at, uid } of beginnings) {
      if (rate.trips && this.#mayBeLate(uid, at)) continue;
      const key = `${run}/${this.#scopeOf(rate.per, uid, at)}`;
      const before = buckets.get(key) ?? { tokens: rate.burst, at };
      const inflow = ((at - before.at) * rate.podsPerSecond) / 1000;
      const tokens = Math.min(rate.burst, before.tokens + inflow) - 1;
      buckets.set(key, { tokens, at });
      if (tokens >= -0.001) continue;
      const evidence = `${rate.podsPerSecond} pods per second and a burst of ${rate.burst} per ${rate.per}, run/scope ${key}: one too many at ${clockTime(at)}, pod ${uid.slice(0, 8)}`;
      return { invariant: 'rate', at, evidence };
    }
    return null;
  }

  #mayBeLate(uid: string, at: number): boolean {
    const { history } = this.evidence;
    // A pod without a grace period is gone in the instant in which its eviction begins.
    const pod = history.during(history.pod(uid), at, at).findLast(({ object }) => object)?.object;
    return !!pod && mayBeLate(this.evidence, pod, at);
  }

  #scopeOf(per: RateTerm['per'], uid: string, at: number): string | null {
    const { history } = this.evidence;
    const pod = history.pod(uid).findLast(({ object }) => object)?.object;
    return pod ? scopeOf(history, per, pod, at) : null;
  }
}

interface RemovedFromNode extends Removed {
  readonly node: KubeObject | null;
}

const scopes = { Total: 'total', Namespace: 'namespace', Node: 'node' } as const;

/**
 * Within any window no more pods of a scope are made to leave than a policy allows that has been there
 * unchanged, and was known. Counted in the client's favour: as in the checker of windows, and the pods
 * that left before it surely knew the policy do not count.
 */
export class PolicyLimitChecker extends Checker<Evidence> {
  #removed: RemovedFromNode[] = [];

  observe(change: ObservedChange): void {
    if (!this.evidence.terms.clusterPolicies) return;
    if (change.change.resource === 'leases') this.#observeLease(change);
    if (change.change.resource === 'pods') this.#observePod(change);
  }

  /** The windows start over once a request to resume is answered. */
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

  #judge(name: string, last: RemovedFromNode): void {
    const found = this.evidence.policies.since(name, last.decidedAt);
    if (!found?.policy.isReadable) return;
    for (const limit of found.policy.spec.limits ?? []) {
      this.#judgeLimit(found.policy, found.since, limit, last);
    }
  }

  #judgeLimit(
    policy: StoredPolicy,
    since: number,
    limit: StoredLimit,
    last: RemovedFromNode,
  ): void {
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

  /** True if the run surely knew the policy, which is for every taint of the node. */
  #isCounted(
    { spec }: StoredPolicy,
    since: number,
    { run, decidedAt, pod, node }: RemovedFromNode,
  ): boolean {
    const known = this.evidence.apiHistory.known.inTurnUpTo(run, 'policies', decidedAt);
    // A decision at the very instant of the policy's arrival may have preceded it.
    return (
      known > since && spec.match?.taints === undefined && matches(spec.match, pod, node, null)
    );
  }
}

/** The scope that a pod is in at that instant; null: it is in none. */
function scopeOf(
  history: ObjectHistory,
  per: WindowTerm['per'],
  { metadata, spec }: KubeObject,
  at: number,
): string | null {
  switch (per) {
    case 'total':
      return '';
    case 'node':
      return spec.nodeName ?? '';
    case 'namespace':
      return metadata.namespace ?? '';
    case 'workload': {
      const owner = metadata.ownerReferences?.find(({ controller }) => controller);
      return owner ? `${metadata.namespace}/${owner.kind}/${owner.name}` : null;
    }
    case 'zone': {
      const node = history.during(history.node(spec.nodeName ?? ''), at, at).at(-1)?.object;
      return node ? zoneOf(node) : null;
    }
  }
}
