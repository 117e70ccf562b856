// The answer of `simulate` as tables.
import { formatDuration } from '@taintmgr/core';
import { count } from '../../../render/count.ts';
import type { TableOptions } from '../../../render/printer.ts';
import { renderTable } from '../../../render/table.ts';
import type { Result, RunResult } from './documents.ts';
import type { BudgetSummary, WorkloadSummary } from './summary.ts';

const none = '<none>';
/** Of pods that fit nowhere, and of loops, so many are named. */
const namedMax = 10;

/** What happened, for a person: a few tables and a sentence on each. */
export function simulationTable(result: Result, { wide, headers }: TableOptions): string {
  const [first, ...others] = result.runs;
  if (!first) return '';
  const head = (names: readonly string[]): readonly string[] | null => (headers ? names : null);
  const parts = [
    headline(result, first),
    workloadTable(first, others, head),
    budgetTable(first, others, head),
    unplacedText(first),
    ...(wide ? [timeline(first, head)] : []),
    [first, ...others].flatMap((run) => [totals(run), ...loopLines(run)]).join('\n'),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

type Head = (names: readonly string[]) => readonly string[] | null;

function headline({ source, script, until, seed }: Result, { recording }: RunResult): string {
  const { nodes, workloads } = recording;
  const what = `${source.name} (${count(nodes.length, 'node')}, ${count(workloads.length, 'workload')})`;
  const partial = source.missing.length > 0 ? 'PARTIAL: ' : '';
  const played = script === null ? 'without events' : `with ${script}`;
  return `${partial}${formatDuration(until)} of ${what} ${played}, seed ${seed}`;
}

function workloadTable(first: RunResult, others: readonly RunResult[], head: Head): string {
  const heads = ['WORKLOAD', 'WANTED', 'MOST UNAVAILABLE', 'AT', 'FOR', 'EVICTIONS'];
  const beside = others.flatMap(({ semantics }) => {
    const name = semantics.toUpperCase();
    return [`UNAVAILABLE ${name}`, `EVICTIONS ${name}`];
  });
  const rows = first.summary.workloads.map((workload) => {
    const { worstAt, unavailableSeconds, wanted, evictions } = workload;
    return [
      `${workload.kind} ${workload.namespace}/${workload.name}`,
      String(wanted),
      worstText(workload),
      worstAt === null ? none : seconds(worstAt),
      unavailableSeconds === 0 ? none : seconds(unavailableSeconds),
      String(evictions),
      ...others.flatMap(({ summary }) => {
        const same = summary.workloads.find((one) => isSame(one, workload));
        return same ? [worstText(same), String(same.evictions)] : [none, none];
      }),
    ];
  });
  return renderTable(head([...heads, ...beside]), rows);
}

function isSame(one: WorkloadSummary, other: WorkloadSummary): boolean {
  return one.kind === other.kind && one.namespace === other.namespace && one.name === other.name;
}

/** `10 (33.3%)` */
function worstText({ unavailableMax, unavailablePercentMax }: WorkloadSummary): string {
  return unavailableMax === 0 ? '0' : `${unavailableMax} (${unavailablePercentMax}%)`;
}

function budgetTable(first: RunResult, others: readonly RunResult[], head: Head): string {
  const { budgets } = first.summary;
  if (budgets.length === 0) return '';
  const heads = ['PDB', 'REFUSED', 'BELOW BY', 'BELOW FOR'];
  const beside = others.flatMap(({ semantics }) => {
    const name = semantics.toUpperCase();
    return [`REFUSED ${name}`, `BELOW BY ${name}`];
  });
  const rows = budgets.map((budget) => [
    `${budget.namespace}/${budget.name}`,
    String(budget.refusals),
    belowText(budget),
    budget.belowSeconds === 0 ? none : seconds(budget.belowSeconds),
    ...others.flatMap(({ summary }) => {
      const { namespace, name } = budget;
      const same = summary.budgets.find((one) => one.namespace === namespace && one.name === name);
      return same ? [String(same.refusals), belowText(same)] : [none, none];
    }),
  ]);
  return renderTable(head([...heads, ...beside]), rows);
}

function belowText({ belowMax }: BudgetSummary): string {
  return belowMax === 0 ? none : String(belowMax);
}

function unplacedText({ summary, recording }: RunResult): string {
  const { pods, atOnceMax, atEnd } = summary.unplaced;
  if (pods === 0) return '';
  const first = `${count(pods, 'pod')} fitted on no node: ${atOnceMax} at once, ${atEnd} at the end`;
  const left = recording.unplaced.filter(({ until }) => until === null);
  const lines = left.slice(0, namedMax).map(({ namespace, pod, from, message }) => {
    return `  ${namespace}/${pod} since ${seconds(from)}: ${message}`;
  });
  const more = left.length - lines.length;
  return [first, ...lines, ...(more > 0 ? [`  and ${more} more`] : [])].join('\n');
}

/** Events, zones and nodes as they went, one line each. */
function timeline({ happenings, recording }: RunResult, head: Head): string {
  const rows = [
    ...happenings.map(({ at, text }) => ({ at, what: 'script', text })),
    ...recording.zones.flatMap(({ name, states }) =>
      states.map(({ at, state, ready, notReady, held }) => {
        const why = held === null ? '' : `, ${held}`;
        return {
          at,
          what: `zone ${name || none}`,
          text: `${state}, ${ready} ready, ${notReady} not${why}`,
        };
      }),
    ),
    ...recording.nodes.flatMap(({ name, states }) =>
      states.slice(1).map(({ at, ready, cordoned, taints }) => {
        const shown = [`Ready=${ready}`, ...(cordoned ? ['cordoned'] : []), ...taints];
        return { at, what: `node ${name}`, text: shown.join(', ') };
      }),
    ),
    ...recording.evictions.map(({ at, namespace, pod, node, how, because }) => {
      return {
        at,
        what: `pod ${namespace}/${pod}`,
        text: `${how} from ${node}: ${because[0] ?? ''}`,
      };
    }),
  ];
  // Of one instant: what was done first, then what came of it.
  rows.sort((one, other) => one.at - other.at);
  const cells = rows.map(({ at, what, text }) => [seconds(at), what, text]);
  return renderTable(head(['AT', 'WHAT', 'HAPPENED']), cells);
}

/** `precise: 15 evictions, 0 refused by PDBs, 6 nodes tainted` */
function totals({ semantics, summary }: RunResult): string {
  const { evictions, refusals, failures, nodesTainted } = summary;
  const failed = failures > 0 ? `, ${failures} failed` : '';
  return `${semantics}: ${count(evictions, 'eviction')}, ${refusals} refused by PDBs${failed}, ${count(nodesTainted, 'node')} tainted`;
}

/** `  loop: shop/db-0 evicted 83 times from zone-a-1, 1m to 14m50s: tolerates bad:NoExecute for 10s` */
function loopLines({ summary: { loops } }: RunResult): readonly string[] {
  const lines = loops.slice(0, namedMax).map((loop) => {
    const { namespace, name, node, evictions, firstAt, lastAt, because } = loop;
    const who = name.includes('/') ? name : `${namespace}/${name}`;
    const when = `${seconds(firstAt)} to ${seconds(lastAt)}`;
    return `  loop: ${who} evicted ${evictions} times from ${node}, ${when}: ${because[0] ?? ''}`;
  });
  const more = loops.length - lines.length;
  return more > 0 ? [...lines, `  and ${count(more, 'more loop')}`] : lines;
}

function seconds(value: number): string {
  return formatDuration(value * 1000);
}
