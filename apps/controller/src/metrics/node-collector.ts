import type { Event } from '@taintmgr/core';
import type { ZoneState, ZoneStatus } from '@taintmgr/core/lifecycle';
import type { ProcessStats } from '../stats/process-stats.ts';
import type { Handled, Meter, Tally } from './meter.ts';

/**
 * Metrics of nodes and zones, under the names of kube-controller-manager's
 * node-lifecycle-controller. Labels of zones have its NUL character too. A node's health is
 * updated with each event of it, that of all nodes with a tick.
 */
export function nodeCollectorMetrics(meter: Meter, stats: ProcessStats): Handled {
  zoneMetrics(meter, stats);
  const one = meter
    .histogram(
      'node_collector_update_node_health_duration_seconds',
      '[ALPHA] Duration in seconds for NodeController to update the health of a single node.',
      fourfold(0.001),
    )
    .of({});
  const all = meter
    .histogram(
      'node_collector_update_all_nodes_health_duration_seconds',
      '[ALPHA] Duration in seconds for NodeController to update the health of all nodes.',
      fourfold(0.01),
    )
    .of({});
  const histograms = new Map<Event['kind'], Tally>([
    ['nodeUpsert', one],
    ['leaseUpsert', one],
    ['tick', all],
  ]);
  return (event, seconds) => histograms.get(event)?.observe(seconds);
}

function zoneMetrics(meter: Meter, stats: ProcessStats): void {
  const zones = zoneReader(stats);
  meter.totals(
    'node_collector_evictions_total',
    '[STABLE] Number of Node evictions that happened since current instance of NodeController started.',
    ['zone'],
    () => Array.from(zones(), ({ key: zone, tainted }) => [{ zone }, tainted]),
  );
  meter.readings(
    'taintmgr_zone_state',
    '1 for the state of a zone, 0 for others.',
    ['zone', 'state'],
    () =>
      [...zones()].flatMap(({ key: zone, state }) =>
        zoneStates.map((one) => [{ zone, state: one }, one === state ? 1 : 0] as const),
      ),
  );
  for (const { name, help, value } of zoneGauges) {
    meter.readings(name, help, ['zone'], () =>
      Array.from(zones(), (zone) => [{ zone: zone.key }, value(zone)]),
    );
  }
}

const zoneStates: readonly ZoneState[] = [
  'Initial',
  'Normal',
  'PartialDisruption',
  'FullDisruption',
];

interface ZoneGauge {
  readonly name: string;
  readonly help: string;
  readonly value: (zone: ZoneStatus) => number;
}

const zoneGauges: readonly ZoneGauge[] = [
  {
    name: 'node_collector_zone_health',
    help: '[ALPHA] Gauge measuring percentage of healthy nodes per zone.',
    value: ({ ready, notReady }) =>
      ready + notReady === 0 ? 100 : (100 * ready) / (ready + notReady),
  },
  {
    name: 'node_collector_zone_size',
    help: '[ALPHA] Gauge measuring number of registered Nodes per zones.',
    value: ({ ready, notReady }) => ready + notReady,
  },
  {
    name: 'node_collector_unhealthy_nodes_in_zone',
    help: '[ALPHA] Gauge measuring number of not Ready Nodes per zones.',
    value: ({ notReady }) => notReady,
  },
  {
    name: 'taintmgr_taint_queue_depth',
    help: 'Nodes of a zone queued for their taint.',
    value: ({ waiting }) => waiting.length,
  },
  {
    name: 'taintmgr_taint_rate_limit',
    help: 'Eviction rate of a zone: nodes tainted per second at most.',
    value: ({ rate }) => rate,
  },
  {
    name: 'taintmgr_zone_held',
    help: '1: no node of the zone is tainted for now.',
    value: ({ hold }) => (hold === null ? 0 : 1),
  },
];

/** The zones there are, and those there were: their series say that they are empty. */
function zoneReader(stats: ProcessStats): () => Iterable<ZoneStatus> {
  const seen = new Map<string, ZoneStatus>();
  return () => {
    for (const [key, zone] of seen) {
      seen.set(key, {
        ...zone,
        state: null,
        ready: 0,
        notReady: 0,
        rate: 0,
        hold: null,
        waiting: [],
      });
    }
    const { running } = stats;
    for (const zone of running?.zones(running.now()) ?? []) seen.set(zone.key, zone);
    return seen.values();
  };
}

/** kube-controller-manager's buckets: eight, each four times the one before. */
function fourfold(start: number): number[] {
  return Array.from({ length: 8 }, (_, index) => start * 4 ** index);
}
