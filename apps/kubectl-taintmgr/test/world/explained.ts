// What `explain node` says of a survey that a test made up, and who evicts in it.
import assert from 'node:assert/strict';
import type { Node, Pod } from '@taintmgr/core';
import { actorOf, type DutyVerdict, type Evictors } from '@taintmgr/k8s-adapter';
import {
  explainSurvey,
  type Notes,
  type QuestionFlags,
  readQuestion,
} from '@taintmgr/k8s-adapter/explain';
import type { ForecastSurvey } from '@taintmgr/k8s-adapter/survey';
import { nodeView } from '../../src/commands/explain/node-table.ts';
import type { View } from '../../src/commands/explain/view.ts';
import { plain } from '../../src/render/style.ts';
import { nobody, nodeFactsOf, podFactsOf, surveyOf } from './values.ts';

/** The answer as a table and as a document, and what is said beside it. */
export interface Explained extends Notes {
  readonly text: string;
  readonly document: object;
}

/** What `explain node n1` says of a survey. */
export function explain(survey: ForecastSurvey, flags: QuestionFlags = {}): Explained {
  const [one] = survey.nodes;
  assert.ok(one);
  return answerOf(nodeView(one.node.name), survey, flags);
}

/** The answer that a view shows for a survey. */
export function answerOf(view: View, survey: ForecastSurvey, flags: QuestionFlags = {}): Explained {
  const explained = explainSurvey(survey, view.subject, readQuestion(flags));
  const { table } = view.show(explained);
  const text = table({ wide: false, headers: true, width: null, paint: plain });
  return { text, document: explained.document, ...explained.notes };
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
