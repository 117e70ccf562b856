import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  describeEvictionRequest,
  type EvictionRequest,
  isOpenRequest,
  movingUntil,
} from '../../src/model/eviction-request.ts';

const minute = 60_000;
const request: EvictionRequest = {
  namespace: 'shop',
  name: 'r1',
  podUid: 'web',
  requester: 'acme.io/foo',
  intent: 'Eviction',
  drain: null,
  failed: null,
  createdAt: 5 * minute,
  responder: null,
};
const responder = {
  name: 'b.io/mover',
  heartbeatAt: 9 * minute,
  expectedAt: null,
  message: 'half',
};

it('is open until it is withdrawn or has failed', () => {
  const withdrawn = { ...request, intent: 'Withdrawn' } as const;
  const open = [request, withdrawn, { ...request, failed: 'no' }].map(isOpenRequest);
  assert.deepEqual(open, [true, false, false]);
});

it('counts for 20 minutes since the last sign of life', () => {
  assert.equal(movingUntil(request, 0), 25 * minute);
  assert.equal(movingUntil({ ...request, createdAt: null }, minute), 21 * minute);
  assert.equal(movingUntil({ ...request, responder }, 0), 29 * minute);
  const evictor = { ...responder, name: 'imperative-eviction.k8s.io/evictor' };
  assert.equal(movingUntil({ ...request, responder: evictor }, 0), null);
});

it('is told with whoever answers', () => {
  const asked = 'acme.io/foo has requested its eviction (EvictionRequest r1)';
  assert.equal(describeEvictionRequest(request), `${asked}; no controller has answered yet`);
  const told = describeEvictionRequest({ ...request, responder });
  assert.equal(told, `${asked}; b.io/mover answers: half, last heard of at 1970-01-01T00:09:00Z`);
  const failed = describeEvictionRequest({ ...request, failed: 'no room' });
  assert.equal(failed, `${asked}, and no controller could move it: no room`);
});
