import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countEventRequest, onOneLine, postEventRequest } from '../../src/proto/event-requests.ts';
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

describe('Events', () => {
  it('quote what others have written on one line, in which nothing steers a terminal', () => {
    const subject = { apiVersion: 'v1', kind: 'Pod', namespace: 'a', name: 'p', uid: 'u' };
    const message = 'webhook says:\r\n  \u001b[2J\u009b\u061c\u202e\u2028\ufeff\u3164';
    const event = { subject, type: 'Normal', reason: 'R', message } as const;
    const series = { name: 'p.1', event, component: 'c', firstAt: 0, lastAt: 0, count: 2 };
    for (const request of [postEventRequest(series), countEventRequest(series)]) {
      const quoted = 'webhook says: \\u001b[2J\\u009b\\u061c\\u202e\\u2028\\ufeff\\u3164';
      assert.equal(JSON.parse(request.body ?? '').message, quoted);
    }
  });

  it('quote a long run of spaces in no time', () => {
    const spaces = ' '.repeat(200_000);
    const begun = performance.now();
    assert.equal(onOneLine(`a${spaces}\n${spaces}b\u001b`), 'a b\\u001b');
    assert.equal(onOneLine(`${spaces}\u001b`), `${spaces}\\u001b`);
    assert.ok(performance.now() - begun < 1000);
  });
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
