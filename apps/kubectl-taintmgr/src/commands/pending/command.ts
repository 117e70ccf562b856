import { withConnection } from '../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import type { Invocation } from '../../cli/invocation.ts';
import { warn } from '../../cli/output.ts';
import { ClusterReader, selected } from '../../cluster/reader.ts';
import { surveyForecast } from '../../cluster/survey.ts';
import { readFormat } from '../../render/format.ts';
import { type Answer, printAnswer } from '../../render/printer.ts';
import { apiVersion } from '../../report/documents.ts';
import { Explainer } from '../../report/explainer.ts';
import { limitsDocument } from '../../report/limits.ts';
import { notesOn } from '../../report/notes.ts';
import { mattersIn, readQuestion } from '../../report/question.ts';
import { type PodReport, reportOn } from '../../report/report.ts';
import { asOf } from '../../report/words.ts';
import type { PendingFlags } from './flags.ts';
import { inOrder } from './order.ts';
import { pendingDocument, renderPending } from './table.ts';

/** `pending`: the pods that are due or will be, the next first. */
export async function run(invocation: Invocation<PendingFlags>): Promise<ExitCode> {
  const { flags, output } = invocation;
  const question = readQuestion({});
  const format = await readFormat(flags.output);
  return await withConnection(invocation, async ({ client, cluster }) => {
    const reader = new ClusterReader(client);
    const nodes = (await reader.nodes()).filter(mattersIn(question));
    const selector = flags.selector ?? '';
    const survey = await selected('--selector', selector, () =>
      surveyForecast(reader, nodes, nodes, selector),
    );
    const explainer = new Explainer(question);
    explainer.take(survey.at, survey.nodes, survey.pods);
    const namespace = flags.allNamespaces ? null : cluster.namespace;
    const report = reportOn(survey, explainer);
    const pods = report.nodes
      .flatMap((node) => node.pods ?? [])
      .filter((pod) => isPending(pod, namespace));
    const rows = inOrder(
      pods.map((pod) => ({ pod, document: pendingDocument(pod, survey.at) })),
      flags.sortBy,
    );
    const context = { now: survey.at, knowsBudgets: survey.budgets !== null };
    const answer: Answer = {
      document: {
        apiVersion,
        kind: 'PendingEvictionList',
        ...asOf(survey.at, 0),
        ...limitsDocument(
          survey,
          rows.map(({ pod }) => pod),
        ),
        items: rows.map(({ document }) => document),
      },
      rows: rows.map(({ document }) => document),
      names: rows.map(({ pod }) => `pod/${pod.facts.pod.name}`),
      table: (options) =>
        renderPending(
          rows.map(({ pod }) => pod),
          context,
          options,
        ),
    };
    if (rows.length === 0 && format.kind === 'table') {
      output.err(`No pending evictions${namespace === null ? '' : ` in ${namespace} namespace`}.`);
    } else {
      output.write(await printAnswer(answer, format, flags.headers !== false));
    }
    const shown = new Set(rows.map(({ pod }) => pod.facts.pod.nodeName));
    const told = {
      nodes: report.nodes.filter(({ facts }) => shown.has(facts.node.name)),
      strays: [],
    };
    const { warnings, notes } = notesOn(survey, told, question);
    for (const text of warnings) warn(output, text);
    for (const text of notes) output.err(`Note: ${text}`);
    return exitCode.done;
  });
}

function isPending({ facts, explanation }: PodReport, namespace: string | null): boolean {
  const isMeant = namespace === null || facts.pod.namespace === namespace;
  return isMeant && facts.pod.deletionTimestamp === null && explanation.decision.kind !== 'keep';
}
