// What `explain node` says of a node and its pods, as a table and as a document.
import type { Answer } from '../../render/printer.ts';
import {
  apiVersion,
  decisionName,
  nodeDocument,
  nodeEvictorDocument,
  podDocument,
} from '../../report/documents.ts';
import { limitsDocument } from '../../report/limits.ts';
import { isWhatIf } from '../../report/question.ts';
import type { NodeReport, PodReport } from '../../report/report.ts';
import { asOf } from '../../report/words.ts';
import { type PodColumns, renderNode } from './node-table.ts';
import type { AnswerContext } from './subject.ts';

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
