import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { metricsText } from '../../src/metrics/exposition.ts';
import { createMetrics, type Metrics } from '../../src/metrics/metrics.ts';
import { due, finished, idle, type Measured, measure, pod, reported, sent } from './measured.ts';

// The metrics of kube-controller-manager 1.36 that dashboards and alerts are made of: the table says
// how they look there, byte for byte, and each of them is seen to move.

interface Row {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** Names, in the order in which they are written. */
  readonly labels: string;
  readonly help: string;
  /** The values of `le`; of histograms alone. */
  readonly buckets?: string;
}

const rows: readonly Row[] = JSON.parse(
  readFileSync(new URL('../testdata/metrics/upstream-metrics.json', import.meta.url), 'utf8'),
);

/** The lines of a family, HELP and TYPE first. */
function linesOf(text: string, { name, type }: Row): readonly string[] {
  const parts = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
  const own = [`# HELP ${name}`, `# TYPE ${name}`, ...parts.map((part) => `${name}${part}`)];
  return text.split('\n').filter((line) => own.some((start) => isOf(line, start)));
}

function isOf(line: string, start: string): boolean {
  return line.startsWith(start) && ' {'.includes(line.charAt(start.length));
}

function labelNames(line: string): string {
  return Array.from(line.matchAll(/[{,]([a-z]+)="/g), ([, name]) => name).join(' ');
}

type Move = (measured: Measured) => void;

const zone = {
  name: 'r1/a',
  key: 'r1:\0:a',
  state: 'Normal',
  ready: 3,
  notReady: 1,
  rate: 0.1,
  hold: null,
  waiting: [],
  tainted: 2,
} as const;

const evict: Move = ({ notify }) => {
  notify(sent, 100);
  notify(finished({ kind: 'done' }), 125);
};
const send: Move = ({ notify }) => notify(sent, Date.now() - due - 5_000);
const beginZone: Move = ({ stats }) => {
  stats.running = { ...idle, zones: () => [zone] };
};
const handle =
  (kind: 'tick' | 'nodeUpsert'): Move =>
  ({ metrics }) => {
    const machine = metrics.timed({ nextWake: () => null, handle: () => [] });
    if (kind === 'tick') machine.handle(due, { kind });
    else machine.handle(due, { kind, node: { name: 'n1', uid: 'u-n1', taints: [] } });
  };
const request: Move = ({ metrics }) => {
  metrics.requests.waited('GET', 0.5);
  metrics.requests.sent('PATCH', 100);
  metrics.requests.answered('GET', '200', 0.25);
  metrics.requests.received('GET', 2_000_000);
};
const setback = { kind: 'failed', status: 500, message: 'no', retryAfter: null } as const;
const blocker = { code: 'ServerError', verdict: 'resolves', message: 'no' } as const;

/** What makes each of them move. */
const moves: Readonly<Record<string, Move>> = {
  taint_eviction_controller_pod_deletions_total: evict,
  taint_eviction_controller_pod_deletion_duration_seconds: evict,
  node_collector_evictions_total: beginZone,
  node_collector_zone_health: beginZone,
  node_collector_zone_size: beginZone,
  node_collector_unhealthy_nodes_in_zone: beginZone,
  node_collector_update_node_health_duration_seconds: handle('nodeUpsert'),
  node_collector_update_all_nodes_health_duration_seconds: handle('tick'),
  workqueue_depth: ({ notify }) => {
    const deadline = { from: null, to: 1, cause: 'NodeChanged', because: [] } as const;
    notify(reported({ kind: 'deadline', pod, ...deadline }), 0);
  },
  workqueue_adds_total: handle('nodeUpsert'),
  workqueue_queue_duration_seconds: send,
  workqueue_work_duration_seconds: evict,
  workqueue_unfinished_work_seconds: send,
  workqueue_longest_running_processor_seconds: send,
  workqueue_retries_total: ({ notify }) =>
    notify(reported({ kind: 'retry', pod, attempt: 1, at: due, setback, blocker }), 0),
  leader_election_master_status: ({ stats }) => stats.leadership.elect(false),
  rest_client_requests_total: request,
  rest_client_request_duration_seconds: request,
  rest_client_rate_limiter_duration_seconds: request,
  rest_client_request_size_bytes: request,
  rest_client_response_size_bytes: request,
};

/** These are as they are from the beginning: each is above this. */
const floors: Readonly<Record<string, number>> = {
  kubernetes_feature_enabled: 0,
  process_cpu_seconds_total: 0,
  process_resident_memory_bytes: 1e6,
  process_virtual_memory_bytes: 1e6,
  process_start_time_seconds: 1.7e9,
  process_open_fds: 2,
  process_max_fds: 2,
};

describe('metrics of kube-controller-manager', () => {
  it('are all here, with names, types, texts, labels and buckets byte for byte', async () => {
    const measured = measure();
    for (const move of Object.values(moves)) move(measured);
    const text = await metricsText(measured.metrics.registry, 'text');
    for (const row of rows) {
      const [help, type, ...series] = linesOf(text, row);
      assert.equal(help, `# HELP ${row.name} ${row.help}`);
      assert.equal(type, `# TYPE ${row.name} ${row.type}`);
      assert.notEqual(series.length, 0);
      for (const line of series) {
        const bound = line.includes('_bucket{') ? ' le' : '';
        assert.equal(labelNames(line), `${row.labels}${bound}`.trim(), line);
      }
      const bounds = series.flatMap((line) => /le="([^"]+)"/.exec(line)?.[1] ?? []);
      const once = [...new Set(bounds)].join(' ');
      assert.equal(once, row.buckets ?? '', row.name);
    }
  });

  for (const row of rows) {
    it(`${row.name} moves`, async () => {
      const measured = measure();
      const values = async (): Promise<readonly string[]> =>
        linesOf(await metricsText(measured.metrics.registry, 'text'), row).slice(2);
      const before = await values();
      const move = moves[row.name];
      if (move) {
        move(measured);
        assert.notDeepEqual(await values(), before);
      } else {
        const floor = floors[row.name] ?? assert.fail('nothing makes it move');
        assert.ok(
          before.every((line) => Number(line.split(' ').at(-1)) > floor),
          `${before}`,
        );
      }
    });
  }

  it('tell of feature gates, on and off', async () => {
    const of = async (on: boolean): Promise<string> => {
      const metrics: Metrics = createMetrics({
        ...measure().options,
        featureGates: { TaintTolerationComparisonOperators: on },
      });
      return metricsText(metrics.registry, 'text');
    };
    const series =
      'kubernetes_feature_enabled{name="TaintTolerationComparisonOperators",stage="ALPHA"}';
    assert.ok((await of(true)).includes(`\n${series} 1\n`));
    assert.ok((await of(false)).includes(`\n${series} 0\n`));
  });
});
