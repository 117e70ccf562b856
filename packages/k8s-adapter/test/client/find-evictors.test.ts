import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Millis } from '@taintmgr/core/time';
import type { Rule } from '@taintmgr/sim-cluster';
import type { ApiClient } from '../../src/client/client.ts';
import { findEvictors } from '../../src/client/find-evictors.ts';
import type { DutyVerdict } from '../../src/evictors/judge.ts';
import { verdictText } from '../../src/evictors/verdict-words.ts';
import {
  everything,
  eviction,
  find,
  minute,
  putLease,
  serverTime,
  soon,
  world,
} from '../evictors/world.ts';

describe('kube-controller-manager, by its lease', () => {
  const cases: readonly (readonly [
    name: string,
    age: Millis,
    kind: DutyVerdict['kind'],
    text: string,
  ])[] = [
    [
      'renewed a second ago runs, and may evict: its flags are not to be seen',
      1000,
      'unknown',
      'may evict (kube-controller-manager_1, renewed 1s ago): its flags cannot be seen, as it has no pod here',
    ],
    [
      'of which the holder’s clock is 20 s ahead lives too',
      -20_000,
      'unknown',
      'may evict (kube-controller-manager_1, renewed 0s ago): its flags cannot be seen, as it has no pod here',
    ],
    [
      'that stays as it is between two looks says nothing: it may run without one',
      minute,
      'unknown',
      'unknown (it shows no pod, and its lease is not renewed)',
    ],
  ];
  for (const [name, age, kind, text] of cases) {
    it(name, async () => {
      const one = world();
      putLease(one, 'kube-controller-manager', age);
      const verdict = await find(one);
      assert.equal(verdict.kind, kind);
      assert.equal(verdictText(verdict), text);
    });
  }

  it('that changes between two looks lives, however old its holder’s clock says it is', async () => {
    const one = world();
    putLease(one, 'kube-controller-manager', 10 * minute);
    let age = 10 * minute;
    const ask: ApiClient['ask'] = async (request) => {
      const answer = await one.client.ask(request);
      age -= 2000;
      if (request.path.endsWith('/kube-controller-manager')) {
        putLease(one, 'kube-controller-manager', age);
      }
      return answer;
    };
    const { upstream } = await findEvictors({ ask }, soon);
    assert.equal(upstream[eviction].kind, 'unknown');
    assert.equal(
      'who' in upstream[eviction] && upstream[eviction].who,
      'kube-controller-manager_1',
    );
  });

  it('does not care what time this process has', async (t: TestContext) => {
    const one = world();
    putLease(one, 'kube-controller-manager', 1000);
    for (const now of [serverTime + 31_000, serverTime - 31_000, serverTime + 400 * minute]) {
      t.mock.timers.enable({ apis: ['Date'], now });
      const verdict = await find(one);
      assert.equal('who' in verdict && verdict.who, 'kube-controller-manager_1');
      t.mock.timers.reset();
    }
  });

  it('that we may not read is unknown, never nobody', async () => {
    const pods: Rule = { verbs: ['list'], apiGroups: [''], resources: ['pods'] };
    const one = world([pods, { ...everything, resources: ['nodes'] }]);
    putLease(one, 'kube-controller-manager', 0);
    const verdict = await find(one);
    assert.equal(verdict.kind, 'unknown');
    assert.equal(
      verdictText(verdict),
      'unknown (no permission to get lease kube-system/kube-controller-manager)',
    );
  });

  it('that is not there, where pods may not be read, is unknown', async () => {
    const leases: Rule = { ...everything, apiGroups: ['coordination.k8s.io'] };
    const verdict = await find(world([leases]));
    assert.equal(verdictText(verdict), 'unknown (no permission to list pods in kube-system)');
  });
});
