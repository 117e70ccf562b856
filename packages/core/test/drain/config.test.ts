import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Owner, Pod } from '@taintmgr/core';
import { type DrainFilterResult, filterPod } from '@taintmgr/core/drain';

const web: Pod = {
  namespace: 'shop',
  name: 'web-0',
  uid: 'u',
  nodeName: 'n1',
  tolerations: [],
  boundAt: null,
  deletionTimestamp: null,
  phase: 'Running',
  generation: 1,
  mirror: false,
  owner: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web' },
  hasEmptyDir: false,
};
const daemonSet: Owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' };
const none = { force: false, ignoreDaemonSets: false, deleteEmptyDirData: false };
const all = { force: true, ignoreDaemonSets: true, deleteEmptyDirData: true };

const cases: readonly [string, Partial<Pod>, typeof none, DrainFilterResult][] = [
  ['a managed pod', {}, none, { kind: 'take' }],
  ['a bare pod', { owner: null }, none, { kind: 'refuse', faults: ['Unmanaged'] }],
  ['a bare pod, forced', { owner: null }, all, { kind: 'take' }],
  ['an emptyDir', { hasEmptyDir: true }, none, { kind: 'refuse', faults: ['EmptyDir'] }],
  [
    'both at once',
    { owner: null, hasEmptyDir: true },
    none,
    { kind: 'refuse', faults: ['EmptyDir', 'Unmanaged'] },
  ],
  ['a daemon', { owner: daemonSet }, none, { kind: 'refuse', faults: ['DaemonSet'] }],
  ['a daemon, ignored', { owner: daemonSet }, all, { kind: 'leave', fault: 'DaemonSet' }],
  [
    'a daemon of an old API group is an ordinary pod',
    { owner: { ...daemonSet, apiVersion: 'extensions/v1beta1' } },
    none,
    { kind: 'take' },
  ],
  ['a finished bare pod', { owner: null, phase: 'Succeeded' }, none, { kind: 'take' }],
];

describe('filterPod', () => {
  for (const [name, pod, options, verdict] of cases) {
    it(name, () => assert.deepEqual(filterPod({ ...web, ...pod }, options), verdict));
  }
});
