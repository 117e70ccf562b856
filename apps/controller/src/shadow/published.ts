// The report of the shadow as the status of a TaintManager has it.

import {
  otherNames,
  type ShadowEntry,
  type ShadowReport,
  type ShadowRow,
  type ShadowSpan,
} from '@taintmgr/core/shadow';
import { formatTime, type Millis } from '@taintmgr/core/time';
import type { PublishedShadow } from '@taintmgr/k8s-adapter/kinds';

/** The number of rows by name, and of single verdicts, that are published. */
const rowsMax = 20;
const recentMax = 10;

/** The report that is published: the same, with fewer rows. */
export function publishedShadow(report: ShadowReport): PublishedShadow {
  const { since, counts, earlierBy, laterBy, reasons, recent } = report;
  const { following, notDeleted, leftOtherwise, givenUp } = report;
  return {
    ...(since !== null && { since: formatTime(since) }),
    ...counts,
    ...(earlierBy && { earlierSeconds: secondsOf(earlierBy) }),
    ...(laterBy && { laterSeconds: secondsOf(laterBy) }),
    ...{ following, notDeleted, leftOtherwise, givenUp },
    taints: fewer(report.taints),
    namespaces: fewer(report.namespaces),
    policies: fewer(report.policies),
    reasons,
    recent: recent.slice(0, recentMax).map(published),
  };
}

function published(entry: ShadowEntry): NonNullable<PublishedShadow['recent']>[number] {
  const { at, verdict, pod, byMs, asksBudgets, taint, policy, reason, message } = entry;
  return {
    ...{ at: formatTime(at), verdict, namespace: pod.namespace, pod: pod.name },
    node: pod.nodeName,
    ...(byMs !== null && { seconds: seconds(byMs) }),
    ...{ budgetsAsked: asksBudgets, taint, policy, ...(reason && { reason }), message },
  };
}

/** The first rows, and all others as one. */
function fewer(rows: readonly ShadowRow[]): readonly ShadowRow[] {
  const named = rows.filter(({ name }) => name !== otherNames);
  const rest = [...named.slice(rowsMax), ...rows.filter(({ name }) => name === otherNames)];
  const [first, ...more] = rest;
  if (!first) return named;
  return [...named.slice(0, rowsMax), more.reduce(sum, { ...first, name: otherNames })];
}

function sum(all: ShadowRow, row: ShadowRow): ShadowRow {
  return {
    name: all.name,
    same: all.same + row.same,
    earlier: all.earlier + row.earlier,
    later: all.later + row.later,
    kept: all.kept + row.kept,
    onlyTaintmgr: all.onlyTaintmgr + row.onlyTaintmgr,
    budgetsAsked: all.budgetsAsked + row.budgetsAsked,
  };
}

function secondsOf({ meanMs, maxMs }: ShadowSpan): {
  readonly mean: number;
  readonly most: number;
} {
  return { mean: seconds(meanMs), most: seconds(maxMs) };
}

function seconds(length: Millis): number {
  return Math.round(length / 100) / 10;
}
