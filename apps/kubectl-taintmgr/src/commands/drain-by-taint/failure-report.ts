// The report on a drain that did not finish: the pods that are left, why, and what may help.
import type { Pod } from '@taintmgr/core';
import {
  type Budget,
  type DrainPod,
  operatorOf,
  type PredictedBlocker,
  predictBlockers,
} from '@taintmgr/core/drain';
import { formatDeadline } from '@taintmgr/core/time';
import { count, printable } from '@taintmgr/k8s-adapter/command-line';
import { operatorSignText } from '@taintmgr/k8s-adapter/explain';
import { type Paint, plain } from '../../render/style.ts';
import { type Column, renderColumns } from '../../render/table.ts';
import { nameOf } from './drain.ts';
import {
  type DrainEnd,
  type DrainResult,
  type DrainSight,
  deleterText,
  isNotDrained,
} from './outcome.ts';
import { isToGo, pauseOf, tallyOf } from './progress.ts';

/** By uid, what the budgets say that hold pods: whether waiting helps, and who is to act. */
export type Verdicts = ReadonlyMap<string, PredictedBlocker>;

/**
 * The verdicts of the budgets on the pods that they hold: the API server's refusal does not say
 * whether waiting helps.
 */
export function verdictsOf(
  machine: DrainSight,
  budgets: readonly Budget[] | null,
  podOf: (uid: string) => Pod | null,
): Verdicts {
  const site = { budgets, finalizers: [], nodeAnswers: null };
  const entries = machine.pods().flatMap(({ pod: { uid }, blocker }) => {
    const read = blocker?.code === 'Budget' ? podOf(uid) : null;
    // Its budget was asked, so it is none that is spared because it is not ready.
    const [predicted] = read ? predictBlockers({ ...read, ready: 'True' }, site) : [];
    return predicted ? [[uid, predicted] as const] : [];
  });
  return new Map(entries);
}

/** The terminal that shows the report. */
interface Screen {
  readonly width: number | null;
  readonly paint: Paint;
}

/** The report on it; `verdicts`: of the budgets that hold pods. */
export function renderLeft(
  { result, machine, refusal }: Omit<DrainEnd, 'changes'>,
  verdicts: Verdicts,
  screen: Screen = { width: null, paint: plain },
): string {
  const [ending, then] = endingOf(result, machine);
  if (!machine.synced) {
    const why = refusal === null ? '' : `: ${printable(refusal)}`;
    return `error: ${ending} before the pods were known${why}${then}`;
  }
  const left = machine.pods().filter((pod) => isToGo(pod) && pod.state.kind !== 'gone');
  const { gone, total } = tallyOf(machine.pods());
  const state =
    machine.nodes().length > 1
      ? nodesText(result, machine, left, verdicts)
      : `${ending}, ${gone} of ${count(total, 'pod')} gone`;
  const head = `error: ${state}${then}`;
  const table = left.length === 0 ? [] : leftTable(left, verdicts, screen).split('\n');
  const lines = [
    [head, ...failedNodes(machine), ...table].join('\n  '),
    ...budgetHint(machine.stop ? [] : left, verdicts),
    ...returnHint(left),
  ];
  return lines.join('\n');
}

/** So few pods that a terminal of 24 lines shows the first line of the report too. */
const rowsMax = 5;

/** The pods that are left; those that need action come first, and why they stay has a colour. */
function leftTable(left: readonly DrainPod[], verdicts: Verdicts, screen: Screen): string {
  const isStuck = ({ blocker }: DrainPod): boolean => blocker !== null;
  const rows = [...left.filter(isStuck), ...left.filter((pod) => !isStuck(pod))];
  const columns: readonly Column<DrainPod>[] = [
    ['POD', ({ pod }) => nameOf(pod)],
    ['NODE', ({ pod }) => pod.nodeName],
    [
      'STATE',
      (pod) => stateText(pod, verdicts),
      { below: '', tone: (pod) => (isStuck(pod) ? 'urgent' : null) },
    ],
  ];
  // The table is set in.
  const width = screen.width === null ? null : screen.width - 2;
  const options = { wide: false, headers: true, width, paint: screen.paint };
  const shown = width === null ? rows : rows.slice(0, rowsMax);
  const more = rows.length - shown.length;
  const table = renderColumns(columns, shown, options);
  return more === 0 ? table : `${table}\nand ${count(more, 'pod')} more; -o json names all`;
}

/** The words before the counts, and after them. */
type Ending = readonly [ending: string, then: string];

function endingOf(result: DrainResult, { stop }: DrainSight): Ending {
  if (result !== 'Stopped' || !stop) return endings[result] ?? ['the drain cannot continue', ''];
  return [`stopped because ${deleterText(stop.by)} evicts for the taint and ignores PDBs`, ''];
}

const endings: Readonly<Partial<Record<DrainResult, Ending>>> = {
  Blocked: ['not drained because pods are blocked', ''],
  TimedOut: ['not drained within --timeout', ''],
  Interrupted: ['interrupted', '; run the same command again to continue'],
};

const namesMax = 3;

/** `1 of 3 nodes drained within --timeout; 2 pods stay on zone-a-1: PDB web needs action` */
function nodesText(
  result: DrainResult,
  machine: DrainSight,
  left: readonly DrainPod[],
  verdicts: Verdicts,
): string {
  const nodes = machine.nodes();
  const drained = nodes.filter((node) => !isNotDrained(node)).length;
  const before =
    result === 'Blocked' || result === 'TimedOut' ? '' : `${endingOf(result, machine)[0]}, `;
  const within = result === 'TimedOut' ? ' within --timeout' : '';
  const state = `${before}${drained} of ${count(nodes.length, 'node')} drained${within}`;
  if (left.length === 0) return state;
  const names = [...new Set(left.map(({ pod }) => pod.nodeName))];
  const more = names.length > namesMax ? ` and ${names.length - namesMax} more` : '';
  const where = `${names.slice(0, namesMax).join(', ')}${more}`;
  const verb = left.length === 1 ? 'stays' : 'stay';
  const pods = `${count(left.length, 'pod')} ${verb} on ${where}`;
  return `${state}; ${pods}${budgetReason(left, verdicts)}`;
}

/** `: PDB web needs action`; '': no budget holds these pods. */
function budgetReason(left: readonly DrainPod[], verdicts: Verdicts): string {
  const found = left.flatMap(({ pod: { uid } }) => verdicts.get(uid) ?? []);
  const worst = found.find(({ verdict }) => verdict === 'never') ?? found[0];
  const [budget] = worst?.budgets ?? [];
  if (!worst || !budget) return '';
  const what = worst.verdict === 'never' ? 'needs action' : 'allows no eviction yet';
  return printable(`: PDB ${budget.name} ${what}`);
}

/** Nodes that failed for a reason that is not one of their pods. */
function failedNodes(machine: DrainSight): readonly string[] {
  return machine.nodes().flatMap(({ name, phase }) => {
    if (phase.kind !== 'failed') return [];
    if (phase.message !== null) return [`node ${name}: ${printable(phase.message)}`];
    if (phase.why === 'TaintRemoved') return [`node ${name}: another program removed the taint`];
    return phase.why === 'NotBegun'
      ? [`node ${name}: not started, because an earlier zone failed`]
      : [];
  });
}

/**
 * A line for each budget. Never advises to relax the budget of an operator, which may cost the data behind
 * it, nor, where such a budget holds pods, to delete all pods of the drain.
 */
function budgetHint(left: readonly DrainPod[], verdicts: Verdicts): readonly string[] {
  const blocked = left.filter(({ blocker }) => blocker?.code === 'Budget');
  const isOperators = blocked.map(({ pod: { uid } }) => hasOperator(verdicts.get(uid)));
  const cure = isOperators.includes(true)
    ? 'scale up or relax the PDB'
    : 'scale up or relax the PDB, or use --pdb-policy=delete-after:DURATION';
  const hints = blocked.map(({ pod: { namespace, uid } }, index) => {
    const predicted = verdicts.get(uid);
    const [budget] = predicted?.budgets ?? [];
    if (!budget) return `hint: see kubectl get pdb -n ${namespace}; ${cure}`;
    const pdb = `PDB ${namespace}/${budget.name}`;
    if (predicted?.operatorSign) {
      const sign = operatorSignText(predicted.operatorSign);
      return `hint: ${pdb} may be its operator's (${sign}): ask it before you change the PDB`;
    }
    return isOperators[index] ? null : `hint: ${pdb}: ${cure}`;
  });
  return [...new Set(hints)].flatMap((hint) => (hint === null ? [] : [printable(hint)]));
}

function hasOperator(predicted: PredictedBlocker | undefined): boolean {
  const isOwned = predicted?.budgets.some((budget) => operatorOf(budget) !== null) === true;
  return isOwned || predicted?.operatorSign !== undefined;
}

function returnHint(left: readonly DrainPod[]): readonly string[] {
  if (!left.some(({ blocker }) => blocker?.code === 'Returned')) return [];
  return [
    'hint: scale down the owners of pods that come back, or remove the toleration or nodeName from ' +
      'their pod templates; then run the same command again',
  ];
}

/** The words of a verdict on a budget, where waiting alone is not the answer. */
const verdictWords: Readonly<Partial<Record<PredictedBlocker['verdict'], string>>> = {
  never: 'will not resolve by itself',
  othersAct: 'its operator acts',
  askOperator: "may be its operator's",
};

function stateText(pod: DrainPod, verdicts: Verdicts): string {
  const { state, tries, blocker, taken } = pod;
  if (taken) return `deleted by ${deleterText(taken)}`;
  switch (state.kind) {
    case 'waiting':
      if (pod.hold) return pod.hold.message;
      return `tolerates the taint until ${formatDeadline(state.until)}`;
    case 'requested':
    case 'accepted':
      return 'being evicted';
    case 'queued':
    case 'blocked':
    case 'failed':
    case 'givenUp': {
      const pause = pauseOf(pod);
      if (pause !== null) return `held by ${pause}`;
      if (!blocker) return pod.hold?.message ?? 'not its turn yet';
      if (blocker.code === 'Returned') return blocker.message;
      const times = `${tries} ${tries === 1 ? 'try' : 'tries'}`;
      const verdict = verdicts.get(pod.pod.uid)?.verdict;
      const means = verdict === undefined ? undefined : verdictWords[verdict];
      return `${blocker.message} (${times}${means === undefined ? '' : `; ${means}`})`;
    }
    default:
      return state.kind;
  }
}
