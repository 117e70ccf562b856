import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LimitStatus } from '@taintmgr/core/policy';
import type { Metrics } from '../../src/metrics/metrics.ts';
import { metricsText, numberText } from '../../src/metrics/text.ts';
import { because, due, finished, idle, measure, pod, reported, sent } from './measured.ts';

async function linesOf({ registry }: Metrics): Promise<readonly string[]> {
  return (await metricsText(registry, 'text')).split('\n');
}

async function has(metrics: Metrics, ...expected: readonly string[]): Promise<void> {
  const lines = await linesOf(metrics);
  for (const line of expected) {
    const [name = ''] = line.split(/[ {]/);
    const alike = lines.filter((one) => one.startsWith(name));
    assert.ok(lines.includes(line), `${line}\nis not among\n${alike.join('\n')}`);
  }
}

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

  it('count zones and nodes, also of a zone that is no more', async () => {
    const { stats, metrics } = measure();
    const zone = {
      name: 'r1/a',
      key: 'r1:\0:a',
      state: 'Normal',
      ready: 3,
      notReady: 1,
      rate: 0.1,
      hold: { code: 'RateZero' },
      waiting: ['n1'],
      tainted: 2,
    } as const;
    let zones: readonly (typeof zone)[] = [zone];
    stats.running = { ...idle, zones: () => zones };
    const label = '{zone="r1:\0:a"}';
    await has(
      metrics,
      '# HELP node_collector_evictions_total [STABLE] Number of Node evictions that happened since current instance of NodeController started.',
      `node_collector_evictions_total${label} 2`,
      `node_collector_zone_health${label} 75`,
      `node_collector_zone_size${label} 4`,
      `node_collector_unhealthy_nodes_in_zone${label} 1`,
      `taintmgr_taint_queue_depth${label} 1`,
      `taintmgr_taint_rate_limit${label} 0.1`,
      `taintmgr_zone_held${label} 1`,
      'taintmgr_zone_state{state="Normal",zone="r1:\0:a"} 1',
    );
    zones = [];
    await has(
      metrics,
      `node_collector_evictions_total${label} 2`,
      `node_collector_zone_health${label} 100`,
      `node_collector_zone_size${label} 0`,
      `node_collector_unhealthy_nodes_in_zone${label} 0`,
      `taintmgr_taint_queue_depth${label} 0`,
      `taintmgr_taint_rate_limit${label} 0`,
      `taintmgr_zone_held${label} 0`,
      'taintmgr_zone_state{state="Normal",zone="r1:\0:a"} 0',
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
