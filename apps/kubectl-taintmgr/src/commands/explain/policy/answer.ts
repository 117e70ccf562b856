// The answer to which policy counts: as a table and as a document.
import { formatTaint } from '@taintmgr/core';
import { renderFields } from '../../../render/fields.ts';
import type { Answer } from '../../../render/printer.ts';
import { type Column, renderColumns, type TableOptions } from '../../../render/table.ts';
import { apiVersion, evictorDocument, taintDocument } from '../../../report/documents.ts';
import { evictorText, none } from '../../../report/words.ts';
import { evictionPolicies, noExecuteTaints, type PodChoices, type PolicySurvey } from './survey.ts';
import { heldLimits, limitsText, type PolicyRow, rowsOf } from './words.ts';

/** What the policies come to for one pod and one taint. */
interface ChoiceRow {
  readonly taint: string;
  readonly namespace: string;
  readonly pod: string;
  readonly policy: string | null;
  readonly priority: number | null;
  readonly action: string | null;
  readonly why: string;
}

const ownSettings = "none counts: the controller's own settings do";

export function policyAnswer(survey: PolicySurvey): Answer {
  const { question, pods } = survey;
  const isPod = question.kind === 'pod';
  const verdicts = pods.flatMap(verdictRows);
  const choices = pods.flatMap(choiceRows);
  const counting = new Set(choices.flatMap(({ policy }) => (policy === null ? [] : [policy])));
  return {
    document: documentOf(survey),
    rows: isPod ? verdicts : choices,
    names: Array.from(counting, (name) => `evictionpolicy.taintmgr.dev/${name}`),
    table: (options) => {
      const body = isPod
        ? podTable(verdicts, choices, options)
        : renderColumns(choiceColumns, choices, options);
      const count = isPod ? verdicts.length + choices.length : choices.length;
      const parts = count === 0 ? [emptyText(survey)] : [body];
      return options.headers ? [headOf(survey), '', ...parts].join('\n') : parts.join('\n');
    },
  };
}

function verdictRows({ facts, taints }: PodChoices): readonly PolicyRow[] {
  return taints.flatMap((one) => rowsOf(one, facts.pod.namespace));
}

function choiceRows({ facts: { pod }, taints }: PodChoices): readonly ChoiceRow[] {
  return taints.map((one) => {
    const { counts, undecided } = one.choice;
    const rows = rowsOf(one, pod.namespace);
    const open = rows.find(({ policy }) => policy === undecided?.name);
    const counted = rows.find((row) => row.counts);
    return {
      taint: formatTaint(one.taint),
      namespace: pod.namespace,
      pod: pod.name,
      policy: counts?.name ?? null,
      priority: counts?.priority ?? null,
      action: counts?.action ?? null,
      why: open ? `${open.policy} ${open.why}` : (counted?.why ?? ownSettings),
    };
  });
}

function podTable(
  verdicts: readonly PolicyRow[],
  choices: readonly ChoiceRow[],
  options: TableOptions,
): string {
  const left = choices
    .filter(({ policy }) => policy === null)
    .map(({ taint, why }) => `${taint}: ${why}`);
  const table = verdicts.length === 0 ? [] : [renderColumns(verdictColumns, verdicts, options)];
  if (!options.headers) return table.join('\n');
  return [...table, ...(table.length > 0 && left.length > 0 ? [''] : []), ...left].join('\n');
}

const verdictColumns: readonly Column<PolicyRow>[] = [
  ['TAINT', ({ taint }) => taint],
  ['POLICY', ({ policy }) => policy],
  ['PRIORITY', ({ priority }) => String(priority)],
  ['ACTION', ({ action }) => action ?? none],
  ['COUNTS', ({ counts }) => (counts ? 'yes' : 'no')],
  ['WHY', ({ why }) => why],
];

const choiceColumns: readonly Column<ChoiceRow>[] = [
  ['TAINT', ({ taint }) => taint],
  ['NAMESPACE', ({ namespace }) => namespace],
  ['POD', ({ pod }) => pod],
  ['POLICY', ({ policy }) => policy ?? none],
  ['PRIORITY', ({ priority }) => (priority === null ? '-' : String(priority))],
  ['ACTION', ({ action }) => action ?? '-'],
  ['WHY', ({ why }) => why],
];

function headOf({ question, node, pods, evictor }: PolicySurvey): string {
  const [first] = pods;
  const isPod = question.kind === 'pod';
  const limits = isPod && first ? heldLimits(first).map(limitsText) : [];
  const taints = noExecuteTaints(node).map(formatTaint).join(', ');
  return renderFields([
    ['Name', question.name],
    ...(isPod && first ? [['Namespace', first.facts.pod.namespace] as const] : []),
    ...(isPod ? [['Node', node?.node.name ?? none] as const] : []),
    ['Taints', taints || none],
    ['Evicted by', evictorText(evictor)],
    ...limits.map((text, index) => [index === 0 ? 'Limits' : '', text] as const),
  ]).join('\n');
}

function emptyText({ node, pods, policies }: PolicySurvey): string {
  if (node === null) return 'The pod is on no node: no policy is asked.';
  if (noExecuteTaints(node).length === 0) {
    return 'The node has no NoExecute taint: no policy is asked.';
  }
  if (pods.length === 0) return 'The node has no pods: no policy is asked.';
  return `${evictionPolicies(policies).length} policies`;
}

function documentOf(survey: PolicySurvey): object {
  const { question, node, pods, evictor } = survey;
  return {
    apiVersion,
    kind: 'PolicyExplanation',
    ...evictorDocument(evictor),
    subject: question,
    node: node?.node.name ?? null,
    pods: pods.map((one) => ({
      namespace: one.facts.pod.namespace,
      name: one.facts.pod.name,
      limits: heldLimits(one),
      taints: one.taints.map((each) => ({
        ...taintDocument(each.taint),
        counts: each.choice.counts?.name ?? null,
        undecided: each.choice.undecided?.name ?? null,
        policies: rowsOf(each, one.facts.pod.namespace).map(({ taint: _, ...row }) => row),
      })),
    })),
  };
}
