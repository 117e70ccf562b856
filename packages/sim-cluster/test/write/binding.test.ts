import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fixture, podNamed, pods } from '../world/api-fixture.ts';

const toNode = { target: { apiVersion: 'v1', kind: 'Node', name: 'n' } };
const gates = { schedulingGates: [{ name: 'wait' }] };

/** A pod, what is posted to its binding, and the status of the answer and what it says. */
const cases: readonly (readonly [
  name: string,
  pod: { readonly spec?: object; readonly isEnding?: boolean },
  body: (seen: { readonly uid?: string; readonly resourceVersion?: string }) => object,
  status: number,
  message: RegExp,
])[] = [
  ['is bound', {}, () => toNode, 201, /^$/],
  [
    'is bound as the one that was seen',
    {},
    (metadata) => ({ metadata: { ...metadata, name: 'p' }, ...toNode }),
    201,
    /^$/,
  ],
  [
    'is not bound as another one of its name',
    {},
    () => ({ metadata: { name: 'p', uid: 'other' }, ...toNode }),
    409,
    /UID in precondition: other/,
  ],
  [
    'is not bound in another state',
    {},
    () => ({ metadata: { name: 'p', resourceVersion: '1' }, ...toNode }),
    409,
    /ResourceVersion in precondition: 1/,
  ],
  [
    'is not bound twice',
    { spec: { nodeName: 'm' } },
    () => toNode,
    409,
    /already assigned to node "m"/,
  ],
  ['is not bound when it is to go', { isEnding: true }, () => toNode, 409, /is being deleted/],
  [
    'is not bound with gates',
    { spec: gates },
    () => toNode,
    409,
    /non-empty .spec.schedulingGates/,
  ],
  [
    'is bound to nodes alone',
    {},
    () => ({ target: { kind: 'Pod', name: 'n' } }),
    422,
    /target.kind/,
  ],
  ['is bound to something', {}, () => ({ target: {} }), 422, /target.name/],
  [
    'is not bound under another name',
    {},
    () => ({ metadata: { name: 'q' }, ...toNode }),
    400,
    /name in URL does not match name in Binding object/,
  ],
];

describe('a pod', () => {
  for (const [name, { spec = {}, isEnding = false }, body, status, message] of cases) {
    it(name, () => {
      const { client } = fixture();
      client.post(pods, podNamed('p', spec, isEnding ? { finalizers: ['example.com/kept'] } : {}));
      if (isEnding) client.delete(`${pods}/p`);
      const before = client.get(`${pods}/p`).body;
      const { uid, resourceVersion } = before.metadata;
      const seen = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
      const sent = { metadata: { name: 'p' }, ...body(seen) };
      // Tried alone it is answered alike, and nothing becomes of it.
      for (const query of [{ dryRun: 'All' }, {}]) {
        const answer = client.post(`${pods}/p/binding`, sent, { query });
        assert.equal(answer.status, status);
        assert.match(answer.body.message ?? '', message);
        const after = client.get(`${pods}/p`).body;
        if ('dryRun' in query || status !== 201) assert.deepEqual(after, before);
        else assert.equal(after.spec.nodeName, 'n');
      }
    });
  }
});
