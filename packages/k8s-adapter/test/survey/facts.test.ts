import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeFacts, podFacts } from '../../src/survey/facts.ts';

const at = '2026-01-02T03:04:05Z';

describe('what is read of objects', () => {
  it('who last wrote the taints and the cordon of a node', () => {
    const write = (manager: string, time: string, field: string) => ({
      manager,
      time,
      fieldsV1: { 'f:spec': { [field]: {} } },
    });
    const managedFields = [
      write('kubectl-taint', '2026-01-02T03:00:00Z', 'f:taints'),
      write('kube-controller-manager', at, 'f:taints'),
      write('kubelet', '2026-01-02T09:00:00Z', 'f:podCIDR'),
      write('kubectl-drain', at, 'f:unschedulable'),
      { manager: 'odd' },
    ];
    const { taintsWritten } = nodeFacts({ metadata: { name: 'n1', managedFields } });
    assert.deepEqual(taintsWritten, { by: 'kube-controller-manager', at: Date.parse(at) });
    assert.equal(nodeFacts({ metadata: { name: 'n1' } }).taintsWritten, null);
    // One that uncordons the node writes the field as well.
    const cordoned = { metadata: { name: 'n1', managedFields }, spec: { unschedulable: true } };
    assert.deepEqual(nodeFacts(cordoned).cordonWritten, {
      by: 'kubectl-drain',
      at: Date.parse(at),
    });
    assert.equal(nodeFacts({ metadata: { name: 'n1', managedFields } }).cordonWritten, undefined);
  });

  it('whether a node is ready: what is not said is not known', () => {
    const ready = (condition: object) =>
      nodeFacts({ metadata: { name: 'n1' }, status: { conditions: [condition] } }).ready;
    const condition = { type: 'Ready', status: 'False', reason: 'Bad', lastTransitionTime: at };
    assert.deepEqual(ready(condition), { status: 'False', since: Date.parse(at), reason: 'Bad' });
    const untold = { status: 'Unknown', since: null, reason: '' };
    assert.deepEqual(ready({ type: 'MemoryPressure', status: 'False' }), untold);
    assert.deepEqual(ready({ type: 'Ready', status: 'odd' }), untold);
  });

  it('labels, readiness and finalizers of a pod', () => {
    const { pod, finalizers } = podFacts({
      metadata: { name: 'p', namespace: 'shop', labels: { app: 'p' }, finalizers: ['x/y'] },
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    });
    assert.deepEqual([pod.labels, pod.ready, finalizers], [{ app: 'p' }, 'True', ['x/y']]);
    assert.equal(podFacts({ metadata: { name: 'p' } }).pod.ready, null);
  });
});
