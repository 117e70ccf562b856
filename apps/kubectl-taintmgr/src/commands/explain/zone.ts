import { formatTaint } from '@taintmgr/core';
import type { Instant } from '@taintmgr/core/time';
import { count } from '@taintmgr/k8s-adapter/command-line';
import {
  ago,
  countsOf,
  type Explained,
  emptyingCell,
  emptyingOf,
  type NodeReport,
  type NodesAnswer,
  nodesEvictedBy,
  none,
  readyCounts,
  soon,
  type Tally,
  tally,
  type ZoneAnswer,
  zoneSubject,
  zoneText,
} from '@taintmgr/k8s-adapter/explain';
import type { Answer } from '../../render/printer.ts';
import type { Tone } from '../../render/style.ts';
import { type Column, type Field, renderColumns, renderFields } from '../../render/table.ts';
import { notReadyText, podsField } from './node-table.ts';
import { podNames, type View } from './view.ts';

/** `explain zone NAME`: by its label, or as `region/zone`. */
export function zoneView(name: string): View<ZoneAnswer> {
  return {
    subject: zoneSubject(name),
    show: (explained) => {
      const { survey, question } = explained;
      const { nodes } = explained.report;
      const [first] = nodes;
      const state = first?.forecast ? `: ${zoneText(first.forecast)}` : '';
      return nodesShown(explained, (options) => {
        const table = renderColumns(nodeColumns(survey.at, question.after), nodes, options);
        if (!options.headers) return table;
        const full = first?.facts.node.zone || name;
        const fields: readonly Field[] = [
          ['Zone', `${full}, ${notReadyText(readyCounts(nodes))}${state}`],
          countsField(nodes),
          ['Evicted by', nodesEvictedBy(nodes, survey.evictor)],
          ['Taints', taintedText(nodes)],
        ];
        return [...renderFields(fields, options), '', table].join('\n');
      });
    },
  };
}

/** The shown parts of an answer about several nodes. */
export function nodesShown(
  explained: Explained<NodesAnswer<string>>,
  table: Answer['table'],
): Omit<Answer, 'document'> {
  return {
    get rows() {
      return explained.document.nodes;
    },
    names: podNames(explained.report.nodes.flatMap(({ pods }) => pods ?? [])),
    table,
  };
}

/** The counts of pods by their fate on several nodes, and the nodes without counts. */
export function countsField(nodes: readonly NodeReport[]): Field {
  const { notCounted } = countsOf(nodes);
  const [name, text, tone = null] = podsField(nodes.flatMap(({ pods }) => pods ?? []));
  if (notCounted === 0) return [name, text, tone];
  const whose = `pods of ${count(notCounted, 'node')} without NoExecute taints are not counted`;
  return notCounted === nodes.length ? [name, whose] : [name, `${text}; ${whose}`, tone];
}

function taintedText(nodes: readonly NodeReport[]): string {
  const tainted = nodes.filter(({ taints }) => taints.length > 0).length;
  return tainted === 0 ? 'no NoExecute taints' : `NoExecute taints on ${count(tainted, 'node')}`;
}

/** A line for each node. */
export function nodeColumns(now: Instant, after: number): readonly Column<NodeReport>[] {
  return [
    ['NODE', ({ facts }) => facts.node.name],
    [
      'READY',
      ({ facts }) => facts.ready.status,
      { tone: ({ facts }) => (facts.ready.status === 'True' ? null : 'urgent') },
    ],
    ...tallyColumns(now, after),
    [
      'TAINTS',
      ({ taints }) => taints.map(({ taint }) => formatTaint(taint)).join(', ') || none,
      { below: 'taints' },
    ],
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

function nextTone({ pods }: NodeReport): Tone | null {
  const { next } = tally(pods ?? []);
  return next !== null && next < 1000 ? 'urgent' : null;
}

function leaseText(renewedAt: Instant | 'unread' | null, now: Instant): string {
  if (renewedAt === 'unread') return '-';
  return renewedAt === null ? none : ago(now, renewedAt);
}

/** The number of pods, the number that leave, and the time; a dash where pods were not read. */
export function tallyColumns(now: Instant, after: number): readonly Column<NodeReport>[] {
  const cell =
    (text: (counts: Tally) => string, nobodyLooked = '-'): ((node: NodeReport) => string) =>
    ({ pods }) =>
      pods ? text(tally(pods)) : nobodyLooked;
  return [
    ['PODS', cell(({ pods }) => String(pods))],
    ['EVICT', cell(({ evict }) => String(evict), '0')],
    ['NEXT', cell(({ next }) => (next === null ? '-' : soon(next))), { tone: nextTone }],
    ['LAST', cell(({ last }) => (last === null ? '-' : soon(last)))],
    ['EMPTY', (node) => emptyingCell(emptyingOf(node, now + after, after > 0), now + after)],
  ];
}
