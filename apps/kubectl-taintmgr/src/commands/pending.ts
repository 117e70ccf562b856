// Lists the pods that are due or will be, the next first: pending.
import { isOpenRequest } from '@taintmgr/core/drain';
import type { Instant } from '@taintmgr/core/time';
import { count, UsageError } from '@taintmgr/k8s-adapter/command-line';
import {
  apiVersion,
  asOf,
  becauseText,
  deadlineText,
  decisionName,
  decisive,
  decisiveReason,
  evictorDocument,
  heldText,
  limitsDocument,
  none,
  notesOn,
  ownerText,
  type PodReport,
  podDocument,
  present,
  reportOnPresent,
  requestersText,
  surveyHidden,
  surveyPending,
  taintDocument,
  timeLeft,
  timeLeftOf,
} from '@taintmgr/k8s-adapter/explain';
import { ClusterReader, selected } from '@taintmgr/k8s-adapter/survey';
import { type OutputFlags, type PolicyFlag, readPolicyFlag } from '../cli/common-flags.ts';
import { withConnection } from '../cli/connection.ts';
import { type ExitCode, exitCode } from '../cli/exit.ts';
import { writeNotes } from '../cli/output.ts';
import type { Invocation } from '../cli/registry.ts';
import { findJsonPath, relaxedPath } from '../render/json-path.ts';
import { type Answer, printAnswer, readFormat } from '../render/printer.ts';
import { type Column, renderColumns } from '../render/table.ts';
import { heldTone, timeTone } from '../report/tones.ts';

/** The command line of `pending`. */
export interface PendingFlags extends OutputFlags, PolicyFlag {
  readonly allNamespaces?: true | undefined;
  readonly selector?: string | undefined;
  readonly sortBy: string;
}

/** `pending`: the pods that are due or will be, the next first. */
export async function run(invocation: Invocation<PendingFlags>): Promise<ExitCode> {
  const { flags, output } = invocation;
  const format = await readFormat(flags.output);
  const question = { ...present, policies: await readPolicyFlag(flags, output) };
  return await withConnection(invocation, async ({ client, cluster }) => {
    const reader = new ClusterReader(client);
    const namespace = flags.allNamespaces ? null : cluster.namespace;
    const all = await reader.ifAllowed(() => reader.nodes());
    const selector = flags.selector ?? '';
    const options = {
      podSelector: selector,
      files: question.policies,
      ...(namespace !== null && { namespace }),
    };
    const survey = await selected('--selector', selector, () =>
      all ? surveyPending(reader, all, options) : surveyHidden(reader, namespace, options),
    );
    const report = reportOnPresent(survey);
    const read = all ? report.nodes.flatMap((node) => node.pods ?? []) : report.strays;
    const everywhere = read.filter(isPending);
    const pods = everywhere.filter(
      ({ facts: { pod } }) => (namespace ?? pod.namespace) === pod.namespace,
    );
    const elsewhere = everywhere.length - pods.length;
    const rows = inOrder(
      pods.map((pod) => ({ pod, document: pendingDocument(pod, survey.at) })),
      flags.sortBy,
    );
    const shown = rows.map(({ pod }) => pod);
    const columns = pendingColumns(survey.at, shown);
    const answer: Answer = {
      document: {
        apiVersion,
        kind: 'PendingEvictionList',
        ...asOf(survey.at, 0),
        ...evictorDocument(survey.evictor),
        ...limitsDocument(survey, shown),
        items: rows.map(({ document }) => document),
      },
      rows: rows.map(({ document }) => document),
      names: shown.map(({ facts }) => `pod/${facts.pod.name}`),
      table: (options) => renderColumns(columns, shown, options),
    };
    if (rows.length === 0 && format.kind === 'table') {
      output.err(`No pending evictions${namespace === null ? '' : ` in ${namespace} namespace`}.`);
    } else {
      output.write(await printAnswer(answer, format, flags.headers !== false, output));
    }
    const names = new Set(shown.map(({ facts }) => facts.pod.nodeName));
    const nodes = report.nodes.filter(({ facts }) => names.has(facts.node.name));
    const { warnings, notes } = notesOn(survey, { nodes, strays: [] }, question);
    const more =
      elsewhere === 0
        ? []
        : [`${count(elsewhere, 'pod')} pending in other namespaces: list all with -A`];
    writeNotes(output, { warnings, notes: [...more, ...notes] });
    return exitCode.done;
  });
}

function isPending(pod: PodReport): boolean {
  const { facts, explanation } = pod;
  const { kind, because } = explanation.decision;
  // The last replica of the controller goes when another is ready.
  const isToGo = kind !== 'keep' || because[0]?.code === 'LastReplica' || pod.otherwise !== null;
  const goes = isToGo || decisionName(pod) === 'Unknown';
  return facts.pod.deletionTimestamp === null && goes;
}

/** A pod, and the document about it. */
interface PendingRow {
  readonly pod: PodReport;
  readonly document: object;
}

type Key = string | number;

/** The sort keys of rows, by name. */
const keys: Readonly<Record<string, (row: PendingRow) => Key>> = {
  due: ({ pod }) => pod.explanation.remaining ?? Number.POSITIVE_INFINITY,
  name: ({ pod }) => `${pod.facts.pod.namespace}/${pod.facts.pod.name}`,
  node: ({ pod }) => pod.facts.pod.nodeName,
};

/** The rows by a key, or by what a path finds in their documents. Throws UsageError. */
function inOrder(rows: readonly PendingRow[], sortBy: string): readonly PendingRow[] {
  const key = Object.hasOwn(keys, sortBy) ? keys[sortBy] : pathKey(sortBy);
  const keyed = rows.map((row) => ({ row, key: key?.(row) ?? '' }));
  return keyed
    .sort((a, b) => compare(a.key, b.key) || compareNames(a.row, b.row))
    .map(({ row }) => row);
}

function pathKey(sortBy: string): (row: PendingRow) => Key {
  if (!/^[{.]/.test(sortBy)) {
    const known = Object.keys(keys).join(', ');
    const got = JSON.stringify(sortBy);
    throw new UsageError(`--sort-by: got ${got}, want ${known}, or a path such as {.taint.key}`);
  }
  const template = relaxedPath(sortBy);
  return ({ document }) => {
    const [found] = findJsonPath(template, document);
    return typeof found === 'number' ? found : String(found ?? '');
  };
}

function compareNames(a: PendingRow, b: PendingRow): number {
  const [left, right] = [a, b].map(({ pod }) => `${pod.facts.pod.namespace}/${pod.facts.pod.name}`);
  return compare(left ?? '', right ?? '');
}

/** Numbers come before texts. */
function compare(a: Key, b: Key): number {
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** The answer of `pending`: the document of each pod, and its deciding taint. */
function pendingDocument(report: PodReport, now: Instant): object {
  const reason = decisiveReason(report);
  const taint = reason && 'taint' in reason ? taintDocument(reason.taint) : undefined;
  return { ...podDocument(report, now), taint };
}

/** `5m`, and where it is not known whether Lt and Gt count, the other answer: `- or now`. */
function inText(pod: PodReport, now: Instant): string {
  const { otherwise } = pod;
  const text = timeLeftOf(pod);
  if (!otherwise) return text;
  return `${text} or ${otherwise.kind === 'evict' ? timeLeft(otherwise.deadline - now) : '-'}`;
}

/** A line for each pod; the requesters of evictions only where there are any. */
export function pendingColumns(
  now: Instant,
  pods: readonly PodReport[],
): readonly Column<PodReport>[] {
  const isRequested = pods.some(({ requests }) => requests.some(isOpenRequest));
  return [
    ['NAMESPACE', ({ facts }) => facts.pod.namespace],
    ['POD', ({ facts }) => facts.pod.name, { title: true }],
    ['NODE', ({ facts }) => facts.pod.nodeName],
    [
      'IN',
      (pod) => (decisionName(pod) === 'Unknown' ? 'unknown' : inText(pod, now)),
      { tone: timeTone },
    ],
    [
      'TAINT',
      (pod) => (decisionName(pod) === 'Unknown' ? 'unknown' : decisive(pod).taint),
      { below: 'taint' },
    ],
    ['BLOCKED BY', (pod) => heldText(pod, now), { tone: (pod) => heldTone(pod, now) }],
    ...(isRequested
      ? [['REQUESTED BY', ({ requests }: PodReport) => requestersText(requests)] as const]
      : []),
    ['EVICTED BY', ({ evictor }) => evictor ?? none, 'wide'],
    ['DUE', ({ explanation }) => deadlineText(explanation.decision), 'wide'],
    ['TOLERATION', (pod) => decisive(pod).toleration, 'wide'],
    ['OWNER', ({ facts }) => ownerText(facts.pod), 'wide'],
    ['BECAUSE', ({ explanation }) => becauseText(explanation.decision), 'wide'],
  ];
}
