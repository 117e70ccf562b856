import { describeReason, type Reason } from '@taintmgr/core';
import { describeDeviceCause, describeDeviceReason } from '@taintmgr/core/devices';
import { describeEvictionRequest } from '@taintmgr/core/drain';
import { formatDeadline, formatDuration, type Instant, type Millis } from '@taintmgr/core/time';
import { printable } from '@taintmgr/k8s-adapter/command-line';
import {
  ago,
  blockerLine,
  decisionName,
  decisionNames,
  decisionWithTime,
  type Explained,
  evictorText,
  givenUpLines,
  headline,
  isBare,
  isGivenUp,
  isOpenEnded,
  isUnwritten,
  leavingIn,
  limitLine,
  maintenanceText,
  type NodeReport,
  none,
  otherwiseText,
  ownerText,
  type PodAnswer,
  type PodReport,
  pendingText,
  podIn,
  podSubject,
  readyText,
  refusedByText,
  soon,
  taintText,
  timeLeft,
  timeLeftThen,
  toleratedText,
} from '@taintmgr/k8s-adapter/explain';
import type { ForecastSurvey } from '@taintmgr/k8s-adapter/survey';
import { type Field, renderFields, renderTable, type TableOptions } from '../../render/table.ts';
import { decisionTone, heldTone } from '../../report/tones.ts';
import { columnsOf, deadFields, renderPods } from './node-table.ts';
import { podNames, type View } from './view.ts';

/** `explain pod NAME` */
export function podView(namespace: string, name: string): View<PodAnswer> {
  return {
    subject: podSubject(namespace, name),
    show: (explained) => {
      const [node = null] = explained.report.nodes;
      const report = podIn(explained.report, `${namespace}/${name}`);
      return {
        get rows() {
          return [explained.document];
        },
        names: podNames([report]),
        table: (options) =>
          options.wide
            ? renderPods([report], columnsOf(explained), options)
            : describePod(node, report, explained, options),
      };
    },
    hints: ({ report, survey }) => podHints(podIn(report, `${namespace}/${name}`), survey),
    watched: ({ nodes: [node] }) =>
      node
        ? {
            nodes: { fieldSelector: `metadata.name=${node.node.name}` },
            pods: { fieldSelector: `metadata.namespace=${namespace},metadata.name=${name}` },
          }
        : null,
  };
}

/** Everything about one pod. */
export function describePod(
  node: NodeReport | null,
  report: PodReport,
  { survey, question }: Explained,
  { headers, width, paint }: TableOptions,
): string {
  const { facts, explanation, otherwise, present, upstream, blockers } = report;
  const { pod } = facts;
  const { after } = question;
  const at = survey.at + after;
  const goes = explanation.decision.kind !== 'keep';
  const { deletedAt, limit } = report;
  const blockedBy = [
    ...(limit ? [limitLine(limit, at)] : []),
    ...blockers.map(blockerLine),
    ...(deletedAt === null ? [] : [`deleted ${soon(deletedAt - at)}, whatever budgets say`]),
  ];
  const head = renderFields(
    [
      ['Name', pod.name],
      ['Namespace', pod.namespace],
      ['Decision', decisionLine(report, at, after), decisionTone(report)],
      ...becauseLines(explanation.decision, survey),
      ...blockedBy.map((text, index): Field => {
        return [index === 0 ? 'Blocked by' : '', text, heldTone(report, at)];
      }),
      ...(isGivenUp(report) ? givenUpFields(report, survey) : []),
      ...(node ? deadFields(node, survey.at) : []),
      ...(pod.nodeName === '' ? [['Pending', pendingText(facts, survey.at)] as const] : []),
      ...(goes ? jobEndsOf(report, survey).map((line) => ['Then', printable(line)] as const) : []),
      ...(otherwise
        ? [
            [
              'Otherwise',
              `${decisionText(otherwise, at, after)}: ${otherwiseText(survey)}`,
            ] as const,
          ]
        : []),
      ...(present ? [['Present', decisionText(present.decision, survey.at, 0)] as const] : []),
      ...(upstream
        ? [['kube-controller-manager', upstreamLine(upstream, at, after)] as const]
        : []),
      ...devicesLine(report).map((text) => ['Devices', text] as const),
      ...requestLines(report, survey).map(
        (text, index) => [index === 0 ? 'Requests' : '', printable(text)] as const,
      ),
      ...(goes ? [['Evicted by', report.evictor ?? evictorText(survey.evictor)] as const] : []),
      ...(survey.precededBy ? [['Before it', printable(survey.precededBy)] as const] : []),
      ['Node', nodeText(node, pod.nodeName, survey.at)],
      ['Owner', isBare(pod) ? `${none}, not recreated` : ownerText(pod)],
    ],
    { width, paint },
  ).join('\n');
  const rows = explanation.decision.because.flatMap((reason, index) => {
    return taintRow(reason, pod, index === 0, survey.at, after);
  });
  if (rows.length === 0) return head;
  const titles = ['TAINT', 'COUNTS FROM', 'TOLERATION', 'DEADLINE', ''];
  const table = renderTable(headers ? titles : null, rows, {
    width,
    paint: (text, row) =>
      row === 0 && decisionName(report) !== 'Keep' ? paint('soon', text) : text,
    below: new Map([[1, 'counts from']]),
  });
  return `${head}\n\n${table}`;
}

/** As kube-scheduler of 1.36 says it, which names neither the nodes nor the taints. */
const keepOut = /had untolerated taint|were unschedulable/;

/** The way on for one that no scheduler has placed, and the history of the one before it. */
function podHints(
  { facts: { pod, unscheduled } }: PodReport,
  { precededBy }: ForecastSurvey,
): readonly string[] {
  const { name, namespace, nodeName, owner } = pod;
  if (nodeName !== '') return [];
  const nodes = 'NAME:.metadata.name,CORDONED:.spec.unschedulable,TAINTS:.spec.taints[*].key';
  const place = keepOut.test(unscheduled?.message ?? '')
    ? `which nodes keep it out: kubectl get nodes -o custom-columns='${nodes}'`
    : `which scheduler has to place it, and its Events: kubectl describe pod ${name} -n ${namespace}`;
  const isNamesake = precededBy !== undefined && owner?.kind === 'StatefulSet';
  const before = `why the pod of this name before it left: kubectl taintmgr history pod ${name} -n ${namespace}`;
  return [place, ...(isNamesake ? [before] : [])];
}

/** The lines about its own Job: where several pods are asked about, others may have other Jobs. */
function jobEndsOf(
  { facts: { pod } }: PodReport,
  { jobEnds = [] }: Explained['survey'],
): readonly string[] {
  return jobEnds.filter((line) => line.startsWith(`Job ${pod.namespace}/${pod.owner?.name} `));
}

/** Names the possible refusers of its deletion, and the next step. */
function givenUpFields(report: PodReport, { deniers }: Explained['survey']): readonly Field[] {
  return [
    ['Refused by', refusedByText(deniers ?? null)],
    ...givenUpLines(report).map((line, index): Field => [index === 0 ? 'To do' : '', line]),
  ];
}

/** For a terminating pod: the program that deleted it, the word of other sources, and the unknown facts. */
function becauseLines(
  decision: Decision,
  survey: ForecastSurvey,
): readonly (readonly [string, string])[] {
  const story = leavingIn(survey);
  if (story === null) return [['Because', whyText(decision)]];
  const others = story.others.map(({ who, sources }) => {
    return `${sources.map(({ name }) => name).join(' and ')} names ${who}`;
  });
  return [
    ['Because', printable(headline(story, survey.at))],
    ...others.map((text) => ['But', printable(text)] as const),
    ...story.unknown.map((text) => ['Not known', printable(text)] as const),
  ];
}

/**
 * The program that asks to move the pod; where the policy asks for that and the cluster has no such kind, the
 * action instead.
 */
function requestLines(
  { requests, explanation, facts }: PodReport,
  survey: Pick<ForecastSurvey, 'requests' | 'givenUp'>,
): readonly string[] {
  const [decisive] = explanation.decision.because;
  const asks = decisive && 'policy' in decisive && decisive.policy?.action === 'Request';
  if (survey.requests === null && asks)
    return ['the cluster has no EvictionRequests: it is evicted by pods/eviction'];
  const givenUp = survey.givenUp?.get(facts.pod.uid);
  return [...requests.map(describeEvictionRequest), ...(givenUp === undefined ? [] : [givenUp])];
}

function nodeText(node: NodeReport | null, name: string, now: Instant): string {
  if (!node) return name || none;
  const zone = node.zone ? `, zone ${node.zone.name}` : '';
  const said = maintenanceText(node.facts.node, now);
  const maintenance = said === '' ? '' : `, ${said}`;
  return `${name} (Ready: ${readyText(node.facts, now)}${zone}${maintenance})`;
}

/** The part of its devices, where the reasons do not mention it. */
function devicesLine({ devices: verdict, explanation }: PodReport): readonly string[] {
  const isSaid = explanation.decision.because[0]?.code === 'RulesUnheeded';
  if (!verdict || isSaid) return [];
  if (verdict.at === null) {
    const [telling] = verdict.because;
    return telling.code === 'NotKnown' ? [] : [printable(describeDeviceReason(telling))];
  }
  const [first] = verdict.causes;
  return first.unheeded || first.overflows ? [printable(describeDeviceCause(first))] : [];
}

/** The reason that decided. */
function whyText({ because: [decisive] }: Decision): string {
  return decisive ? describeReason(decisive) : '';
}

function decisionLine(report: PodReport, at: Instant, after: Millis): string {
  const name = decisionName(report);
  if (name === 'Terminating' || name === 'Unknown' || name === 'Blocked') return name;
  const { explanation, limit, isEstimate } = report;
  const { decision } = explanation;
  if (report.isGone && decision.kind === 'evict') {
    return `Gone, due ${formatDuration(at - decision.deadline)} before that moment (${formatDeadline(decision.deadline)})`;
  }
  if (!limit || limit.tripped || decision.kind !== 'evict')
    return decisionText(decision, at, after, isEstimate ? '~' : '');
  const mark = isOpenEnded(limit) ? '>' : '~';
  return `${decisionText({ ...decision, deadline: limit.notBefore }, at, after, mark)}, due ${formatDeadline(decision.deadline)}`;
}

type Decision = PodReport['explanation']['decision'];

/** `Evict in 22s (2026-11-20T23:09:42Z)`; as of `at`, which is `after` the reading. */
function decisionText(decision: Decision, at: Instant, after: Millis, mark = ''): string {
  const name = decisionNames[decision.kind];
  if (decision.kind === 'keep') return name;
  if (decision.kind === 'pause') return `${name} with ${formatDuration(decision.remaining)} left`;
  const when = whenText(decision.deadline - at, after, mark);
  return `${decisionWithTime(name, when)} (${mark}${formatDeadline(decision.deadline)})`;
}

function whenText(left: Millis, after: Millis, mark: string): string {
  if (after > 0 && left < 0) return `due ${formatDuration(-left)} before that moment`;
  return left < 1000 ? timeLeft(left) : `in ${mark}${timeLeft(left)}`;
}

function upstreamLine(
  { decision, differences: rules }: NonNullable<PodReport['upstream']>,
  at: Instant,
  after: Millis,
): string {
  const why = rules.length === 0 ? '' : `, by rule ${rules.join(', ')}`;
  return `${decisionText(decision, at, after)}${why}`;
}

function taintRow(
  reason: Reason,
  pod: PodReport['facts']['pod'],
  isFirst: boolean,
  now: Instant,
  after: Millis,
): readonly (readonly string[])[] {
  if (!('taint' in reason)) return [];
  return [
    [
      taintText(reason),
      'start' in reason ? countsFrom(reason, now) : '-',
      toleratedText(reason, pod),
      'deadline' in reason ? timeLeftThen(reason.deadline - now - after, after) : 'never',
      isFirst ? 'decides' : '',
    ],
  ];
}

type Started = Extract<Reason, { readonly start: Instant }>;

/** The source of a deadline's start. */
const sourceTexts: Readonly<Record<Started['startSource'], string>> = {
  timeAdded: 'timeAdded',
  firstSeen: 'first seen',
  taintsWritten: 'managedFields',
  givenBack: 'moved on by pauses',
  podBound: 'the pod came then',
};

function countsFrom(reason: Started, now: Instant): string {
  if (isUnwritten(reason, now)) return 'unknown';
  const { start } = reason;
  const isYetToCome = 'device' in reason && start > now;
  const since = isYetToCome ? `in ${formatDuration(start - now)}` : ago(now, start);
  return `${since} (${sourceTexts[reason.startSource]})`;
}
