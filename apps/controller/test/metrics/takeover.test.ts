import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createEngine } from '@taintmgr/core';
import type { PolicyState } from '@taintmgr/k8s-adapter';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { TakeoverScore } from '../../src/stats/takeover-score.ts';
import { finished, idle, measure } from './measured.ts';

// The metrics of takeover: each by name, as Prometheus reads it.

const well: PolicyState = { isInForce: true, wasInForce: true, drift: [], fault: null };

/** What is measured where these pods were spared, and so it is with the policies. */
function measured(policies: PolicyState, spared: Readonly<Record<string, [number, number]>> = {}) {
  const score = new TakeoverScore();
  const { options, stats } = measure();
  stats.running = {
    ...idle,
    takeover: () => ({
      policies,
      counts: {
        ...(createEngine({ takeover: true }).takeover() ?? assert.fail()),
        namespaces: ['shop', 'cart'],
        spared: new Map(
          Object.entries(spared).map(([name, [all, held]]) => [name, { spared: all, held }]),
        ),
      },
    }),
  };
  const metrics = createMetrics({ ...options, stats: { ...stats, takeover: score } });
  const lines = async (): Promise<readonly string[]> => {
    const body = await metrics.registry.metrics();
    const found = body.split('\n').filter((line) => /^taintmgr_takeover_/.test(line));
    return found.toSorted();
  };
  return { score, metrics, lines };
}

describe('metrics of takeover', () => {
  it('say what was handed over, spared, held and let through', async () => {
    const { score, lines } = measured(well, { shop: [3, 1], cart: [1, 0] });
    score.letThrough('shop', 'why');
    score.letThrough('shop', 'why');
    score.observe(finished({ kind: 'done' }));
    assert.deepEqual(await lines(), [
      'taintmgr_takeover_held_pods{namespace="cart"} 0',
      'taintmgr_takeover_held_pods{namespace="shop"} 1',
      'taintmgr_takeover_let_through_pods_total{namespace="shop"} 2',
      'taintmgr_takeover_namespaces 2',
      'taintmgr_takeover_policies_in_force 1',
      'taintmgr_takeover_spared_pods_total{namespace="cart"} 1',
      'taintmgr_takeover_spared_pods_total{namespace="shop"} 3',
    ]);
  });

  it('say that the policies are not in force, and how often what was changed', async () => {
    const { metrics, lines } = measured({ ...well, isInForce: false });
    const policy = 'validatingadmissionpolicy/taintmgr-takeover';
    const binding = 'validatingadmissionpolicybinding/taintmgr-readiness';
    const drift = [{ object: policy, field: '', text: `${policy} is missing`, isAdded: false }];
    for (const object of [policy, policy, binding]) {
      metrics.onNotice({ kind: 'takeoverDrift', object, drift }, 0);
    }
    metrics.onNotice({ kind: 'takeoverContested', object: policy, drift }, 0);
    assert.deepEqual(await lines(), [
      `taintmgr_takeover_drift_total{object="${policy}"} 3`,
      `taintmgr_takeover_drift_total{object="${binding}"} 1`,
      'taintmgr_takeover_namespaces 2',
      'taintmgr_takeover_policies_in_force 0',
    ]);
  });

  it('name a hundred namespaces at most', async () => {
    const names = Array.from({ length: 150 }, (_, index) => `ns-${index}`);
    const spared = Object.fromEntries(
      names.map((name): [string, [number, number]] => [name, [1, 1]]),
    );
    const { score, lines } = measured(well, spared);
    for (const name of names) score.letThrough(name, 'why');
    const all = await lines();
    for (const family of ['spared_pods_total', 'held_pods', 'let_through_pods_total']) {
      const found = all.filter((line) => line.startsWith(`taintmgr_takeover_${family}{`));
      assert.equal(found.length, 100, family);
    }
  });

  it('are not there without takeover', async () => {
    const { metrics } = measure();
    const body = await metrics.registry.metrics();
    assert.doesNotMatch(body, /taintmgr_takeover_/);
  });
});
