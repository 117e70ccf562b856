// Says what becomes of pods, once the cluster is read: with the engine, as a table or a document, with notes.

import {
  apiVersion,
  asOf,
  decisionName,
  Explainer,
  isWhatIf,
  limitsDocument,
  type NodeReport,
  nodeDocument,
  nodeEvictorDocument,
  notesOn,
  type PodReport,
  podDocument,
  podsIn,
  type Question,
  reportOn,
} from '@taintmgr/k8s-adapter/explain';
import type { ForecastSurvey } from '@taintmgr/k8s-adapter/survey';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import { writeNotes } from '../../cli/output.ts';
import type { Invocation } from '../../cli/registry.ts';
import { type Answer, type Format, printAnswer } from '../../render/printer.ts';
import type { ExplainFlags } from './flags.ts';
import { type PodColumns, renderNode } from './node-table.ts';
import { type AnswerContext, focused, type Subject } from './subject.ts';

interface AnswerOptions {
  readonly question: Question;
  readonly format: Format;
  readonly invocation: Invocation<ExplainFlags>;
}

/** Prints the answer about a subject that was read, and the notes on it. */
export async function answer(
  subject: Subject,
  survey: ForecastSurvey,
  { question, format, invocation: { flags, output } }: AnswerOptions,
): Promise<ExitCode> {
  const explainer = new Explainer(question);
  explainer.take(survey);
  const report = focused(subject, reportOn(survey, explainer));
  const said = await subject.answer(report, { survey, question, paint: output.paintOut });
  output.write(await printAnswer(said, format, flags.headers !== false));
  writeNotes(output, notesOn(survey, report, question));
  const isGoing = ({ explanation: { decision } }: PodReport) => decision.kind === 'evict';
  return flags.exitCode && podsIn(report).some(isGoing) ? exitCode.found : exitCode.done;
}

/** `explain node`: the node and its pods. */
export function nodeAnswer(report: NodeReport, context: AnswerContext): Answer {
  const { survey, question } = context;
  const { name, uid } = report.facts.node;
  const pods = report.pods ?? [];
  return {
    get document() {
      return {
        apiVersion,
        kind: 'NodeExplanation',
        metadata: { name, uid },
        ...asOf(survey.at, question.after),
        ...nodeEvictorDocument(report, survey.evictor),
        ...nodeDocument(report, survey.at, question.after),
        ...limitsDocument(survey, pods),
      };
    },
    get rows() {
      return pods.map((pod) => podDocument(pod, survey.at + question.after));
    },
    names: podNames(pods),
    table: (options) => renderNode(report, podColumns(context), options),
  };
}

/** `pod/NAME` of those that are to go, or are going. */
export function podNames(pods: readonly PodReport[]): readonly string[] {
  return pods
    .filter((pod) => decisionName(pod) !== 'Keep')
    .map(({ facts }) => `pod/${facts.pod.name}`);
}

/** The columns that the question asks for. */
export function podColumns({ survey, question, paint }: AnswerContext): PodColumns {
  return {
    compare: question.compare,
    whatIf: isWhatIf(question),
    after: question.after,
    evictor: survey.evictor,
    now: survey.at,
    paint,
  };
}
