import {
  describeReason,
  drainFaultText,
  drainFlag,
  formatDuration,
  formatTime,
  type Instant,
} from '@taintmgr/core';
import { exitCode } from '../../exit.ts';
import { renderTable } from '../../render/table.ts';
import type { LeavingPod } from './leaving.ts';
import type { DrainPlan, PlannedPod } from './plan.ts';
import { nameOf } from './progress.ts';
import type { DrainResult } from './run.ts';

/** The plan as a table of what goes, and a line about what stays. */
export function renderPlan(plan: DrainPlan, now: Instant): string {
  const shown = plan.pods.filter(({ fate }) => fate.kind !== 'keep' && fate.kind !== 'leave');
  const rows = shown.map((planned) => planRow(planned, now));
  const head = ['NODE', 'NAMESPACE', 'POD', 'ACTION', 'AT', 'BECAUSE'];
  const table = rows.length === 0 ? ['No pods to evict.'] : [renderTable(head, rows)];
  return [...table, ...stayingLine(plan.pods), ...goingLine(plan.pods)].join('\n');
}

/** One line that names the flags that are missing for the drain to begin; null when none is. */
export function refusalLine(plan: DrainPlan): string | null {
  const missing = new Map<string, number>();
  for (const { fate } of plan.pods) {
    for (const fault of fate.kind === 'refuse' ? fate.faults : []) {
      missing.set(drainFlag[fault], (missing.get(drainFlag[fault]) ?? 0) + 1);
    }
  }
  if (missing.size === 0) return null;
  const needs = Array.from(missing, ([flag, count]) => {
    return `${podCount(count)} ${count === 1 ? 'needs' : 'need'} ${flag}`;
  });
  return `${needs.join(', ')}; nothing was changed`;
}

/** What a drain that did not come to its end leaves behind, why, and what may help. */
export function renderLeft({ code, synced, leaving, gone }: DrainResult): string {
  const [ending, then] = endings[code] ?? ['the drain cannot go on', ''];
  if (!synced) return `error: ${ending} before the pods were known${then}`;
  const head = `error: ${ending}, ${gone} of ${podCount(gone + leaving.length)} gone${then}`;
  const rows = leaving.map(({ pod, state }) => [nameOf(pod), pod.nodeName, stateText(state)]);
  const table = renderTable(['POD', 'NODE', 'STATE'], rows).split('\n');
  return [[head, ...table].join('\n  '), ...budgetHint(leaving)].join('\n');
}

/** What is said before the counts, and after them. */
const endings: Readonly<Record<number, readonly [ending: string, then: string]>> = {
  [exitCode.blocked]: ['not drained because pods are held back', ''],
  [exitCode.timeout]: ['not drained within --timeout', ''],
  [exitCode.interrupted]: ['interrupted', '; the same command goes on from here'],
};

function budgetHint(leaving: readonly LeavingPod[]): readonly string[] {
  const blocked = leaving.filter(
    ({ state }) => state.kind === 'held' && state.blocker.code === 'Budget',
  );
  const namespaces = new Set(blocked.map(({ pod }) => pod.namespace));
  return Array.from(
    namespaces,
    (namespace) =>
      `hint: kubectl get pdb -n ${namespace} shows the budgets; with more replicas or a wider budget pods can go`,
  );
}

function stateText(state: LeavingPod['state']): string {
  switch (state.kind) {
    case 'waiting':
      return `tolerates the taint until ${formatTime(state.until)}`;
    case 'evicting':
      return 'being evicted';
    case 'held':
      return `${state.blocker.message} (${state.attempts} ${state.attempts === 1 ? 'try' : 'tries'})`;
    case 'terminating':
      return 'terminating';
  }
}

/** `1 pod`, `2 pods`. */
function podCount(count: number): string {
  return `${count} ${count === 1 ? 'pod' : 'pods'}`;
}

function planRow({ pod, fate, because }: PlannedPod, now: Instant): readonly string[] {
  const where = [pod.nodeName, pod.namespace, pod.name];
  if (fate.kind === 'refuse') {
    const faults = fate.faults.map((fault) => `${drainFaultText[fault]} (${drainFlag[fault]})`);
    return [...where, 'refuse', '-', faults.join('; ')];
  }
  const at = fate.kind === 'evict' ? `+${formatDuration(Math.max(0, fate.at - now))}` : '-';
  return [...where, 'evict', at, because.map(describeReason).join('; ')];
}

/** How many pods stay on their nodes, and for what reasons. */
function stayingLine(pods: readonly PlannedPod[]): readonly string[] {
  const ofDaemonSets = pods.filter(({ fate }) => fate.kind === 'leave').length;
  const kept = pods.filter(({ pod, fate }) => fate.kind === 'keep' && !isGoing(pod));
  const mirrors = kept.filter(({ because }) => because[0]?.code === 'StaticPod').length;
  const parts = [
    [ofDaemonSets, 'of a DaemonSet'],
    [mirrors, 'static'],
    [kept.length - mirrors, 'tolerating the taint without limit'],
  ] as const;
  const named = parts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  const count = ofDaemonSets + kept.length;
  const verb = count === 1 ? 'stays' : 'stay';
  return count === 0 ? [] : [`${podCount(count)} ${verb}: ${named.join(', ')}`];
}

function goingLine(pods: readonly PlannedPod[]): readonly string[] {
  const count = pods.filter(({ pod }) => isGoing(pod)).length;
  return count === 0 ? [] : [`${podCount(count)} already terminating`];
}

function isGoing({ deletionTimestamp }: PlannedPod['pod']): boolean {
  return deletionTimestamp !== null;
}
