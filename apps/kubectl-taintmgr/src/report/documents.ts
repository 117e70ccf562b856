// The answers of commands as json and yaml: pods, nodes, zones, reasons.
import {
  type Decision,
  describeReason,
  type Reason,
  type Taint,
  type Toleration,
} from '@taintmgr/core';
import { operatorOf, type PredictedBlocker } from '@taintmgr/core/drain';
import { describeHold, describeLifecycleReason, type Forecast } from '@taintmgr/core/lifecycle';
import { formatDeadline, formatTime, type Instant } from '@taintmgr/core/time';
import type { Evictor } from '../cluster/evictors.ts';
import { isBare } from './bare-pods.ts';
import { requestDocument } from './eviction-requests.ts';
import type { LimitedTime } from './limit-forecast.ts';
import { type NodeReport, type PodReport, type Tally, tally } from './report.ts';

/** The group and version of everything that commands print as json or yaml. */
export const apiVersion = 'taintmgr.dev/v1alpha1';

/** How far a pod is; what `decision` says in documents and DECISION in tables. */
export type DecisionName = 'Evict' | 'Keep' | 'Paused' | 'Terminating' | 'Unknown';

/** The name of what becomes of a pod. */
export function decisionName({ facts, explanation }: PodReport): DecisionName {
  if (facts.pod.deletionTimestamp !== null) return 'Terminating';
  const [reason] = explanation.decision.because;
  if (reason?.code === 'NodeUnknown' && reason.hidden) return 'Unknown';
  return decisionNames[explanation.decision.kind];
}

export const decisionNames: Readonly<Record<Decision['kind'], DecisionName>> = {
  keep: 'Keep',
  evict: 'Evict',
  pause: 'Paused',
};

/** A node and its pods. `after` is how long after the reading is meant. */
export function nodeDocument(report: NodeReport, now: Instant, after: number): object {
  const { facts, taints, pods, leaseRenewedAt, clock, zone, forecast } = report;
  const { ready, cordoned, taintsWritten } = facts;
  return {
    ready: {
      status: ready.status,
      since: time(ready.since),
      reason: ready.reason || undefined,
    },
    cordoned,
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
    summary: pods ? tallyDocument(tally(pods, after)) : undefined,
  };
}

/** What a controller would make of a node, as far as one look can show. */
function healthDocument({ health }: Forecast): object {
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
export function zoneDocument({ zone }: Forecast): object {
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
export function podDocument(report: PodReport, at: Instant): object {
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
    decision: decisionName(report),
    ...(evictor !== null && { evictedBy: evictor }),
    ...(isEstimate && { estimate: true }),
    because: explanation.decision.because.map(reasonDocument),
    ...(isBare(pod) && { unmanaged: true }),
    blockers: blockers.map(blockerDocument),
    ...(deletedAt !== undefined && { deletedAt }),
    ...(limit && { limit: limitDocument(limit) }),
    upstream: upstream
      ? {
          version: 'kcm-1.36',
          ...decisionDocument(upstream.decision, at),
          rules: upstream.differences,
        }
      : undefined,
    present: present ? decisionDocument(present.decision, at) : undefined,
    ...(report.requests.length > 0 && {
      evictionRequests: report.requests.map(requestDocument),
    }),
  };
}

/** When a limit lets the pod go, or until when it surely does not. */
function limitDocument({ id, tripped, goesAt, notBefore }: LimitedTime): object {
  if (tripped) return { id, tripped };
  return { id, tripped, expectedAt: deadline(goesAt), notBefore: deadline(notBefore) };
}

/** Who acts on NoExecute taints here, as answers name him. */
export function evictorDocument({ name, source, sure }: Evictor): object {
  return { evictor: { name, source, sure } };
}

/** The same for the pods of one node: there a drain acts in the place of others, or alone. */
export function nodeEvictorDocument({ drains }: NodeReport, evictor: Evictor): object {
  if (drains.length === 0) return evictorDocument(evictor);
  const names = drains.map(({ id, by }) => `drain ${id}${by === '' ? '' : ` by ${by}`}`);
  const source = `the mark of ${names.join(' and ')} on the node`;
  return { evictor: { name: 'drain-by-taint', source, sure: false } };
}

/** Counts, and the seconds left to the first and the last that goes. */
export function tallyDocument({ next, last, gone, paused, ...counts }: Tally): object {
  return {
    ...counts,
    ...(gone > 0 && { gone }),
    ...(paused > 0 && { paused }),
    nextSeconds: seconds(next),
    lastSeconds: seconds(last),
  };
}

/** What holds an eviction back. */
export function blockerDocument(blocker: PredictedBlocker): object {
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
export function taintDocument({ key, value, effect, timeAdded }: Taint): object {
  return { key, value: value || undefined, effect, timeAdded: time(timeAdded) };
}

function decisionDocument(decision: Decision, at: Instant): object {
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

function reasonDocument(reason: Reason): object {
  const text = describeReason(reason);
  if (!('taint' in reason)) return { code: reason.code, text };
  return {
    code: reason.code,
    text,
    taint: taintDocument(reason.taint),
    toleration: 'toleration' in reason ? tolerationDocument(reason.toleration) : undefined,
    countsFrom: 'start' in reason ? time(reason.start) : undefined,
    countsFromSource: 'start' in reason ? reason.startSource : undefined,
    deadline: 'deadline' in reason ? deadline(reason.deadline) : undefined,
  };
}

function tolerationDocument(toleration: Toleration): object {
  const { key, operator, value, effect, tolerationSeconds } = toleration;
  return {
    key: key || undefined,
    operator: operator || undefined,
    value: value || undefined,
    effect: effect || undefined,
    tolerationSeconds: tolerationSeconds === null ? undefined : Number(tolerationSeconds),
  };
}

/** As documents have it; left out where it is unknown. */
export function time(instant: Instant | null): string | undefined {
  return instant === null || !Number.isFinite(instant) ? undefined : formatTime(instant);
}

/** The same of what is to come, which is not before it. */
export function deadline(instant: Instant | null): string | undefined {
  return instant === null || !Number.isFinite(instant) ? undefined : formatDeadline(instant);
}

function seconds(millis: number | null): number | undefined {
  return millis === null ? undefined : Math.floor(millis / 1000);
}
