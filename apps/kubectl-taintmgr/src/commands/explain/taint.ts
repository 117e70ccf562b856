import { formatTaint, type Taint } from '@taintmgr/core';
import type { Instant, Millis } from '@taintmgr/core/time';
import { count, UsageError } from '@taintmgr/k8s-adapter/command-line';
import {
  ago,
  hypotheticalTaints,
  matchesTaint,
  mattersIn,
  type NodeReport,
  nodesEvictedBy,
  none,
  type Question,
  type TaintPattern,
  taintDocument,
} from '@taintmgr/k8s-adapter/explain';
import { type NodeFacts, surveyForecast } from '@taintmgr/k8s-adapter/survey';
import type { Answer } from '../../render/printer.ts';
import { type Column, renderColumns } from '../../render/table.ts';
import type { AnswerContext, Subject } from './subject.ts';
import { countsText, nodesAnswer, tallyColumns } from './zone.ts';

/** `explain taint KEY[=VALUE][:EFFECT]`: where it is, since when, and what it does there. */
export function taintSubject(text: string, pattern: TaintPattern, question: Question): Subject {
  return {
    read: async (reader, options) => {
      const all = await reader.nodes();
      const nodes = all.filter(({ node }) => {
        const taints = hypotheticalTaints(node.taints, question, 0);
        return taints.some((taint) => matchesTaint(pattern, taint));
      });
      if (nodes.length === 0) throw new UsageError(nowhere(text, all));
      return await surveyForecast(
        reader,
        nodes,
        nodes.filter(mattersIn(question, reader.now())),
        options,
      );
    },
    answer: ({ nodes }, context) => taintAnswer(text, pattern, nodes, context),
  };
}

function nowhere(text: string, nodes: readonly NodeFacts[]): string {
  const taints = nodes.flatMap(({ node }) => node.taints);
  const keys = [...new Set(taints.map(({ key }) => key))].sort();
  const known = keys.length === 0 ? 'no node has taints' : `nodes have: ${keys.join(', ')}`;
  return `no node has the taint ${JSON.stringify(text)}; ${known}`;
}

/** A taint of a node. */
interface Found {
  readonly node: NodeReport;
  readonly taint: Taint;
}

function taintAnswer(
  name: string,
  pattern: TaintPattern,
  nodes: readonly NodeReport[],
  context: AnswerContext,
): Answer {
  const { at } = context.survey;
  const { after } = context.question;
  const all = nodes.flatMap((node): Found[] => {
    const taints = hypotheticalTaints(node.facts.node.taints, context.question, at);
    return taints.filter((taint) => matchesTaint(pattern, taint)).map((taint) => ({ node, taint }));
  });
  const found = all.map(({ node, taint }) => {
    return { node: node.facts.node.name, ...taintDocument(taint) };
  });
  return nodesAnswer('TaintExplanation', name, { found }, nodes, context, (options) => {
    const table = renderColumns(foundColumns(at, after), all, options);
    if (!options.headers) return table;
    const counts = `${count(nodes.length, 'node')}; ${countsText(nodes, after)}`;
    return [table, '', counts, `Evicted by: ${nodesEvictedBy(nodes, context.survey.evictor)}`].join(
      '\n',
    );
  });
}

function foundColumns(now: Instant, after: Millis): readonly Column<Found>[] {
  return [
    ['NODE', ({ node }) => node.facts.node.name],
    ['TAINT', ({ taint }) => formatTaint(taint)],
    ['ADDED', ({ node, taint }) => addedText(node, taint, now)],
    // Only a NoExecute taint makes pods go.
    ...tallyColumns(now, after).map(
      ([head, cell]): Column<Found> => [
        head,
        ({ node, taint }) => cell(taint.effect === 'NoExecute' ? node : { ...node, pods: null }),
      ],
    ),
    ['TAINTS LAST WRITTEN BY', ({ node }) => lastWriteText(node, now), 'wide'],
  ];
}

function lastWriteText({ facts: { taintsWritten } }: NodeReport, now: Instant): string {
  return taintsWritten ? `${taintsWritten.by}, ${ago(now, taintsWritten.at)}` : none;
}

/** Since when it counts, as far as that is known. */
function addedText(node: NodeReport, taint: Taint, now: Instant): string {
  const observed = node.taints.find((one) => formatTaint(one.taint) === formatTaint(taint));
  // Its own time is none where it is not believed.
  const isSeen = observed?.startSource === 'firstSeen' || observed?.startSource === 'taintsWritten';
  const added = isSeen ? null : taint.timeAdded;
  const start = added ?? (observed && observed.start < now ? observed.start : null);
  return start === null ? 'unknown' : ago(now, start);
}
