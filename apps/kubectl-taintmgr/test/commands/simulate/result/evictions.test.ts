import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Recording } from '@taintmgr/page';
import { EvictionLog } from '../../../../src/commands/simulate/result/evictions.ts';
import { run } from '../../../world/run.ts';
import { temporaryFiles } from '../../../world/simulate-files.ts';

const { write: file } = temporaryFiles();

/** Two nodes with a pod each, which may stay on a node in maintenance for five minutes. */
const topologyOf = (more: string): string => `
apiVersion: taintmgr.dev/v1alpha1
kind: Topology
nodes:
- {name: 'n', zone: z, count: 2}
workloads:
- kind: Deployment
  name: shop/web
  replicas: 2
  startTime: 2s
  tolerations: [{key: maint, operator: Exists, effect: NoExecute, tolerationSeconds: 300}]
  ${more}
`;

/** All runs of ten minutes. */
async function recordings(
  topology: string,
  script: string,
  ...args: readonly string[]
): Promise<readonly Recording[]> {
  const files = ['-f', file('topology.yaml', topology), '--script', file('events.yaml', script)];
  const until = ['--until', '10m', ...args];
  const { code, out, err } = await run('simulate', ...files, ...until, '-o', 'json');
  assert.equal(code, 0, err);
  return JSON.parse(out).runs;
}

const taint = "- {at: 1m, taint: {node: n-1, taint: 'maint=x:NoExecute'}}\n";

describe('the deadline of an evicted pod', () => {
  for (const grace of [0, 30]) {
    it(`has ended by its eviction where the pod has ${grace} s to stop`, async () => {
      const topology = topologyOf(`gracePeriodSeconds: ${grace}`);
      const runs = await recordings(topology, `events:\n${taint}`, '--compare');
      assert.equal(runs.length, 2);
      for (const { deadlines, evictions } of runs) {
        const ended = deadlines.filter(({ endedAt }) => endedAt !== null);
        assert.ok(ended.length > 0);
        assert.deepEqual(
          ended.map(({ pod, end, endedAt }) => [pod, end, endedAt]),
          evictions.map(({ pod, at }) => [pod, 'evicted', at]),
        );
      }
    });
  }

  it('is called off where somebody else deletes the pod', async () => {
    const scaled = `events:\n${taint}- {at: 2m, scale: {workload: shop/web, replicas: 0}}\n`;
    const [only] = await recordings(topologyOf('gracePeriodSeconds: 0'), scaled);
    assert.deepEqual(
      only?.deadlines.map(({ end, endedAt }) => [end, Math.floor(endedAt ?? 0)]),
      [['cancelled', 120]],
    );
  });
});

describe('how a pod was removed', () => {
  it('is by the eviction API, and by a deletion where kube-controller-manager does it', async () => {
    const runs = await recordings(
      topologyOf(''),
      `engine: {mode: evict}\nevents:\n${taint}`,
      '--compare',
    );
    assert.deepEqual(
      runs.map(({ evictions }) => evictions.map(({ how }) => how)),
      [['evict'], ['delete']],
    );
  });
});

describe('the time a pod was given', () => {
  const web = { namespace: 'shop', name: 'web-1', uid: 'u1', nodeName: 'n-1' };
  /** Deadlines at these seconds, one report after the other; null: it is called off. */
  const endsOf = (...deadlines: readonly (number | null)[]): readonly unknown[] => {
    const log = new EvictionLog(() => ({ workload: null, arrivedAt: 0, wasLeaving: false }), 0);
    for (const [at, seconds] of deadlines.entries()) {
      const to = seconds === null ? null : seconds * 1000;
      const rest = { from: null, cause: 'PodChanged', because: [] } as const;
      log.notice(at, { kind: 'report', report: { kind: 'deadline', pod: web, to, ...rest } });
    }
    return log.deadlines.map(({ dueAt, endedAt, end }) => [dueAt, endedAt, end]);
  };

  it('has moved, is called off, or is still to come', () => {
    assert.deepEqual(endsOf(60, 90, null, 30), [
      [60, 1, 'moved'],
      [90, 2, 'cancelled'],
      [30, null, 'pending'],
    ]);
  });
});

describe('a pod that leaves after an eviction without an answer', () => {
  const pod = { namespace: 'shop', name: 'web-1', uid: 'u1', nodeName: 'n-1' };
  const rest = { pod, cause: 'PodChanged', because: [] } as const;

  it('was evicted, in the way that was tried', () => {
    const log = new EvictionLog(() => ({ workload: null, arrivedAt: 0, wasLeaving: false }), 0);
    const moved = (at: number, to: number | null, unanswered?: true): void => {
      const report = { kind: 'deadline', from: null, to, ...rest } as const;
      log.notice(at, { kind: 'report', report: unanswered ? { ...report, unanswered } : report });
    };
    moved(0, 60_000);
    const options = { confirm: false, gracePeriodSeconds: null };
    const command = { kind: 'evictPod', id: 'evict/u1', ...options, ...rest } as const;
    const message = 'no answer within 30s';
    const outcome = { kind: 'failed', status: null, message, retryAfter: null } as const;
    log.notice(90, { kind: 'commandFinished', command, outcome, took: 30_000 });
    moved(95, null, true);
    assert.deepEqual(
      log.deadlines.map(({ dueAt, endedAt, end }) => [dueAt, endedAt, end]),
      [[60, 95, 'evicted']],
    );
    assert.deepEqual(
      log.evictions.map(({ at, how }) => [at, how]),
      [[95, 'evict']],
    );
  });
});

describe('a pod that a pause holds', () => {
  const cases = [
    ['until the pause is over', '', 240],
    [
      'until it is over, when the controller is away then',
      '- {at: 230s, restartController: {}, lasts: 30s}\n',
      260,
    ],
    [
      'until its node is free of taints',
      "- {at: 3m, untaint: {node: n-1, taint: 'maint:NoExecute'}}\n",
      180,
    ],
  ] as const;
  for (const [what, event, until] of cases) {
    it(`is held ${what}`, async () => {
      const pause = '- {at: 2m, pause: {name: work}, lasts: 2m}\n';
      const [only] = await recordings(topologyOf(''), `events:\n${taint}${pause}${event}`);
      const holds = only?.holds ?? [];
      assert.deepEqual(
        holds.map(({ kind, name, from }) => [kind, name, from]),
        [['pause', 'work', 120]],
      );
      const over = holds[0]?.until ?? 0;
      // What holds a pod is looked at once a second.
      assert.ok(over >= until && over <= until + 2, `until ${over}`);
    });
  }
});
