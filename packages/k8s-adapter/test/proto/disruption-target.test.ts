import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { encodeObject } from '@taintmgr/api-server';
import { disruptionOf } from '../../src/proto/disruption-target.ts';
import { asRecord } from '../../src/proto/json.ts';
import { objectFromProtobuf } from '../../src/proto/protobuf.ts';

const key = 'k:{"type":"DisruptionTarget"}';
const marked = { [key]: { '.': {}, 'f:reason': {}, 'f:status': {} } };
const ready = { 'k:{"type":"Ready"}': { '.': {}, 'f:reason': {} } };
const target = { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager' };

/** What `manager` owns of the conditions, and of the addresses, which are others in each pod. */
function owned(manager: string, conditions: object, ip = '10.0.0.1'): object {
  const addresses = { [`k:{"ip":"${ip}"}`]: {} };
  const fieldsV1 = { 'f:status': { 'f:conditions': conditions, 'f:podIPs': addresses } };
  return { manager, operation: 'Update', subresource: 'status', fieldsType: 'FieldsV1', fieldsV1 };
}

function podWith(managedFields: unknown, condition: object = target): object {
  const metadata = { name: 'p', namespace: 'shop', uid: 'u', managedFields };
  return { kind: 'Pod', metadata, spec: {}, status: { conditions: [condition] } };
}

/** The first of them as servers wrote it that knew of no subresources. */
function oldFirst(entry: object, index: number): object {
  return index === 0 ? { ...entry, subresource: undefined } : entry;
}

function bytesOf(pod: object): Uint8Array {
  return encodeObject(pod as Parameters<typeof encodeObject>[0]);
}

function managerIn(bytes: Uint8Array): string | null | undefined {
  return disruptionOf(asRecord(objectFromProtobuf(bytes)))?.manager;
}

describe('who removes a pod, by its condition DisruptionTarget', () => {
  const cases: readonly [string, object, string | null | undefined][] = [
    ['is the owner of its reason', podWith([owned('taintmgr', marked)]), 'taintmgr'],
    [
      'is not who owns other conditions',
      podWith([owned('kubelet', ready), owned('descheduler', { ...ready, ...marked })]),
      'descheduler',
    ],
    [
      'is not who owns nothing but its status',
      podWith([owned('kubelet', { [key]: { 'f:status': {} } }), owned('taintmgr', marked)]),
      'taintmgr',
    ],
    [
      'is who owns it by its status, where others own it too',
      podWith([owned('old', marked), owned('taintmgr', marked)].map(oldFirst)),
      'taintmgr',
    ],
    [
      'is who owns it without a subresource, as before 1.22',
      podWith([oldFirst(owned('old', marked), 0)]),
      'old',
    ],
    [
      'is the owner of its message, where another one gave the same reason before',
      podWith([owned('taintmgr', marked), owned('upstream', { [key]: { 'f:message': {} } })]),
      'upstream',
    ],
    [
      'is the owner of its message, not of that of another condition',
      podWith([
        owned('kubelet', { 'k:{"type":"Ready"}': { 'f:message': {} } }),
        owned('a', marked),
      ]),
      'a',
    ],
    ['is not known where nobody owns it', podWith([owned('kubelet', ready)]), null],
    ['is not known without managed fields', podWith(undefined), null],
    ['is nobody without the condition', podWith([owned('taintmgr', marked)], {}), undefined],
    [
      'is nobody while it is not true',
      podWith([owned('taintmgr', marked)], { ...target, status: 'False' }),
      undefined,
    ],
  ];
  for (const [name, pod, manager] of cases) {
    it(name, () => {
      assert.equal(disruptionOf(asRecord(pod))?.manager, manager);
      assert.equal(managerIn(bytesOf(pod)), manager, 'protobuf');
    });
  }

  it('is read of each pod for itself, also where thousands have the same fields', () => {
    const pods = ['a', 'a', 'b', 'longer', 'a'].map((manager, at) => {
      // The same fields for the first two, others of the same length for the third.
      const ip = at === 2 ? '10.0.0.2' : '10.0.0.1';
      return bytesOf(podWith([owned('kubelet', ready), owned(manager, marked, ip)]));
    });
    assert.deepEqual(pods.map(managerIn), ['a', 'a', 'b', 'longer', 'a']);
  });
});
