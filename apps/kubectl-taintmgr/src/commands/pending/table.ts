import { describeReason, formatTaint, formatTime, type Instant } from '@taintmgr/core';
import type { TableOptions } from '../../render/printer.ts';
import { renderTable } from '../../render/table.ts';
import { podDocument, taintDocument } from '../../report/documents.ts';
import type { PodReport } from '../../report/report.ts';
import { blockerText, hidden, none, timeLeft, tolerationText } from '../../report/words.ts';

/** The answer of `pending`: the document of each pod, and its deciding taint. */
export function pendingDocument(report: PodReport, now: Instant): object {
  const [reason] = report.explanation.decision.because;
  const taint = reason && 'taint' in reason ? taintDocument(reason.taint) : undefined;
  return { ...podDocument(report, now), taint };
}

interface Context {
  readonly now: Instant;
  readonly knowsBudgets: boolean;
}

/** A line for each pod. */
export function renderPending(
  pods: readonly PodReport[],
  context: Context,
  { wide, headers }: TableOptions,
): string {
  const head = ['NAMESPACE', 'POD', 'NODE', 'IN', 'TAINT', 'BLOCKED BY'];
  const wideHead = ['DUE', 'TOLERATION', 'OWNER', 'BECAUSE'];
  const rows = pods.map((pod) => [...cellsOf(pod, context), ...(wide ? wideCells(pod) : [])]);
  return renderTable(headers ? [...head, ...(wide ? wideHead : [])] : null, rows);
}

function cellsOf(report: PodReport, { knowsBudgets }: Context): readonly string[] {
  const { facts, explanation, blockers } = report;
  const { namespace, name, nodeName } = facts.pod;
  const [reason] = explanation.decision.because;
  const held = [...blockers.map(blockerText), ...(knowsBudgets ? [] : [hidden])];
  return [
    namespace,
    name,
    nodeName,
    explanation.remaining === null ? '-' : timeLeft(explanation.remaining),
    reason && 'taint' in reason ? formatTaint(reason.taint) : none,
    held.length === 0 ? none : held.join(', '),
  ];
}

function wideCells({ facts, explanation }: PodReport): readonly string[] {
  const { decision } = explanation;
  const [reason] = decision.because;
  const { owner } = facts.pod;
  return [
    decision.kind === 'evict' ? formatTime(decision.deadline) : none,
    reason && 'toleration' in reason ? tolerationText(reason.toleration) : none,
    owner ? `${owner.kind}/${owner.name}` : none,
    decision.because.map(describeReason).join('; '),
  ];
}
