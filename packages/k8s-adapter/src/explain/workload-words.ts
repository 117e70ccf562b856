// The lines about a workload, a disruption budget or a namespace.
import { describeReason } from '@taintmgr/core';
import { operatorOf, operatorSignOf } from '@taintmgr/core/drain';
import type { Instant, Millis } from '@taintmgr/core/time';
import type { ForecastSurvey } from '../survey/survey.ts';
import type { Workload } from '../survey/workloads.ts';
import { count, countBy, listText } from '../text/count.ts';
import { printable } from '../text/printable.ts';
import { deadNodeOf, stuckText } from './dead-nodes.ts';
import { nodesEvictedBy } from './documents.ts';
import {
  isGivenUp,
  isPaused,
  isUnknown,
  type NodeReport,
  type PodReport,
  tally,
} from './report.ts';
import { none, pendingText, soon } from './words.ts';
import { type BudgetReport, isLeaving, isReady, type WorkloadReport } from './workload-report.ts';

/** A line: its subject, and its text; without a name it continues the one before. */
export type WorkloadField = readonly [name: string, value: string];

/** Everything that comes before the table of its pods. */
export function workloadFields(
  report: WorkloadReport,
  survey: ForecastSurvey,
): readonly WorkloadField[] {
  const { workload, nodes, pods } = report;
  const { kind, namespace, name } = workload;
  const isNamespace = kind === 'Namespace';
  return [
    ['Name', name],
    ...(isNamespace ? [] : [['Namespace', namespace] as const]),
    ['Kind', kind],
    ...(kind === 'PodDisruptionBudget' ? [['Requires', requiredText(workload)] as const] : []),
    ['Pods', podsText(report)],
    ...fateFields(pods, survey.at),
    ...labelled('Stuck', stuckTexts(nodes, survey.at)),
    ...(isNamespace ? [] : [['Ready', readyText(report)] as const]),
    ...labelled('Budget', budgetTexts(report)),
    ['Evicted by', nodesEvictedBy(nodes, survey.evictor)],
    ...labelled('Next', report.next),
  ];
}

function labelled(name: string, lines: readonly string[]): readonly WorkloadField[] {
  return lines.map((line, index) => [index === 0 ? name : '', printable(line)] as const);
}

/** `minAvailable 3` */
function requiredText({ object }: Workload): string {
  const { minAvailable, maxUnavailable } = object?.spec ?? {};
  if (minAvailable !== undefined) return printable(`minAvailable ${minAvailable}`);
  return maxUnavailable === undefined ? none : printable(`maxUnavailable ${maxUnavailable}`);
}

/** `3 of 4, on 2 nodes; 1 more has ended` */
function podsText({ pods, wanted, ended }: WorkloadReport): string {
  if (wanted === 0 && pods.length === 0 && ended > 0)
    return `none left: ${ended} ${ended === 1 ? 'has' : 'have'} ended`;
  const names = new Set(pods.map(({ facts }) => facts.pod.nodeName).filter((name) => name !== ''));
  const of = wanted === null ? '' : ` of ${wanted}`;
  const on = names.size === 0 ? '' : `, on ${count(names.size, 'node')}`;
  const more = ended === 0 ? '' : `; ${ended} more ${ended === 1 ? 'has' : 'have'} ended`;
  return `${pods.length}${of}${on}${more}`;
}

/** The pods that leave and when, and the pods that stay and why. */
function fateFields(pods: readonly PodReport[], now: Instant): readonly WorkloadField[] {
  const isGoing = (pod: PodReport): boolean => pod.facts.pod.deletionTimestamp !== null;
  const { evict, gone, next, last } = tally(pods);
  const live = pods.filter((pod) => !isGoing(pod));
  const held = live.filter(isPaused);
  const unknown = live.filter(isUnknown);
  const blocked = live.filter(isGivenUp);
  const isPending = ({ facts: { pod } }: PodReport): boolean => pod.nodeName === '';
  const keeps = live.filter((pod) => {
    return !isLeaving(pod) && !isUnknown(pod) && !isGivenUp(pod) && !isPending(pod);
  });
  return [
    ...terminatingFields(pods.filter(isGoing)),
    ...(gone > 0 ? [['Gone', `${count(gone, 'pod')} by then`] as const] : []),
    ['Leaving', evict === 0 ? leavingNone(unknown.length) : leavingText(pods, next, last)],
    ...reasonFields('Held', held),
    ...reasonFields('Blocked', blocked),
    ...reasonFields('Unknown', unknown),
    ...groupFields('Pending', live.filter(isPending), ({ facts }) => pendingText(facts, now)),
    ...reasonFields('Staying', keeps),
  ];
}

function terminatingFields(pods: readonly PodReport[]): readonly WorkloadField[] {
  const [first] = pods;
  if (!first) return [];
  const { name } = first.facts.pod;
  const whom = pods.length === 1 ? 'it' : 'them';
  const more = `for who made ${whom} leave: explain pod ${name}`;
  return [['Terminating', printable(`${count(pods.length, 'pod')}; ${more}`)]];
}

function leavingNone(unknown: number): string {
  return unknown > 0 ? 'unknown' : 'none';
}

/** `3 pods, the first now, the last in 4m18s; 1 is blocked now` */
function leavingText(pods: readonly PodReport[], next: Millis | null, last: Millis | null): string {
  const leaving = pods.filter((pod) => isLeaving(pod) && !isPaused(pod) && !pod.isGone);
  const blocked = leaving.filter(({ blockers }) => blockers.length > 0).length;
  const text = `${count(leaving.length, 'pod')}, ${spanText(next, last)}`;
  if (blocked === 0) return text;
  if (blocked === leaving.length) return `${text}, but blocked`;
  return `${text}; ${blocked} ${blocked === 1 ? 'is' : 'are'} blocked`;
}

/** `the first now, the last in 4m18s` */
function spanText(next: Millis | null, last: Millis | null): string {
  if (next === null || last === null) return 'at an unknown time';
  const [first, final] = [soon(next), soon(last)];
  return first === final ? first : `the first ${first}, the last ${final}`;
}

/** `3 pods: no NoExecute taint on their nodes (2); tolerates maintenance:NoExecute without limit (1)` */
function reasonFields(name: string, pods: readonly PodReport[]): readonly WorkloadField[] {
  return groupFields(name, pods, ({ explanation }) => {
    const [reason] = explanation.decision.because;
    if (reason?.code === 'NodeUnknown' && reason.hidden) return hiddenText;
    if (reason?.code === 'NoTaint' && pods.length > 1) return 'no NoExecute taint on their nodes';
    return reason ? describeReason(reason) : none;
  });
}

/** The same by any text. */
function groupFields(
  name: string,
  pods: readonly PodReport[],
  textOf: (pod: PodReport) => string,
): readonly WorkloadField[] {
  if (pods.length === 0) return [];
  const counted = [...countBy(pods.map(textOf))].sort(([, one], [, other]) => other - one);
  const isOne = counted.length === 1;
  const texts = counted.map(([text, number]) => (isOne ? text : `${text} (${number})`));
  return [[name, printable(`${count(pods.length, 'pod')}: ${listText(texts, '; ')}`)]];
}

/** A line for each silent node whose pods cannot end. */
function stuckTexts(nodes: readonly NodeReport[], now: Instant): readonly string[] {
  return nodes.flatMap((node) => {
    const dead = deadNodeOf(node, now);
    if (!dead) return [];
    return [`${stuckText(dead, now)}; for what has to be done: explain node ${dead.name}`];
  });
}

const hiddenText = 'no permission to read nodes, so their taints are not known';

/** `4 of 4 now, and at least 2 until others are ready` */
function readyText({ ready, readyAtLeast, wanted, pods }: WorkloadReport): string {
  const of = `of ${Math.max(wanted ?? 0, pods.length)}`;
  if (pods.some(isUnknown)) return `${ready} ${of} now; unknown later`;
  if (ready === readyAtLeast) return `${ready} ${of}`;
  const least = readyAtLeast === 0 ? 'none' : `at least ${readyAtLeast}`;
  return `${ready} ${of} now, and ${least} until others are ready`;
}

function budgetTexts({ budgets, workload }: WorkloadReport): readonly string[] {
  if (budgets === null) return ['unknown: no permission to list PodDisruptionBudgets'];
  if (workload.kind === 'Namespace') {
    return budgets.filter((one) => one.refused.length > 0 && isFirst(one)).map(budgetText);
  }
  // Two that overlap are reported once.
  const told = workload.kind === 'PodDisruptionBudget' ? budgets : budgets.filter(isFirst);
  if (told.length > 0) return told.map(budgetText);
  return workload.kind === 'PodDisruptionBudget'
    ? ['it covers no pod']
    : ['none: no PodDisruptionBudget covers its pods'];
}

function isFirst({ budget, overlaps: [other] }: BudgetReport): boolean {
  return other === undefined || budget.name < other;
}

/** `PDB web lets 1 of 3 go now (4 healthy, 3 needed); the others wait until replacements are ready` */
function budgetText(report: BudgetReport): string {
  const { budget, leaving, refused, unasked, overlaps } = report;
  const { name, allowed, healthy, desired } = budget;
  const state = `${healthy} healthy, ${desired} needed`;
  if (overlaps.length > 0) {
    return `PDB ${name} (${state}) and PDB ${listText(overlaps)} cover the same pods: the Eviction API refuses to evict them${unaskedText(report)}`;
  }
  if (report.isShut) {
    const advice = unasked.length > 0 ? unaskedText(report) : `: ${adviceOn(report)}`;
    return `PDB ${name} never lets a pod go (${state} of ${budget.expected})${advice}`;
  }
  if (leaving.length === 0) return `PDB ${name} lets ${allowed} go now (${state})`;
  if (unasked.length === leaving.length)
    return `PDB ${name} lets ${allowed} go now (${state})${unaskedText(report)}`;
  // Pods that are not ready and not refused leave regardless of its limit.
  const ready = leaving.filter(isReady).length;
  if (refused.length === 0 && ready === 0) {
    return `PDB ${name} lets all that leave go (${state}): ${count(leaving.length, 'pod')}, not ready`;
  }
  if (refused.length === 0 && allowed >= ready) {
    return `PDB ${name} lets ${allowed} go now (${state}): all that leave`;
  }
  if (refused.length === 0) {
    return `PDB ${name} lets ${allowed} of ${ready} go now (${state}); ${waitText(allowed, ready)} until replacements are ready`;
  }
  const names = listText(refused.map(({ facts }) => facts.pod.name));
  return `PDB ${name} lets ${allowed} go now (${state}): it refuses ${names}`;
}

function waitText(allowed: number, leaving: number): string {
  if (allowed === 0) return leaving === 1 ? 'it waits' : 'they wait';
  return leaving - allowed === 1 ? 'the other waits' : 'the others wait';
}

/** A budget that an operator keeps shut can only be opened by the operator. */
function adviceOn({ budget, leaving }: BudgetReport): string {
  if (budget.refusal?.reason === 'SyncFailed') return budget.refusal.message;
  const pods = leaving.map(({ facts }) => facts.pod);
  const isOperators = operatorOf(budget) !== null || operatorSignOf(budget, pods) !== null;
  return isOperators ? 'its operator moves the pods' : 'scale up or relax the PDB';
}

function unaskedText({ unasked }: BudgetReport): string {
  const [first] = unasked;
  if (!first) return '';
  return `, and ${first.evictor ?? 'the evictor'} does not ask it: ${count(unasked.length, 'pod')} ${unasked.length === 1 ? 'leaves' : 'leave'} anyway`;
}
