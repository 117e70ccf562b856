import {
  describePressureReason,
  formatThreshold,
  type PodInOrder,
  type SignalExplanation,
  type ThresholdState,
} from '@taintmgr/core/pressure';
import { formatTime } from '@taintmgr/core/time';
import { ownConditionType } from '@taintmgr/k8s-adapter';
import { apiVersion, deadline, time } from '../../../report/documents.ts';
import type { PressureSurvey } from './survey.ts';

/** The answer of `explain pressure` as json and yaml. */
export function pressureDocument(survey: PressureSurvey): object {
  const { at, source, semantics, explanation, conditions } = survey;
  const { node, doubts, layout, signals } = explanation;
  return {
    apiVersion,
    kind: 'PressureExplanation',
    metadata: { name: node.name, uid: node.uid },
    observedAt: formatTime(at),
    semantics,
    thresholdsOf: source,
    filesystemLayout: layout ?? undefined,
    doubts: doubts.map((reason) => ({ code: reason.code, text: describePressureReason(reason) })),
    conditions: explanation.conditions.map(({ type, holds, clearsAt }) => {
      const own = ownConditionType(type);
      return {
        type,
        kubelet: conditions.find((condition) => condition.type === type)?.status,
        taintmgr: conditions.find((condition) => condition.type === own)?.status,
        expected: holds,
        clearsNotBefore: deadline(clearsAt),
      };
    }),
    signals: signals.map(signalDocument),
  };
}

/** One pod of an order, for custom-columns too. */
export function podInOrderDocument(one: PodInOrder, signal: string): object {
  const { pod, used, requested, refusal, decidedBy, availableAfter, gracePeriodSeconds } = one;
  return {
    signal,
    namespace: pod.namespace,
    name: pod.name,
    uid: pod.uid,
    priority: pod.priority,
    used: used ?? undefined,
    requested,
    mayGo: refusal === null,
    because: refusal ? { code: refusal.code, text: describePressureReason(refusal) } : undefined,
    beforeTheNextBy: decidedBy ?? undefined,
    availableAfter: availableAfter ?? undefined,
    gracePeriodSeconds,
  };
}

function signalDocument({
  signal,
  sample,
  thresholds,
  order,
  evictionsNeeded,
}: SignalExplanation): object {
  return {
    signal,
    available: sample?.available,
    capacity: sample?.capacity,
    measuredAt: time(sample?.time ?? null),
    thresholds: thresholds.map(thresholdDocument),
    evictionsNeeded: evictionsNeeded ?? 'more than there are',
    order: order.map((one) => podInOrderDocument(one, signal)),
  };
}

function thresholdDocument(state: ThresholdState): object {
  const { threshold, phase, amount, clearAt, dueAt } = state;
  return {
    threshold: formatThreshold(threshold),
    gracePeriodSeconds: threshold.gracePeriodMs / 1000,
    phase,
    amount: amount ?? undefined,
    endsAt: clearAt ?? undefined,
    dueAt: phase === 'waiting' ? deadline(dueAt) : undefined,
  };
}
