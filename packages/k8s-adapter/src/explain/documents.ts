// The answers of commands as json and yaml: pods, nodes, zones, reasons.
import {
  type Decision,
  describeReason,
  maintenanceOf,
  type Reason,
  type Taint,
  type Toleration,
} from '@taintmgr/core';
import {
  drainText,
  type EvictionRequest,
  isOpenRequest,
  nodeDrainer,
  operatorOf,
  type PredictedBlocker,
} from '@taintmgr/core/drain';
import { describeHold, describeLifecycleReason, type Forecast } from '@taintmgr/core/lifecycle';
import { formatDeadline, formatTime, type Instant } from '@taintmgr/core/time';
import type { Evictor } from '../survey/evictors.ts';
import type { NodeFacts, PodFacts } from '../survey/facts.ts';
import { count, groupBy } from '../text/count.ts';
import { printable } from '../text/printable.ts';
import type {
  BlockerDocument,
  CountsDocument,
  DecisionDocument,
  DecisionName,
  EmptyingDocument,
  EvictionRequestDocument,
  EvictorDocument,
  FateName,
  MaintenanceDocument,
  NodeDocument,
  PodDocument,
  PodInWay,
  ReasonDocument,
  TaintDocument,
  TallyDocument,
  ZoneDocument,
} from './answers.ts';
import { deadNodeDocument, deadNodeOf } from './dead-nodes.ts';
import { type Emptying, emptyingOf } from './emptying.ts';
import type { LimitedTime } from './limit-forecast.ts';
import {
  isBare,
  isGivenUp,
  isUnknown,
  type NodeReport,
  type PodReport,
  type Tally,
  tally,
} from './report.ts';
import { unaskedBudgetsDocument } from './unasked-budgets.ts';
import { evictorText } from './words.ts';

/** The group and version of everything that commands print as json or yaml. */
export const apiVersion = 'taintmgr.dev/v1alpha1' as const;

/** The fate of a pod in one word. */
export function decisionName(report: Pick<PodReport, 'explanation'>): DecisionName {
  if (report.explanation.pod.deletionTimestamp !== null) return 'Terminating';
  if (isGivenUp(report)) return 'Blocked';
  return isUnknown(report) ? 'Unknown' : decisionNames[report.explanation.decision.kind];
}

/** The fate of a pod in one word, at the moment of the question. */
export function fateName(report: PodReport): FateName {
  return report.isGone ? 'Gone' : decisionName(report);
}

/** The names of decisions, in tables and documents. */
export const decisionNames: Readonly<Record<Decision['kind'], DecisionName>> = {
  keep: 'Keep',
  evict: 'Evict',
  pause: 'Held',
};

/** A node and its pods. `after` is how long after the reading is meant. */
export function nodeDocument(report: NodeReport, now: Instant, after: number): NodeDocument {
  const { facts, taints, pods, leaseRenewedAt, clock, zone, forecast } = report;
  const { ready, cordoned, taintsWritten } = facts;
  const emptying = emptyingOf(report, now + after, after > 0);
  const dead = deadNodeOf(report, now);
  return {
    ready: {
      status: ready.status,
      since: time(ready.since),
      reason: ready.reason || undefined,
    },
    cordoned,
    ...maintenanceDocument(facts.node),
    leaseRenewedAt: time(leaseRenewedAt),
    clock: clock ?? undefined,
    health: forecast && pods ? healthDocument(forecast) : undefined,
    zone: zone ? { ...zone, ...(forecast && zoneDocument(forecast)) } : undefined,
    taints: taints.map(({ taint, start, startSource }) => {
      const isWritten = startSource !== 'firstSeen' || start < now;
      return {
        ...taintDocument(taint),
        countsFrom: isWritten ? time(start) : undefined,
        countsFromSource: isWritten ? startSource : 'unknown',
      };
    }),
    taintsLastWritten: taintsWritten
      ? { by: taintsWritten.by, at: time(taintsWritten.at) }
      : undefined,
    pods: pods?.map((pod) => podDocument(pod, now + after)),
    summary: pods ? tallyDocument(tally(pods)) : undefined,
    ...(emptying && {
      [report.drains.length > 0 ? 'drained' : 'empty']: emptyingDocument(emptying),
    }),
    ...unaskedBudgetsDocument(pods ?? []),
    ...(dead && { deadMachine: deadNodeDocument(dead) }),
  };
}

function emptyingDocument(emptying: Emptying): EmptyingDocument {
  const { state, by, lastEvictionAt, isEstimate } = emptying;
  const { daemonSetPods, staticPods, finishedPods } = emptying;
  const [obstacles, left] = [emptying.obstacles, emptying.left].map((pods) =>
    pods.map(({ pod, why }): PodInWay => ({ pod, because: why })),
  );
  return {
    state,
    by: deadline(by),
    lastEvictionAt: deadline(lastEvictionAt),
    ...(isEstimate && { estimate: true }),
    ...(obstacles?.length && { obstacles }),
    ...(left?.length && { left }),
    staying: { daemonSetPods, staticPods, finishedPods },
  };
}

/** The conditions by which others say that a node is drained or maintained. */
export function maintenanceDocument(node: NodeFacts['node']): MaintenanceDocument {
  const conditions = maintenanceOf(node);
  if (conditions.length === 0) return {};
  return {
    maintenance: conditions.map(({ type, reason, message, transitionAt }) => {
      return { type, reason, message: message || undefined, since: time(transitionAt) };
    }),
  };
}

/** The health of a node as a controller would judge it, as far as one look can show. */
function healthDocument({ health }: Forecast): NonNullable<NodeDocument['health']> {
  const { unreachableAt, place, taintAt, because } = health;
  return {
    unreachableAt: time(unreachableAt),
    placeInQueue: place ?? undefined,
    taintExpectedAt: deadline(taintAt),
    because: because.map((reason) => ({
      code: reason.code,
      text: describeLifecycleReason(reason),
    })),
  };
}

/** The state of a zone, and how fast its nodes are tainted. */
export function zoneDocument({ zone }: Forecast): ZoneDocument {
  if (!zone) return {};
  const { state, rate, hold, waiting } = zone;
  return {
    state,
    taintedNodesPerSecond: rate,
    held: hold ? { code: hold.code, text: describeHold(hold) } : undefined,
    waiting,
  };
}

/** A pod and what becomes of it, as of `at`. */
export function podDocument(report: PodReport, at: Instant): PodDocument {
  const { facts, explanation, evictor, isEstimate, limit, present, upstream, blockers } = report;
  const deletedAt = deadline(report.deletedAt);
  const { pod, qosClass, priority } = facts;
  return {
    namespace: pod.namespace,
    name: pod.name,
    uid: pod.uid,
    node: pod.nodeName,
    owner: pod.owner ? `${pod.owner.kind}/${pod.owner.name}` : undefined,
    qosClass: qosClass || undefined,
    priority,
    gracePeriodSeconds: pod.gracePeriodSeconds,
    ...decisionDocument(explanation.decision, at),
    decision: fateName(report),
    ...(evictor !== null && { evictedBy: evictor }),
    ...(isEstimate && { estimate: true }),
    because: explanation.decision.because.map(reasonDocument),
    ...(isBare(pod) && { unmanaged: true }),
    ...(pod.nodeName === '' && { pending: pendingDocument(facts) }),
    blockers: blockers.map(blockerDocument),
    ...(deletedAt !== undefined && { deletedAt }),
    ...(limit && { limit: limitDocument(limit) }),
    kubeControllerManager: upstream
      ? {
          version: '1.36',
          ...decisionDocument(upstream.decision, at),
          rules: upstream.differences,
        }
      : undefined,
    otherwise: report.otherwise ? decisionDocument(report.otherwise, at) : undefined,
    present: present ? decisionDocument(present.decision, at) : undefined,
    ...(report.requests.length > 0 && {
      evictionRequests: report.requests.map(requestDocument),
    }),
  };
}

function pendingDocument({ unscheduled }: PodFacts): NonNullable<PodDocument['pending']> {
  if (!unscheduled) return {};
  const { reason, message, since } = unscheduled;
  return { reason, message, since: time(since) };
}

/** When a limit lets the pod go, or until when it surely does not. */
function limitDocument({
  id,
  tripped,
  goesAt,
  notBefore,
}: LimitedTime): NonNullable<PodDocument['limit']> {
  if (tripped) return { id, tripped };
  return { id, tripped, expectedAt: deadline(goesAt), notBefore: deadline(notBefore) };
}

/** Who acts on NoExecute taints here, as answers name him. */
export function evictorDocument({ name, source, sure }: Evictor): EvictorDocument {
  return { evictor: { name, source, sure } };
}

/** The same for the pods of one node: there a drain acts in the place of others, or alone. */
export function nodeEvictorDocument({ drains }: NodeReport, evictor: Evictor): EvictorDocument {
  if (drains.length === 0) return evictorDocument(evictor);
  const names = drains.map(({ id, by }) => `drain ${id}${by === '' ? '' : ` by ${by}`}`);
  const source = `the mark of ${names.join(' and ')} on the node`;
  return { evictor: { name: 'drain-by-taint', source, sure: false } };
}

/** Counts, and the seconds left to the first and the last that goes. */
export function tallyDocument({ next, last, gone, held, ...counts }: Tally): TallyDocument {
  return {
    ...counts,
    ...(gone > 0 && { gone }),
    ...(held > 0 && { held }),
    nextSeconds: seconds(next),
    lastSeconds: seconds(last),
  };
}

/**
 * The fate of the pods of several nodes. Pods of nodes that they need not leave are not read: no count
 * includes them.
 */
export function countsOf(nodes: readonly NodeReport[]): {
  readonly counts: Tally;
  readonly notCounted: number;
} {
  const counts = tally(nodes.flatMap((node) => node.pods ?? []));
  return { counts, notCounted: nodes.filter(({ pods }) => pods === null).length };
}

/** The same in a document; a number of pods is left out where none was counted. */
export function countsDocument(nodes: readonly NodeReport[]): CountsDocument {
  const { counts, notCounted } = countsOf(nodes);
  const document = tallyDocument(counts);
  if (notCounted === 0) return document;
  const unknown = { pods: undefined, terminating: undefined, keep: undefined };
  const nodesNotCounted = notCounted;
  return { ...document, ...(notCounted === nodes.length && unknown), nodesNotCounted };
}

/** The blocker of an eviction. */
export function blockerDocument(blocker: PredictedBlocker): BlockerDocument {
  const { code, verdict, message, budgets, remedy, operatorSign } = blocker;
  return {
    code,
    verdict,
    message,
    ...(remedy && { remedy }),
    ...(operatorSign && { operatorSign }),
    budgets: budgets.map((budget) => {
      const { namespace, name, allowed, healthy, desired, expected } = budget;
      const operator = operatorOf(budget) ?? undefined;
      return { namespace, name, allowed, healthy, desired, expected, operator };
    }),
  };
}

/** `key`, `value` and `effect`, and when it was added, where it says so. */
export function taintDocument({ key, value, effect, timeAdded }: Taint): TaintDocument {
  return { key, value: value || undefined, effect, timeAdded: time(timeAdded) };
}

function decisionDocument(decision: Decision, at: Instant): DecisionDocument {
  return {
    decision: decisionNames[decision.kind],
    reason: decision.because[0]?.code,
    ...(decision.kind === 'evict' && {
      deadline: deadline(decision.deadline),
      remainingSeconds: seconds(decision.deadline - at),
    }),
    ...(decision.kind === 'pause' && { remainingSeconds: seconds(decision.remaining) }),
  };
}

function reasonDocument(reason: Reason): ReasonDocument {
  const text = describeReason(reason);
  if (!('taint' in reason)) return { code: reason.code, text };
  return {
    code: reason.code,
    text,
    taint: taintDocument(reason.taint),
    device: 'device' in reason ? reason.device : undefined,
    toleration: 'toleration' in reason ? tolerationDocument(reason.toleration) : undefined,
    countsFrom: 'start' in reason ? time(reason.start) : undefined,
    countsFromSource: 'start' in reason ? reason.startSource : undefined,
    deadline: 'deadline' in reason ? deadline(reason.deadline) : undefined,
  };
}

function tolerationDocument(toleration: Toleration): NonNullable<ReasonDocument['toleration']> {
  const { key, operator, value, effect, tolerationSeconds } = toleration;
  return {
    key: key || undefined,
    operator: operator || undefined,
    value: value || undefined,
    effect: effect || undefined,
    tolerationSeconds: tolerationSeconds === null ? undefined : Number(tolerationSeconds),
  };
}

/** Formats a time as RFC 3339 in whole seconds; undefined: unknown. */
export function time(instant: Instant | null): string | undefined {
  return instant === null || !Number.isFinite(instant) ? undefined : formatTime(instant);
}

/** Formats a future time as RFC 3339 in whole seconds, rounded up; undefined: unknown. */
export function deadline(instant: Instant | null): string | undefined {
  return instant === null || !Number.isFinite(instant) ? undefined : formatDeadline(instant);
}

function seconds(millis: number | null): number | undefined {
  return millis === null ? undefined : Math.floor(millis / 1000);
}

/** The requester, the responder, and its progress. */
export function requestDocument({
  name,
  requester,
  failed,
  responder,
  createdAt,
}: EvictionRequest): EvictionRequestDocument {
  return {
    name,
    requester,
    ...(createdAt !== null && { createdAt: formatTime(createdAt) }),
    ...(failed !== null && { failed }),
    ...(responder && {
      responder: {
        name: responder.name,
        lastHeartbeat: written(responder.heartbeatAt, formatTime),
        expectedCompletion: written(responder.expectedAt, formatDeadline),
        message: responder.message || undefined,
      },
    }),
  };
}

/** Names the requesters of a move of the pod; `-`: none. */
export function requestersText(requests: readonly EvictionRequest[]): string {
  const names = requests.filter(isOpenRequest).map(({ requester }) => requester);
  return names.length === 0 ? '-' : printable([...new Set(names)].join(', '));
}

function written(at: Instant | null, format: (at: Instant) => string): string | undefined {
  return at === null ? undefined : format(at);
}

/** The largest number of nodes that are named. */
const namedMax = 3;

/** Says who evicts the pods of a node: a drain that acts there, else `evictor`. */
export function nodeEvictedBy({ drains }: NodeReport, evictor: Evictor): string {
  return drains.length > 0 ? drainsText(drains) : evictorText(evictor);
}

/**
 * Says who evicts the pods of several nodes; where drains differ by node, on which ones each acts.
 */
export function nodesEvictedBy(nodes: readonly NodeReport[], evictor: Evictor): string {
  const byText = groupBy(nodes.filter(isConcerned), (node) => nodeEvictedBy(node, evictor));
  const elsewhere = evictorText(evictor);
  const [only, ...more] = byText.keys();
  if (more.length === 0) return only ?? elsewhere;
  const drained = [...byText].filter(([text]) => text !== elsewhere);
  const parts = drained.map(([text, there]) => `${text}, on ${nodesText(there)}`);
  const others = byText.has(elsewhere) ? [`${elsewhere} on the others`] : [];
  return [...parts, ...others].join('; ');
}

/** The same in documents: one for all, where that is so. */
export function nodesEvictorDocument(
  nodes: readonly NodeReport[],
  evictor: Evictor,
): EvictorDocument {
  const documents = nodes.filter(isConcerned).map((node) => nodeEvictorDocument(node, evictor));
  const [first, ...others] = documents;
  const isOne = others.every((other) => JSON.stringify(other) === JSON.stringify(first));
  return first && isOne ? first : evictorDocument(evictor);
}

/** Where nothing is tainted or drained no program evicts. */
function isConcerned({ drains, taints }: NodeReport): boolean {
  return drains.length > 0 || taints.length > 0;
}

function nodesText(nodes: readonly NodeReport[]): string {
  const names = nodes.map(({ facts }) => facts.node.name);
  return names.length <= namedMax ? names.join(', ') : count(names.length, 'node');
}

/** The marks of a drain do not say if it still runs. */
function drainsText(drains: NodeReport['drains']): string {
  const [objects, others] = [true, false].map((isObject) =>
    drains.filter(({ by }) => (by === nodeDrainer) === isObject),
  );
  const names = (objects ?? []).map(drainText);
  const ids = (others ?? []).map(({ id }) => id).join(', ');
  return [...names, ...(ids === '' ? [] : [`drain-by-taint (${ids}), as long as it runs`])].join(
    ', ',
  );
}
