import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import {
  createEventRequest,
  getNodeRequest,
  listRequest,
  podReference,
  setTaintsRequest,
  watchRequest,
} from '../src/proto/request.ts';

const golden = JSON.parse(
  readFileSync(new URL('testdata/golden-eviction.json', import.meta.url), 'utf8'),
);
const pod = { namespace: 'wire-golden', name: 'tol-0s', uid: 'u-3', nodeName: 'g3' };
const now = Date.parse('2026-01-01T00:00:00.250Z');
const text = {
  type: 'Normal',
  reason: golden.event.body.reason,
  message: golden.event.body.message,
} as const;

describe('paths', () => {
  const paths: [string, string, string][] = [
    ['a list', listRequest('/api/v1/pods').path, '/api/v1/pods'],
    [
      'a page',
      listRequest('/api/v1/pods', { limit: 500, continueToken: 'a+b/c=' }).path,
      '/api/v1/pods?limit=500&continue=a%2Bb%2Fc%3D',
    ],
    [
      'a selection',
      listRequest('/api/v1/pods', {
        fieldSelector: 'spec.nodeName=n 1',
        labelSelector: 'app in (a,b)',
      }).path,
      '/api/v1/pods?fieldSelector=spec.nodeName%3Dn%201&labelSelector=app%20in%20(a%2Cb)',
    ],
    [
      'a watch',
      watchRequest('/api/v1/nodes', { resourceVersion: '7', timeoutSeconds: 300 }).path,
      '/api/v1/nodes?watch=true&allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=300',
    ],
    ['a node', getNodeRequest('a/../b?c').path, '/api/v1/nodes/a%2F..%2Fb%3Fc'],
  ];
  for (const [name, actual, expected] of paths) it(name, () => assert.equal(actual, expected));
});

describe('taints', () => {
  const taint = { key: 'a', effect: 'NoExecute', timeAdded: '2026-01-01T00:00:00Z' };
  const cases: [string, (typeof taint)[], unknown][] = [
    ['are replaced as a whole', [taint], [taint]],
    ['are taken away with null', [], null],
  ];
  for (const [name, taints, expected] of cases) {
    it(name, () => {
      const request = setTaintsRequest('n1', '42', taints);
      assert.equal(request.method, 'PATCH');
      assert.deepEqual(JSON.parse(request.body ?? ''), {
        metadata: { resourceVersion: '42' },
        spec: { taints: expected },
      });
    });
  }
});

describe('events', () => {
  it('are what kube-controller-manager writes, and name the uid', () => {
    const request = createEventRequest(
      podReference(pod),
      text,
      'taint-eviction-controller',
      now,
      7,
    );
    assert.equal(request.path, golden.event.path);
    const expected = structuredClone(golden.event.body);
    const nanoseconds = BigInt(now) * 1_000_000n + 7n;
    expected.metadata.name = `tol-0s.${nanoseconds.toString(16)}`;
    expected.involvedObject.uid = 'u-3';
    expected.firstTimestamp = '2026-01-01T00:00:00Z';
    expected.lastTimestamp = '2026-01-01T00:00:00Z';
    assert.deepEqual(JSON.parse(request.body ?? ''), expected);
    assert.match(expected.metadata.name, /^tol-0s\.[0-9a-f]{16}$/);
  });

  it('have a valid name whatever the length of the pod’s', () => {
    const long = { ...pod, name: `${'a'.repeat(235)}.${'b'.repeat(17)}` };
    const { name } = JSON.parse(
      createEventRequest(podReference(long), text, 'c', now, 0).body ?? '',
    ).metadata;
    assert.match(name, /^a{235}\.[0-9a-f]{16}$/);
  });
});
