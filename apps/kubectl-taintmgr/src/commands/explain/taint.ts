import { formatTaint, type Taint } from '@taintmgr/core';
import type { Instant, Millis } from '@taintmgr/core/time';
import { count } from '@taintmgr/k8s-adapter/command-line';
import {
  ago,
  type FoundTaint,
  type NodeReport,
  nodesEvictedBy,
  none,
  type TaintAnswer,
  taintSubject,
  taintsFound,
} from '@taintmgr/k8s-adapter/explain';
import { type Column, type Field, renderColumns, renderFields } from '../../render/table.ts';
import type { View } from './view.ts';
import { countsField, nodesShown, tallyColumns } from './zone.ts';

/** `explain taint KEY[=VALUE][:EFFECT]`: its nodes, its age, and its effect there. */
export function taintView(text: string): View<TaintAnswer> {
  return {
    subject: taintSubject(text),
    show: (explained) => {
      const { survey, question } = explained;
      const { nodes } = explained.report;
      return nodesShown(explained, (options) => {
        const found = taintsFound(text, nodes, explained);
        const table = renderColumns(foundColumns(survey.at, question.after), found, options);
        if (!options.headers) return table;
        const fields: readonly Field[] = [
          ['Taint', `${text}, on ${count(nodes.length, 'node')}`],
          countsField(nodes),
          ['Evicted by', nodesEvictedBy(nodes, survey.evictor)],
        ];
        return [...renderFields(fields, options), '', table].join('\n');
      });
    },
  };
}

function foundColumns(now: Instant, after: Millis): readonly Column<FoundTaint>[] {
  return [
    ['NODE', ({ node }) => node.facts.node.name],
    ['TAINT', ({ taint }) => formatTaint(taint), { below: 'taint' }],
    ['ADDED', ({ node, taint }) => addedText(node, taint, now)],
    // Only a NoExecute taint makes pods go.
    ...tallyColumns(now, after).map(([head, cell, rules]): Column<FoundTaint> => {
      const counted = ({ node, taint }: FoundTaint): NodeReport =>
        taint.effect === 'NoExecute' ? node : { ...node, pods: null };
      const tone = typeof rules === 'object' ? rules.tone : undefined;
      return [head, (row) => cell(counted(row)), tone ? { tone: (row) => tone(counted(row)) } : {}];
    }),
    ['TAINTS LAST WRITTEN BY', ({ node }) => lastWriteText(node, now), 'wide'],
  ];
}

function lastWriteText({ facts: { taintsWritten } }: NodeReport, now: Instant): string {
  return taintsWritten ? `${taintsWritten.by}, ${ago(now, taintsWritten.at)}` : none;
}

/** The start of the taint's time, as far as it is known. */
function addedText(node: NodeReport, taint: Taint, now: Instant): string {
  const observed = node.taints.find((one) => formatTaint(one.taint) === formatTaint(taint));
  // Its own time is none where it is not believed.
  const isSeen = observed?.startSource === 'firstSeen' || observed?.startSource === 'taintsWritten';
  const added = isSeen ? null : taint.timeAdded;
  const start = added ?? (observed && observed.start < now ? observed.start : null);
  return start === null ? 'unknown' : ago(now, start);
}
