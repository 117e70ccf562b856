import { describeReason, formatTaint } from '@taintmgr/core';
import { type DrainPlan, drainFaultsText, type PlannedPod } from '@taintmgr/core/drain';
import { formatDuration, type Instant } from '@taintmgr/core/time';
import { choicesText, count, countBy } from '../../render/count.ts';
import { type Column, renderColumns, type TableOptions } from '../../render/table.ts';
import { blockersText, graceText, ownerText } from '../../report/words.ts';

/** Nodes that are finished before the next are begun. */
export interface PlannedWave {
  /** What is said above its pods. */
  readonly title: string;
  readonly nodes: ReadonlySet<string>;
}

/** The plan as a table of what goes, of each wave, and a line about what stays. */
export function renderPlan(
  plan: DrainPlan,
  now: Instant,
  { wide, headers }: TableOptions,
  knowsBudgets: boolean = true,
  waves: readonly PlannedWave[] = [],
): string {
  const { pods } = plan;
  const shown = pods.filter(({ fate }) => isRow(fate));
  const tableOf = (rows: readonly PlannedPod[]): string =>
    renderColumns(planColumns(now, knowsBudgets), rows, { wide, headers });
  if (!headers) return tableOf(shown);
  const bodyOf = (rows: readonly PlannedPod[]): string =>
    rows.length === 0 ? 'No pods to evict.' : tableOf(rows);
  const ofWaves = waves.flatMap(({ title, nodes }) => {
    return [title, bodyOf(shown.filter(({ pod }) => nodes.has(pod.nodeName)))];
  });
  const tables = waves.length === 0 ? [bodyOf(shown)] : ofWaves;
  const lines = [...stayingLine(pods), ...bareLine(pods), ...unreturningLine(plan)];
  return [...tables, ...lines].join('\n');
}

const bareNamesMax = 4;

/** What goes, is waited for, or is in the way; what stays is counted in one line. */
function isRow(fate: PlannedPod['fate']): boolean {
  return ['evict', 'hold', 'refuse', 'leaving'].includes(fate.kind) || goesAnyway(fate);
}

/** Whether the DaemonSet controller deletes the pod, although the drain leaves it. */
export function goesAnyway(fate: PlannedPod['fate']): boolean {
  return fate.kind === 'leave' && fate.goesAnyway;
}

function planColumns(now: Instant, knowsBudgets: boolean): readonly Column<PlannedPod>[] {
  return [
    ['NODE', ({ pod }) => pod.nodeName],
    ['NAMESPACE', ({ pod }) => pod.namespace],
    ['POD', ({ pod }) => pod.name],
    ['ACTION', ({ fate }) => (fate.kind === 'leaving' ? 'wait' : fate.kind)],
    ['AT', ({ fate }) => atText(fate, now)],
    ['BLOCKED BY', (planned) => blockedText(planned, knowsBudgets)],
    ['GRACE', ({ pod }) => graceText(pod), 'wide'],
    ['OWNER', ({ pod }) => ownerText(pod), 'wide'],
    ['BECAUSE', becauseOf],
  ];
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

/** How many pods stay on their nodes, and for what reasons. */
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

/** It stays since it has ended, whatever it tolerates. */
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
    `${count(bare.length, 'pod')} ${verb} of no controller, and nobody starts ${bare.length === 1 ? 'it' : 'them'} again: ` +
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

/** How many pods each policy keeps: `kept by policy databases`. */
function keptByPolicies(kept: readonly PlannedPod[]): ReadonlyMap<string, number> {
  return countBy(
    kept.flatMap(({ because: [decisive] }) => {
      if (decisive?.code === 'KeptByPolicy') return [`kept by policy ${decisive.policy.name}`];
      if (decisive?.code !== 'PolicyUndecided') return [];
      return [`kept because policy ${decisive.policy.name} may be for them`];
    }),
  );
}
