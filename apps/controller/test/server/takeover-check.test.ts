import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createEngine } from '@taintmgr/core';
import type { PolicyState } from '@taintmgr/k8s-adapter';
import { Leadership } from '../../src/leadership/leadership.ts';
import { createChecks } from '../../src/server/checks.ts';
import { TakeoverScore } from '../../src/stats/takeover-score.ts';
import { idle, measure } from '../metrics/measured.ts';

// The health check `takeover`: it fails while kube-controller-manager decides where it should not.

interface Situation {
  readonly policies?: Partial<PolicyState> | null;
  readonly isLeader?: boolean;
  readonly letThrough?: readonly string[];
  readonly without?: boolean;
}

const well: PolicyState = { isInForce: true, wasInForce: true, drift: [], fault: null };

function faultOf({ policies = {}, isLeader = true, letThrough = [], without }: Situation) {
  const score = new TakeoverScore();
  for (const message of letThrough) score.letThrough('shop', message);
  const counts = createEngine({ takeover: true }).takeover() ?? assert.fail();
  const state = policies && { ...well, ...policies };
  const stats = {
    ...measure().stats,
    leadership: new Leadership(isLeader, () => {}),
    running: { ...idle, takeover: () => state && { counts, policies: state } },
    takeover: without ? null : score,
  };
  const checks = createChecks(stats);
  const of = (list: (typeof checks)['healthz']): string | null | undefined =>
    list.find(({ name }) => name === 'takeover')?.fault();
  assert.equal(of(checks.livez), undefined, 'a new start would mend nothing');
  assert.equal(of(checks.readyz), of(checks.healthz));
  return of(checks.healthz);
}

describe('the health check of takeover', () => {
  const cases: readonly (readonly [string, Situation, string | null])[] = [
    ['the policies stand', {}, null],
    ['there is no takeover', { without: true, policies: { isInForce: false } }, null],
    ['another replica leads', { isLeader: false, policies: { isInForce: false } }, null],
    [
      'they were not looked at yet',
      { policies: null },
      'the policies are not in force: not looked at yet',
    ],
    [
      'they differ',
      { policies: { isInForce: false, drift: ['a is 1, not 2', 'b is missing'] } },
      'the policies are not in force: a is 1, not 2; b is missing',
    ],
    [
      'they cannot be read',
      { policies: { isInForce: false, fault: 'x: forbidden' } },
      'the policies are not in force: x: forbidden',
    ],
    ['a newer API server adds to them', { policies: { drift: ['c should not be there'] } }, null],
    ['pods were let through of late', { letThrough: ['first', 'second'] }, 'second'],
  ];
  for (const [name, situation, fault] of cases) {
    it(name, () => assert.equal(faultOf(situation), fault));
  }

  it('is well again five minutes after a pod was let through', (t) => {
    const score = new TakeoverScore();
    let at = 1000;
    t.mock.method(performance, 'now', () => at);
    score.letThrough('shop', 'one');
    at += 299_999;
    assert.equal(score.news, 'one');
    at += 1;
    assert.equal(score.news, null);
  });
});
