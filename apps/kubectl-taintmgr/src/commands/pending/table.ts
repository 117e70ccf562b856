import { isOpenRequest } from '@taintmgr/core/drain';
import type { Instant } from '@taintmgr/core/time';
import type { Column } from '../../render/table.ts';
import { decisionName, podDocument, taintDocument } from '../../report/documents.ts';
import { requestersText } from '../../report/eviction-requests.ts';
import type { PodReport } from '../../report/report.ts';
import {
  becauseText,
  deadlineText,
  decisive,
  decisiveReason,
  heldText,
  none,
  ownerText,
  timeLeftOf,
} from '../../report/words.ts';

/** The answer of `pending`: the document of each pod, and its deciding taint. */
export function pendingDocument(report: PodReport, now: Instant): object {
  const reason = decisiveReason(report);
  const taint = reason && 'taint' in reason ? taintDocument(reason.taint) : undefined;
  return { ...podDocument(report, now), taint };
}

/** A line for each pod; who has requested evictions only where somebody has. */
export function pendingColumns(
  now: Instant,
  pods: readonly PodReport[],
): readonly Column<PodReport>[] {
  const isRequested = pods.some(({ requests }) => requests.some(isOpenRequest));
  return [
    ['NAMESPACE', ({ facts }) => facts.pod.namespace],
    ['POD', ({ facts }) => facts.pod.name],
    ['NODE', ({ facts }) => facts.pod.nodeName],
    ['IN', (pod) => (decisionName(pod) === 'Unknown' ? 'unknown' : timeLeftOf(pod, 0))],
    ['TAINT', (pod) => (decisionName(pod) === 'Unknown' ? 'unknown' : decisive(pod).taint)],
    ['BLOCKED BY', (pod) => heldText(pod, now)],
    ...(isRequested
      ? [['REQUESTED BY', ({ requests }: PodReport) => requestersText(requests)] as const]
      : []),
    ['EVICTED BY', ({ evictor }) => evictor ?? none, 'wide'],
    ['DUE', ({ explanation }) => deadlineText(explanation.decision), 'wide'],
    ['TOLERATION', (pod) => decisive(pod).toleration, 'wide'],
    ['OWNER', ({ facts }) => ownerText(facts.pod), 'wide'],
    ['BECAUSE', ({ explanation }) => becauseText(explanation.decision), 'wide'],
  ];
}
