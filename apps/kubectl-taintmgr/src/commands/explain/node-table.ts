// A node and its pods as a table.
import { formatTaint } from '@taintmgr/core';
import type { Instant } from '@taintmgr/core/time';
import { printable } from '@taintmgr/k8s-adapter/command-line';
import {
  ago,
  becauseText,
  cordonText,
  type DecisionName,
  deadlineText,
  deadNodeLines,
  deadNodeOf,
  decisionNames,
  decisionWithTime,
  decisive,
  type Explained,
  emptyingOf,
  emptyingText,
  fateName,
  graceText,
  healthText,
  heldText,
  isWhatIf,
  maintenanceText,
  type NodeAnswer,
  type NodeReport,
  nodeEvictedBy,
  nodeSubject,
  none,
  ownerText,
  type PodReport,
  readyText,
  sinceText,
  stuckText,
  tally,
  tallyText,
  timeLeft,
  timeLeftOf,
  timeLeftThen,
  zoneText,
} from '@taintmgr/k8s-adapter/explain';
import type { Evictor } from '@taintmgr/k8s-adapter/survey';
import {
  type Column,
  type Field,
  renderColumns,
  renderFields,
  type TableOptions,
} from '../../render/table.ts';
import { decisionTone, heldTone, timeTone } from '../../report/tones.ts';
import { podNames, type View } from './view.ts';

/** `explain node NAME` */
export function nodeView(name: string): View<NodeAnswer> {
  return {
    subject: nodeSubject(name),
    show: (explained) => {
      const [report] = explained.report.nodes;
      if (!report) throw new Error(`node ${name} was read and is not known`);
      return {
        get rows() {
          return explained.document.pods ?? [];
        },
        names: podNames(report.pods ?? []),
        table: (options) => renderNode(report, columnsOf(explained), options),
      };
    },
    watched: () => ({
      nodes: { fieldSelector: `metadata.name=${name}` },
      pods: { fieldSelector: `spec.nodeName=${name}` },
    }),
  };
}

/** The facts that choose the columns of a table of pods. */
export interface PodColumns {
  readonly compare: boolean;
  readonly whatIf: boolean;
  /** The time from the reading to the answer's instant. */
  readonly after: number;
  /** True: a row names its node, all pods being of one namespace; left out: all are on one node. */
  readonly byNode?: boolean;
  readonly evictor: Evictor;
  readonly now: Instant;
}

/** The columns that the question asks for. */
export function columnsOf({ survey, question }: Explained): PodColumns {
  return {
    compare: question.compare,
    whatIf: isWhatIf(question),
    after: question.after,
    evictor: survey.evictor,
    now: survey.at,
  };
}

/** The answer to `explain node`: the node, its taints, and a line for each pod. */
export function renderNode(report: NodeReport, columns: PodColumns, options: TableOptions): string {
  const pods = report.pods ?? [];
  const table = pods.length === 0 ? [] : [renderPods(pods, columns, options)];
  if (!options.headers) return table.join('\n');
  const head = nodeHead(report, columns, options);
  return [...head, ...table.flatMap((one) => ['', one])].join('\n');
}

/** The pods that leave and the time, then the controller that evicts them, then the state of the node. */
function nodeHead(
  report: NodeReport,
  { now, after, evictor }: PodColumns,
  options: TableOptions,
): readonly string[] {
  const { facts, leaseRenewedAt, clock, zone, forecast } = report;
  const lease = leaseRenewedAt === null ? '' : `, lease renewed ${ago(now, leaseRenewedAt)}`;
  const health = forecast && healthText(forecast, now);
  const state = forecast ? `: ${zoneText(forecast)}` : '';
  const maintenance = maintenanceText(facts.node, now);
  const emptying = emptyingOf(report, now + after, after > 0);
  const empty = report.drains.length > 0 ? 'Drained' : 'Empty';
  return renderFields(
    [
      ['Name', facts.node.name],
      podsField(report.pods ?? []),
      ...(emptying ? [[empty, emptyingText(emptying, now + after)] as const] : []),
      ...deadFields(report, now),
      ['Evicted by', nodeEvictedBy(report, evictor)],
      ...taintFields(report, now),
      ['Ready', `${readyText(facts, now)}${lease}`],
      ...(clock === null ? [] : [['Clock', clock] as const]),
      ...(health === null ? [] : [['Health', health] as const]),
      ...(zone ? [['Zone', `${zone.name}, ${notReadyText(zone)}${state}`] as const] : []),
      ...(maintenance === '' ? [] : [['Conditions', maintenance] as const]),
      ...(facts.cordoned ? [['Cordoned', cordonText(facts, now)] as const] : []),
    ],
    options,
  );
}

/** The answer in short: `3 of 6 to evict (next now, last in 4d20h), 2 to keep`. */
export function podsField(pods: readonly PodReport[]): Field {
  if (pods.length === 0) return ['Pods', none];
  const counts = tally(pods);
  const { evict, held, next } = counts;
  const isDue = next !== null && next < 1000;
  const tone = isDue ? 'urgent' : evict + held > 0 ? 'soon' : 'calm';
  return ['Pods', tallyText(counts), tone];
}

/** The way out where the machine seems to be dead; none where it does not. */
export function deadFields(report: NodeReport, now: Instant): readonly Field[] {
  const dead = deadNodeOf(report, now);
  if (!dead) return [];
  const lines = deadNodeLines(dead);
  return [
    ['Stuck', stuckText(dead, now), 'urgent'],
    ...lines.map((line, index): Field => [index === 0 ? 'To do' : '', line]),
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
  options: TableOptions,
): string {
  return renderColumns(podColumns(columns), pods, options);
}

function taintFields({ taints }: NodeReport, now: Instant): readonly Field[] {
  if (taints.length === 0) return [['Taints', 'no NoExecute taints']];
  const names = taints.map(({ taint }) => printable(formatTaint(taint)));
  const width = Math.max(...names.map((name) => name.length));
  return taints.map((observed, index) => {
    const name = (names[index] ?? '').padEnd(width);
    return [index === 0 ? 'Taints' : '', `${name}   ${sinceText(observed, now)}`];
  });
}

const namespaceColumn: Column<PodReport> = ['NAMESPACE', ({ facts }) => facts.pod.namespace];
const podColumn: Column<PodReport> = ['POD', ({ facts }) => facts.pod.name, { title: true }];
const nodeColumn: Column<PodReport> = ['NODE', ({ facts }) => facts.pod.nodeName || none];

function podColumns(columns: PodColumns): readonly Column<PodReport>[] {
  const { compare, whatIf, after, now } = columns;
  const present: readonly Column<PodReport>[] = [['PRESENT', presentText]];
  const upstream: readonly Column<PodReport>[] = [
    ['KUBE-CONTROLLER-MANAGER', (pod) => upstreamText(pod, now + after, after)],
    ['RULE', (pod) => pod.upstream?.differences[0] ?? none],
  ];
  return [
    ...(columns.byNode ? [podColumn, nodeColumn] : [namespaceColumn, podColumn]),
    ['DECISION', fateName, { tone: decisionTone }],
    ['IN', timeLeftOf, { tone: timeTone }],
    ...(whatIf ? present : []),
    ...(compare ? upstream : []),
    [
      'BLOCKED BY',
      (pod) => (isGoing(pod) ? heldText(pod, now + after) : '-'),
      { tone: (pod) => heldTone(pod, now + after) },
    ],
    ['DEADLINE', ({ explanation }) => deadlineText(explanation.decision), 'wide'],
    ['TAINT', (pod) => decisive(pod).taint, 'wide'],
    ['TOLERATION', (pod) => decisive(pod).toleration, 'wide'],
    ['OWNER', ({ facts }) => ownerText(facts.pod), 'wide'],
    ['QOS', ({ facts }) => facts.qosClass || none, 'wide'],
    ['PRIORITY', ({ facts }) => String(facts.priority), 'wide'],
    ['GRACE', ({ facts }) => graceText(facts.pod), 'wide'],
    ['BECAUSE', ({ explanation }) => becauseText(explanation.decision), { below: 'because' }],
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

function isGoing({ explanation, facts }: PodReport): boolean {
  return explanation.decision.kind !== 'keep' || facts.pod.deletionTimestamp !== null;
}
