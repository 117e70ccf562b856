// Explains why and when pods leave a node, a zone or a taint: explain.

import { parsePattern, type Question, readQuestion } from '@taintmgr/k8s-adapter/explain';
import { beginForecast, ClusterReader, surveyForecast } from '@taintmgr/k8s-adapter/survey';
import { readPolicyFlag } from '../../cli/common-flags.ts';
import { withConnection } from '../../cli/connection.ts';
import type { ExitCode } from '../../cli/exit.ts';
import type { Invocation } from '../../cli/registry.ts';
import { readFormat } from '../../render/printer.ts';
import type { ExplainFlags, SubjectKind } from './flags.ts';
import { readSubject, type Subject } from './subject.ts';

/** `explain KIND NAME`: reads what matters once, or again and again, and says what will become of it. */
export async function explain(
  kind: SubjectKind,
  name: string,
  invocation: Invocation<ExplainFlags>,
): Promise<ExitCode> {
  const { flags } = invocation;
  const question = { ...readQuestion(flags), policies: await readPolicyFlag(flags) };
  const format = await readFormat(flags.output);
  const live = flags.watch ? await import('./live.ts') : null;
  return await withConnection(invocation, async (connection) => {
    const subject = await subjectOf(kind, name, question, connection.cluster.namespace);
    if (live) return await live.run({ connection, subject, question, format, invocation });
    // The engine takes as long to load as the first answers take to come.
    const load = () => import('./answer.ts');
    connection.transport.whenSent(() => void load());
    const survey = await readSubject(subject, new ClusterReader(connection.client), question);
    const { answer } = await load();
    return await answer(subject, survey, { question, format, invocation });
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

/** `explain node NAME`: what answers is loaded while the pods are on their way. */
export function nodeSubject(name: string): Subject {
  return {
    read: async (reader, options) => {
      const asked = reader.node(name);
      const begun = beginForecast(reader, [name], options);
      // Where there is no such node, that is what is said.
      const node = await asked;
      const [survey] = await Promise.all([
        surveyForecast(reader, [node], [node], { ...options, begun }),
        import('./answer.ts'),
      ]);
      return survey;
    },
    answer: async ({ nodes: [report] }, context) => {
      if (!report) throw new Error(`node ${name} was read and is not known`);
      const { nodeAnswer } = await import('./answer.ts');
      return nodeAnswer(report, context);
    },
    watched: () => ({
      nodes: { fieldSelector: `metadata.name=${name}` },
      pods: { fieldSelector: `spec.nodeName=${name}` },
    }),
  };
}
