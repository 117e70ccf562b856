// The checkers of a client's writes on nodes and their pods: conditions, taints and readiness are
// there in the end, do not come too early, and fields of others stay untouched.
import type { KubeObject } from '@taintmgr/sim-cluster';
import type { Call } from '../call.ts';
import { Checker } from '../evidence.ts';
import type { ObservedChange, State } from '../object-history.ts';
import { type Condition, isReady, keyOf } from '../objects.ts';
import { clockTime } from '../terms.ts';
import type { LifecycleEvidence } from './lifecycle-evidence.ts';
import {
  areConditionTaintsRight,
  hasWrongUnhealthyTaint,
  isLifecycleTaint,
  kubeletConditions,
  kubeletConditionTypes,
  readinessOf,
  taintsOf,
  unhealthyTaints,
} from './node-rule.ts';

/** A node at one instant. */
interface Look {
  readonly node: KubeObject;
  /** True if it has had no heartbeat for longer than its grace period. */
  readonly isUnheard: boolean;
}

/** The states that may not last, each with the name of its invariant. */
const faults: readonly (readonly [invariant: string, holds: (look: Look) => boolean])[] = [
  [
    'unreachable node not Unknown',
    ({ node, isUnheard }) => isUnheard && readinessOf(node) !== 'Unknown',
  ],
  [
    'healthy node stays tainted',
    ({ node, isUnheard }) =>
      !isUnheard && readinessOf(node) === 'True' && unhealthyTaints(node).length > 0,
  ],
  ['wrong taint of an unhealthy node', ({ node }) => hasWrongUnhealthyTaint(node)],
  ['condition taints', ({ node }) => !areConditionTaintsRight(node)],
];

/** No state of a node that the client has to repair lasts longer than the bound. */
export class LastingFaultChecker extends Checker<LifecycleEvidence> {
  /** Judges the undisturbed time from `calmSince` to `now`. */
  atRest(calmSince: number, now: number): void {
    for (const nodeName of this.evidence.history.nodeNames) {
      const looks = this.#looks(nodeName, calmSince, now);
      for (const [invariant, holds] of faults) this.#judge(invariant, holds, nodeName, looks, now);
    }
  }

  #judge(
    invariant: string,
    holds: (look: Look) => boolean,
    nodeName: string,
    looks: readonly (readonly [at: number, look: Look | null])[],
    now: number,
  ): void {
    const { terms, report } = this.evidence;
    let since: number | null = null;
    for (const [index, [at, look]] of looks.entries()) {
      const isWrong = look !== null && holds(look);
      const until = looks[index + 1]?.[0] ?? now;
      if (!isWrong) since = null;
      else since ??= at;
      if (since === null || until - since <= terms.boundMs) continue;
      const evidence = `node ${nodeName}, since ${clockTime(since)}`;
      report({ invariant, at: since + terms.boundMs, evidence });
      return;
    }
  }

  /** The node at each instant at which something about it changes. */
  #looks(
    nodeName: string,
    from: number,
    to: number,
  ): readonly (readonly [at: number, look: Look | null])[] {
    const { history, heartbeats, terms } = this.evidence;
    const states = history.node(nodeName);
    const graces = [terms.nodeMonitorGraceMs, terms.nodeStartupGraceMs];
    const beats = [from, ...heartbeats.during(nodeName, from, to)];
    const instants = new Set([
      from,
      ...states.map(({ at }) => at).filter((at) => at > from && at <= to),
      ...beats,
      ...beats.flatMap((at) => graces.map((grace) => at + grace + 1)).filter((at) => at <= to),
    ]);
    return [...instants]
      .sort((a, b) => a - b)
      .map((at) => {
        const node = states.findLast((state) => state.at <= at)?.object ?? null;
        return [at, node && { node, isUnheard: this.#isUnheard(node, from, at) }];
      });
  }

  #isUnheard(node: KubeObject, calmSince: number, at: number): boolean {
    const { heartbeats, terms, zones } = this.evidence;
    const isNew = readinessOf(node) === 'absent';
    const grace = isNew ? terms.nodeStartupGraceMs : terms.nodeMonitorGraceMs;
    // While no node at all was ready, no heartbeats could be expected; all periods start over
    // afterwards.
    const lastBeat = Math.max(
      heartbeats.last(node.metadata.name, at),
      zones.lastExit(at),
      calmSince,
    );
    return at - lastBeat > grace;
  }
}

/**
 * The checker of false alarms: nothing is done against a node with a heartbeat. Judged by the
 * client's possible knowledge when it began; it has to know everything older than the allowed age
 * of its view.
 */
export class FalseAlarmChecker extends Checker<LifecycleEvidence> {
  observe({ at, change: { type, resource, object, previous }, by }: ObservedChange): void {
    if (!by || !previous || type === 'DELETED') return;
    if (resource === 'nodes') {
      const readiness = readinessOf(previous);
      if (readiness !== 'Unknown' && readinessOf(object) === 'Unknown') {
        this.#judgeUnknown(at, previous, by);
      }
      const before = unhealthyTaints(previous);
      const added = unhealthyTaints(object).filter((key) => !before.includes(key));
      if (added.length > 0 && this.#wasHealthy(previous.metadata.name, by, at)) {
        this.#report('healthy node tainted', at, by, `node ${previous.metadata.name} got ${added}`);
      }
    }
    if (resource === 'pods' && isReady(previous) && !isReady(object)) {
      const nodeName: string = previous.spec.nodeName ?? '';
      if (this.#wasHealthy(nodeName, by, at)) {
        this.#report('pod of healthy node marked', at, by, `pod ${keyOf(previous)} on ${nodeName}`);
      }
    }
  }

  #judgeUnknown(at: number, node: KubeObject, by: Call): void {
    const { heartbeats, terms } = this.evidence;
    const { name } = node.metadata;
    const began = this.evidence.apiHistory.calls.begunAt(by);
    const grace =
      readinessOf(node) === 'absent' ? terms.nodeStartupGraceMs : terms.nodeMonitorGraceMs;
    for (const source of ['nodes', 'leases'] as const) {
      const last = heartbeats.last(name, this.#knownUpTo(by, source, began), source);
      if (began - last >= grace) continue;
      const what = `node ${name} goes Unknown; last heartbeat ${clockTime(last)} (${source})`;
      this.#report('false Unknown', at, by, what);
      return;
    }
  }

  /** True if every state that the client can have acted on said that the node is healthy. */
  #wasHealthy(nodeName: string, by: Call, at: number): boolean {
    const { history, terms, apiHistory } = this.evidence;
    const known = this.#knownUpTo(by, 'nodes', apiHistory.calls.begunAt(by));
    const states = history.during(history.node(nodeName), known - terms.lagMs, at);
    const alive = states.filter(({ object }) => object !== null);
    return (
      alive.length > 0 &&
      alive.every(({ object }) => !['False', 'Unknown'].includes(readinessOf(object)))
    );
  }

  /** The instant as of which it knew the source, or had to know it. */
  #knownUpTo({ run }: Call, source: 'nodes' | 'leases', began: number): number {
    const { apiHistory, terms } = this.evidence;
    const known = apiHistory.known.inTurnUpTo(run, source, began);
    // A client may miss changes of the very instant at which it is cut off.
    const received = known < began ? known - 1 : known;
    return Math.max(received, began - terms.cacheAgeMsMax);
  }

  #report(invariant: string, at: number, by: Call, what: string): void {
    const { report, apiHistory } = this.evidence;
    const began = clockTime(apiHistory.calls.begunAt(by));
    report({ invariant, at, evidence: `${what}; run ${by.run}, begun ${began}` });
  }
}

/** Reason and message of a condition that was there, and of one that never was. */
const stopped = ['NodeStatusUnknown', 'Kubelet stopped posting node status.'] as const;
const never = ['NodeStatusNeverUpdated', 'Kubelet never posted node status.'] as const;

/**
 * The client writes only Unknown into the four conditions of a kubelet, for all four at once, with
 * the reasons that people search for, and leaves the last heartbeat in place.
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

/** Old names of labels that follow the new ones. */
const followers: Readonly<Record<string, string>> = {
  'beta.kubernetes.io/os': 'kubernetes.io/os',
  'beta.kubernetes.io/arch': 'kubernetes.io/arch',
};
const podConditions: readonly string[] = ['Ready', 'DisruptionTarget'];

/** No write of the client changes fields of a node or a pod that belong to others. */
export class ForeignFieldChecker extends Checker<LifecycleEvidence> {
  observe({ at, change: { type, resource, object, previous }, by }: ObservedChange): void {
    if (!by || !previous || type === 'DELETED') return;
    if (resource !== 'nodes' && resource !== 'pods') return;
    const parts = resource === 'nodes' ? nodeParts : podParts;
    const isOwn = (key: string): boolean =>
      this.evidence.terms.ownKeys.some((own) => key.startsWith(own));
    const before = parts(previous, isOwn);
    const after = parts(object, isOwn);
    for (const part of Object.keys(before)) {
      const [was, is] = [JSON.stringify(before[part]), JSON.stringify(after[part])];
      if (was === is) continue;
      const evidence = `${part} of ${resource} ${keyOf(object)}: ${was} became ${is}; run ${by.run}`;
      this.evidence.report({ invariant: 'foreign field', at, evidence });
    }
    if (resource === 'nodes') this.#judgeFollowers(at, previous, object);
  }

  #judgeFollowers(at: number, previous: KubeObject, node: KubeObject): void {
    const [before = {}, after = {}] = [previous.metadata.labels, node.metadata.labels];
    for (const [follower, leader] of Object.entries(followers)) {
      if (before[follower] === after[follower] || after[follower] === after[leader]) continue;
      const evidence = `label ${follower} of nodes ${node.metadata.name}: ${before[follower]} became ${after[follower]}`;
      this.evidence.report({ invariant: 'foreign field', at, evidence });
    }
  }
}

type IsOwn = (key: string) => boolean;
type Parts = Readonly<Record<string, unknown>>;

function metadataParts({ metadata }: KubeObject, isOwn: IsOwn): Parts {
  const foreign = (map: Readonly<Record<string, string>> | undefined): unknown =>
    Object.entries(map ?? {})
      .filter(([key]) => !isOwn(key) && !(key in followers))
      .sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    labels: foreign(metadata.labels),
    annotations: foreign(metadata.annotations),
    finalizers: metadata.finalizers,
    ownerReferences: metadata.ownerReferences,
  };
}

function nodeParts(node: KubeObject, isOwn: IsOwn): Parts {
  const { taints: _taints, ...spec } = node.spec ?? {};
  const { conditions = [], ...status } = node.status ?? {};
  const types: readonly string[] = kubeletConditionTypes;
  return {
    ...metadataParts(node, isOwn),
    taints: taintsOf(node).filter((taint) => !isLifecycleTaint(taint) && !isOwn(taint.key)),
    spec,
    status,
    conditions: foreignConditions(conditions, types),
  };
}

function podParts(pod: KubeObject, isOwn: IsOwn): Parts {
  // The legacy mode gives its reason for a pod's end in the status.
  const { conditions = [], reason: _reason, message: _message, ...status } = pod.status ?? {};
  return {
    ...metadataParts(pod, isOwn),
    spec: pod.spec,
    status,
    conditions: foreignConditions(conditions, podConditions),
  };
}

function foreignConditions(conditions: readonly Condition[], own: readonly string[]): unknown {
  return conditions.filter(({ type }) => !own.includes(type));
}

/**
 * The checker of pods of unreachable nodes: they are marked not ready within the bound. A node that
 * was not Ready before asks for nothing: its kubelet has said what there is to say of its pods.
 */
export class UnmarkedPodChecker extends Checker<LifecycleEvidence> {
  /** Judges the undisturbed time from `calmSince` to `now`. */
  atRest(calmSince: number, now: number): void {
    for (const states of this.evidence.history.pods) this.#judge(states, calmSince, now);
  }

  #judge(states: readonly State[], calmSince: number, now: number): void {
    const { history, terms, report } = this.evidence;
    const nodeName: string = states.findLast(({ object }) => object)?.object?.spec.nodeName ?? '';
    const nodeStates = history.node(nodeName);
    const instants = [calmSince, ...states.map(({ at }) => at), ...nodeStates.map(({ at }) => at)]
      .filter((at) => at >= calmSince && at <= now)
      .sort((a, b) => a - b);
    let since: number | null = null;
    for (const [index, at] of instants.entries()) {
      const pod = states.findLast((state) => state.at <= at)?.object ?? null;
      const isWrong =
        pod !== null &&
        pod.spec.nodeName === nodeName &&
        isReady(pod) &&
        wasUnreachable(nodeStates, at);
      if (!isWrong) since = null;
      else since ??= at;
      const until = instants[index + 1] ?? now;
      if (since === null || pod === null || until - since <= terms.podBoundMs) continue;
      const evidence = `pod ${keyOf(pod)} is ready on ${nodeName}, since ${clockTime(since)}`;
      report({
        invariant: 'pod of unreachable node not marked',
        at: since + terms.podBoundMs,
        evidence,
      });
      return;
    }
  }
}

/** True if the node was Unknown at that instant, and Ready at its last heartbeat. */
function wasUnreachable(states: readonly State[], at: number): boolean {
  const index = states.findLastIndex((state) => state.at <= at);
  const node = states[index]?.object ?? null;
  if (readinessOf(node) !== 'Unknown') return false;
  const before = states
    .slice(0, index)
    .findLast(({ object }) => readinessOf(object) !== 'Unknown')?.object;
  return before?.metadata.uid === node?.metadata.uid && readinessOf(before ?? null) === 'True';
}
