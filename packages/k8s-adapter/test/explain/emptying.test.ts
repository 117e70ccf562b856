import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '@taintmgr/core';
import { emptyingCell, emptyingOf, emptyingText } from '../../src/explain/emptying.ts';
import { Explainer } from '../../src/explain/explainer.ts';
import { type QuestionFlags, readQuestion } from '../../src/explain/question.ts';
import { reportOn } from '../../src/explain/report.ts';
import type { NodeFacts, PodFacts } from '../../src/survey/facts.ts';
import type { ForecastSurvey } from '../../src/survey/survey.ts';
import {
  budgetOf,
  nobody,
  node,
  nodeFactsOf,
  now,
  ofDaemonSet,
  pod,
  podFactsOf,
  surveyOf,
  taint,
  tolerates,
} from '../world/values.ts';

const bad = node('n1', taint('bad:NoExecute', 60));
const quiet = { status: 'Unknown', since: now - 5_880_000, reason: 'NodeStatusUnknown' } as const;
const agent = pod('agent', { ...ofDaemonSet, ...tolerates('') });
const etcd = pod('etcd', { mirror: true });

interface Case {
  readonly node?: NodeFacts;
  readonly pods?: readonly (Pod | PodFacts)[];
  readonly with?: Partial<ForecastSurvey>;
  readonly ask?: QuestionFlags;
  /** The line, or null where there is none. */
  readonly says: string | null;
  readonly cell?: string;
}

/** The texts of the answer about n1 that say when the node is empty. */
function answer({ node: one, pods = [], with: more, ask = {} }: Case): readonly (string | null)[] {
  const question = readQuestion(ask);
  const explainer = new Explainer(question);
  const facts = pods.map((each) => ('pod' in each ? each : podFactsOf(each)));
  const survey = surveyOf([one ?? nodeFactsOf(bad)], facts, more);
  explainer.take(survey);
  const [report] = reportOn(survey, explainer).nodes;
  assert.ok(report);
  const at = now + question.after;
  const emptying = emptyingOf(report, at, question.after > 0);
  return [emptying && emptyingText(emptying, at), emptyingCell(emptying, at)];
}

describe('when a node is empty', () => {
  const cases: Readonly<Record<string, Case>> = {
    'nobody has to leave it': {
      node: nodeFactsOf(node('n1')),
      pods: [pod('web')],
      says: null,
      cell: '-',
    },
    'it has no pods': { says: 'now', cell: 'now' },
    'it has pods that belong to a node, and one that has finished': {
      pods: [agent, etcd, pod('job', { phase: 'Succeeded', ...tolerates('') })],
      says: 'now, but for 1 DaemonSet pod, 1 static pod and 1 finished pod',
    },
    'the last pod has its own grace period': {
      pods: [pod('a'), pod('b', { ...tolerates('', 318), gracePeriodSeconds: 90 }), agent],
      says: 'in 5m49s at most: the last eviction in 4m19s, then up to 1m30s to stop; 1 DaemonSet pod stays',
      cell: 'in 5m49s',
    },
    'pods terminate already': {
      pods: [pod('a', { deletionTimestamp: now + 12_000 })],
      says: 'in 12s at most',
      cell: 'in 12s',
    },
    'one should have ended long ago': {
      pods: [pod('a', { deletionTimestamp: now - 600_000 }), pod('b')],
      says: 'unknown: held by shop/a, which should have ended 10m ago; the others end in 30s at most',
      cell: 'unknown',
    },
    'one tolerates the taint for ever': {
      pods: [pod('a', tolerates('')), pod('b')],
      says: 'never: shop/a stays: tolerates bad:NoExecute without limit; the others end in 30s at most',
      cell: 'never',
    },
    'its kubelet is silent': {
      node: nodeFactsOf(bad, { ready: quiet }),
      pods: [pod('a', { deletionTimestamp: now - 5_000_000 }), pod('b'), agent],
      says: 'not by itself: the kubelet does not answer, and ends no pod: shop/b, shop/a',
      cell: 'unreachable',
    },
    'a budget lets nobody go': {
      pods: [pod('a', { ready: 'True' })],
      with: { budgets: [budgetOf('web', { expected: 3 })] },
      says: 'unknown: held by PDB web (needs time)',
    },
    'a budget lets one of two go at a time': {
      pods: [pod('a', { ready: 'True' }), pod('b', { ready: 'True', ...tolerates('', 90) })],
      with: { budgets: [budgetOf('web', { allowed: 1 })] },
      says: 'unknown: held by PDB web (lets 1 of 2 pods go, the others when those are replaced); the others end in 30s at most',
    },
    'a finalizer holds one': {
      pods: [podFactsOf(pod('a'), { finalizers: ['example.com/backup'] })],
      says: 'unknown: held by finalizers (needs time)',
    },
    'nobody evicts here': {
      pods: [pod('a')],
      with: { evictors: nobody },
      says: 'never: shop/a stays: no controller here evicts for NoExecute taints',
    },
    'another moment is meant': {
      pods: [pod('a'), pod('b', tolerates('', 959))],
      ask: { at: '+10m' },
      says: 'in 5m30s at most: the last eviction in 5m, then up to 30s to stop',
      cell: 'in 5m30s',
    },
    'the taint is assumed': {
      node: nodeFactsOf(node('n1')),
      pods: [pod('a'), etcd],
      ask: { withTaint: ['x=y:NoExecute'] },
      says: 'in 30s at most: the last eviction now, then up to 30s to stop; 1 static pod stays',
    },
  };
  for (const [name, one] of Object.entries(cases)) {
    it(name, () => {
      const [text, cell] = answer(one);
      assert.equal(text, one.says);
      if (one.cell) assert.equal(cell, one.cell);
    });
  }
});
