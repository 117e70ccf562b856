import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { removePod } from '../../../src/controller/procedures/pod-removal.ts';
import { newEventRequest } from '../../../src/proto/event-requests.ts';
import { PlayedSteps } from '../../world/steps.ts';

// How requests differ from those of kube-controller-manager, by the names in docs/differences.md.

const pod = { namespace: 'shop', name: 'web', uid: 'u1', nodeName: 'n1' };
const deletePod = {
  kind: 'deletePod',
  id: 'c1',
  pod,
  confirm: false,
  generation: 3,
  gracePeriodSeconds: null,
  escalated: false,
  because: [],
} as const;
const now = Date.parse('2026-01-01T00:00:07Z');

/** The first request of a deletion: its method, and its body. */
function first(guard: 'uid' | 'name') {
  const { request } = new PlayedSteps(removePod({ ...deletePod, guard }, now, {}));
  return { method: request.method, body: JSON.parse(request.body ?? '') };
}

describe('differences of requests', () => {
  it('read-before-condition: the first request is the patch, by uid or (upstream-1.36) by name', () => {
    assert.equal(first('uid').method, 'PATCH');
    assert.deepEqual(first('uid').body.metadata, { uid: 'u1' });
    assert.equal(first('name').method, 'PATCH');
    assert.equal(first('name').body.metadata, undefined);
  });

  it('disruption-target-time: it is that of this eviction, whatever the pod has', () => {
    for (const guard of ['uid', 'name'] as const) {
      const [condition] = first(guard).body.status.conditions;
      assert.equal(condition.lastTransitionTime, '2026-01-01T00:00:07Z');
    }
  });

  it('event-source and event-without-version: of NodeNotReady on a pod', () => {
    const about = {
      kind: 'Pod',
      apiVersion: 'v1',
      namespace: 'shop',
      name: 'web',
      uid: 'u1',
    } as const;
    const event = {
      subject: about,
      type: 'Warning',
      reason: 'NodeNotReady',
      message: 'm',
    } as const;
    const { involvedObject, source } = JSON.parse(
      newEventRequest(event, 'taintmgr', now).body ?? '',
    );
    assert.deepEqual(source, { component: 'taintmgr' });
    assert.deepEqual(Object.keys(involvedObject).sort(), [
      'apiVersion',
      'kind',
      'name',
      'namespace',
      'uid',
    ]);
  });
});
