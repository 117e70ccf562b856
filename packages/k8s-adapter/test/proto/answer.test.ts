import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  answerFault,
  heeded,
  isDeniedByAdmission,
  isMissing,
  itemFault,
  noAnswer,
} from '../../src/proto/answer.ts';
import { ListReader } from '../../src/proto/json-list.ts';
import { listPage } from '../../src/proto/reflector.ts';
import { applyRequest, getRequest, objectRequest } from '../../src/proto/requests.ts';
import { listJson, nodeJson, podJson } from '../world/cluster-objects.ts';

const pods = getRequest('/api/v1/pods', { limit: 500 });
const good = listJson('Pod', '5', podJson('a', 'n1', '3'));

/** What may answer 200 where a list of pods is asked for, and what is said of it. */
const wrong: readonly (readonly [what: string, text: string, why: RegExp])[] = [
  ['a gateway', '{"error":"session expired"}', /JSON without a kind/],
  ['HTML', '<html>Please log in</html>', /does not speak JSON/],
  ['an empty body', '', /does not speak JSON/],
  ['a body that is cut short', JSON.stringify(good).slice(0, -9), /does not speak JSON/],
  ['protobuf', 'k8s\u0000\n\u000f\n\u0002v1\u0012\tPodList', /does not speak JSON/],
  ['null', 'null', /but null/],
  ['a list', '[{"metadata":{"name":"a"}}]', /but a list/],
  ['a text', '"PodList"', /but a string/],
  ['a number', '200', /but a number/],
  ['another list', JSON.stringify(listJson('Node', '5')), /a "NodeList" of "v1"/],
  ['a list of another version', JSON.stringify({ ...good, apiVersion: 'v2' }), /"PodList" of "v2"/],
  ['one of no version', JSON.stringify({ ...good, apiVersion: undefined }), /"PodList" of nothing/],
  ['one without metadata', JSON.stringify({ ...good, metadata: undefined }), /a resourceVersion/],
  ['a single pod', JSON.stringify(podJson('a', 'n1', '3')), /a "Pod" of "v1"/],
  ['items that are an object', JSON.stringify({ ...good, items: {} }), /items are an object/],
  ['objects of another kind', JSON.stringify(listJson('Pod', '5', nodeJson('n', '3'))), /a "Node"/],
  [
    'objects without a name',
    JSON.stringify(listJson('Pod', '5', { metadata: {} })),
    /without a name/,
  ],
  ['texts in it', JSON.stringify({ ...good, items: ['a'] }), /a string in it/],
];

function readInPieces(text: string) {
  const seen: unknown[] = [];
  const reader = new ListReader({ request: pods, read: (object) => seen.push(object) });
  for (const char of text) reader.push(char);
  return reader.end();
}

describe('an answer with 200 that is not the list that was asked for', () => {
  for (const [what, text, why] of wrong) {
    it(`is an error: ${what}`, () => {
      const page = listPage(pods, text);
      assert.ok('message' in page);
      assert.match(page.message, why);
      assert.match(page.message, /^what answers at \/api\/v1\/pods /);
      assert.deepEqual(readInPieces(text), { kind: 'wrong', why: page.message });
    });
  }

  it('is the failure that a Status in it tells of', () => {
    const status = {
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      code: 403,
      message: 'no',
    };
    const text = JSON.stringify({ ...status, reason: 'Forbidden' });
    const page = listPage(pods, text);
    assert.ok('status' in page);
    assert.deepEqual([page.status, page.reason, page.message], [403, 'Forbidden', 'no']);
    assert.equal(readInPieces(text).kind, 'refused');
    const answer = { kind: 'response', status: 200, headers: {}, body: text } as const;
    const heard = heeded(objectRequest('DELETE', '/api/v1/pods/a', {}), answer);
    assert.equal(heard.kind === 'response' && heard.status, 403, 'that of a write too');
  });

  it('is a list that Go has written as null', () => {
    const page = listPage(pods, JSON.stringify({ ...good, items: null }));
    assert.deepEqual('items' in page && page.items, []);
  });
});

const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/l%2Ea';
const review = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' };
const wanted: readonly (readonly [request: ReturnType<typeof getRequest>, object: object])[] = [
  [getRequest('/version'), { gitVersion: 'v1.36.2' }],
  [getRequest('/api'), { kind: 'APIVersions' }],
  [getRequest('/apis'), { kind: 'APIGroupList', apiVersion: 'v1' }],
  [getRequest('/apis/policy'), { kind: 'APIGroup', apiVersion: 'v1' }],
  [getRequest('/apis/policy/v1'), { kind: 'APIResourceList', apiVersion: 'v1' }],
  [
    getRequest('/api/v1/namespaces/a'),
    { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'a' } },
  ],
  [
    getRequest(lease),
    { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', metadata: { name: 'l.a' } },
  ],
  [
    objectRequest('POST', review, {}),
    { kind: 'SelfSubjectAccessReview', apiVersion: 'authorization.k8s.io/v1' },
  ],
  [
    objectRequest('POST', '/api/v1/namespaces/a/pods/b/eviction', {}),
    { kind: 'Status', apiVersion: 'v1' },
  ],
  [objectRequest('DELETE', '/api/v1/namespaces/a/pods/b', {}, 'metadata'), partial],
  [
    objectRequest('PUT', '/api/v1/nodes/n1', {}, 'metadata'),
    { ...partial, metadata: { name: 'n1' } },
  ],
  [
    applyRequest(
      '/apis/networking.k8s.io/v1/namespaces/a/networkpolicies/p',
      {},
      { fieldManager: 'me', force: false, dryRun: false },
    ),
    { kind: 'NetworkPolicy', apiVersion: 'networking.k8s.io/v1', metadata: { name: 'p' } },
  ],
  [
    getRequest('/apis/storage.k8s.io/v1/storageclasses'),
    {
      kind: 'StorageClassList',
      apiVersion: 'storage.k8s.io/v1',
      metadata: { resourceVersion: '1' },
    },
  ],
];

describe('what was asked for', () => {
  for (const [request, object] of wanted) {
    it(`is told by ${request.method} ${request.path}`, () => {
      assert.equal(answerFault(request, object), null);
      assert.match(String(answerFault(request, { error: 'expired' })), /^what answers at /);
    });
  }

  it('is the object of that name', () => {
    const request = getRequest('/api/v1/nodes/n1');
    assert.match(String(answerFault(request, nodeJson('n2', '1'))), /one whose name is "n2"/);
  });

  it('is not told of what is no object of the API', () => {
    const proxied = getRequest('/api/v1/nodes/n1/proxy/stats/summary');
    assert.equal(answerFault(proxied, { node: {} }), null);
    assert.match(String(answerFault(proxied, undefined)), /does not speak JSON/);
    assert.equal(itemFault(getRequest('/x'), 1), null);
  });
});

// What a failed request says of its object, by the API server's sentence and status.

const policy = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no";
const refused: [message: string, isDenied: boolean][] = [
  ['admission webhook "w.example.com" denied the request: pods "a" not found', true],
  ['admission webhook "w.example.com" denied the request without explanation', true],
  [`pods "a" is forbidden: ${policy}`, true],
  [`nodedrains.taintmgr.dev "a" is forbidden: ${policy}`, true],
  ['pods "a" is forbidden: User "u" cannot patch resource "pods/status"', false],
  ['pods "a" not found', false],
  ['Unauthorized', false],
  ['Internal error occurred: failed calling webhook "w.example.com": timeout', false],
];

describe('the refusal of a request', () => {
  for (const [message, isDenied] of refused) {
    it(`${isDenied ? 'is' : 'is not'} admission's: ${message}`, () => {
      assert.equal(isDeniedByAdmission(noAnswer(message)), isDenied);
      assert.equal(isMissing({ ...noAnswer(message), status: 404 }), !isDenied);
      assert.equal(isMissing({ ...noAnswer(message), status: 403 }), false);
    });
  }
});
