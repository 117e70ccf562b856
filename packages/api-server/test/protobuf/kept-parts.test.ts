import assert from 'node:assert/strict';
import { it } from 'node:test';
import { freeze } from '@taintmgr/sim-cluster/server';
import fc from 'fast-check';
import { encodeFrame, encodeObject } from '../../src/protobuf/encode.ts';

// Spec and status of pods that nobody can change are written once. What can be changed is not kept, so that
// a copy of the same pod that is open tells what has to come of it.

const spec = fc.record(
  {
    nodeName: fc.string(),
    containers: fc.array(fc.record({ name: fc.string(), image: fc.string({ unit: 'binary' }) })),
    terminationGracePeriodSeconds: fc.nat(),
  },
  { requiredKeys: [] },
);
const status = fc.record(
  { phase: fc.constantFrom('Pending', 'Running'), podIP: fc.string() },
  { requiredKeys: [] },
);

it('writes pods of the same few specs and statuses as if it had written none before', () => {
  const parts = fc.tuple(fc.array(spec, { minLength: 1 }), fc.array(status, { minLength: 1 }));
  const property = fc.property(parts, fc.array(fc.tuple(fc.nat(), fc.nat())), (given, picks) => {
    const [specs, statuses] = freeze(given);
    for (const [at, other] of picks) {
      const pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: `pod-${at}` },
        spec: specs[at % specs.length],
        status: statuses[other % statuses.length],
      };
      const open = structuredClone(pod);
      assert.deepEqual(encodeObject(pod), encodeObject(open));
      assert.deepEqual(encodeFrame('MODIFIED', pod), encodeFrame('MODIFIED', open));
    }
  });
  fc.assert(property);
});

it('writes what can still be changed as it is now', () => {
  const pod = { apiVersion: 'v1', kind: 'Pod', spec: { nodeName: 'a' } };
  const before = encodeObject(pod);
  pod.spec.nodeName = 'b';
  const after = encodeObject(pod);
  assert.notDeepEqual(after, before);
  assert.deepEqual(after, encodeObject(structuredClone(pod)));
});

it('reads what nobody can change once', () => {
  let read = 0;
  const status = Object.freeze({
    get podIP() {
      read++;
      return '10.0.0.1';
    },
  });
  const pods = ['a', 'b'].map((name) => ({
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name }, status },
  }));
  for (const pod of pods) encodeObject(pod);
  assert.equal(read, 1);
});

it('writes one value in two places as each of them', () => {
  const empty = freeze({});
  const pod = { apiVersion: 'v1', kind: 'Pod', spec: empty, status: empty };
  assert.deepEqual(encodeObject(pod), encodeObject(structuredClone(pod)));
});

it('an answer and an event about one object say it as they do alone, whichever comes first', () => {
  const pod = (name: string) => {
    return { kind: 'Pod', apiVersion: 'v1', metadata: { name }, spec: { nodeName: 'n' } };
  };
  const [frozen, open] = [freeze(pod('a')), pod('a')];
  assert.deepEqual(encodeObject(frozen), encodeObject(open));
  const frame = encodeFrame('MODIFIED', open);
  assert.deepEqual(encodeFrame('MODIFIED', frozen), frame);
  assert.deepEqual(encodeFrame('DELETED', frozen), encodeFrame('DELETED', open));
  assert.deepEqual(encodeObject(frozen), encodeObject(open));
  assert.notDeepEqual(encodeObject(frozen), encodeObject(freeze(pod('b'))));
  assert.deepEqual(encodeObject(frozen), encodeObject(pod('a')));
});
