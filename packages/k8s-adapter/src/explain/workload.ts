// A workload, a disruption budget or a namespace as the subject of an explanation, for who owns no nodes.
import type { Millis } from '@taintmgr/core/time';
import { type ForecastSurvey, surveyPods } from '../survey/survey.ts';
import { readWorkload, type WorkloadName } from '../survey/workloads.ts';
import type { WorkloadAnswer, WorkloadBudget } from './answers.ts';
import { apiVersion, nodesEvictorDocument, podDocument, tallyDocument } from './documents.ts';
import {
  type Explained,
  explainSubject,
  type Subject,
  surveyOptions,
  type Way,
} from './explained.ts';
import { limitsDocument } from './holding-limits.ts';
import type { Question } from './question.ts';
import { isUnknown, type PodReport } from './report.ts';
import { asOf } from './words.ts';
import {
  type BudgetReport,
  type WorkloadReport,
  workloadReport,
  workloadRows,
} from './workload-report.ts';

/**
 * Reports for a workload, a disruption budget or a namespace which of its pods leave, when and why,
 * which stay and which come in their place: the output of `kubectl taintmgr explain deployment`. It
 * takes only the rights of the namespace; without the right to read nodes the fate of pods is
 * `Unknown`, and `refused` names the right. Throws ApiError (NotFound, Forbidden) and
 * ConnectionError.
 */
export function explainWorkload(
  way: Way,
  named: WorkloadName,
  question: Partial<Question> = {},
): Promise<Explained<WorkloadAnswer>> {
  return explainSubject(way, workloadSubject(named), question);
}

/** A workload, a disruption budget or a namespace, for explainSubject. */
export function workloadSubject(named: WorkloadName): Subject<WorkloadAnswer> {
  return {
    read: async (reader, question) => {
      const { workload, pods } = await readWorkload(reader, named);
      const survey = await surveyPods(reader, named.namespace, pods, surveyOptions(question));
      return { ...survey, workload };
    },
    document: (report, { survey, question: { after } }) => {
      return workloadDocument(workloadReport(survey, report), survey, after);
    },
  };
}

function workloadDocument(
  report: WorkloadReport,
  survey: ForecastSurvey,
  after: Millis,
): WorkloadAnswer {
  const { workload, nodes, pods, ended, ready, next } = report;
  const { kind, namespace, name, object } = workload;
  const isNamespace = kind === 'Namespace';
  return {
    apiVersion,
    kind: 'WorkloadExplanation',
    metadata: { name, ...(!isNamespace && { namespace }), uid: object?.metadata.uid },
    ...asOf(survey.at, after),
    ...nodesEvictorDocument(nodes, survey.evictor),
    workload: {
      kind,
      wanted: report.wanted ?? undefined,
      ready,
      readyAtLeast: pods.some(isUnknown) ? undefined : report.readyAtLeast,
      ended,
    },
    budgets: report.budgets?.map(budgetDocument),
    next,
    ...(isNamespace && {
      workloads: workloadRows(report).map((row) => {
        return { owner: row.owner, ready: row.ready, ...tallyDocument(row.tally) };
      }),
    }),
    pods: pods.map((pod) => podDocument(pod, survey.at + after)),
    summary: tallyDocument(report.tally),
    ...limitsDocument(survey, pods),
  };
}

function budgetDocument(report: BudgetReport): WorkloadBudget {
  const { budget, leaving, unasked, refused, overlaps } = report;
  const { namespace, name, allowed, healthy, desired, expected } = budget;
  return {
    ...{ namespace, name, allowed, healthy, desired, expected },
    leaving: namesOf(leaving),
    refused: namesOf(refused),
    ...(unasked.length > 0 && { notAsked: namesOf(unasked) }),
    ...(report.isShut && { neverAllows: true }),
    ...(overlaps.length > 0 && { overlaps }),
  };
}

function namesOf(pods: readonly PodReport[]): readonly string[] {
  return pods.map(({ facts }) => facts.pod.name);
}
