import assert from 'node:assert/strict';
import perfHooks from 'node:perf_hooks';
import { describe, it } from 'node:test';
import { createEngine } from '@taintmgr/core';
import type { LimitStatus } from '@taintmgr/core/policy';
import type { PolicyState } from '@taintmgr/k8s-adapter';
import { metricsText, numberText } from '../../src/metrics/exposition.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { TakeoverScore } from '../../src/stats/process-stats.ts';
import {
  because,
  due,
  finished,
  has,
  idle,
  linesOf,
  measure,
  pod,
  reported,
  sent,
} from './measured.ts';

describe('metrics of kube-controller-manager', () => {
  it('count a deletion, in seconds from when it was due', async () => {
    const { metrics, notify } = measure();
    notify(sent, 100);
    notify(finished({ kind: 'done' }), 125);
    await has(
      metrics,
      'taint_eviction_controller_pod_deletions_total 1',
      'taint_eviction_controller_pod_deletion_duration_seconds_sum 0.125',
      'taint_eviction_controller_pod_deletion_duration_seconds_bucket{le="0.1"} 0',
      'taint_eviction_controller_pod_deletion_duration_seconds_bucket{le="0.5"} 1',
      'workqueue_adds_total{name="noexec_taint_pod"} 1',
      'workqueue_work_duration_seconds_sum{name="noexec_taint_pod"} 0.025',
      'taintmgr_eviction_attempts_total{code="",mode="delete",outcome="done"} 1',
      'taintmgr_eviction_lag_seconds_sum 0.1',
      'taintmgr_pdb_bypass_total 1',
    );
  });

  it('count requests', async () => {
    const { metrics } = measure();
    metrics.requests.waited('GET', 0.5);
    metrics.requests.answered('GET', '200', 0.25);
    metrics.requests.answered('DELETE', '<error>', 1);
    await has(
      metrics,
      'rest_client_requests_total{code="200",host="10.0.0.1:6443",method="GET"} 1',
      'rest_client_requests_total{code="<error>",host="10.0.0.1:6443",method="DELETE"} 1',
      'rest_client_request_duration_seconds_sum{host="10.0.0.1:6443",verb="GET"} 0.25',
      'rest_client_rate_limiter_duration_seconds_sum{host="10.0.0.1:6443",verb="GET"} 0.5',
    );
  });

  it('time the machine', async () => {
    const { metrics } = measure();
    const seen: string[] = [];
    const machine = metrics.timed({
      nextWake: () => 7,
      handle: (_, { kind }) => {
        seen.push(kind);
        return [];
      },
    });
    assert.equal(machine.nextWake(), 7);
    machine.handle(due, { kind: 'tick' });
    machine.handle(due, { kind: 'leaseDelete', nodeName: 'n1' });
    machine.handle(due, { kind: 'leaseUpsert', lease: { nodeName: 'n1', renewedAt: due } });
    assert.deepEqual(seen, ['tick', 'leaseDelete', 'leaseUpsert']);
    await has(
      metrics,
      '# HELP node_collector_update_node_health_duration_seconds [ALPHA] Duration in seconds for NodeController to update the health of a single node.',
      'node_collector_update_node_health_duration_seconds_count 1',
      'node_collector_update_all_nodes_health_duration_seconds_count 1',
      'node_collector_update_all_nodes_health_duration_seconds_bucket{le="163.84"} 1',
      'node_collector_update_node_health_duration_seconds_bucket{le="16.384"} 1',
    );
  });

  it('tell of health checks at /metrics/slis', async () => {
    const { metrics } = measure();
    metrics.onLook('ping', 'livez', null);
    metrics.onLook('clock', 'readyz', 'was set back');
    const lines = (await metricsText(metrics.slis, 'text')).trimEnd().split('\n');
    assert.deepEqual(lines, [
      '# HELP kubernetes_healthcheck [STABLE] This metric records the result of a single healthcheck.',
      '# TYPE kubernetes_healthcheck gauge',
      'kubernetes_healthcheck{name="clock",type="readyz"} 0',
      'kubernetes_healthcheck{name="ping",type="livez"} 1',
      '# HELP kubernetes_healthchecks_total [STABLE] This metric records the results of all healthcheck.',
      '# TYPE kubernetes_healthchecks_total counter',
      'kubernetes_healthchecks_total{name="clock",status="error",type="readyz"} 1',
      'kubernetes_healthchecks_total{name="ping",status="success",type="livez"} 1',
    ]);
  });
});

describe('metrics of our own', () => {
  it('count nothing as deleted in a dry run', async () => {
    const { metrics, notify } = measure(true);
    notify(sent, 0);
    notify(finished({ kind: 'done' }), 25);
    await has(
      metrics,
      'taintmgr_dry_run 1',
      'taint_eviction_controller_pod_deletions_total 0',
      'taintmgr_eviction_attempts_total{code="",mode="delete",outcome="done"} 1',
    );
  });

  it('follow an eviction that is scheduled, fails, is held and goes', async () => {
    const { metrics, notify } = measure();
    const deadline = { kind: 'deadline', pod, because } as const;
    const far = Date.now() + 3_600_000;
    notify(reported({ ...deadline, from: null, to: far, cause: 'NodeChanged' }), 0);
    await has(
      metrics,
      'taintmgr_decisions_total{cause="NodeChanged",decision="scheduled"} 1',
      'taintmgr_pending_evictions 1',
      'taintmgr_overdue_evictions 0',
      `taintmgr_next_deadline_timestamp_seconds ${numberText(far / 1000)}`,
    );
    notify(reported({ ...deadline, from: far, to: 1, cause: 'PodChanged' }), 0);
    await has(
      metrics,
      'taintmgr_decisions_total{cause="PodChanged",decision="moved"} 1',
      'taintmgr_overdue_evictions 1',
      'taintmgr_next_deadline_timestamp_seconds +Inf',
      'workqueue_depth{name="noexec_taint_pod"} 1',
    );
    const hit = { per: 'zone', name: 'a', limit: 'percent', tripped: false } as const;
    notify(reported({ kind: 'queued', pod, hit, until: null }), 0);
    notify(sent, 0);
    await has(
      metrics,
      'taintmgr_evictions_held_total{per="zone",tripped="false"} 1',
      'taintmgr_evictions_under_way 1',
      'taintmgr_pending_evictions 0',
    );
    const setback = { kind: 'failed', status: 500, message: 'no', retryAfter: null } as const;
    notify(finished(setback), 0);
    const blocker = { code: 'ServerError', verdict: 'resolves', message: 'no' } as const;
    notify(reported({ kind: 'retry', pod, attempt: 1, at: due, setback, blocker }), 0);
    await has(
      metrics,
      'taintmgr_eviction_attempts_total{code="500",mode="delete",outcome="failed"} 1',
      'taintmgr_eviction_setbacks_total{blocker="ServerError"} 1',
      'workqueue_retries_total{name="noexec_taint_pod"} 1',
      'taintmgr_pending_evictions 1',
      'taintmgr_evictions_under_way 0',
    );
    notify(reported({ ...deadline, from: due, to: null, cause: 'PodDeleted' }), 0);
    await has(
      metrics,
      'taintmgr_decisions_total{cause="PodDeleted",decision="called_off"} 1',
      'taintmgr_pending_evictions 0',
    );
  });

  it('count as called off what this replica called off, and nothing on a standby', async () => {
    const { stats, metrics, notify } = measure();
    const end = {
      kind: 'deadline',
      pod,
      because,
      from: due,
      to: null,
      cause: 'PodChanged',
    } as const;
    const counted = async (): Promise<readonly string[]> => {
      return (await linesOf(metrics)).filter((line) => line.includes('called_off'));
    };
    stats.leadership.elect(false);
    notify(reported(end), 0);
    assert.deepEqual(await counted(), []);
    stats.leadership.elect(true);
    notify(reported(end), 0);
    // Not called off: a request that nobody answered may have made the pod leave.
    notify(reported({ ...end, unanswered: true }), 0);
    assert.deepEqual(await counted(), [
      'taintmgr_decisions_total{cause="PodChanged",decision="called_off"} 1',
    ]);
    await has(metrics, 'taintmgr_decisions_total{cause="PodChanged",decision="unanswered"} 1');
  });

  it('name limits that have tripped before all others, and then those without room', async () => {
    const { stats, metrics } = measure();
    const count = { evicted: 1, unavailable: 1, most: 3, of: 9, windowMs: 600_000 };
    const hit = { per: 'namespace', limit: 'pods', tripped: false, since: null, count } as const;
    const limitOf = (name: string): LimitStatus => ({ ...hit, name, id: `namespace=${name}` });
    const limits: readonly LimitStatus[] = [
      ...Array.from({ length: 120 }, (_, index) => limitOf(`ns-${index}`)),
      { ...limitOf('full'), count: { ...count, evicted: 2 } },
      { ...limitOf('shut'), tripped: true, since: due },
    ];
    stats.running = { ...idle, limits: () => limits };
    await has(
      metrics,
      'taintmgr_limit_tripped{limit="namespace=shut"} 1',
      'taintmgr_limit_evicted_pods{limit="namespace=full"} 2',
      'taintmgr_limit_evicted_pods{limit="namespace=ns-97"} 1',
    );
    const named = (await linesOf(metrics)).filter((one) =>
      one.startsWith('taintmgr_limit_evicted_pods{'),
    );
    assert.equal(named.length, 100);
  });

  it('measure the process and its watches', async () => {
    const { stats, metrics, notify } = measure();
    stats.running = {
      ...idle,
      status: () => [
        { resource: 'nodes', state: 'Watching', heardAt: due },
        { resource: 'pods', nodeName: 'n1', state: 'Watching', heardAt: due },
        { resource: 'pods', nodeName: 'n2', state: 'Watching', heardAt: due - 5000 },
        { resource: 'leases', state: 'Listing', heardAt: null },
      ],
    };
    notify({ kind: 'listed', resource: 'nodes', objects: 1, upserts: 1, deletes: 0 }, 0);
    await has(
      metrics,
      'taintmgr_event_loop_lag_seconds 1.5',
      'taintmgr_acting 1',
      'leader_election_master_status{name="taintmgr-controller"} 1',
      '# TYPE leader_election_master_status gauge',
      `taintmgr_watch_last_event_timestamp_seconds{resource="nodes"} ${numberText(due / 1000)}`,
      `taintmgr_watch_last_event_timestamp_seconds{resource="pods"} ${numberText(due / 1000 - 5)}`,
      'taintmgr_lists_total{resource="nodes"} 1',
    );
    const lines = await linesOf(metrics);
    assert.ok(!lines.some((line) => line.includes('{resource="leases"}')), 'not read yet');
  });

  for (const [name, machineAt] of [
    ['set ahead, or slept', due + 3_600_000],
    ['set back', due - 3_600_000],
  ] as const) {
    it(`say when a resource was last heard of by the clock of a machine that was ${name}`, async () => {
      const { stats, metrics } = measure(false, () => machineAt);
      const status = { resource: 'nodes', state: 'Watching', heardAt: due - 5000 } as const;
      stats.running = { ...idle, status: () => [status] };
      await has(
        metrics,
        `taintmgr_watch_last_event_timestamp_seconds{resource="nodes"} ${numberText(machineAt / 1000 - 5)}`,
      );
    });
  }
});

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

it('does not wake a process at rest to see how late its loop is', async (t) => {
  const monitor = t.mock.method(perfHooks, 'monitorEventLoopDelay');
  const { metrics } = measure();
  const resolutions = monitor.mock.calls.map(({ arguments: [options] }) => options?.resolution);
  assert.deepEqual(resolutions, [86_400_000]);
  const text = await metrics.registry.metrics();
  const lags = text.split('\n').filter((line) => /^# HELP \w*event_?loop_lag/.test(line));
  assert.deepEqual(
    lags.map((line) => line.split(' ')[2]),
    ['nodejs_eventloop_lag_seconds', 'taintmgr_event_loop_lag_seconds'],
  );
});
