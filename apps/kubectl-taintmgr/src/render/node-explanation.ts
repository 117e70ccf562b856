import {
  describeReason,
  formatDuration,
  formatTaint,
  type Millis,
  type NodeExplanation,
  type ObservedTaint,
  type PodExplanation,
} from '@taintmgr/core';
import { printable } from './printable.ts';
import { renderTable } from './table.ts';

/** The answer to `explain node`: the node, its taints, and a line for each pod. */
export function renderNodeExplanation(explanation: NodeExplanation, now: number): string {
  const { node, taints, pods } = explanation;
  const head = [`Name:     ${printable(node.name)}`, ...taintLines(taints, now)];
  if (pods.length === 0) return [...head, '', 'No pods on this node.'].join('\n');
  const rows = pods.map(podRow);
  const table = renderTable(['NAMESPACE', 'POD', 'DECISION', 'IN', 'BECAUSE'], rows);
  return [...head, '', table, '', summary(pods)].join('\n');
}

/** What the reader should know before believing the times. */
export function explanationNotes(explanation: NodeExplanation, now: number): readonly string[] {
  return explanation.taints
    .filter((observed) => isUnwritten(observed, now))
    .map(
      ({ taint }) =>
        `Note: nobody wrote when ${formatTaint(taint)} was added; IN counts from now, ` +
        'so a pod may have less time left than it says',
    );
}

/** Neither the taint nor the controller's annotation says since when it counts: it counts from now. */
function isUnwritten({ start, startSource }: ObservedTaint, now: number): boolean {
  return startSource === 'firstSeen' && start >= now;
}

function taintLines(taints: readonly ObservedTaint[], now: number): readonly string[] {
  if (taints.length === 0) return ['Taints:   no NoExecute taints'];
  const names = taints.map(({ taint }) => printable(formatTaint(taint)));
  const width = Math.max(...names.map((name) => name.length));
  return taints.map((observed, index) => {
    const { start, startSource } = observed;
    // The clock that wrote the time may be ahead of ours.
    const age = formatDuration(Math.max(0, now - start));
    const since = startSource === 'timeAdded' ? `added ${age} ago` : `seen ${age} ago`;
    const added = isUnwritten(observed, now) ? 'added ?' : since;
    return `${index === 0 ? 'Taints:' : '       '}   ${(names[index] ?? '').padEnd(width)}   ${added}`;
  });
}

function podRow({ pod, decision, remaining }: PodExplanation): readonly string[] {
  const because = decision.because.map(describeReason).join('; ');
  const label = pod.deletionTimestamp !== null ? 'Leaving' : labels[decision.kind];
  const left = remaining === null ? '-' : timeLeft(remaining);
  return [pod.namespace, pod.name, label, left, because];
}

/** `2m54s`; for a pod that is due `now`, and how late it is from a second on. */
function timeLeft(remaining: Millis): string {
  if (remaining >= 1000) return formatDuration(remaining);
  return remaining > -1000 ? 'now' : `now, ${formatDuration(-remaining)} late`;
}

const labels = { keep: 'Keep', evict: 'Evict', pause: 'Paused' } as const;

function summary(pods: readonly PodExplanation[]): string {
  const leaving = pods.filter(({ pod }) => pod.deletionTimestamp !== null).length;
  const waits = pods.flatMap(({ remaining }) => (remaining === null ? [] : [remaining]));
  const parts = [
    ...(leaving > 0 ? [`${leaving} leaving`] : []),
    `${waits.length} to evict${span(waits)}`,
    `${pods.length - waits.length - leaving} to keep`,
  ];
  return `${pods.length} ${pods.length === 1 ? 'pod' : 'pods'}: ${parts.join(', ')}`;
}

function span(waits: readonly Millis[]): string {
  if (waits.length === 0) return '';
  const [next, last] = [Math.min(...waits), Math.max(...waits)].map(soon);
  return next === last ? ` (${next})` : ` (next ${next}, last ${last})`;
}

function soon(wait: Millis): string {
  return wait < 1000 ? 'now' : `in ${formatDuration(wait)}`;
}
