import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  getNodeRequest,
  listRequest,
  setTaintsRequest,
  watchRequest,
} from '../../src/proto/requests.ts';

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
