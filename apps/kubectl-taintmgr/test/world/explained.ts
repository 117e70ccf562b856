// What `explain node` says of a survey that a test made up, and who evicts in it.
import assert from 'node:assert/strict';
import type { Node, Pod } from '@taintmgr/core';
import { actorOf, type DutyVerdict, type Evictors } from '@taintmgr/k8s-adapter';
import {
  Explainer,
  type Notes,
  notesOn,
  type Question,
  type QuestionFlags,
  readQuestion,
  reportOn,
} from '@taintmgr/k8s-adapter/explain';
import type { ForecastSurvey } from '@taintmgr/k8s-adapter/survey';
import { nodeAnswer } from '../../src/commands/explain/answer.ts';
import type { Subject } from '../../src/commands/explain/subject.ts';
import { plain } from '../../src/render/style.ts';
import { nobody, nodeFactsOf, podFactsOf, surveyOf } from './values.ts';

/** The answer as a table and as a document, and what is said beside it. */
export interface Explained extends Notes {
  readonly text: string;
  readonly document: object;
}

/** What `explain node n1` says of a survey. */
export function explain(survey: ForecastSurvey, flags: QuestionFlags = {}): Explained {
  const question = readQuestion(flags);
  const explainer = new Explainer(question);
  explainer.take(survey);
  const report = reportOn(survey, explainer);
  const [one] = report.nodes;
  assert.ok(one);
  const answer = nodeAnswer(one, { survey, question, paint: plain });
  return {
    text: answer.table({ wide: false, headers: true }),
    document: answer.document,
    ...notesOn(survey, report, question),
  };
}

/** What a subject says of all nodes of a survey. */
export async function answerOf(
  subjectOf: (question: Question) => Subject,
  survey: ForecastSurvey,
): Promise<Pick<Explained, 'text' | 'document'>> {
  const question = readQuestion({});
  const explainer = new Explainer(question);
  explainer.take(survey);
  const context = { survey, question, paint: plain };
  const answer = await subjectOf(question).answer(reportOn(survey, explainer), context);
  return { text: answer.table({ wide: false, headers: true }), document: answer.document };
}

/** One node and its pods, where taintmgr-controller evicts. */
export function survey(one: Node, ...pods: readonly Pod[]): ForecastSurvey {
  return surveyOf(
    [nodeFactsOf(one)],
    pods.map((each) => podFactsOf(each)),
  );
}

export const acts = { kind: 'acts', who: 'x', evidence: [] } as const;
export const may = { kind: 'unknown', who: 'x', evidence: [{ kind: 'noPod' }] } as const;

/** kube-controller-manager's verdict, and nobody else. */
export function withUpstream(verdict: DutyVerdict): Evictors {
  return { ...nobody, upstream: { ...nobody.upstream, 'taint-eviction-controller': verdict } };
}

/** The same survey where others evict. */
export function by(evictors: Evictors, read: ForecastSurvey): ForecastSurvey {
  return { ...read, evictors, evictor: { ...actorOf(evictors), asksBudgets: null } };
}
