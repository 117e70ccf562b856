import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatTime } from '@taintmgr/core/time';
import { explainSurvey } from '../../src/explain/explained.ts';
import { readQuestion } from '../../src/explain/question.ts';
import { nodeSubject } from '../../src/explain/subjects.ts';
import { leaseRenewal, nodeClockText } from '../../src/survey/lease-renewal.ts';
import { node, nodeFactsOf, now, surveyOf } from '../world/values.ts';

// When a kubelet was heard of last is what the API server says, whatever the node's clock shows.

const hour = 3_600_000;
const second = 1000;

/** A lease with this renewTime, written at these times by the API server's clock. */
function lease(renewTime: string, ...written: readonly string[]) {
  const fieldsV1 = { 'f:spec': { 'f:renewTime': {} } };
  const managedFields = written.map((time) => ({ manager: 'kubelet', time, fieldsV1 }));
  return { metadata: { name: 'n1', managedFields }, spec: { renewTime } };
}

const at = (offset: number): string => formatTime(now + offset);

const cases: readonly (readonly [
  name: string,
  lease: ReturnType<typeof lease>,
  ago: number,
  clock: string | null,
])[] = [
  ['clocks agree', lease(at(-10 * second), at(-10 * second)), 10, null],
  ['the request took its time', lease(at(-14 * second), at(-10 * second)), 10, null],
  ['the clock of the node is behind', lease(at(-hour), at(0)), 0, "1h behind the API server's"],
  ['it is ahead', lease(at(hour + second), at(0)), 0, "1h ahead of the API server's"],
  [
    'it is ahead, and the lease old',
    lease(at(hour), at(-hour)),
    3600,
    "1h59m ahead of the API server's",
  ],
  ['nothing shows when it was written', lease(at(-hour)), 3600, null],
  [
    'only that the time is yet to come',
    lease(at(hour + second)),
    0,
    "1h ahead of the API server's",
  ],
  ['the time of the writer is no time', lease(at(-hour), 'soon'), 3600, null],
  [
    'a writer says a time that is yet to come',
    lease(at(0), at(hour)),
    0,
    "1h behind the API server's",
  ],
];

describe('the lease of a node', () => {
  for (const [name, given, ago, clock] of cases) {
    it(`says when it was renewed, and how clocks differ, where ${name}`, () => {
      const renewal = leaseRenewal(given, now);
      assert.deepEqual([(now - (renewal?.at ?? 0)) / second, nodeClockText(renewal)], [ago, clock]);
    });
  }

  it('says nothing where nobody has renewed it, or nobody may read it', () => {
    assert.equal(leaseRenewal({ metadata: { name: 'n1' } }, now), null);
    assert.deepEqual([nodeClockText(null), nodeClockText('hidden')], [null, null]);
  });

  it('does not count other writers of it as heartbeats', () => {
    const fieldsV1 = { 'f:spec': { 'f:holderIdentity': {} } };
    const managedFields = [{ manager: 'somebody', time: at(0), fieldsV1 }];
    const { metadata, spec } = lease(at(-hour));
    const renewal = leaseRenewal({ metadata: { ...metadata, managedFields }, spec }, now);
    assert.equal(renewal?.at, now - hour);
  });

  it('is shown by explain as the API server has it, with the difference', () => {
    const times = { heartbeatAt: null, transitionAt: null };
    const conditions = [{ type: 'Ready', status: 'True', reason: '', message: '', ...times }];
    const facts = nodeFactsOf({ ...node('n1'), conditions }, { zone: 'a' });
    const leases = new Map([['n1', leaseRenewal(lease(at(-hour), at(0)), now)]]);
    const survey = { ...surveyOf([facts], []), zoneNodes: [facts], leases };
    const { document } = explainSurvey(survey, nodeSubject('n1'), readQuestion({}));
    assert.equal(document.leaseRenewedAt, at(0));
    assert.equal(document.clock, "1h behind the API server's");
  });
});
