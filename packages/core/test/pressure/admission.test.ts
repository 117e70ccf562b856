import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { admissionFault } from '@taintmgr/core/pressure';
import { pressurePod } from './objects.ts';

describe('new pods', () => {
  const best = pressurePod('best', { qosClass: 'BestEffort' });
  const burstable = pressurePod('burstable', { qosClass: 'Burstable' });
  const toleration = {
    key: 'node.kubernetes.io/memory-pressure',
    operator: 'Exists',
    value: '',
    effect: 'NoSchedule',
    tolerationSeconds: null,
  };

  it('are turned away in the words of the kubelet', () => {
    assert.equal(admissionFault([], best, []), null);
    assert.equal(
      admissionFault(['MemoryPressure'], best, []),
      'The node had condition: [MemoryPressure]. ',
    );
    assert.equal(admissionFault(['MemoryPressure'], best, [toleration]), null);
    assert.equal(admissionFault(['MemoryPressure'], burstable, []), null);
    assert.equal(
      admissionFault(['MemoryPressure', 'DiskPressure'], burstable, [toleration]),
      'The node had condition: [MemoryPressure DiskPressure]. ',
    );
    assert.equal(admissionFault(['DiskPressure'], { ...best, isMirror: true }, []), null);
  });
});
