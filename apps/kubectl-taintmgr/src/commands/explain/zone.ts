import { formatTaint } from '@taintmgr/core';
import type { Instant } from '@taintmgr/core/time';
import { choicesText, count, UsageError } from '@taintmgr/k8s-adapter/command-line';
import {
  ago,
  apiVersion,
  asOf,
  emptyingCell,
  emptyingOf,
  mattersIn,
  type NodeReport,
  nodeDocument,
  nodeEvictorDocument,
  nodesEvictedBy,
  nodesEvictorDocument,
  none,
  type Question,
  soon,
  type Tally,
  tally,
  tallyDocument,
  tallyText,
  zoneDocument,
  zoneText,
} from '@taintmgr/k8s-adapter/explain';
import { type NodeFacts, surveyForecast, zoneNames } from '@taintmgr/k8s-adapter/survey';
import type { Answer } from '../../render/printer.ts';
import { type Column, renderColumns, renderFields } from '../../render/table.ts';
import { podNames } from './answer.ts';
import { notReadyText } from './node-table.ts';
import type { AnswerContext, Subject } from './subject.ts';

/** `explain zone NAME`: by its label, or as `region/zone`. */
export function zoneSubject(name: string, question: Question): Subject {
  return {
    read: async (reader, options) => {
      const all = await reader.nodes();
      const nodes = all.filter(({ node }) => zoneNames(node.labels ?? {}).includes(name));
      if (nodes.length === 0) throw new UsageError(noSuchZone(name, all));
      return await surveyForecast(
        reader,
        nodes,
        nodes.filter(mattersIn(question, reader.now())),
        options,
      );
    },
    answer: ({ nodes }, context) => zoneAnswer(name, nodes, context),
  };
}

function noSuchZone(name: string, nodes: readonly NodeFacts[]): string {
  const zones = [...new Set(nodes.map(({ zone }) => zone))].filter((zone) => zone !== '').sort();
  const known = zones.length === 0 ? 'nodes have no zone labels' : `zones: ${choicesText(zones)}`;
  return `zone ${JSON.stringify(name)} has no nodes; ${known}`;
}

function zoneAnswer(name: string, nodes: readonly NodeReport[], context: AnswerContext): Answer {
  const { survey, question } = context;
  const [first] = nodes;
  const forecast = first?.forecast;
  const notReady = nodes.filter(({ facts }) => facts.ready.status !== 'True').length;
  const counts = { nodes: nodes.length, notReady };
  const zone = { ...counts, ...(forecast && zoneDocument(forecast)) };
  const state = forecast ? `: ${zoneText(forecast)}` : '';
  return nodesAnswer('ZoneExplanation', name, { zone }, nodes, context, (options) => {
    const table = renderColumns(nodeColumns(survey.at, question.after), nodes, options);
    if (!options.headers) return table;
    const full = first?.facts.node.zone || name;
    const head = renderFields([
      ['Zone', `${full}, ${notReadyText(counts)}${state}`],
      ['Taints', taintedText(nodes)],
      ['Evicted by', nodesEvictedBy(nodes, survey.evictor)],
    ]);
    return [...head, '', table, '', countsText(nodes, question.after)].join('\n');
  });
}

/** An answer about several nodes: `about` comes before them in its document. */
export function nodesAnswer(
  kind: string,
  name: string,
  about: object,
  nodes: readonly NodeReport[],
  { survey: { at, evictor }, question: { after } }: AnswerContext,
  table: Answer['table'],
): Answer {
  const documents = (): readonly object[] =>
    nodes.map((node) => {
      const { name, uid } = node.facts.node;
      const drained = node.drains.length > 0 ? nodeEvictorDocument(node, evictor) : {};
      return { name, uid, ...drained, ...nodeDocument(node, at, after) };
    });
  return {
    get document() {
      return {
        apiVersion,
        kind,
        metadata: { name },
        ...asOf(at, after),
        ...nodesEvictorDocument(nodes, evictor),
        ...about,
        nodes: documents(),
        summary: countsDocument(nodes, after),
      };
    },
    get rows() {
      return documents();
    },
    names: podNames(nodes.flatMap(({ pods }) => pods ?? [])),
    table,
  };
}

/**
 * What becomes of the pods of several nodes. Pods of nodes that they need not leave are not read: no count
 * includes them, and a number of pods is left out where none was counted.
 */
export function countsText(nodes: readonly NodeReport[], after: number): string {
  const { counts, notCounted } = countsOf(nodes, after);
  if (notCounted === 0) return tallyText(counts);
  const whose = `pods of ${count(notCounted, 'node')} without NoExecute taints are not counted`;
  return notCounted === nodes.length ? whose : `${tallyText(counts)}; ${whose}`;
}

function countsDocument(nodes: readonly NodeReport[], after: number): object {
  const { counts, notCounted } = countsOf(nodes, after);
  const document = tallyDocument(counts);
  if (notCounted === 0) return document;
  const unknown = { pods: undefined, terminating: undefined, keep: undefined };
  const nodesNotCounted = notCounted;
  return { ...document, ...(notCounted === nodes.length && unknown), nodesNotCounted };
}

function countsOf(
  nodes: readonly NodeReport[],
  after: number,
): { readonly counts: Tally; readonly notCounted: number } {
  const counts = tally(
    nodes.flatMap((node) => node.pods ?? []),
    after,
  );
  return { counts, notCounted: nodes.filter(({ pods }) => pods === null).length };
}

function taintedText(nodes: readonly NodeReport[]): string {
  const tainted = nodes.filter(({ taints }) => taints.length > 0).length;
  return tainted === 0 ? 'no NoExecute taints' : `NoExecute taints on ${count(tainted, 'node')}`;
}

function nodeColumns(now: Instant, after: number): readonly Column<NodeReport>[] {
  return [
    ['NODE', ({ facts }) => facts.node.name],
    ['READY', ({ facts }) => facts.ready.status],
    ...tallyColumns(now, after),
    ['TAINTS', ({ taints }) => taints.map(({ taint }) => formatTaint(taint)).join(', ') || none],
    // Where pods were not read, the lease was not either.
    [
      'LEASE',
      ({ pods, leaseRenewedAt: at }) => leaseText(pods === null ? 'unread' : at, now),
      'wide',
    ],
    ['CORDONED', ({ facts }) => (facts.cordoned ? 'yes' : 'no'), 'wide'],
    ['TAINTS LAST WRITTEN BY', ({ facts }) => facts.taintsWritten?.by || none, 'wide'],
  ];
}

function leaseText(renewedAt: Instant | 'unread' | null, now: Instant): string {
  if (renewedAt === 'unread') return '-';
  return renewedAt === null ? none : ago(now, renewedAt);
}

/** How many pods there are, how many go, and when; a dash where nobody looked. */
export function tallyColumns(now: Instant, after: number): readonly Column<NodeReport>[] {
  const cell =
    (text: (counts: Tally) => string, nobodyLooked = '-'): ((node: NodeReport) => string) =>
    ({ pods }) =>
      pods ? text(tally(pods, after)) : nobodyLooked;
  return [
    ['PODS', cell(({ pods }) => String(pods))],
    ['EVICT', cell(({ evict }) => String(evict), '0')],
    ['NEXT', cell(({ next }) => (next === null ? '-' : soon(next)))],
    ['LAST', cell(({ last }) => (last === null ? '-' : soon(last)))],
    ['EMPTY', (node) => emptyingCell(emptyingOf(node, now + after, after > 0), now + after)],
  ];
}
