import assert from 'node:assert/strict';
import { it } from 'node:test';
import { makeNode } from '../../src/model/builders.ts';
import {
  hasSameLabels,
  isShuttingDown,
  maintenanceOf,
  mergeConditions,
  type NodeCondition,
  nodePlace,
  readyStatus,
  zoneKey,
  zoneName,
} from '../../src/model/node.ts';

function condition(type: string, status: string, reason = '', message = ''): NodeCondition {
  return { type, status, reason, message, heartbeatAt: null, transitionAt: null };
}

it('gives conditions a new state, and appends those it lacked', () => {
  const merged = mergeConditions(
    [condition('Ready', 'True'), condition('DiskPressure', 'False')],
    [condition('PIDPressure', 'True'), condition('Ready', 'Unknown')],
  );
  assert.deepEqual(
    merged.map(({ type, status }) => `${type}=${status}`),
    ['Ready=Unknown', 'DiskPressure=False', 'PIDPressure=True'],
  );
});

it('is shutting down where its kubelet says so, by reason or by message', () => {
  const message = 'container runtime not ready; node is shutting down';
  const rows = [
    [condition('Ready', 'False', 'NodeShutdown'), true],
    [condition('Ready', 'False', 'KubeletNotReady', message), true],
    [condition('Ready', 'False', 'KubeletNotReady'), false],
    [condition('Ready', 'True', 'NodeShutdown'), false],
    [condition('GracefulNodeShutdownInProgress', 'True'), true],
    [condition('GracefulNodeShutdownInProgress', 'False'), false],
    [condition('GracefulNodeShutdownInProgress', 'Unknown'), false],
  ] as const;
  for (const [ready, expected] of rows)
    assert.equal(isShuttingDown({ conditions: [ready] }), expected);
  assert.equal(isShuttingDown({}), false);
});

it('is drained or maintained by the conditions that are True, in their order', () => {
  const conditions = [
    condition('MaintenanceInProgress', 'True'),
    condition('Drained', 'False'),
    condition('DrainInProgress', 'True'),
    condition('Ready', 'True'),
    condition('MaintenancePlanned', 'Unknown'),
  ];
  const types = maintenanceOf({ conditions }).map(({ type }) => type);
  assert.deepEqual(types, ['DrainInProgress', 'MaintenanceInProgress']);
  assert.deepEqual(maintenanceOf({}), []);
});

it('compares labels by what they say, of no node too', () => {
  const [a, b] = [{ app: 'a' }, { app: 'a' }].map((labels) => makeNode({ name: 'n', labels }));
  assert.ok(a && b && hasSameLabels(a, b));
  assert.ok(!hasSameLabels(a, makeNode({ name: 'n', labels: { app: 'b' } })));
  assert.ok(hasSameLabels(null, makeNode({ name: 'n' })) && !hasSameLabels(a, null));
});

it('has no status of Ready without the condition, and none without a node', () => {
  assert.deepEqual([readyStatus(null), readyStatus(makeNode({ name: 'n' }))], [null, null]);
});

const zone = 'topology.kubernetes.io/zone';
const region = 'topology.kubernetes.io/region';
const oldZone = 'failure-domain.beta.kubernetes.io/zone';

it('is named for people and for metrics', () => {
  const labels = { [zone]: 'a', [region]: 'eu' };
  assert.deepEqual([zoneName(labels), zoneKey(labels)], ['eu/a', 'eu:\0:a']);
  assert.deepEqual([zoneName({ [zone]: 'a' }), zoneKey({ [zone]: 'a' })], ['a', ':\0:a']);
  assert.deepEqual([zoneName({}), zoneKey({})], ['', '']);
});

it('is that of an old label before that of the new one', () => {
  assert.deepEqual(nodePlace({ [zone]: 'new', [oldZone]: 'old' }), ['', 'old']);
});
