import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { PressureSettingsInput } from '@taintmgr/core/pressure';
import { Gi, machineWith, observationOf, pressurePod } from '../objects.ts';

const hard: PressureSettingsInput = { evictionHard: { 'memory.available': '1Gi' } };

it('a pod that moves is on one node only', () => {
  const machine = machineWith([pressurePod('web')], hard);
  const node = { name: 'n2', uid: 'n2', labels: {}, conditions: [] };
  machine.handle(1, { kind: 'pressureNode', node });
  machine.handle(2, { kind: 'pressurePod', pod: pressurePod('web', { nodeName: 'n2' }) });
  const observation = observationOf({ 'memory.available': [1, 8 * Gi, 3] });
  const pods = ['n1', 'n2'].map((nodeName) => {
    machine.handle(3, { kind: 'observed', nodeName, observation });
    return machine.explain(3, nodeName)?.signals[0]?.order.map(({ pod }) => pod.name);
  });
  assert.deepEqual(pods, [[], ['web']]);
});
