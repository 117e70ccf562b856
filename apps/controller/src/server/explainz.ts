// /explainz: why a node or pod is or is not evicted.

import {
  describePodView,
  type Explanation,
  formatTaint,
  type NodeExplanation,
  type PodExplanation,
  type Subject,
} from '@taintmgr/core';
import { describeHold, describeLifecycleReason, type ZoneStatus } from '@taintmgr/core/lifecycle';
import { formatDuration, type Instant } from '@taintmgr/core/time';
import type { ProcessStats, RunningController } from '../stats/process-stats.ts';
import {
  type Answer,
  errorAnswer,
  type Handler,
  jsonAnswer,
  textAnswer,
  wantsJson,
} from './answer.ts';

const usage = 'want ?node=NAME or ?pod=NAMESPACE/NAME, and &output=json for JSON';

/** Answers why and when pods go, with the values this very process acts on. */
export function explainHandler(stats: ProcessStats): Handler {
  return (inquiry) => {
    const subject = readSubject(inquiry.query);
    if (!subject) return errorAnswer(usage, 400);
    const { running } = stats;
    if (!running) return errorAnswer('not started yet', 503);
    const now = running.wall();
    const explanation = running.explain(running.now(), subject);
    if (!explanation) return errorAnswer(unknownText(subject, running), 404);
    return wantsJson(inquiry)
      ? jsonAnswer({ now, ...explanation })
      : import('@taintmgr/k8s-adapter/explain').then((words) => asText(explanation, now, words));
  };
}

function readSubject(query: URLSearchParams): Subject | null {
  const node = query.get('node');
  if (node) return { kind: 'node', name: node };
  const [namespace = '', name = '', ...more] = (query.get('pod') ?? '').split('/');
  const isPod = namespace !== '' && name !== '' && more.length === 0;
  return isPod ? { kind: 'pod', namespace, name } : null;
}

function nameOf(subject: Subject): string {
  return subject.kind === 'node'
    ? `node ${subject.name}`
    : `pod ${subject.namespace}/${subject.name}`;
}

function unknownText(subject: Subject, running: Pick<RunningController, 'podScope'>): string {
  const isPartial = subject.kind === 'pod' && running.podScope() === 'byNode';
  const why = isPartial ? ': only the pods of tainted nodes are read' : '';
  return `${nameOf(subject)} not found${why}`;
}

/** The words of `kubectl taintmgr explain` are loaded with the first question. */
type Words = typeof import('@taintmgr/k8s-adapter/explain');

function asText(explanation: NonNullable<Explanation>, now: Instant, words: Words): Answer {
  const pods = explanation.kind === 'node' ? explanation.pods : [explanation];
  const head = explanation.kind === 'node' ? nodeLines(explanation, now) : [];
  const rows = [
    ['POD', 'NODE', 'DECISION', 'IN', 'WORK', 'BECAUSE'],
    ...pods.map((pod) => podRow(pod, words)),
  ];
  return textAnswer(`${[...head, ...columns(rows)].join('\n')}\n`);
}

function nodeLines(
  { node, taints, podView, health, zone }: NodeExplanation,
  now: Instant,
): readonly string[] {
  const lines = taints.map(({ taint, start, startSource }) => {
    const age = formatDuration(Math.max(0, now - start));
    return `taint ${formatTaint(taint)} counts since ${age} (${startSource})`;
  });
  const pods = describePodView(podView);
  return [
    `node ${node.name}`,
    ...(lines.length === 0 ? ['no NoExecute taints'] : lines),
    ...(pods === null ? [] : [pods]),
    ...(health ? [`health: ${health.because.map(describeLifecycleReason).join('; ')}`] : []),
    ...(zone ? [zoneLine(zone)] : []),
    '',
  ];
}

function zoneLine({ name, state, ready, notReady, rate, hold }: ZoneStatus): string {
  const nodes = `${notReady} of ${ready + notReady} not ready`;
  const held = hold === null ? '' : `; held: ${describeHold(hold)}`;
  return `zone ${name || '""'}: ${state ?? 'unknown'}, ${nodes}, ${rate} nodes/s${held}`;
}

function podRow(explanation: PodExplanation, words: Words): readonly string[] {
  const { pod, decision, remaining, attempt, blocker } = explanation;
  const because = words.becauseText(decision);
  return [
    `${pod.namespace}/${pod.name}`,
    pod.nodeName || '-',
    words.decisionName({ explanation }),
    remaining === null ? '-' : words.timeLeft(remaining),
    attempt?.kind ?? '-',
    blocker === null ? because : `${because}; blocked: ${blocker.message}`,
  ];
}

/** The last column is as long as it is. */
function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, index) =>
    Math.max(...rows.map((row) => (row[index] ?? '').length)),
  );
  return rows.map((row) =>
    row
      .map((cell, index) => (index < row.length - 1 ? cell.padEnd(widths[index] ?? 0) : cell))
      .join('   '),
  );
}
