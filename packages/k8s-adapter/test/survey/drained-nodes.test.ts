// A node that waits for its turn in a drain loses its pods, though nothing of its taints says so yet.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '@taintmgr/core';
import { explainSurvey } from '../../src/explain/explained.ts';
import { readQuestion } from '../../src/explain/question.ts';
import { nodeSubject } from '../../src/explain/subjects.ts';
import { node, nodeFactsOf, now, pod, podFactsOf, surveyOf, taint } from '../world/values.ts';

const mark = { id: 'drain-1', taint: 'maint=d:NoExecute', cordoned: true, by: 'ada' };
const waiting =
  'n1 waits for drain drain-1 by ada, which has not tainted it yet: if that runs ' +
  '(kubectl taintmgr status), its pods leave when it is the turn of n1';

/** What is said of drains for which n1 waits. */
function notes(marks: readonly object[], fields: Partial<Node> = {}): readonly string[] {
  const annotations = { 'taintmgr.dev/drain': JSON.stringify(marks) };
  const one = { ...node('n1'), unschedulable: true, ...fields };
  const facts = nodeFactsOf(one, { annotations });
  const survey = surveyOf([facts], [podFactsOf(pod('web'))]);
  const said = explainSurvey(survey, nodeSubject('n1'), readQuestion({}));
  return said.notes.notes.filter((note) => note.includes('waits for'));
}

describe('a node that a drain has cordoned', () => {
  it('waits for its turn', () => {
    assert.deepEqual(notes([{ ...mark, tainted: false }]), [waiting]);
  });

  const cases: readonly [string, readonly object[], Partial<Node>?][] = [
    ['is not waiting where it was tainted', [{ ...mark, tainted: true }]],
    ['nor where somebody uncordoned it', [{ ...mark, tainted: false }], { unschedulable: false }],
    [
      'nor where the drain is at work',
      [{ ...mark, tainted: false, run: 'r', heartbeat: new Date(now).toISOString() }],
    ],
    [
      'nor where the taint is there',
      [{ ...mark, tainted: false }],
      { taints: [taint('maint=d:NoExecute')] },
    ],
    ['nor where no drain has marked it', []],
  ];
  for (const [name, marks, fields] of cases) {
    it(name, () => assert.deepEqual(notes(marks, fields), []));
  }
});
