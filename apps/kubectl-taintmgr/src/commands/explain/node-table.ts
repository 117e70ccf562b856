// The pods of a node as a table.
import { describeReason, formatTaint, formatTime, type Instant } from '@taintmgr/core';
import { printable } from '../../render/printable.ts';
import type { TableOptions } from '../../render/printer.ts';
import type { Paint, Tone } from '../../render/style.ts';
import { renderTable } from '../../render/table.ts';
import { type DecisionName, decisionName, decisionNames } from '../../report/documents.ts';
import { type NodeReport, type PodReport, tally } from '../../report/report.ts';
import {
  ago,
  blockerText,
  decisionWithTime,
  healthText,
  hidden,
  none,
  readyText,
  sinceText,
  tallyText,
  timeLeft,
  timeLeftThen,
  tolerationText,
  zoneText,
} from '../../report/words.ts';

/** What decides which columns a table of pods has. */
export interface PodColumns {
  readonly compare: boolean;
  readonly whatIf: boolean;
  /** How long after the reading the answer is meant. */
  readonly after: number;
  /** Whether budgets could be read. */
  readonly budgets: boolean;
  readonly now: Instant;
  readonly paint: Paint;
}

interface Column {
  readonly head: string;
  readonly cell: (pod: PodReport) => string;
  readonly wide?: true;
}

/** The answer to `explain node`: the node, its taints, and a line for each pod. */
export function renderNode(
  report: NodeReport,
  columns: PodColumns,
  { wide, headers }: TableOptions,
): string {
  const pods = report.pods ?? [];
  const head = headers ? [...nodeHead(report, columns.now), ''] : [];
  if (pods.length === 0) return [...head, 'No pods on this node.'].join('\n');
  const foot = headers ? ['', tallyText(tally(pods, columns.after))] : [];
  return [...head, renderPods(pods, columns, { wide, headers }), ...foot].join('\n');
}

/** `Name:`, `Ready:` and so on. */
function nodeHead(report: NodeReport, now: Instant): readonly string[] {
  const { facts, leaseRenewedAt, zone, outlook } = report;
  const lease = leaseRenewedAt === null ? '' : `, lease renewed ${ago(now, leaseRenewedAt)}`;
  const health = outlook && healthText(outlook, now);
  const state = outlook ? `: ${zoneText(outlook)}` : '';
  const place = zone ? [`Zone:     ${printable(zone.name)}, ${notReadyText(zone)}${state}`] : [];
  return [
    `Name:     ${printable(facts.node.name)}`,
    `Ready:    ${printable(readyText(facts, now))}${lease}`,
    ...(health === null ? [] : [`Health:   ${health}`]),
    ...place,
    ...(facts.cordoned ? ['Cordoned: yes'] : []),
    ...taintLines(report, now),
  ];
}

/** `1 of 24 nodes not ready` */
export function notReadyText({ nodes, notReady }: { nodes: number; notReady: number }): string {
  return `${notReady} of ${nodes} ${nodes === 1 ? 'node' : 'nodes'} not ready`;
}

/** A line for each pod. */
export function renderPods(
  pods: readonly PodReport[],
  columns: PodColumns,
  { wide, headers }: TableOptions,
): string {
  const shown = podColumns(columns).filter((column) => wide || !column.wide);
  const rows = pods.map((pod) => shown.map(({ cell }) => cell(pod)));
  const decisions = shown.findIndex(({ head }) => head === 'DECISION');
  return renderTable(headers ? shown.map(({ head }) => head) : null, rows, (text, row, column) => {
    const pod = column === decisions ? pods[row] : undefined;
    return pod ? columns.paint(toneOf(pod), text) : text;
  });
}

function taintLines({ taints }: NodeReport, now: Instant): readonly string[] {
  if (taints.length === 0) return ['Taints:   no NoExecute taints'];
  const names = taints.map(({ taint }) => printable(formatTaint(taint)));
  const width = Math.max(...names.map((name) => name.length));
  return taints.map((observed, index) => {
    const head = index === 0 ? 'Taints:' : '       ';
    return `${head}   ${(names[index] ?? '').padEnd(width)}   ${sinceText(observed, now)}`;
  });
}

function podColumns({ compare, whatIf, after, budgets, now }: PodColumns): readonly Column[] {
  return [
    { head: 'NAMESPACE', cell: ({ facts }) => facts.pod.namespace },
    { head: 'POD', cell: ({ facts }) => facts.pod.name },
    { head: 'DECISION', cell: (pod) => decisionName(pod) },
    { head: 'IN', cell: ({ explanation }) => inText(explanation.remaining, after) },
    ...(whatIf ? [{ head: 'PRESENT', cell: presentText }] : []),
    ...(compare
      ? [
          { head: 'UPSTREAM', cell: (pod: PodReport) => upstreamText(pod, now + after, after) },
          { head: 'RULE', cell: ({ upstream }: PodReport) => upstream?.rules[0] ?? none },
        ]
      : []),
    { head: 'BLOCKED BY', cell: (pod) => blockedText(pod, budgets) },
    { head: 'DEADLINE', cell: deadlineText, wide: true },
    { head: 'TAINT', cell: (pod) => decisive(pod).taint, wide: true },
    { head: 'TOLERATION', cell: (pod) => decisive(pod).toleration, wide: true },
    { head: 'OWNER', cell: ({ facts }) => ownerText(facts), wide: true },
    { head: 'QOS', cell: ({ facts }) => facts.qosClass || none, wide: true },
    { head: 'PRIORITY', cell: ({ facts }) => String(facts.priority), wide: true },
    { head: 'GRACE', cell: ({ facts }) => graceText(facts), wide: true },
    {
      head: 'BECAUSE',
      cell: ({ explanation }) => explanation.decision.because.map(describeReason).join('; '),
    },
  ];
}

function inText(remaining: number | null, after: number): string {
  return remaining === null ? '-' : timeLeftThen(remaining, after);
}

function presentText({ present, facts }: PodReport): string {
  if (!present) return none;
  const { decision, remaining } = present;
  const isTerminating = facts.pod.deletionTimestamp !== null;
  const name: DecisionName = isTerminating ? 'Terminating' : decisionNames[decision.kind];
  return remaining === null ? name : decisionWithTime(name, timeLeft(remaining));
}

function upstreamText({ upstream }: PodReport, at: Instant, after: number): string {
  if (!upstream) return none;
  const { decision } = upstream;
  const name = decisionNames[decision.kind];
  if (decision.kind !== 'evict') return name;
  return decisionWithTime(name, inText(decision.deadline - at, after));
}

function blockedText({ blockers, explanation, facts }: PodReport, budgets: boolean): string {
  const goes = explanation.decision.kind !== 'keep' || facts.pod.deletionTimestamp !== null;
  if (!goes) return '-';
  const known = blockers.map(blockerText);
  const all = budgets ? known : [...known, hidden];
  return all.length === 0 ? none : all.join(', ');
}

function deadlineText({ explanation: { decision } }: PodReport): string {
  return decision.kind === 'evict' ? formatTime(decision.deadline) : none;
}

function decisive({ explanation }: PodReport): { taint: string; toleration: string } {
  const [reason] = explanation.decision.because;
  if (!reason || !('taint' in reason)) return { taint: none, toleration: none };
  const toleration = 'toleration' in reason ? tolerationText(reason.toleration) : none;
  return { taint: formatTaint(reason.taint), toleration };
}

function ownerText({ pod: { owner } }: PodReport['facts']): string {
  return owner ? `${owner.kind}/${owner.name}` : none;
}

function graceText({ pod: { gracePeriodSeconds } }: PodReport['facts']): string {
  return gracePeriodSeconds === undefined ? none : `${gracePeriodSeconds}s`;
}

function toneOf(pod: PodReport): Tone {
  const { remaining } = pod.explanation;
  if (decisionName(pod) === 'Keep') return 'calm';
  return remaining !== null && remaining < 1000 ? 'urgent' : 'soon';
}
