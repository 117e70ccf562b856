// The answer of `status --shadow`: what kube-controller-manager evicts, held against what taintmgr would.

import { reasonText } from '@taintmgr/core/shadow';
import { formatDuration, formatTime, type Instant, parseTime } from '@taintmgr/core/time';
import { count, printable } from '@taintmgr/k8s-adapter/command-line';
import { ago, apiVersion, asOf, none } from '@taintmgr/k8s-adapter/explain';
import type { PublishedShadow } from '@taintmgr/k8s-adapter/kinds';
import { isFresh, type TaintManager } from '@taintmgr/k8s-adapter/survey';
import { broken } from '../../render/lines.ts';
import { type Column, renderColumns, type TableOptions } from '../../render/table.ts';

/** A shadow that keeps score, and its report. */
interface Shadow {
  readonly manager: TaintManager;
  readonly report: PublishedShadow;
}

/** The shadows among the published managers that keep score. */
export function shadowsIn(managers: readonly TaintManager[]): readonly Shadow[] {
  return managers.flatMap((manager) => {
    const { shadow: report } = manager;
    return report === null ? [] : [{ manager, report }];
  });
}

type Row = NonNullable<PublishedShadow['taints']>[number];
type Entry = NonNullable<PublishedShadow['recent']>[number];
type ReasonRow = NonNullable<PublishedShadow['reasons']>[number];

const absentText =
  'No report of a shadow was found, or you may not list taintmanagers.taintmgr.dev.\n' +
  'A controller with --dry-run=client publishes one:\n' +
  '  kubectl taintmgr install crds\n' +
  '  kubectl apply -k deploy/kustomize/modes/observe';

/** The reports in lines, one after the other. */
export function renderShadows(
  at: Instant,
  shadows: readonly Shadow[],
  options: TableOptions,
): string {
  if (shadows.length === 0) return options.headers ? absentText : '';
  return shadows.map((shadow) => renderShadow(at, shadow, options)).join('\n\n');
}

function renderShadow(at: Instant, { manager, report }: Shadow, options: TableOptions): string {
  const { taints = [], namespaces = [], policies = [], reasons = [], recent = [] } = report;
  // Without heads the tables would look alike.
  if (!options.headers) return rowsTable('TAINT', taints, options).join('\n');
  const tables = [
    ...rowsTable('TAINT', taints, options),
    ...rowsTable('NAMESPACE', namespaces, options),
    ...rowsTable('POLICY', policies, options),
  ];
  const more = [
    ...(reasons.length === 0 ? [] : [renderColumns(reasonColumns, reasons, options)]),
    ...(recent.length === 0 ? [] : [renderColumns(recentColumns(at), recent, options)]),
  ];
  const texts = [headOf(at, manager, report), summaryOf(report)].map((text) => {
    return broken(text, options.width);
  });
  return [...texts, ...tables, ...more].join('\n\n');
}

function headOf(at: Instant, manager: TaintManager, { since }: PublishedShadow): string {
  const { name, leader, version, renewedAt } = manager;
  const heard = renewedAt === null ? 'at an unknown time' : ago(at, renewedAt);
  const begun = since === undefined ? null : parseTime(since);
  const long = begun === null ? '' : ` (${formatDuration(Math.max(0, at - begun))})`;
  const from = since === undefined ? 'nothing was counted yet' : `since ${since}${long}`;
  const is = isFresh(manager, at) ? `reported ${heard}` : `reported ${heard}, and not since`;
  return printable(`TaintManager ${name}: ${from}; ${leader} ${version} ${is}`);
}

const nothingYet =
  'Nothing to compare yet: since then no pod was evicted for a taint, and taintmgr would have evicted none.';

/** The first fact that an operator wants to know. */
function summaryOf(report: PublishedShadow): string {
  const { same = 0, earlier = 0, later = 0, kept = 0, onlyTaintmgr = 0, budgetsAsked = 0 } = report;
  const { following = 0, notDeleted = 0, leftOtherwise = 0, givenUp = 0 } = report;
  const deleted = deletedOf(report);
  const evicted = same + earlier + later;
  const isEmpty = deleted + onlyTaintmgr + following + notDeleted + leftOtherwise + givenUp === 0;
  if (isEmpty) return nothingYet;
  const unjudged = [
    [notDeleted, 'marked for deletion and not deleted'],
    [leftOtherwise, 'left before for another reason'],
    [givenUp, 'given up, as too many were followed'],
  ] as const;
  return [
    `kube-controller-manager deleted ${count(deleted, 'pod')} for taints. taintmgr would have`,
    `  evicted ${same} within 2s of that`,
    `  evicted ${earlier} earlier${spanText(report.earlierSeconds)}`,
    `  evicted ${later} later${spanText(report.laterSeconds)}`,
    `  kept    ${kept}`,
    `PodDisruptionBudgets were asked about none of them; taintmgr would have asked about ${budgetsAsked} of the ${evicted} it evicts, and kept back those that one refuses.`,
    ...(onlyTaintmgr === 0
      ? []
      : [
          `taintmgr would also have evicted ${count(onlyTaintmgr, 'pod')} that kube-controller-manager left alone for 15m or longer.`,
        ]),
    ...(following === 0 ? [] : [`No verdict yet: ${count(following, 'pod')}.`]),
    ...unjudged.flatMap(([pods, why]) => {
      return pods === 0 ? [] : [`Not judged: ${count(pods, 'pod')} ${why}.`];
    }),
  ].join('\n');
}

function spanText(span: PublishedShadow['earlierSeconds']): string {
  if (span?.mean === undefined || span.most === undefined) return '';
  const [mean, most] = [span.mean, span.most].map((seconds) => formatDuration(seconds * 1000));
  return mean === most ? `, by ${mean}` : `, by ${mean} on average and ${most} at most`;
}

/** The pods that kube-controller-manager deleted. */
function deletedOf({ same = 0, earlier = 0, later = 0, kept = 0 }: Omit<Row, 'name'>): number {
  return same + earlier + later + kept;
}

function rowsTable(head: string, rows: readonly Row[], options: TableOptions): readonly string[] {
  if (rows.length === 0) return [];
  const name: Column<Row> = [head, (row) => row.name];
  return [renderColumns([name, ...countColumns], rows, options)];
}

const countColumns: readonly Column<Row>[] = [
  ['DELETED', (row) => String(deletedOf(row))],
  ['SAME', ({ same = 0 }) => String(same)],
  ['EARLIER', ({ earlier = 0 }) => String(earlier)],
  ['LATER', ({ later = 0 }) => String(later)],
  ['KEPT', ({ kept = 0 }) => String(kept)],
  ['BUDGETS ASKED', ({ budgetsAsked = 0 }) => String(budgetsAsked)],
  ['ONLY TAINTMGR', ({ onlyTaintmgr = 0 }) => String(onlyTaintmgr)],
];

const verdictTexts: Readonly<Record<string, string>> = {
  same: 'same',
  earlier: 'earlier',
  later: 'later',
  kept: 'kept',
  onlyTaintmgr: 'only taintmgr',
};

const reasonColumns: readonly Column<ReasonRow>[] = [
  ['VERDICT', ({ verdict }) => verdictText(verdict)],
  ['PODS', ({ pods = 0 }) => String(pods)],
  ['REASON', ({ reason }) => reason],
  ['MEANS', ({ reason }) => reasonText(reason) ?? none],
];

function recentColumns(now: Instant): readonly Column<Entry>[] {
  return [
    ['WHEN', ({ at }) => whenText(now, at)],
    ['POD', ({ namespace = '', pod = '' }) => `${namespace}/${pod}`, { title: true }],
    ['NODE', ({ node }) => node || none, 'wide'],
    ['VERDICT', verdictWithTime],
    ['TAINT', ({ taint }) => taint || none],
    ['POLICY', ({ policy }) => policy || none],
    ['BECAUSE', ({ message }) => message || none, { below: 'because' }],
  ];
}

function whenText(now: Instant, text: string | undefined): string {
  const at = text === undefined ? null : parseTime(text);
  return at === null ? none : ago(now, at);
}

function verdictText(verdict: string): string {
  return (Object.hasOwn(verdictTexts, verdict) && verdictTexts[verdict]) || verdict;
}

/** `later by 4m56s` */
function verdictWithTime({ verdict, seconds }: Entry): string {
  const text = verdictText(verdict);
  if (seconds === undefined || (verdict !== 'earlier' && verdict !== 'later')) return text;
  return `${text} by ${formatDuration(Math.abs(seconds) * 1000)}`;
}

/** The same as a document. */
export function shadowDocument(at: Instant, shadows: readonly Shadow[]): object {
  return {
    apiVersion,
    kind: 'ShadowReportList',
    ...asOf(at, 0),
    items: shadows.map(({ manager, report }) => {
      const { name, leader, version, renewedAt } = manager;
      return {
        ...{ name, leader, version, isCurrent: isFresh(manager, at) },
        ...(renewedAt !== null && { renewTime: formatTime(renewedAt) }),
        deleted: deletedOf(report),
        ...report,
      };
    }),
  };
}
