// Explains why and when pods leave a node, a zone or a taint: explain.
import { ApiError, UsageError } from '@taintmgr/k8s-adapter/command-line';
import {
  comparable,
  explainSubject,
  isWhatIf,
  type PodReport,
  podsIn,
  readQuestion,
} from '@taintmgr/k8s-adapter/explain';
import { ClusterReader, type WorkloadKind } from '@taintmgr/k8s-adapter/survey';
import { readPolicyFlag } from '../../cli/common-flags.ts';
import { withConnection } from '../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import { writeNotes } from '../../cli/output.ts';
import type { Invocation } from '../../cli/registry.ts';
import { wordOf } from '../../cli/values.ts';
import { workloadKindOf } from '../../cli/workload-words.ts';
import { printAnswer, readFormat } from '../../render/printer.ts';
import type { ExplainFlags, SubjectKind } from './flags.ts';
import { nodeView } from './node-table.ts';
import { answerOf, type View } from './view.ts';

/** The kind that the question is about; a name alone is that of a node or a pod. */
type Kind = SubjectKind | WorkloadKind | 'node-or-pod';

/** `explain KIND NAME...`: reads what matters once, or again and again, and says what will become of it. */
export async function explain(
  kind: Kind,
  names: readonly string[],
  invocation: Invocation<ExplainFlags>,
): Promise<ExitCode> {
  const { flags, output } = invocation;
  const { compare } = flags;
  if (compare !== undefined) wordOf(output, '--compare', compare, comparable);
  const read = { ...readQuestion(flags), policies: await readPolicyFlag(flags, output) };
  const looksForRoom = isWhatIf(read) && !flags.watch;
  const question = looksForRoom
    ? { ...read, findRoom: (await import('./room.ts')).findRoom }
    : read;
  const format = await readFormat(flags.output);
  const live = flags.watch ? await import('./live.ts') : null;
  return await withConnection(invocation, async (connection) => {
    const { namespace } = connection.cluster;
    const [name = ''] = names;
    const reader = new ClusterReader(connection.client);
    const meant =
      kind === 'node-or-pod'
        ? await (await import('./node-or-pod.ts')).nodeOrPod(reader, namespace, name)
        : kind;
    const view = await viewOf(meant, names, flags.selector, namespace);
    if (live) return await live.run({ connection, view, question, format, invocation });
    const asked = explainSubject(connection.client, view.subject, question);
    const explained = await (meant === 'pod' && names.length === 1 ? unlessGone(asked) : asked);
    if (explained instanceof ApiError) {
      const { explainGone } = await import('./gone.ts');
      return await explainGone(explained, connection, name, format, invocation);
    }
    const answer = answerOf(view, explained);
    output.write(await printAnswer(answer, format, flags.headers !== false, output));
    writeNotes(output, explained.notes);
    const hints = format.kind === 'table' ? (view.hints?.(explained) ?? []) : [];
    for (const hint of hints) output.err(`hint: ${hint}`);
    const isGoing = ({ explanation: { decision } }: PodReport) => decision.kind === 'evict';
    return flags.exitCode && podsIn(explained.report).some(isGoing)
      ? exitCode.found
      : exitCode.done;
  });
}

/** `explain workload KIND NAME`, for each kind without a separate command. Throws UsageError. */
export async function explainNamed(
  invocation: Invocation<ExplainFlags>,
  word: string,
  name: string,
): Promise<ExitCode> {
  const kind = workloadKindOf(word);
  if (kind !== null) return await explain(kind, [name], invocation);
  throw new UsageError((await import('./node-or-pod.ts')).unknownKind(word, name));
}

/** The API server's answer that there is no such pod (any more) instead. */
async function unlessGone<T>(asked: Promise<T>): Promise<T | ApiError> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ApiError && error.failure.status === 404) return error;
    throw error;
  }
}

async function viewOf(
  kind: SubjectKind | WorkloadKind,
  names: readonly string[],
  labelSelector: string | undefined,
  namespace: string,
): Promise<View> {
  const [name = '', ...more] = names;
  const several = { names, labelSelector: labelSelector ?? '' };
  if (names.length > 0 && labelSelector !== undefined) {
    throw new UsageError('give names or --selector, not both');
  }
  switch (kind) {
    case 'node':
      if (name !== '' && more.length === 0) return nodeView(name);
      return (await import('./several.ts')).nodesView(several);
    case 'pod':
      if (name !== '' && more.length === 0) {
        return (await import('./pod.ts')).podView(namespace, name);
      }
      return (await import('./several.ts')).podsView(namespace, several);
    case 'zone':
      return (await import('./zone.ts')).zoneView(name);
    case 'taint':
      return (await import('./taint.ts')).taintView(name);
    case 'Namespace':
      return (await import('./workload.ts')).workloadView({ kind, namespace: name, name });
    default:
      return (await import('./workload.ts')).workloadView({ kind, namespace, name });
  }
}
