// `explain`: why and when pods leave.
import { withConnection } from '../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import type { Invocation } from '../../cli/invocation.ts';
import { readPolicyFlag } from '../../cli/policy-flag.ts';
import { ClusterReader } from '../../cluster/reader.ts';
import { readFormat } from '../../render/format.ts';
import { parsePattern, type Question, readQuestion } from '../../report/question.ts';
import type { PodReport } from '../../report/report.ts';
import type { ExplainFlags, SubjectKind } from './flags.ts';
import { nodeSubject } from './node.ts';
import { focused, readSubject, type Subject } from './subject.ts';

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
    const subject = await subjectOf(kind, name, question, connection.cluster.namespace);
    if (live) return await live.run({ connection, subject, question, format, invocation });
    // It loads the engine, which takes as long as the first answers.
    const load = () => import('./answering.ts');
    connection.transport.whenSent(() => void load());
    const survey = await readSubject(subject, new ClusterReader(connection.client), question, load);
    const { Explainer, notesOn, podsIn, printAnswer, reportOn, writeNotes } = await load();
    const explainer = new Explainer(question);
    explainer.take(survey);
    const report = focused(subject, reportOn(survey, explainer));
    const answer = await subject.answer(report, { survey, question, paint: output.paintOut });
    output.write(await printAnswer(answer, format, flags.headers !== false));
    writeNotes(output, notesOn(survey, report, question));
    const isGoing = ({ explanation: { decision } }: PodReport) => decision.kind === 'evict';
    return flags.exitCode && podsIn(report).some(isGoing) ? exitCode.found : exitCode.done;
  });
}

async function subjectOf(
  kind: SubjectKind,
  name: string,
  question: Question,
  namespace: string,
): Promise<Subject> {
  switch (kind) {
    case 'node':
      return nodeSubject(name);
    case 'pod':
      return (await import('./pod.ts')).podSubject(namespace, name);
    case 'zone':
      return (await import('./zone.ts')).zoneSubject(name, question);
    case 'taint':
      return (await import('./taint.ts')).taintSubject(name, parsePattern(name), question);
  }
}
