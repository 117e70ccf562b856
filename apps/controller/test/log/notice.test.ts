import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Command, PodRef, Reason, Report } from '@taintmgr/core';
import type { Failure, Notice } from '@taintmgr/k8s-adapter';
import type { Line } from '../../src/log/line.ts';
import { lineOf } from '../../src/log/notice.ts';
import { ApiConnectivity } from '../../src/log/setbacks.ts';

const now = Date.UTC(2026, 0, 2, 3, 4, 5);
const pod: PodRef = { namespace: 'shop', name: 'web-0', uid: 'u1', nodeName: 'n1' };
const names = { pod: 'shop/web-0', node: 'n1' };
const taint = { key: 'bad', value: 'disk', effect: 'NoExecute', timeAdded: now };
const noToleration: Reason = {
  code: 'NoToleration',
  taint,
  start: now,
  startSource: 'timeAdded',
  deadline: now,
};
const why = 'no toleration for bad=disk:NoExecute';
const because = [noToleration];
const command = {
  kind: 'evictPod',
  id: '1',
  pod,
  confirm: false,
  gracePeriodSeconds: null,
  because,
} as const;
const event = {
  subject: { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'web-0', uid: pod.uid },
  type: 'Normal',
  reason: 'TaintManagerEviction',
  message: 'Marking for deletion Pod shop/web-0',
} as const;
const starts = {
  kind: 'keepTaintStarts',
  id: '2',
  nodeName: 'n1',
  nodeUid: 'u2',
  starts: null,
  pauses: [],
  taintsWrittenAt: null,
} as const satisfies Command;
const failure: Failure = {
  status: 403,
  reason: 'Forbidden',
  message: 'no right',
  retryAfter: null,
  causes: [],
  name: '',
  kind: '',
};

const failed = { kind: 'failed', status: 500, message: 'boom', retryAfter: null } as const;
const denied = { kind: 'failed', status: 403, message: 'no right', retryAfter: null } as const;
const blocked = { kind: 'blocked', message: 'budget web', retryAfter: null } as const;
const hit = { per: 'zone', name: 'a', limit: 'percent', tripped: false } as const;

function deadline(from: number | null, to: number | null, reasons = because): Notice {
  const cause = 'NodeChanged';
  return { kind: 'report', report: { kind: 'deadline', pod, from, to, cause, because: reasons } };
}

function report(fields: Exclude<Report, { kind: 'deadline' }>): Notice {
  return { kind: 'report', report: fields };
}

describe('a server that does not stream lists', () => {
  const notice = { kind: 'pagedLists', resource: 'nodes' } as const;

  it('is no reason to warn, and said once for all collections', () => {
    assert.equal(lineOf(notice, 0).level, 'info');
    const connectivity = new ApiConnectivity();
    assert.equal(connectivity.isKnown(notice), false);
    assert.equal(connectivity.isKnown({ ...notice, resource: 'pods' }), true);
  });
});

describe('a server without protobuf', () => {
  const notice = { kind: 'jsonOnly', resource: 'nodes' } as const;

  it('is no reason to warn, and said once for each collection', () => {
    const { level, message } = lineOf(notice, 0);
    const text = 'the API server has no protobuf for nodes: they are read in JSON';
    assert.deepEqual([level, message], ['info', text]);
    const connectivity = new ApiConnectivity();
    assert.equal(connectivity.isKnown(notice), false);
    assert.equal(connectivity.isKnown(notice), true);
    assert.equal(connectivity.isKnown({ ...notice, resource: 'pods' }), false);
  });
});

describe('what the log says of a notice', () => {
  const cases: readonly (readonly [string, Notice, Line['level'], string, Line['fields']])[] = [
    [
      'listed',
      { kind: 'listed', resource: 'pods', objects: 3, upserts: 2, deletes: 1 },
      'info',
      'listed pods',
      { objects: 3, upserts: 2, deletes: 1 },
    ],
    [
      'listed, of one node',
      { kind: 'listed', resource: 'pods', nodeName: 'n1', objects: 3, upserts: 2, deletes: 1 },
      'info',
      'listed pods',
      { node: 'n1', objects: 3, upserts: 2, deletes: 1 },
    ],
    [
      'podScope by node',
      { kind: 'podScope', scope: 'byNode', nodes: 2, pods: 50_000 },
      'info',
      'reading the pods of tainted nodes only',
      { nodes: 2, pods: 50_000 },
    ],
    [
      'podScope all',
      { kind: 'podScope', scope: 'all', nodes: 65, pods: null },
      'info',
      'reading all pods',
      { nodes: 65 },
    ],
    [
      'watching',
      { kind: 'watching', resource: 'pods', resourceVersion: '7' },
      'debug',
      'watching pods',
      { from: '7' },
    ],
    [
      'reconnecting',
      { kind: 'reconnecting', resource: 'nodes', failure, wait: 840, next: 'watch' },
      'warn',
      'reading nodes failed, reconnecting',
      { error: 'no right', wait: '0.8s', next: 'watch' },
    ],
    [
      'a kind that was just installed',
      {
        ...({ kind: 'reconnecting', resource: 'taintmanagers', wait: 1000, next: 'list' } as const),
        failure: { ...failure, status: 429, message: 'storage is (re)initializing' },
      },
      'info',
      'the API server begins to serve taintmanagers, will ask again',
      { wait: '1.0s' },
    ],
    [
      'the status of policies is refused',
      { kind: 'policiesNotPublished', resource: 'evictionpolicies', why: 'refused', failure },
      'warn',
      'the status of policies is not published',
      { resource: 'evictionpolicies', error: 'no right', again: 'once a minute' },
    ],
    [
      'the status of policies cannot be written',
      { kind: 'policiesNotPublished', resource: 'evictionpolicies', why: 'failed', failure },
      'warn',
      'the status of policies is not published',
      { resource: 'evictionpolicies', error: 'no right', again: 'in a few seconds' },
    ],
    [
      'the status of policies is written again',
      { kind: 'policiesPublished', resource: 'evictionpolicies' },
      'info',
      'publishing the status of policies again',
      { resource: 'evictionpolicies' },
    ],
    ['synced', { kind: 'synced' }, 'info', 'caches synced, evictions start', {}],
    [
      'an eviction that is sent',
      { kind: 'commandSent', command },
      'info',
      'evicting',
      { ...names, uid: 'u1', because: why },
    ],
    [
      'done',
      { kind: 'commandFinished', command, outcome: { kind: 'done' }, took: 12.4 },
      'info',
      'evicted',
      { ...names, took: '12ms' },
    ],
    [
      'gone',
      { kind: 'commandFinished', command, outcome: { kind: 'gone' }, took: 1 },
      'info',
      'already gone',
      { ...names, took: '1ms' },
    ],
    [
      'blocked, of which a report follows',
      { kind: 'commandFinished', command, outcome: blocked, took: 1 },
      'debug',
      'eviction blocked',
      { ...names, took: '1ms', error: 'budget web' },
    ],
    [
      'denied to a drain, of which none does',
      { kind: 'commandFinished', command: { ...command, ofDrain: true }, outcome: denied, took: 1 },
      'warn',
      'eviction denied, its drain does not retry',
      { ...names, error: 'no right' },
    ],
    [
      'taint starts written down',
      { kind: 'taintStartsKept', command: starts, outcome: { kind: 'done' } },
      'debug',
      'recorded when taints were first seen',
      { node: 'n1' },
    ],
    [
      'taint starts refused',
      { kind: 'taintStartsKept', command: starts, outcome: failed },
      'warn',
      'could not record when taints were first seen',
      { node: 'n1', error: 'boom' },
    ],
    [
      'a condition that is refused',
      { kind: 'markRefused', command, message: 'no right' },
      'warn',
      'evicting without the condition DisruptionTarget',
      { ...names, error: 'no right' },
    ],
    [
      'a ConfigMap of the history that no leader has written so',
      { kind: 'historyKept', departures: 2, notBelieved: ['system/a', 'system/b'] },
      'warn',
      'keeps the history of evictions, without objects that no leader has written so',
      { evictions: 2, object: 'system/a, system/b' },
    ],
    [
      'an Event',
      { kind: 'eventRecorded', event, count: 1 },
      'debug',
      'recorded event',
      { pod: 'shop/web-0', reason: 'TaintManagerEviction' },
    ],
    [
      'an Event that is refused',
      { kind: 'eventLost', event, why: 'failed', failure },
      'warn',
      'lost event',
      { pod: 'shop/web-0', reason: 'TaintManagerEviction', error: 'no right' },
    ],
    [
      'an Event too many about one object',
      { kind: 'eventLost', event, why: 'tooMany', failure: null },
      'warn',
      'lost event',
      {
        pod: 'shop/web-0',
        reason: 'TaintManagerEviction',
        error: 'too many events about the same object',
      },
    ],
    [
      'Events that find no place',
      { kind: 'eventsDropped', count: 7, why: 'queueFull' },
      'warn',
      'dropped events',
      { events: 7, why: 'too many events are waiting' },
    ],
    [
      'Events that a stop has no time for',
      { kind: 'eventsDropped', count: 7, why: 'stopped' },
      'warn',
      'dropped events',
      { events: 7, why: 'they could not be written before the end' },
    ],
    [
      'a deadline',
      deadline(null, now + 63_000),
      'info',
      'eviction scheduled',
      { at: '2026-01-02T03:05:08Z', in: '1m3s', ...names, cause: 'NodeChanged', because: why },
    ],
    [
      'a deadline within a second, which is told by its end',
      deadline(null, now + 62_001),
      'info',
      'eviction scheduled',
      { at: '2026-01-02T03:05:08Z', in: '1m2s', ...names, cause: 'NodeChanged', because: why },
    ],
    [
      'a deadline that moved',
      deadline(now, now + 5000),
      'info',
      'eviction moved',
      { at: '2026-01-02T03:04:10Z', in: '5s', ...names, cause: 'NodeChanged', because: why },
    ],
    [
      'a deadline that went away',
      deadline(now, null, []),
      'info',
      'eviction cancelled',
      { ...names, cause: 'NodeChanged' },
    ],
    [
      'a pod that leaves after a request that nobody answered',
      {
        kind: 'report',
        report: {
          ...{ kind: 'deadline', pod, from: now, to: null, cause: 'PodChanged' },
          ...{ because: [], unanswered: true },
        },
      },
      'info',
      'leaving after an eviction without an answer',
      { ...names, cause: 'PodChanged' },
    ],
    [
      'a budget that holds a pod',
      report({
        kind: 'retry',
        pod,
        attempt: 2,
        at: now + 5000,
        setback: blocked,
        blocker: { code: 'Budget', verdict: 'needsTime', message: 'budget web' },
      }),
      'warn',
      'blocked by a PDB, will try again',
      { ...names, attempt: 2, next: '5.0s', error: 'budget web' },
    ],
    [
      'an eviction that is stuck',
      report({
        kind: 'retry',
        pod,
        attempt: 9,
        at: now + 10_000,
        setback: failed,
        blocker: { code: 'TwoBudgets', verdict: 'never', message: 'boom' },
      }),
      'warn',
      'blocked by two PDBs, will try again',
      { ...names, attempt: 9, next: '10s', stuck: 'TwoBudgets', error: 'boom' },
    ],
    [
      'a webhook that keeps an eviction for itself',
      report({
        kind: 'retry',
        pod,
        attempt: 1,
        at: now + 15_000,
        setback: failed,
        blocker: { code: 'Intercepted', verdict: 'othersAct', message: 'boom' },
      }),
      'warn',
      'kept by a webhook, which may move the pod itself, will try again',
      { ...names, attempt: 1, next: '15s', error: 'boom' },
    ],
    [
      'an eviction that failed',
      report({
        kind: 'retry',
        pod,
        attempt: 1,
        at: now + 1000,
        setback: failed,
        blocker: { code: 'ServerError', verdict: 'resolves', message: 'boom' },
      }),
      'warn',
      'eviction failed, will try again',
      { ...names, attempt: 1, next: '1.0s', error: 'boom' },
    ],
    [
      'a limit',
      report({ kind: 'queued', pod, hit, until: now + 1500 }),
      'info',
      'held by a limit',
      { ...names, limit: 'zone=a', by: 'percent', next: '1.5s' },
    ],
    [
      'a limit whose counts cannot be stored',
      report({ kind: 'queued', pod, hit: { ...hit, limit: 'record' }, until: null }),
      'debug',
      'held until limit counts are stored',
      { ...names, limit: 'zone=a', by: 'record' },
    ],
    [
      'a limit that tripped',
      report({ kind: 'queued', pod, hit: { ...hit, name: '', tripped: true }, until: null }),
      'warn',
      'held by a limit that has tripped',
      { ...names, limit: 'zone', by: 'percent' },
    ],
  ];
  for (const [name, notice, level, message, fields] of cases) {
    it(name, () => assert.deepEqual(lineOf(notice, now), { level, message, fields }));
  }
});
