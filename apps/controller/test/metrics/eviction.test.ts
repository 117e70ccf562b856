import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LimitStatus } from '@taintmgr/core/policy';
import type { ShadowReport } from '@taintmgr/core/shadow';
import type { Notice } from '@taintmgr/k8s-adapter';
import { Leadership } from '../../src/leadership/leadership.ts';
import { metricsText } from '../../src/metrics/exposition.ts';
import { createMetrics, type Metrics } from '../../src/metrics/metrics.ts';
import { because, due, finished, idle, measure, pod, reported, sent } from './measured.ts';

// What each notice counts as, in the metrics that alerts and dashboards go by.

const second = 1000;
const setback = { kind: 'failed', status: null, message: 'no', retryAfter: null } as const;
const failure = {
  ...{ status: 500, reason: '', message: 'no', retryAfter: null, causes: [], name: '', kind: '' },
} as const;
const subject = { apiVersion: 'v1', kind: 'Pod', ...pod };
const event = { subject, type: 'Normal', reason: 'R', message: 'm' } as const;
const reconnecting = { kind: 'reconnecting', resource: 'pods', failure, wait: 1 } as const;
const limit: LimitStatus = {
  ...{ per: 'zone', name: 'a', limit: 'pods', tripped: true, id: 'zone=a', since: due },
};
const node = { name: 'n1', uid: 'u' };
const untainted = {
  kind: 'writeFailed',
  node,
  write: 'noExecute',
  outcome: setback,
  at: due,
} as const;
const unmarked = { target: pod, attempt: 1, outcome: setback, at: due } as const;
const scheduled = reported({
  ...{ kind: 'deadline', pod, from: null, to: due, cause: 'NodeChanged', because },
});

async function textOf({ registry }: Pick<Metrics, 'registry'>): Promise<string> {
  return metricsText(registry, 'text');
}

describe('a notice counts as', () => {
  const cases: readonly (readonly [
    name: string,
    notices: readonly (readonly [after: number, notice: Notice])[],
    lines: readonly string[],
  ])[] = [
    [
      'a step of the clock, ahead or back',
      [5000, -1, -5000].map((by) => [0, { kind: 'clockStepped', who: 'a', by }]),
      [
        'taintmgr_clock_steps_total{direction="ahead"} 1',
        'taintmgr_clock_steps_total{direction="back"} 2',
      ],
    ],
    [
      'how far the API server is ahead, in seconds',
      [[0, { kind: 'serverClockMoved', who: 'a', ahead: -2500, by: 1 }]],
      ['taintmgr_server_clock_ahead_seconds -2.5'],
    ],
    [
      'an attempt that nobody has answered, which is no deletion',
      [[0, finished(setback)]],
      [
        'taintmgr_eviction_attempts_total{code="<error>",mode="delete",outcome="failed"} 1',
        'taint_eviction_controller_pod_deletions_total 0',
        'taintmgr_pdb_bypass_total 0',
      ],
    ],
    [
      'a late eviction',
      [
        [-second, scheduled],
        [31 * second, sent],
      ],
      ['taintmgr_late_evictions_total 1'],
    ],
    [
      'no late eviction',
      [
        [-second, scheduled],
        [29 * second, sent],
      ],
      ['taintmgr_late_evictions_total 0'],
    ],
    [
      'a lost eviction, as long as nothing is sent',
      [[-second, scheduled]],
      ['taintmgr_lost_evictions 1'],
    ],
    [
      'a failed write, to a node or to its pod',
      [
        [0, reported(untainted)],
        [0, reported({ kind: 'podMarkFailed', ...unmarked })],
      ],
      [
        'taintmgr_write_failures_total{write="noExecute"} 1',
        'taintmgr_write_failures_total{write="podReadiness"} 1',
        'workqueue_retries_total{name="node_lifecycle_controller"} 1',
      ],
    ],
    [
      'a limit that has tripped, and one that was resumed',
      [
        [0, reported({ kind: 'limitTripped', limit })],
        [0, reported({ kind: 'limitTripped', limit: { ...limit, per: 'node' } })],
        [0, reported({ kind: 'limitResumed', limit, by: 'ada' })],
      ],
      [
        'taintmgr_limit_trips_total{per="zone"} 1',
        'taintmgr_limit_trips_total{per="node"} 1',
        'taintmgr_limit_resumes_total{per="zone"} 1',
      ],
    ],
    [
      'Events, recorded and lost',
      [
        [0, { kind: 'eventRecorded', event, count: 4 }],
        [0, { kind: 'eventLost', event, why: 'failed', failure }],
        [0, { kind: 'eventsDropped', count: 3, why: 'queueFull' }],
      ],
      ['taintmgr_events_total{result="recorded"} 1', 'taintmgr_events_total{result="lost"} 4'],
    ],
    [
      'a read that failed',
      [
        [0, { ...reconnecting, next: 'watch' }],
        [0, { ...reconnecting, next: 'list' }],
      ],
      [
        'taintmgr_reconnects_total{next="watch",resource="pods"} 1',
        'taintmgr_reconnects_total{next="list",resource="pods"} 1',
      ],
    ],
  ];
  for (const [name, notices, expected] of cases) {
    it(name, async () => {
      const { stats, metrics, notify } = measure();
      stats.running = { ...idle, wall: () => due + 61 * second };
      stats.leadership.elect(true);
      for (const [after, notice] of notices) notify(notice, after);
      const lines = (await textOf(metrics)).split('\n');
      const names = expected.map((line) => line.split(/[ {]/)[0] ?? '');
      const alike = lines.filter((line) =>
        names.some((one) => new RegExp(`^${one}[ {]`).test(line)),
      );
      for (const line of expected)
        assert.ok(alike.includes(line), `${line}\nin\n${alike.join('\n')}`);
    });
  }

  it('a deletion past budgets only where it was one', async () => {
    const { metrics, notify } = measure();
    const done = finished({ kind: 'done' });
    assert.ok(done.kind === 'commandFinished' && done.command.kind === 'deletePod');
    notify({ ...done, command: { ...done.command, escalated: false } }, 0);
    assert.match(await textOf(metrics), /^taintmgr_pdb_bypass_total 0$/m);
  });
});

describe('whether this replica acts', () => {
  const cases: readonly (readonly [
    name: string,
    leadership: Leadership,
    acting: number,
    overlap: number,
    leads: number,
  ])[] = [
    ['as the leader', new Leadership(true, () => {}), 1, 0, 1],
    ['as another leads', new Leadership(false, () => {}), 0, 0, 0],
    ['as it stands by for others', overlapping(false), 0, 1, 1],
    ['as others are accepted', overlapping(true), 1, 1, 1],
  ];
  for (const [name, leadership, acting, overlap, leads] of cases) {
    it(name, async () => {
      const { options, stats } = measure();
      const text = await textOf(createMetrics({ ...options, stats: { ...stats, leadership } }));
      assert.match(text, new RegExp(`^taintmgr_acting ${acting}$`, 'm'));
      assert.match(text, new RegExp(`^taintmgr_overlap ${overlap}$`, 'm'));
      assert.match(text, new RegExp(`^leader_election_master_status{.*} ${leads}$`, 'm'));
    });
  }
});

function overlapping(accepts: boolean): Leadership {
  const leadership = new Leadership(true, () => {}, accepts);
  leadership.collide('somebody else does the same work');
  return leadership;
}

it('a feature gate that is off is told to be', async () => {
  const { options } = measure();
  const featureGates = { TaintTolerationComparisonOperators: false };
  const text = await textOf(createMetrics({ ...options, featureGates }));
  assert.match(
    text,
    /^kubernetes_feature_enabled{name="TaintTolerationComparisonOperators",.*} 0$/m,
  );
});

it('the shadow is told with a number for each verdict', async () => {
  const { options } = measure();
  const counts = { same: 1, earlier: 2, later: 3, kept: 4, onlyTaintmgr: 5, budgetsAsked: 6 };
  const none = { earlierBy: null, laterBy: null, taints: [], namespaces: [], policies: [] };
  const empty = { ...none, reasons: [], recent: [] };
  const report: ShadowReport = {
    ...{ since: due, counts, ...empty, following: 7 },
    ...{ notDeleted: 8, leftOtherwise: 9, givenUp: 10 },
  };
  const text = await textOf(createMetrics({ ...options, shadow: () => report }));
  const found = Array.from(text.matchAll(/^taintmgr_shadow_(\w+)(?:{\w+="(\w+)"})? (\d+)$/gm));
  assert.deepEqual(
    Object.fromEntries(found.map(([, name, label, value]) => [label ?? name, Number(value)])),
    {
      ...{ same: 1, earlier: 2, later: 3, kept: 4, onlyTaintmgr: 5 },
      ...{ budgets_asked_pods_total: 6, following_pods: 7 },
      ...{ notDeleted: 8, leftOtherwise: 9, givenUp: 10 },
    },
  );
});
