import { describeReason, formatTaint } from '@taintmgr/core';
import {
  type DrainPlan,
  drainFaultsText,
  type PlannedPod,
  type PredictedBlocker,
  type SoloDrainConfig,
} from '@taintmgr/core/drain';
import type { NodeDrain } from '@taintmgr/core/policy';
import { formatDuration, type Instant } from '@taintmgr/core/time';
import { choicesText, count, countBy, printable } from '@taintmgr/k8s-adapter/command-line';
import { blockerLine, blockersText, graceText, ownerText } from '@taintmgr/k8s-adapter/explain';
import type { Tone } from '../../render/style.ts';
import { type Column, renderColumns, type TableOptions } from '../../render/table.ts';
import { nameOf } from './drain.ts';

/** Nodes that are finished before the next are begun. */
export interface PlannedWave {
  /** The line above its pods. */
  readonly title: string;
  readonly nodes: ReadonlySet<string>;
}

/** The plan as a table of the pods that leave, of each wave, and a line about the pods that stay. */
export function renderPlan(
  plan: DrainPlan,
  now: Instant,
  options: TableOptions,
  knowsBudgets: boolean = true,
  waves: readonly PlannedWave[] = [],
): string {
  const { pods } = plan;
  const shown = pods.filter(({ fate }) => isRow(fate));
  const tableOf = (rows: readonly PlannedPod[]): string =>
    renderColumns(planColumns(now, knowsBudgets), rows, options);
  if (!options.headers) return tableOf(shown);
  const bodyOf = (rows: readonly PlannedPod[]): string =>
    rows.length === 0 ? 'No pods to evict.' : tableOf(rows);
  const ofWaves = waves.flatMap(({ title, nodes }) => {
    return [title, bodyOf(shown.filter(({ pod }) => nodes.has(pod.nodeName)))];
  });
  const tables = waves.length === 0 ? [bodyOf(shown)] : ofWaves;
  const lines = [
    ...leavingLine(pods, now),
    ...stayingLine(pods),
    ...bareLine(pods),
    ...unreturningLine(plan),
  ];
  return [...tables, ...lines].join('\n');
}

const bareNamesMax = 4;

/** Pods that go, are waited for, or are in the way have a row; those that stay are counted in one line. */
function isRow(fate: PlannedPod['fate']): boolean {
  return ['evict', 'hold', 'refuse', 'leaving'].includes(fate.kind) || goesAnyway(fate);
}

/** True where the DaemonSet controller deletes the pod, although the drain leaves it. */
export function goesAnyway(fate: PlannedPod['fate']): boolean {
  return fate.kind === 'leave' && fate.goesAnyway;
}

function planColumns(now: Instant, knowsBudgets: boolean): readonly Column<PlannedPod>[] {
  return [
    ['NODE', ({ pod }) => pod.nodeName],
    ['NAMESPACE', ({ pod }) => pod.namespace],
    ['POD', ({ pod }) => pod.name],
    [
      'ACTION',
      ({ fate }) => (fate.kind === 'leaving' ? 'wait' : fate.kind),
      { tone: ({ fate }) => actionTones[fate.kind] ?? null },
    ],
    ['AT', ({ fate }) => atText(fate, now)],
    [
      'BLOCKED BY',
      (planned) => blockedText(planned, knowsBudgets),
      { tone: ({ blockers }) => blockedTone(blockers) },
    ],
    ['GRACE', ({ pod }) => graceText(pod), 'wide'],
    ['OWNER', ({ pod }) => ownerText(pod), 'wide'],
    ['BECAUSE', becauseOf, { below: 'because' }],
  ];
}

const actionTones: Readonly<Partial<Record<PlannedPod['fate']['kind'], Tone>>> = {
  hold: 'soon',
  refuse: 'urgent',
};

/** Red where a person must act, yellow where time helps. */
function blockedTone(blockers: PlannedPod['blockers']): Tone | null {
  if (blockers.length === 0) return null;
  const isTimely = ({ verdict }: PredictedBlocker): boolean =>
    verdict === 'resolves' || verdict === 'needsTime';
  return blockers.every(isTimely) ? 'soon' : 'urgent';
}

function atText(fate: PlannedPod['fate'], now: Instant): string {
  if (fate.kind === 'evict') return `+${formatDuration(Math.max(0, fate.at - now))}`;
  return goesAnyway(fate) ? '+0s' : '-';
}

function blockedText({ fate, blockers }: PlannedPod, knowsBudgets: boolean): string {
  if (fate.kind === 'refuse' || goesAnyway(fate)) return '-';
  return blockersText(blockers, knowsBudgets);
}

function becauseOf({ fate, because }: PlannedPod): string {
  if (fate.kind === 'refuse') return drainFaultsText(fate.faults);
  // The same taint may be there with another effect.
  const reasons = [...new Set(because.map(describeReason))].join('; ');
  return goesAnyway(fate) ? `the DaemonSet controller deletes it: ${reasons}` : reasons;
}

/** `3 pods to evict (last at +1m3s), 1 held; 1 blocked by PDBs that need action`; one pod needs no sum. */
function leavingLine(pods: readonly PlannedPod[], now: Instant): readonly string[] {
  const rows = pods.filter(({ fate }) => isRow(fate));
  if (rows.length < 2) return [];
  const times = rows.flatMap(({ fate }) => (fate.kind === 'evict' ? fate.at : []));
  const last = Math.max(now, ...times) - now;
  const ofKind = (kind: PlannedPod['fate']['kind']): number =>
    rows.filter(({ fate }) => fate.kind === kind).length;
  const blocked = (...verdicts: readonly PredictedBlocker['verdict'][]): number =>
    rows.filter(({ blockers }) => blockers.some(({ verdict }) => verdicts.includes(verdict)))
      .length;
  const stuck = blocked('never', 'othersAct', 'askOperator');
  const parts = [
    [times.length, `to evict (${last === 0 ? 'at once' : `last at +${formatDuration(last)}`})`],
    [ofKind('hold'), 'held'],
    [ofKind('refuse'), 'refused'],
    [ofKind('leaving'), 'terminating'],
    [rows.filter(({ fate }) => goesAnyway(fate)).length, 'deleted by the DaemonSet controller'],
    [stuck, stuck === 1 ? 'needs action first' : 'need action first'],
  ] as const;
  const named = parts.filter(([number]) => number > 0).map(([number, what]) => `${number} ${what}`);
  const all = count(rows.length, 'pod');
  const text = named.join(', ');
  return [times.length === rows.length ? text.replace(/^\d+/, all) : `${all}: ${text}`];
}

/** The number of pods that stay on their nodes, with the reasons. */
function stayingLine(pods: readonly PlannedPod[]): readonly string[] {
  const ofDaemonSets = pods.filter(({ fate }) => fate.kind === 'leave' && !goesAnyway(fate)).length;
  const kept = pods.filter(({ fate }) => fate.kind === 'keep');
  const mirrors = kept.filter(({ because }) => because[0]?.code === 'StaticPod').length;
  const byPolicy = keptByPolicies(kept);
  const keptBy = [...byPolicy].map(([text, number]) => [number, text] as const);
  const ofPolicies = keptBy.reduce((sum, [number]) => sum + number, 0);
  const finished = kept.filter(isFinished).length;
  const skipped = pods.filter(({ fate }) => fate.kind === 'skip').length;
  const parts = [
    [ofDaemonSets, 'of a DaemonSet'],
    [mirrors, 'static'],
    ...keptBy,
    [finished, 'finished'],
    [kept.length - mirrors - ofPolicies - finished, 'tolerating the taint without limit'],
    [skipped, 'terminating for too long'],
  ] as const;
  const named = parts.filter(([number]) => number > 0).map(([number, what]) => `${number} ${what}`);
  const number = ofDaemonSets + kept.length + skipped;
  const verb = number === 1 ? 'stays' : 'stay';
  return number === 0 ? [] : [`${count(number, 'pod')} ${verb}: ${named.join(', ')}`];
}

/** True for a pod that stays because it has ended, whatever it tolerates. */
function isFinished({ pod: { phase }, because: [decisive] }: PlannedPod): boolean {
  const isByTaint = decisive?.code === 'NoToleration' || decisive?.code === 'TolerationExpires';
  return isByTaint && (phase === 'Succeeded' || phase === 'Failed');
}

/** The pods that no controller starts again elsewhere; none: nothing. */
function bareLine(pods: readonly PlannedPod[]): readonly string[] {
  const bare = pods.filter(({ pod: { owner, phase }, fate }) => {
    return fate.kind === 'evict' && owner === null && phase !== 'Succeeded' && phase !== 'Failed';
  });
  if (bare.length === 0) return [];
  const names = bare.map(({ pod }) => `${pod.namespace}/${pod.name}`);
  const more = names.length > bareNamesMax ? ` and ${names.length - bareNamesMax} more` : '';
  const verb = bare.length === 1 ? 'is' : 'are';
  return [
    `${count(bare.length, 'pod')} ${bare.length === 1 ? 'has' : 'have'} no controller, and ${verb} not started again: ` +
      `${names.slice(0, bareNamesMax).join(', ')}${more}`,
  ];
}

/** The DaemonSets whose pods a taint of NoSchedule does not let start again; none: nothing. */
export function unreturningLine({ taint, pods }: DrainPlan): readonly string[] {
  if (taint.effect !== 'NoSchedule') return [];
  const left = pods.filter(({ fate, because: [decisive] }) => {
    return fate.kind === 'leave' && decisive?.code === 'NoToleration';
  });
  const names = new Set(left.map(({ pod }) => `${pod.namespace}/${pod.owner?.name ?? ''}`));
  if (names.size === 0) return [];
  const sets = `${names.size === 1 ? 'DaemonSet' : 'DaemonSets'} ${choicesText([...names].sort())}`;
  return [
    `${sets}: a pod that ends or is rolled is not started again on these nodes until undo, as it ` +
      `does not tolerate ${formatTaint(taint)}`,
  ];
}

/** The number of pods that each policy keeps: `kept by policy databases`. */
function keptByPolicies(kept: readonly PlannedPod[]): ReadonlyMap<string, number> {
  return countBy(
    kept.flatMap(({ because: [decisive] }) => {
      if (decisive?.code === 'KeptByPolicy') return [`kept by policy ${decisive.policy.name}`];
      if (decisive?.code !== 'PolicyUndecided') return [];
      return [`kept because policy ${decisive.policy.name} may be for them`];
    }),
  );
}

const waveNamesMax = 8;

/** The waves in their order; none where the drain has none. */
export function wavesOf({ targets, spec }: SoloDrainConfig): readonly PlannedWave[] {
  const waves = new Map<string, string[]>();
  for (const { name, wave } of targets) {
    const key = wave?.name ?? '';
    waves.set(key, [...(waves.get(key) ?? []), name]);
  }
  if (waves.size === 1 && waves.has('')) return [];
  return Array.from(waves, ([name, nodes], index) => {
    const own = targets.find(({ wave }) => wave?.name === name)?.wave?.nodesAtOnceMax;
    const limit = own ?? spec.limits.nodesAtOnce;
    const atOnce = limit === 0 ? 'all at once' : `${limit} at a time`;
    const more = nodes.length > waveNamesMax ? `, and ${nodes.length - waveNamesMax} more` : '';
    const names = `${nodes.slice(0, waveNamesMax).join(', ')}${more}`;
    const which = `Wave ${index + 1} of ${waves.size}: ${name || 'nodes without a zone'}`;
    const title = `${which}: ${count(nodes.length, 'node')}, ${atOnce}: ${names}`;
    return { title, nodes: new Set(nodes) };
  });
}

/** Lines about windows, gates and steps that nodes wait for, beside their turn. */
export function waitLines({ spec }: NodeDrain): readonly string[] {
  const { gates = [], beforeNode = [], afterNode = [] } = spec;
  const windows = (spec.windows ?? []).map(({ schedule, timeZone }) => `${schedule} ${timeZone}`);
  const parts = [
    ['No node begins outside its windows', windows],
    ['No node begins while a gate is closed', gates.map(({ name }) => name)],
    ['Before its pods leave, each node waits for', beforeNode.map(({ name }) => name)],
    ['Before it counts as drained, each node waits for', afterNode.map(({ name }) => name)],
  ] as const;
  return parts.flatMap(([text, names]) =>
    names.length === 0 ? [] : `${text}: ${names.join('; ')}`,
  );
}

const heldNamesMax = 3;

/** A line for each thing that would hold pods back, before anything is done about it. */
export function blockerLines({ pods }: DrainPlan): readonly string[] {
  const found = new Map<
    string,
    { readonly blocker: PredictedBlocker; readonly pods: PlannedPod[] }
  >();
  for (const planned of pods) {
    for (const blocker of planned.blockers) {
      const entry = found.get(blocker.message) ?? { blocker, pods: [] };
      entry.pods.push(planned);
      found.set(blocker.message, entry);
    }
  }
  return Array.from(found.values(), ({ blocker, pods: held }) => {
    return printable(`${podsText(held)}: ${blockerLine(blocker)}`);
  });
}

/** A line about the pods that the DaemonSet controller will delete; null: there are none. */
export function daemonSetLine({ taint, pods }: DrainPlan): string | null {
  const going = pods.filter(({ fate }) => goesAnyway(fate));
  if (going.length === 0) return null;
  return (
    `${podsText(going)}: the DaemonSet controller deletes what does not tolerate ` +
    `${formatTaint(taint)}, and ignores PodDisruptionBudgets`
  );
}

/** By uid, what of it concerns each pod. */
export function alreadySaid({ pods }: DrainPlan): ReadonlyMap<string, string> {
  return new Map(
    pods.flatMap(({ pod, blockers: [first] }) => (first ? [[pod.uid, first.message]] : [])),
  );
}

/** By uid, the budget that no waiting opens: `PDB web needs action`. */
export function needActionOf({ pods }: DrainPlan): ReadonlyMap<string, string> {
  const found = pods.flatMap(({ pod, blockers }) => {
    const never = blockers.find(({ verdict }) => verdict === 'never');
    const [budget] = never?.budgets ?? [];
    const what = budget ? `PDB ${budget.name} needs action` : never?.message;
    return what === undefined ? [] : [[pod.uid, printable(what)] as const];
  });
  return new Map(found);
}

/** True where something is in the way that no waiting helps. */
export function cannotFinish({ pods }: DrainPlan): boolean {
  return pods.some(({ blockers }) => blockers.some(({ verdict }) => verdict === 'never'));
}

/** `shop/web-1 on n1`, `shop/web-1 on n1, shop/web-2 on n2, shop/web-3 on n2 and 2 pods more` */
function podsText(pods: readonly PlannedPod[]): string {
  const names = pods.slice(0, heldNamesMax).map(({ pod }) => `${nameOf(pod)} on ${pod.nodeName}`);
  const more = pods.length - names.length;
  return more > 0 ? `${names.join(', ')} and ${count(more, 'pod')} more` : names.join(', ');
}
