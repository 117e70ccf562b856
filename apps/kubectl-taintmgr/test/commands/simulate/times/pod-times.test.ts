import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject, RangeMs } from '@taintmgr/sim-cluster';
import { observedStarts } from '../../../../src/commands/simulate/source/snapshot.ts';
import {
  PodTimes,
  parseRange,
  rangeText,
} from '../../../../src/commands/simulate/times/pod-times.ts';

// How long pods take: what each source says, and which of them counts.

const owner = (kind: string, name: string) => [
  { apiVersion: 'apps/v1', kind, name, uid: 'o', controller: true },
];

/** A pod of Deployment shop/web. */
function pod(spec: object, more: { readonly annotations?: object; readonly status?: object } = {}) {
  const labels = { 'pod-template-hash': 'abc' };
  const { annotations = {}, status = {} } = more;
  return {
    metadata: {
      ...{ name: 'web-abc-1', namespace: 'shop', labels, annotations },
      ownerReferences: owner('ReplicaSet', 'web-abc'),
    },
    spec,
    status,
  } as KubeObject;
}

const withContainer = (container: object, more: object = {}): object => ({
  containers: [{ name: 'web', ...container }],
  ...more,
});

describe('what the spec of a pod says', () => {
  const cases: readonly (readonly [name: string, spec: object, start: RangeMs, stop: RangeMs])[] = [
    ['nothing: images are at hand', withContainer({}), [500, 2000], [500, 3000]],
    [
      'the first look of a readiness probe, or the next',
      withContainer({ readinessProbe: { initialDelaySeconds: 20, periodSeconds: 5 } }),
      [20_500, 27_000],
      [500, 3000],
    ],
    [
      'the usual numbers of a probe',
      withContainer({ readinessProbe: { httpGet: {} } }),
      [500, 12_000],
      [500, 3000],
    ],
    [
      'a startup probe that may fail six times, then a readiness probe',
      withContainer({
        startupProbe: { initialDelaySeconds: 5, periodSeconds: 10, failureThreshold: 6 },
        readinessProbe: { periodSeconds: 2, successThreshold: 2 },
      }),
      // 5 s and one more look 2 s later; 5 + 6 * 10 s, then 2 + 2 s.
      [7500, 71_000],
      [500, 3000],
    ],
    [
      'the slowest of several containers',
      {
        containers: [
          { readinessProbe: { initialDelaySeconds: 3, periodSeconds: 1 } },
          { readinessProbe: { initialDelaySeconds: 1, periodSeconds: 9 } },
        ],
      },
      [3500, 12_000],
      [500, 3000],
    ],
    [
      'a hook that sleeps',
      withContainer({ lifecycle: { preStop: { sleep: { seconds: 15 } } } }),
      [500, 2000],
      [15_500, 18_000],
    ],
    [
      'a hook that sleeps by a command, longer than it may',
      withContainer({ lifecycle: { preStop: { exec: { command: ['sh', '-c', 'sleep 40'] } } } }),
      [500, 2000],
      [30_000, 30_000],
    ],
    [
      'a grace period that somebody has set',
      withContainer({}, { terminationGracePeriodSeconds: 90 }),
      [500, 2000],
      [500, 90_000],
    ],
    [
      'no grace at all',
      withContainer({}, { terminationGracePeriodSeconds: 0 }),
      [500, 2000],
      [0, 0],
    ],
  ];
  for (const [name, spec, podStartMs, podStopMs] of cases) {
    it(name, () => {
      assert.deepEqual(new PodTimes().of(pod(spec)), { podStartMs, podStopMs });
    });
  }
});

describe('who counts', () => {
  const probed = withContainer({ readinessProbe: { initialDelaySeconds: 20, periodSeconds: 5 } });
  const annotations = { 'taintmgr.dev/start-time': '60s-90s', 'taintmgr.dev/stop-time': '20s' };
  const observed = new Map<string, RangeMs>([['shop/web', [7000, 9000]]]);
  const said = new Map([['shop/web', { start: [1000, 1000] as const, stop: null }]]);

  it('is what was seen before probes, annotations before that, the script before all', () => {
    const start = (times: PodTimes, one: KubeObject): RangeMs => times.of(one).podStartMs;
    assert.deepEqual(start(new PodTimes(), pod(probed)), [20_500, 27_000]);
    assert.deepEqual(start(new PodTimes(new Map(), observed), pod(probed)), [7000, 9000]);
    const marked = pod(probed, { annotations });
    assert.deepEqual(start(new PodTimes(new Map(), observed), marked), [60_000, 90_000]);
    const all = new PodTimes(said, observed);
    assert.deepEqual(all.of(marked), { podStartMs: [1000, 1000], podStopMs: [20_000, 20_000] });
  });

  it('is said with what is assumed', () => {
    const deployment = {
      kind: 'Deployment',
      metadata: { namespace: 'shop', name: 'web' },
      spec: { template: { metadata: { annotations }, spec: probed } },
    } as KubeObject;
    assert.deepEqual(new PodTimes(said, observed).assumed(deployment), {
      workload: 'Deployment shop/web',
      start: { leastSeconds: 1, mostSeconds: 1, from: 'script' },
      stop: { leastSeconds: 20, mostSeconds: 20, from: 'annotation' },
    });
  });

  it('is not an annotation that is no time', () => {
    const wrong = pod({}, { annotations: { 'taintmgr.dev/start-time': 'soon' } });
    assert.deepEqual(new PodTimes().of(wrong).podStartMs, [500, 2000]);
  });
});

describe('what is seen in a snapshot', () => {
  const started = (second: number, more: object = {}): KubeObject => {
    const at = (after: number): string =>
      new Date(Date.parse('2026-03-01T10:00:00Z') + after * 1000).toISOString();
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: at(second) }];
    return pod({}, { status: { phase: 'Running', startTime: at(0), conditions, ...more } });
  };
  const cases: readonly (readonly [
    name: string,
    pods: readonly KubeObject[],
    range: RangeMs | undefined,
  ])[] = [
    ['the least and the most', [started(20), started(12), started(31)], [12_000, 31_000]],
    ['not what is too short to be told', [started(1), started(2), started(0)], undefined],
    [
      'not what was long after: it was not ready for a while',
      [started(10), started(500)],
      [10_000, 10_000],
    ],
    ['nor longer than ten minutes', [started(4000)], undefined],
    [
      'nor a pod whose containers were restarted',
      [started(20, { containerStatuses: [{ restartCount: 1 }] })],
      undefined,
    ],
    ['nor one that is not ready', [started(20, { conditions: [] })], undefined],
    ['nor one that has ended', [started(20, { phase: 'Succeeded' })], undefined],
  ];
  for (const [name, pods, range] of cases) {
    it(name, () => assert.deepEqual(observedStarts(pods).get('shop/web'), range));
  }
});

describe('a range', () => {
  const cases: readonly (readonly [text: string, range: RangeMs | null, shown: string])[] = [
    ['60s', [60_000, 60_000], '1m'],
    ['60s-90s', [60_000, 90_000], '1m to 1m30s'],
    ['500ms - 2s', [500, 2000], '0.5s to 2s'],
    ['90s-60s', null, ''],
    ['60', null, ''],
    ['1s-2s-3s', null, ''],
    ['', null, ''],
  ];
  for (const [text, range, shown] of cases) {
    it(text || 'nothing', () => {
      assert.deepEqual(parseRange(text), range);
      if (range) assert.equal(rangeText(range), shown);
    });
  }
});
