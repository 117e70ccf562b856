import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ReadSettings, readSettings } from '../../src/evictors/settings.ts';

// What published settings come to, those included that nobody here knows.

const cases: readonly (readonly [
  name: string,
  settings: Readonly<Record<string, string>>,
  expected: Partial<ReadSettings>,
])[] = [
  ['nothing', {}, {}],
  [
    'a mode as policies write it',
    { mode: 'EvictThenDelete' },
    { engine: { mode: 'evict-then-delete' } },
  ],
  [
    'a mode in its earlier spelling',
    { mode: 'evictThenDelete' },
    { engine: { mode: 'evict-then-delete' } },
  ],
  [
    'what predictions go by',
    { mode: 'evict-then-delete', 'delete-after': '1h30m', 'node-eviction-rate': '0.5' },
    {
      engine: { mode: 'evict-then-delete', deleteAfterMs: 5_400_000 },
      lifecycle: { nodeEvictionRate: 0.5 },
    },
  ],
  [
    'how it is run is left out',
    {
      ...{
        'leader-elect-lease-duration': '15s',
        'kube-api-qps': '20',
        'pod-watch': 'auto',
        'dry-run': 'none',
      },
      ...{ 'eviction-hard': 'memory.available<100Mi', 'summary-period': '10s' },
    },
    {},
  ],
  [
    'a setting of a later version',
    { mode: 'delete', 'evict-on': 'sundays' },
    { engine: { mode: 'delete' }, unusable: ['evict-on=sundays'] },
  ],
  [
    'values that cannot be read',
    {
      ...{ mode: 'gently', 'delete-after': 'soon', 'node-monitor-period': '5' },
      ...{ 'feature-gates': 'Other=maybe', 'eviction.leave': '{"finishedPods":1}' },
    },
    {
      unusable: [
        ...['mode=gently', 'delete-after=soon', 'node-monitor-period=5'],
        ...['feature-gates=Other=maybe', 'eviction.leave={"finishedPods":1}'],
      ],
    },
  ],
  [
    'gates of a start line of kube-controller-manager',
    {
      'feature-gates': 'DRADeviceTaints=true,kube:TaintTolerationComparisonOperators=true,Other=0',
    },
    { engine: { comparisonOperators: true } },
  ],
  [
    'values that the engine refuses',
    {
      ...{ 'eviction.gracePeriodSeconds': '0', 'node-monitor-grace-period': '0s' },
      'nodeLifecycle.flapping': '{"times":0,"within":"1m","healthy":"1m"}',
      'nodeLifecycle.massUnreachable': '{"share":2,"nodesMin":1,"within":"1m","hold":"soon"}',
    },
    {
      unusable: [
        ...['eviction.gracePeriodSeconds=0', 'node-monitor-grace-period=0s'],
        'nodeLifecycle.flapping={"times":0,"within":"1m","healthy":"1m"}',
        'nodeLifecycle.massUnreachable={"share":2,"nodesMin":1,"within":"1m","hold":"soon"}',
      ],
    },
  ],
  [
    'the legacy mode beside the semantics that has it, in whatever order',
    { 'nodeLifecycle.enforcement': 'pods', semantics: 'upstream-1.36' },
    {
      engine: { semantics: 'upstream-1.36' },
      lifecycle: { enforcement: 'pods' },
      followsCluster: false,
    },
  ],
  [
    'the legacy mode without it',
    { 'nodeLifecycle.enforcement': 'pods' },
    { unusable: ['nodeLifecycle.enforcement=pods'] },
  ],
  ['policies of the cluster', { 'cluster-policies': 'false' }, { followsCluster: false }],
];

describe('published settings', () => {
  for (const [name, settings, expected] of cases) {
    it(name, () => {
      const nothing = { engine: {}, lifecycle: {}, followsCluster: true, unusable: [] };
      assert.deepEqual(readSettings(settings), { ...nothing, ...expected });
    });
  }
});
