import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeProtobuf } from '../../src/protobuf/decode.ts';
import { fixture } from '../world/api-fixture.ts';

// Bodies as real kubectl sent them.

const cases: readonly (readonly [string, string, unknown])[] = [
  [
    'empty DeleteOptions',
    'azhzAAoTCgJ2MRINRGVsZXRlT3B0aW9ucxIAGgAiAA==',
    { kind: 'DeleteOptions', apiVersion: 'v1' },
  ],
  [
    'can-i delete pods',
    'azhzAAoyChdhdXRob3JpemF0aW9uLms4cy5pby92MRIXU2VsZlN1YmplY3RBY2Nlc3NSZXZpZXcSRAoQCgASABoAIgAqADIAOABCABImCiQKDHdpcmUta3ViZWN0bBIGZGVsZXRlGgAiACoEcG9kczIAOgAaCAgAEgAaACAAGgAiAA==',
    {
      kind: 'SelfSubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      metadata: {},
      spec: { resourceAttributes: { namespace: 'wire-kubectl', verb: 'delete', resource: 'pods' } },
    },
  ],
  [
    'can-i create pods/eviction',
    'azhzAAoyChdhdXRob3JpemF0aW9uLms4cy5pby92MRIXU2VsZlN1YmplY3RBY2Nlc3NSZXZpZXcSTAoQCgASABoAIgAqADIAOABCABIuCiwKDHdpcmUta3ViZWN0bBIGY3JlYXRlGgAiACoEcG9kczIIZXZpY3Rpb246ABoICAASABoAIAAaACIA',
    {
      kind: 'SelfSubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      metadata: {},
      spec: {
        resourceAttributes: {
          namespace: 'wire-kubectl',
          verb: 'create',
          resource: 'pods',
          subresource: 'eviction',
        },
      },
    },
  ],
  [
    'can-i --list',
    'azhzAAoxChdhdXRob3JpemF0aW9uLms4cy5pby92MRIWU2VsZlN1YmplY3RSdWxlc1JldmlldxIoChAKABIAGgAiACoAMgA4AEIAEg4KDHdpcmUta3ViZWN0bBoEGAAiABoAIgA=',
    {
      kind: 'SelfSubjectRulesReview',
      apiVersion: 'authorization.k8s.io/v1',
      metadata: {},
      spec: { namespace: 'wire-kubectl' },
    },
  ],
  [
    'whoami',
    'azhzAAotChhhdXRoZW50aWNhdGlvbi5rOHMuaW8vdjESEVNlbGZTdWJqZWN0UmV2aWV3EhoKEAoAEgAaACIAKgAyADgAQgASBgoECgASABoAIgA=',
    { kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1', metadata: {} },
  ],
  [
    'autoscale deployment',
    'azhzAAopCg5hdXRvc2NhbGluZy92MhIXSG9yaXpvbnRhbFBvZEF1dG9zY2FsZXISYQoTCgN3ZWISABoAIgAqADIAOABCABJEChoKCkRlcGxveW1lbnQSA3dlYhoHYXBwcy92MRACGAUiIgoIUmVzb3VyY2UiFgoDY3B1Eg8KC1V0aWxpemF0aW9uIFAaBBgAIAAaACIA',
    {
      kind: 'HorizontalPodAutoscaler',
      apiVersion: 'autoscaling/v2',
      metadata: { name: 'web' },
      spec: {
        scaleTargetRef: { kind: 'Deployment', name: 'web', apiVersion: 'apps/v1' },
        minReplicas: 2,
        maxReplicas: 5,
        metrics: [
          {
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
          },
        ],
      },
      status: { desiredReplicas: 0 },
    },
  ],
];

/** `k8s\0`, the type, and the object's bytes. */
function body(kind: string, object: readonly number[]): Uint8Array {
  const type = [0x12, kind.length, ...Buffer.from(kind)];
  const parts = [0x0a, type.length, ...type, 0x12, object.length, ...object];
  return Buffer.from([0x6b, 0x38, 0x73, 0x00, ...parts]);
}

describe('protobuf bodies', () => {
  for (const [name, base64, expected] of cases) {
    it(`read ${name}`, () => {
      assert.deepEqual(decodeProtobuf(Buffer.from(base64, 'base64')), expected);
    });
  }

  it('tell a zero grace period, a negative one and none apart', () => {
    const grace = (bytes: readonly number[]) =>
      (decodeProtobuf(body('DeleteOptions', bytes)) as { readonly gracePeriodSeconds?: number })
        .gracePeriodSeconds;
    assert.equal(grace([]), undefined);
    assert.equal(grace([0x08, 0]), 0);
    assert.equal(grace([0x08, 0xac, 0x02]), 300);
    assert.equal(grace([0x08, ...Array(9).fill(0xff), 0x01]), -1);
  });

  it('pass over members that say nothing', () => {
    const bytes = [0x4a, 0x02, 0x0a, 0x00, 0x52, 0x02, 0x08, 0x00];
    assert.deepEqual(decodeProtobuf(body('Namespace', bytes)), { kind: 'Namespace' });
  });

  for (const [name, bytes] of [
    ['another kind', body('Gadget', [])],
    ['a field that would be lost', body('Namespace', [0x4a, 0x03, 0x0a, 0x01, 0x78])],
    ['a lost field deep inside', body('Job', [0x12, 0x04, 0x32, 0x02, 0x48, 0x01])],
    ['no envelope', Buffer.from('{}')],
    ['nothing', Buffer.alloc(0)],
    ['a length beyond the end', body('DeleteOptions', [0x2a, 0x7f])],
    ['a number without an end', body('DeleteOptions', [0x08, 0x80])],
    ['a wire type that is not used', body('DeleteOptions', [0x0d, 0, 0, 0, 0])],
  ] as const) {
    it(`refuse ${name}`, () => assert.equal(decodeProtobuf(bytes), null));
  }

  it('of a kind that is not read from protobuf are refused, and the answer does not offer it', () => {
    const { client } = fixture();
    const path = '/apis/storage.k8s.io/v1/storageclasses';
    const headers = { 'content-type': 'application/vnd.kubernetes.protobuf' };
    const refused = client.post(path, body('StorageClass', []), { headers });
    assert.deepEqual([refused.status, refused.body.reason], [415, 'UnsupportedMediaType']);
    const types = 'application/json, application/yaml';
    const message = `the body of the request was in an unknown format - accepted media types include: ${types}`;
    assert.equal(refused.body.message, message);
  });
});
