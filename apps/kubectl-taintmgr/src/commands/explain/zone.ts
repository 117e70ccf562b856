import { formatTaint } from '@taintmgr/core';
import type { Instant } from '@taintmgr/core/time';
import type { NodeFacts } from '../../cluster/facts.ts';
import { surveyForecast } from '../../cluster/survey.ts';
import { count } from '../../render/count.ts';
import { printable } from '../../render/printable.ts';
import { type Column, renderColumns } from '../../render/table.ts';
import { apiVersion, nodeDocument, tallyDocument, zoneDocument } from '../../report/documents.ts';
import { mattersIn, type Question } from '../../report/question.ts';
import { type NodeReport, type Tally, tally } from '../../report/report.ts';
import { ago, asOf, none, soon, tallyText, zoneText } from '../../report/words.ts';
import { UsageError } from '../../usage-error.ts';
import { podNames } from './node.ts';
import { notReadyText } from './node-table.ts';
import { type AnswerContext, everything, nothing, type Subject } from './subject.ts';

/** `explain zone NAME`: by its label, or as `region/zone`. */
export function zoneSubject(name: string, question: Question): Subject {
  return {
    read: async (reader) => {
      const all = await reader.nodes();
      const nodes = all.filter((facts) => namesOf(facts).includes(name));
      if (nodes.length === 0) throw new UsageError(noSuchZone(name, all));
      return await surveyForecast(reader, nodes, nodes.filter(mattersIn(question)));
    },
    focus: everything,
    answer: ({ nodes }, context) => zoneAnswer(name, nodes, context),
    watched: nothing,
  };
}

/** The names by which people may know the zone of a node. */
function namesOf({ node, zone }: NodeFacts): readonly string[] {
  return [zone, node.zone ?? ''].filter((name) => name !== '');
}

function noSuchZone(name: string, nodes: readonly NodeFacts[]): string {
  const zones = [...new Set(nodes.map(({ zone }) => zone))].filter((zone) => zone !== '').sort();
  const known = zones.length === 0 ? 'nodes have no zone labels' : `zones: ${zones.join(', ')}`;
  return `zone ${JSON.stringify(name)} has no nodes; ${known}`;
}

function zoneAnswer(
  name: string,
  nodes: readonly NodeReport[],
  { survey, question }: AnswerContext,
): ReturnType<Subject['answer']> {
  const documents = (): readonly object[] => nodeDocuments(nodes, survey.at, question.after);
  const all = tallyOf(nodes, question.after);
  const notReady = nodes.filter(({ facts }) => facts.ready.status !== 'True').length;
  const forecast = nodes[0]?.forecast;
  const state = forecast ? `: ${zoneText(forecast)}` : '';
  return {
    get document() {
      return {
        apiVersion,
        kind: 'ZoneExplanation',
        metadata: { name },
        ...asOf(survey.at, question.after),
        zone: { nodes: nodes.length, notReady, ...(forecast && zoneDocument(forecast)) },
        nodes: documents(),
        summary: tallyDocument(all),
      };
    },
    get rows() {
      return documents();
    },
    names: podNames(nodes.flatMap(({ pods }) => pods ?? [])),
    table: (options) => {
      const table = renderColumns(nodeColumns(survey.at, question.after), nodes, options);
      if (!options.headers) return table;
      const [first] = nodes;
      const full = first?.facts.node.zone || name;
      const head = [
        `Zone:     ${printable(full)}, ${notReadyText({ nodes: nodes.length, notReady })}${state}`,
        `Taints:   ${taintedText(nodes)}`,
      ];
      return [...head, '', table, '', tallyText(all)].join('\n');
    },
  };
}

/** Nodes by their names, each with its pods as far as they were read. */
export function nodeDocuments(
  nodes: readonly NodeReport[],
  now: Instant,
  after: number,
): readonly object[] {
  return nodes.map((node) => {
    const { name, uid } = node.facts.node;
    return { name, uid, ...nodeDocument(node, now, after) };
  });
}

/** What becomes of the pods of several nodes, as far as they were read. */
export function tallyOf(nodes: readonly NodeReport[], after: number): Tally {
  return tally(
    nodes.flatMap(({ pods }) => pods ?? []),
    after,
  );
}

function taintedText(nodes: readonly NodeReport[]): string {
  const tainted = nodes.filter(({ taints }) => taints.length > 0).length;
  return tainted === 0 ? 'no NoExecute taints' : `NoExecute taints on ${count(tainted, 'node')}`;
}

function nodeColumns(now: Instant, after: number): readonly Column<NodeReport>[] {
  return [
    ['NODE', ({ facts }) => facts.node.name],
    ['READY', ({ facts }) => facts.ready.status],
    ...tallyColumns(after),
    ['TAINTS', ({ taints }) => taints.map(({ taint }) => formatTaint(taint)).join(', ') || none],
    ['LEASE', ({ leaseRenewedAt: at }) => (at === null ? none : ago(now, at)), 'wide'],
    ['CORDONED', ({ facts }) => (facts.cordoned ? 'yes' : 'no'), 'wide'],
    ['TAINTS LAST WRITTEN BY', ({ facts }) => facts.taintsWritten?.by || none, 'wide'],
  ];
}

/** How many pods there are, how many go, and when; a dash where nobody looked. */
export function tallyColumns(after: number): readonly Column<NodeReport>[] {
  const cell =
    (text: (counts: Tally) => string, nobodyLooked = '-'): ((node: NodeReport) => string) =>
    ({ pods }) =>
      pods ? text(tally(pods, after)) : nobodyLooked;
  return [
    ['PODS', cell(({ pods }) => String(pods))],
    ['EVICT', cell(({ evict }) => String(evict), '0')],
    ['NEXT', cell(({ next }) => (next === null ? '-' : soon(next)))],
    ['LAST', cell(({ last }) => (last === null ? '-' : soon(last)))],
  ];
}
