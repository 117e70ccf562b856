import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isFinished, isLocal } from '../../../src/pressure/pods/pressure-pod.ts';
import { pressurePod } from '../objects.ts';

it('has ended by its phase', () => {
  const phases = ['Running', 'Pending', 'Succeeded', 'Failed'];
  const ended = phases.filter((phase) => isFinished(pressurePod('web', { phase })));
  assert.deepEqual(ended, ['Succeeded', 'Failed']);
});

it('has volumes on the disk of its node, and others', () => {
  const kinds = ['emptyDir', 'hostPath', 'gitRepo', 'configMap', 'secret', 'nfs'];
  const local = kinds.filter((kind) => isLocal({ name: 'v', kind }));
  assert.deepEqual(local, ['emptyDir', 'hostPath', 'gitRepo', 'configMap']);
  assert.ok(!isLocal({ name: 'v', kind: 'emptyDir', medium: 'Memory' }));
});
