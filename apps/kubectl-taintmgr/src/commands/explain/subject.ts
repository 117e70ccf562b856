import type { Selectors } from '@taintmgr/k8s-adapter/client';
import { isWhatIf, type Question, type Report } from '@taintmgr/k8s-adapter/explain';
import {
  type ClusterReader,
  type ForecastSurvey,
  type SurveyOptions,
  withPast,
} from '@taintmgr/k8s-adapter/survey';
import type { Answer } from '../../render/printer.ts';
import type { Paint } from '../../render/style.ts';

/** What can be explained: how it is read, and how it is printed. */
export interface Subject {
  /** Throws ApiError (NotFound), ConnectionError and UsageError. */
  readonly read: (reader: ClusterReader, options: SurveyOptions) => Promise<ForecastSurvey>;
  /** Leaves out what is not asked about; left out: everything is. */
  readonly focus?: (report: Report) => Report;
  readonly answer: (report: Report, context: AnswerContext) => Answer | Promise<Answer>;
  /** What to watch for changes; left out, or null: too much, it is read repeatedly instead. */
  readonly watched?: (survey: ForecastSurvey) => Watched | null;
}

/** The nodes and pods whose changes are changes of an answer. */
export interface Watched {
  readonly nodes: Selectors;
  readonly pods: Selectors;
}

/** What an answer depends on beside the reports. */
export interface AnswerContext {
  readonly survey: ForecastSurvey;
  readonly question: Question;
  readonly paint: Paint;
}

/** Reads what the question is about: to compare with kube-controller-manager, the past too. */
export async function readSubject(
  subject: Subject,
  reader: ClusterReader,
  question: Question,
): Promise<ForecastSurvey> {
  const { compare, policies } = question;
  const options = {
    files: policies,
    isWhatIf: isWhatIf(question),
  };
  const survey = await subject.read(reader, options);
  return compare ? await withPast(reader, survey) : survey;
}

/** What of a report is asked about. */
export function focused({ focus }: Subject, report: Report): Report {
  return focus ? focus(report) : report;
}
