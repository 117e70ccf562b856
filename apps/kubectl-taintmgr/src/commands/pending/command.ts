import { withConnection } from '../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import type { Invocation } from '../../cli/invocation.ts';
import { readPolicyFlag } from '../../cli/policy-flag.ts';
import { ClusterReader } from '../../cluster/reader.ts';
import { selected } from '../../cluster/refusals.ts';
import { readFormat } from '../../render/format.ts';
import { type Answer, printAnswer } from '../../render/printer.ts';
import { renderColumns } from '../../render/table.ts';
import { apiVersion, decisionName, evictorDocument } from '../../report/documents.ts';
import { limitsDocument } from '../../report/limits.ts';
import { notesOn, writeNotes } from '../../report/notes.ts';
import { surveyHidden, surveyPending } from '../../report/pending-survey.ts';
import { present } from '../../report/question.ts';
import { type PodReport, reportOnPresent } from '../../report/report.ts';
import { asOf } from '../../report/words.ts';
import type { PendingFlags } from './flags.ts';
import { inOrder } from './order.ts';
import { pendingColumns, pendingDocument } from './table.ts';

/** `pending`: the pods that are due or will be, the next first. */
export async function run(invocation: Invocation<PendingFlags>): Promise<ExitCode> {
  const { flags, output } = invocation;
  const format = await readFormat(flags.output);
  const question = { ...present, policies: await readPolicyFlag(flags) };
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
    const pods = read.filter((pod) => isPending(pod, namespace));
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
      output.write(await printAnswer(answer, format, flags.headers !== false));
    }
    const names = new Set(shown.map(({ facts }) => facts.pod.nodeName));
    const nodes = report.nodes.filter(({ facts }) => names.has(facts.node.name));
    writeNotes(output, notesOn(survey, { nodes, strays: [] }, question));
    return exitCode.done;
  });
}

function isPending(pod: PodReport, namespace: string | null): boolean {
  const { facts, explanation } = pod;
  const isMeant = namespace === null || facts.pod.namespace === namespace;
  const { kind, because } = explanation.decision;
  // The last replica of the controller goes when another is ready.
  const isToGo = kind !== 'keep' || because[0]?.code === 'LastReplica';
  const goes = isToGo || decisionName(pod) === 'Unknown';
  return isMeant && facts.pod.deletionTimestamp === null && goes;
}
