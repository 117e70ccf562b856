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
  return [...table, ...keptLine(plan.pods)].join('\n');
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

/** What a drain that did not come to its end leaves behind, and why. */
export function renderLeft({ code, leaving, gone }: DrainResult): string {
  const total = gone + leaving.length;
  const head = `error: ${endings[code]}, ${gone} of ${podCount(total)} gone`;
  const rows = leaving.map(({ pod, state }) => [nameOf(pod), pod.nodeName, stateText(state)]);
  return [head, ...renderTable(['POD', 'NODE', 'STATE'], rows).split('\n')].join('\n  ');
}

const endings: Readonly<Record<number, string>> = {
  [exitCode.error]: 'the drain cannot go on',
  [exitCode.blocked]: 'not drained within --timeout because pods are held back',
  [exitCode.timeout]: 'not drained within --timeout',
  [exitCode.interrupted]: 'interrupted; the same command goes on from here',
};

function stateText(state: LeavingPod['state']): string {
  switch (state.kind) {
    case 'waiting':
      return `tolerates the taint until ${formatTime(state.until)}`;
    case 'evicting':
      return 'being evicted';
    case 'held':
      return `${state.setback.message} (${state.attempts} ${state.attempts === 1 ? 'try' : 'tries'})`;
    case 'terminating':
      return 'terminating';
  }
}

/** `1 pod`, `2 pods`. */
export function podCount(count: number): string {
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

function keptLine(pods: readonly PlannedPod[]): readonly string[] {
  const left = pods.filter(({ fate }) => fate.kind === 'leave').length;
  const kept = pods.filter(({ fate }) => fate.kind === 'keep');
  const going = kept.filter(({ pod }) => pod.deletionTimestamp !== null).length;
  const mirrors = kept.filter(({ because }) => because[0]?.code === 'StaticPod').length;
  const parts = [
    [left, 'DaemonSet'],
    [mirrors, 'static'],
    [going, 'already terminating'],
    [kept.length - going - mirrors, 'tolerate the taint without limit'],
  ] as const;
  const named = parts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  return named.length === 0 ? [] : [`${podCount(left + kept.length)} left: ${named.join(', ')}`];
}
