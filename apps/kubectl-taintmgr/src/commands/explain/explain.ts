// Explains why and when pods leave a node, a zone or a taint: explain.
import {
  explainSubject,
  type PodReport,
  podsIn,
  readQuestion,
} from '@taintmgr/k8s-adapter/explain';
import { readPolicyFlag } from '../../cli/common-flags.ts';
import { withConnection } from '../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import { writeNotes } from '../../cli/output.ts';
import type { Invocation } from '../../cli/registry.ts';
import { printAnswer, readFormat } from '../../render/printer.ts';
import type { ExplainFlags, SubjectKind } from './flags.ts';
import { nodeView } from './node-table.ts';
import { answerOf, type View } from './view.ts';

/** `explain KIND NAME`: reads what matters once, or again and again, and says what will become of it. */
export async function explain(
  kind: SubjectKind,
  name: string,
  invocation: Invocation<ExplainFlags>,
): Promise<ExitCode> {
  const { flags, output } = invocation;
  const question = { ...readQuestion(flags), policies: await readPolicyFlag(flags) };
  const format = await readFormat(flags.output);
  const live = flags.watch ? await import('./live.ts') : null;
  return await withConnection(invocation, async (connection) => {
    const view = await viewOf(kind, name, connection.cluster.namespace);
    if (live) return await live.run({ connection, view, question, format, invocation });
    const explained = await explainSubject(connection.client, view.subject, question);
    const answer = answerOf(view, explained, output.paintOut);
    output.write(await printAnswer(answer, format, flags.headers !== false));
    writeNotes(output, explained.notes);
    const isGoing = ({ explanation: { decision } }: PodReport) => decision.kind === 'evict';
    return flags.exitCode && podsIn(explained.report).some(isGoing)
      ? exitCode.found
      : exitCode.done;
  });
}

async function viewOf(kind: SubjectKind, name: string, namespace: string): Promise<View> {
  switch (kind) {
    case 'node':
      return nodeView(name);
    case 'pod':
      return (await import('./pod.ts')).podView(namespace, name);
    case 'zone':
      return (await import('./zone.ts')).zoneView(name);
    case 'taint':
      return (await import('./taint.ts')).taintView(name);
  }
}
