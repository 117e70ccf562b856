import { it } from 'node:test';
import { has, idle, measure } from './measured.ts';

it('counts zones and nodes, also of a zone that is no more', async () => {
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
